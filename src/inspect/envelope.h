// What some bytes are: a message in a version, and what stands in front of its body.
//
//   framed          size int32, request or response header, body
//   record_key      type int16, body                      keys of the coordinators' logs
//   record_value    version int16, body                   values of the coordinators' logs
//   versioned       version int16, body                   what clients and brokers put into bytes fields
//   metadata_record frame version, type, version: unsigned varints; then the body
//   headed          request or response header, body      what Envelope carries
//   bare            the body alone
#pragma once

#include <cstdint>

#include "schema/message.h"

namespace thalweg::inspect {

enum class Framing : std::uint8_t { bare, framed, headed, record_key, record_value, versioned, metadata_record };

struct Envelope {
  const schema::Message* message = nullptr;
  int version = 0;
  Framing framing = Framing::bare;
  // Framed and headed only.
  const schema::Message* header = nullptr;
  int header_version = 0;

  // The same message without what stands in front of its body.
  [[nodiscard]] Envelope body() const { return {.message = message, .version = version}; }
};

// The frame version that records of the metadata log begin with.
inline constexpr std::uint32_t kMetadataFrameVersion = 1;

}  // namespace thalweg::inspect
