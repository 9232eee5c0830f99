// Any bytes as a message, as a request that says what it is, and as record batches: the trees cover what they were made
// of and can be printed; the JSON says what the generated codecs say, which take and refuse the same bytes.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "inspect/decode.h"
#include "inspect/print.h"
#include "inspect/records_json.h"
#include "vectors/message_json.h"

using namespace thalweg;
using namespace thalweg::inspect;

namespace {

DecodeOptions options() {
  DecodeOptions options;
  options.walk.max_nodes = 20'000;
  options.walk.max_unpacked_bytes = 1 << 20;
  options.walk.topic = "__consumer_offsets";
  return options;
}

void print(const Decoded& decoded, const base::Bytes& bytes) {
  CHECK(covers(decoded.tree));
  CHECK(!decoded_text(decoded, bytes).empty());
  CHECK(!decoded_html_part(decoded, bytes).empty());
}

// The same message by the schema and by the code that was generated from it.
void compare(const protocol::MessageEntry& entry, int version, const base::Bytes& body) {
  const Envelope envelope{.message = &Catalog::built_in().find(entry.name)->message, .version = version};
  const protocol::Decoded wanted = entry.decode(body, version);
  const MessageJson read = decode_json(envelope, body);
  CHECK(read.whole == !wanted.fault.has_value());
  const Decoded decoded = decode(Catalog::built_in(), envelope, body, options());
  CHECK(decoded.fault.has_value() == wanted.fault.has_value());
  print(decoded, body);
  (void)opened_json(Catalog::built_in(), envelope, body, options());
  if (!read.whole) return;
  CHECK(read.rest == wanted.rest && decoded.rest == wanted.rest);
  const protocol::Json ours = protocol::Json::parse(read.json);
  // What is no number has a name here, and none there.
  if (read.json.find("NaN\"") == std::string::npos && read.json.find("Infinity\"") == std::string::npos)
    CHECK(ours.dump() == protocol::Json::parse(wanted.json.dump()).dump());
  CHECK(protocol::Json::parse(unknown_json(read.unknown)) == wanted.unknown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto& entries = protocol::message_entries();
  const protocol::MessageEntry& entry = entries[(static_cast<std::size_t>(data[0]) << 8 | data[1]) % entries.size()];
  const int version = entry.lowest_version + data[2] % (entry.highest_version - entry.lowest_version + 1);
  const base::Bytes body = base::Bytes::copy_of({data + 3, size - 3});
  compare(entry, version, body);

  const Catalog& catalog = Catalog::built_in();
  const Envelope framed = catalog.envelope(*catalog.find(entry.name), version);
  print(decode(catalog, framed, body, options()), body);
  (void)decode_json(framed, body);
  if (const auto request = recognize_request(catalog, body.span()))
    print(decode(catalog, *request, body, options()), body);
  print(decode_records(catalog, body, options()), body);
  static protocol::Decompressor decompressor;
  const std::string records =
      records_json(catalog, body.span(), decompressor,
                   {.max_unpacked_bytes = 1 << 20, .opened = true, .topic = "__consumer_offsets"});
  CHECK(protocol::Json::accept(records));
  return 0;
}
