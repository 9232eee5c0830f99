// Decoders of requests, responses and internal records: two bytes choose the message and its version, the rest is its
// body. What can be read is written again and read again, to the same message.
#include <cstdlib>

#include "vectors/message_json.h"

namespace protocol = thalweg::protocol;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto& entries = protocol::message_entries();
  const protocol::MessageEntry& entry = entries[(static_cast<std::size_t>(data[0]) << 8 | data[1]) % entries.size()];
  const int version = entry.lowest_version + data[2] % (entry.highest_version - entry.lowest_version + 1);
  const protocol::Bytes body = protocol::Bytes::copy_of({data + 3, size - 3});
  const protocol::Decoded first = entry.decode(body, version);
  if (first.fault || first.encode_fault) return 0;
  const protocol::Decoded second = entry.decode(first.encoded, version);
  // A number that is none does not equal itself, but its bytes do.
  const bool same = second.json == first.json || second.encoded == first.encoded;
  if (second.fault || second.rest != 0 || !same || !first.size_agrees) std::abort();
  return 0;
}
