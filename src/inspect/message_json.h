// A message as the reference's own JSON, made from its bytes along the schema, without a tree between.
//
//   keys        names of the fields with a small first letter, in the order of the schema
//   bytes       base64, records too; uuids as URL-safe base64
//   left out    fields that the version lacks, tagged fields at their default
//   beside it   unknown tagged fields, which no key of the JSON can hold
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "schema/message.h"

namespace thalweg::inspect {

struct UnknownTag {
  std::string path;  // of the structure it stands in, such as topics[0].partitions[1]; empty for the message itself
  std::uint32_t tag = 0;
  base::Bytes data;
};

struct MessageJson {
  bool whole = false;  // false: the bytes are not such a message, and the rest says nothing; walk() tells why
  std::string json;    // one line, ASCII
  std::vector<UnknownTag> unknown;
  std::size_t rest = 0;  // bytes behind the message that nothing has read
};

// Reads a body: `bytes` begin with the first field of `message`. Takes and refuses the same bytes as the generated
// codecs and the walker.
MessageJson message_json(const schema::Message& message, int version, const base::Bytes& bytes);

// [{"path":"topics[0]","tag":100,"hex":"aa"}], as the oracle has it.
std::string unknown_json(const std::vector<UnknownTag>& unknown);

}  // namespace thalweg::inspect
