// Reply: what a handler's answer becomes on the wire, or why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "broker/request_context.h"
#include "protocol/api_key.h"
#include "protocol/wire.h"

namespace thalweg::server {

struct Reply {
  base::BufferChain frame;  // size and header included; empty where nothing is answered (acks=0)
  bool close = false;       // the connection ends once the frame is sent
  std::string fault;        // why the connection ends, for the log
};

namespace internal {

template <class Response>
Reply encode_reply(const broker::RequestContext& context, const Response& response, int version) {
  protocol::Writer writer(256);
  writer.fixed(std::int32_t{0});
  writer.fixed(context.correlation_id);
  // The answer to ApiVersions has the old header in every version, for clients that do not know yet what we speak.
  if (version >= Response::kFirstFlexibleVersion && Response::kApiKey != protocol::ApiKey::api_versions)
    writer.uvarint(0);
  response.encode(writer, version);
  Reply reply;
  if (!writer.ok()) {
    reply.close = true;
    reply.fault = std::string("cannot write the answer: ") + writer.fault();
    return reply;
  }
  writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
  reply.frame = std::move(writer).finish();
  return reply;
}

}  // namespace internal

}  // namespace thalweg::server
