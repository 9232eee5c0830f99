// Any bytes as message sets of magic 0 and 1: nothing reads beyond them.
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "protocol/legacy_message_set.h"

namespace {

using namespace thalweg::protocol;

void read(LegacyMessageView message, Decompressor& decompressor) {
  (void)validate_legacy_crc(message);
  int count = 0;
  std::uint64_t sum = 0;
  std::int64_t last = 0;
  const auto result = for_each_legacy_record(message, decompressor,
                                             [&](const Record& record) {
                                               ++count;
                                               last = record.offset;
                                               CHECK(record.headers.empty() && record.sequence == kNoSequence);
                                               for (const auto& bytes : {record.key, record.value}) {
                                                 if (!bytes.has_value()) continue;
                                                 for (const std::uint8_t byte : *bytes) sum = sum * 31 + byte;
                                               }
                                             },
                                             {.max_bytes = 1 << 20});
  // A message stands for one record at least, and a wrapper of magic 1 has the offset of its last one.
  CHECK(result.has_value() == (count > 0));
  if (count > 0 && message.magic() == 1) CHECK(last == message.offset());
  if (!message.is_wrapper()) CHECK(count == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Decompressor decompressor;
  std::span<const std::uint8_t> left(data, size);
  (void)parse_legacy_message(left);
  for (;;) {
    const auto frame = peek_batch(left);
    if (!frame.has_value() || !frame->has_value()) break;
    const std::vector<std::uint8_t> bytes(left.begin(),
                                          left.begin() + static_cast<std::ptrdiff_t>((*frame)->size_bytes));
    if (const auto message = parse_legacy_message(bytes); message.has_value()) {
      CHECK(message->size_bytes() == bytes.size());
      read(*message, decompressor);
    }
    left = left.subspan((*frame)->size_bytes);
  }
  return 0;
}
