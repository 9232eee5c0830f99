#include "server/request_header.h"

#include <optional>

#include "protocol/api_key.h"
#include "protocol/wire.h"

namespace thalweg::server {

const char* parse_header(const base::Bytes& frame, RequestHeader& header) {
  protocol::Reader reader(frame);
  header.api_key = reader.fixed<std::int16_t>();
  header.api_version = reader.fixed<std::int16_t>();
  header.correlation_id = reader.fixed<std::int32_t>();
  if (!reader.ok()) return "a request too short for its header";
  const protocol::ApiInfo* api = protocol::find_api(header.api_key);
  if (api == nullptr) return "an unknown API key";
  std::optional<protocol::String> client_id;
  reader.nullable_string(client_id, false, true);
  if (client_id) header.client_id = client_id->view();
  if (header.api_version >= api->first_flexible) {
    protocol::UnknownTaggedFields ignored;
    for (std::uint32_t left = reader.tagged_field_count(); left > 0 && reader.ok(); --left) {
      const std::uint32_t tag = reader.uvarint();
      const std::uint32_t size = reader.uvarint();
      reader.unknown_tagged_field(ignored, tag, size);
    }
  }
  if (!reader.ok()) return "an unreadable request header";
  header.size = reader.position();
  return nullptr;
}

std::string_view api_name(std::int16_t key) {
  const protocol::ApiInfo* api = protocol::find_api(key);
  return api == nullptr ? std::string_view("unknown") : api->name;
}

}  // namespace thalweg::server
