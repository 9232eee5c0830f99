// What stands in front of every request: the header, in both versions, then the body of the API it names.
#include <cstdint>

#include "protocol/messages/request_header.h"
#include "vectors/message_json.h"

namespace protocol = thalweg::protocol;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const protocol::Bytes frame = protocol::Bytes::copy_of({data, size});
  for (const int header_version : {1, 2}) {
    protocol::Reader reader(frame);
    protocol::RequestHeader header;
    header.decode(reader, header_version);
    if (!reader.ok()) continue;
    const protocol::ApiInfo* api = protocol::find_api(header.request_api_key);
    if (api == nullptr || header.request_api_version < api->lowest || header.request_api_version > api->highest)
      continue;
    const protocol::MessageEntry* entry = protocol::find_message(std::string(api->name) + "Request");
    if (entry != nullptr) (void)entry->decode(frame.slice(reader.position()), header.request_api_version);
  }
  return 0;
}
