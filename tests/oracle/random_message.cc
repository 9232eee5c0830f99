#include "oracle/random_message.h"

#include <array>
#include <cmath>

#include "base/text.h"
#include "base/uuid.h"
#include "codegen/names.h"

namespace thalweg::oracle {

using protocol::Json;
using schema::Field;
using schema::Kind;
using schema::Message;
using schema::Struct;

Json RandomMessage::integer(std::int64_t lowest, std::int64_t highest) {
  static constexpr std::array<std::int64_t, 12> kEdges = {0,   1,     -1,    127,     128,     -128,
                                                          255, 16383, 16384, 2097151, 2097152, 7};
  if (chance(15)) return lowest;
  if (chance(15)) return highest;
  if (chance(50)) {
    const std::int64_t edge = kEdges[below(kEdges.size())];
    if (edge >= lowest && edge <= highest) return edge;
  }
  return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random_);
}

std::string RandomMessage::text() {
  static constexpr std::array<std::string_view, 10> kPieces = {
      "a", "topic-0", "\"", "\\", "\n", "\xc3\xa9", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "\x7f", "\xef\xbf\xbf"};
  std::string result;
  if (chance(3)) return std::string(below(3) * 100 + 27, 'x');
  for (std::uint64_t n = below(4); n > 0; --n) result += kPieces[below(kPieces.size())];
  return result;
}

std::vector<std::uint8_t> RandomMessage::bytes(std::size_t most) {
  std::vector<std::uint8_t> result(below(most + 1));
  for (std::uint8_t& byte : result) byte = static_cast<std::uint8_t>(below(256));
  return result;
}

Json RandomMessage::value(const Message& message, const Field& field, int version, int depth) {
  switch (field.type.kind) {
    case Kind::boolean:
      return chance(50);
    case Kind::int8:
      return integer(INT8_MIN, INT8_MAX);
    case Kind::int16:
      return integer(INT16_MIN, INT16_MAX);
    case Kind::uint16:
      return integer(0, UINT16_MAX);
    case Kind::int32:
      return integer(INT32_MIN, INT32_MAX);
    case Kind::uint32:
      return integer(0, UINT32_MAX);
    case Kind::int64:
      return integer(INT64_MIN, INT64_MAX);
    case Kind::float64:
      return std::ldexp(static_cast<double>(below(1U << 20)) - 500000.5, static_cast<int>(below(40)) - 20);
    case Kind::string:
      return text();
    case Kind::bytes:
    case Kind::records:
      return protocol::base64_encode(bytes(chance(5) ? 300 : 20));
    case Kind::uuid: {
      base::Uuid uuid;
      if (!chance(20))
        for (std::uint8_t& byte : uuid.bytes) byte = static_cast<std::uint8_t>(below(256));
      return uuid.str();
    }
    case Kind::structure:
      return structure(message, *message.find_struct(field.type.name), version, depth + 1);
  }
  return nullptr;
}

Json RandomMessage::structure(const Message& message, const Struct& s, int version, int depth) {
  Json json = Json::object();
  for (const Field& field : s.fields) {
    if (!field.versions.contains(version)) continue;
    if (field.is_tagged() && chance(40)) continue;
    const std::string key = codegen::json_key(field.name);
    if (field.nullable.contains(version) && chance(25)) {
      json[key] = nullptr;
    } else if (field.type.array) {
      Json array = Json::array();
      for (std::uint64_t n = below(depth > 2 ? 2 : 4); n > 0; --n)
        array.push_back(value(message, field, version, depth));
      json[key] = std::move(array);
    } else {
      json[key] = value(message, field, version, depth);
    }
  }
  return json;
}

Json RandomMessage::make(const Message& message, int version) { return structure(message, message.root, version, 0); }

Json RandomMessage::unknown_fields(const Message& message, int version) {
  Json fields = Json::array();
  if (!message.flexible.contains(version) || !chance(30)) return fields;
  std::uint64_t tag = 100;
  for (std::uint64_t n = 1 + below(3); n > 0; --n) {
    fields.push_back(Json{{"path", ""}, {"tag", tag}, {"hex", base::hex_encode(bytes(8))}});
    tag += 1 + below(20000);
  }
  return fields;
}

}  // namespace thalweg::oracle
