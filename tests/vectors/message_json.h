// Messages to the JSON of the Java reference and back, for tests only: bytes as base64, uuids as URL-safe base64, text
// as the reference shows it (a bad UTF-8 sequence becomes U+FFFD), unknown tagged fields beside the JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "protocol/wire.h"

namespace thalweg::protocol {

using Json = nlohmann::ordered_json;

std::string base64_encode(std::span<const std::uint8_t> bytes);
Bytes base64_decode(std::string_view text);
// Text as Java decodes UTF-8: each bad sequence becomes U+FFFD.
std::string java_text(std::string_view bytes);

// Follows the path of the structure being printed, to name where unknown tagged fields stood.
class JsonContext {
 public:
  void note(const UnknownTaggedFields& fields);
  [[nodiscard]] const Json& unknown() const { return unknown_; }
  void enter(std::string step) { steps_.push_back(std::move(step)); }
  void leave() { steps_.pop_back(); }

 private:
  std::vector<std::string> steps_;
  Json unknown_ = Json::array();
};

inline Json json_of(bool v) { return v; }
template <std::integral T>
Json json_of(T v) {
  return v;
}
inline Json json_of(double v) { return v; }
inline Json json_of(ErrorCode v) { return static_cast<std::int16_t>(v); }
inline Json json_of(BrokerId v) { return v.value(); }
inline Json json_of(ProducerId v) { return v.value(); }
inline Json json_of(const String& v) { return java_text(v.view()); }
inline Json json_of(const Bytes& v) { return base64_encode(v.span()); }
inline Json json_of(const Records& v) { return base64_encode(v.flatten().span()); }
inline Json json_of(const Uuid& v) { return v.str(); }

template <class T, class Element>
void put(Json& json, const char* key, const T& value, JsonContext& context, const Element& element);

template <class T, class Element>
Json value_json(const char* key, const T& value, JsonContext& context, const Element& element) {
  context.enter(key);
  Json result = element(value);
  context.leave();
  return result;
}
template <class T, class Element>
Json value_json(const char* key, const std::vector<T>& value, JsonContext& context, const Element& element) {
  Json array = Json::array();
  for (std::size_t i = 0; i < value.size(); ++i) {
    context.enter(std::string(key) + "[" + std::to_string(i) + "]");
    array.push_back(element(value[i]));
    context.leave();
  }
  return array;
}
template <class T, class Element>
Json value_json(const char* key, const std::optional<T>& value, JsonContext& context, const Element& element) {
  return value ? value_json(key, *value, context, element) : Json(nullptr);
}
template <class T, class Element>
void put(Json& json, const char* key, const T& value, JsonContext& context, const Element& element) {
  json[key] = value_json(key, value, context, element);
}

inline void value_of(const Json& j, bool& v) { v = j.get<bool>(); }
template <std::integral T>
void value_of(const Json& j, T& v) {
  v = j.get<T>();
}
inline void value_of(const Json& j, double& v) { v = j.get<double>(); }
inline void value_of(const Json& j, ErrorCode& v) { v = static_cast<ErrorCode>(j.get<std::int16_t>()); }
inline void value_of(const Json& j, BrokerId& v) { v = BrokerId(j.get<std::int32_t>()); }
inline void value_of(const Json& j, ProducerId& v) { v = ProducerId(j.get<std::int64_t>()); }
template <std::derived_from<String> S>
void value_of(const Json& j, S& v) {
  v = S(std::string_view(j.get_ref<const std::string&>()));
}
inline void value_of(const Json& j, Bytes& v) { v = base64_decode(j.get_ref<const std::string&>()); }
inline void value_of(const Json& j, Records& v) { v = Records(base64_decode(j.get_ref<const std::string&>())); }
inline void value_of(const Json& j, Uuid& v) { v = Uuid::parse(j.get_ref<const std::string&>()).value(); }

template <class T, class Element>
void read_value(const Json& j, T& value, const Element& element) {
  element(j, value);
}
template <class T, class Element>
void read_value(const Json& j, std::vector<T>& value, const Element& element) {
  value.clear();
  for (const Json& item : j) element(item, value.emplace_back());
}
template <class T, class Element>
void read_value(const Json& j, std::optional<T>& value, const Element& element) {
  if (j.is_null()) {
    value.reset();
  } else {
    read_value(j, value.emplace(), element);
  }
}
template <class T, class Element>
void get(const Json& json, const char* key, T& value, const Element& element) {
  if (const auto it = json.find(key); it != json.end()) read_value(*it, value, element);
}

// What a decoder made of some bytes.
struct Decoded {
  std::optional<std::string> fault;
  Json json;
  Json unknown = Json::array();
  std::size_t rest = 0;      // bytes left unread
  Bytes encoded;             // the message written again
  bool size_agrees = false;  // encoded_size said what encode wrote
  std::optional<std::string> encode_fault;
};

struct MessageEntry {
  std::string_view name;
  int lowest_version;
  int highest_version;
  int first_flexible_version;
  Decoded (*decode)(const Bytes& wire, int version);
  // Decodes and drops the message; true where it could be read.
  bool (*decode_only)(const Bytes& wire, int version);
  // Nothing, with a reason in `fault`, where the JSON cannot be written in this version.
  std::optional<Bytes> (*encode)(const Json& json, int version, std::string& fault);
  Json (*to_json)(const Json& json, int version);
};

template <class M>
struct EntryCode {
  static inline Json (*to_json)(const M&, int, JsonContext&) = nullptr;
  static inline void (*from_json)(const Json&, M&, int) = nullptr;

  static Decoded decode(const Bytes& wire, int version) {
    Decoded result;
    Reader reader(wire);
    M message;
    message.decode(reader, version);
    if (!reader.ok()) {
      result.fault = reader.fault();
      return result;
    }
    result.rest = reader.remaining();
    JsonContext context;
    result.json = to_json(message, version, context);
    result.unknown = context.unknown();
    Writer writer;
    message.encode(writer, version);
    if (!writer.ok()) result.encode_fault = writer.fault();
    result.encoded = std::move(writer).finish().flatten();
    result.size_agrees = message.encoded_size(version) == result.encoded.size();
    return result;
  }
  static bool decode_only(const Bytes& wire, int version) {
    Reader reader(wire);
    M message;
    message.decode(reader, version);
    return reader.ok();
  }
  static std::optional<Bytes> encode(const Json& json, int version, std::string& fault) {
    M message;
    from_json(json, message, version);
    Writer writer(16);  // small, so that blocks grow while a message is written
    message.encode(writer, version);
    if (!writer.ok()) {
      fault = writer.fault();
      return std::nullopt;
    }
    return std::move(writer).finish().flatten();
  }
  static Json again(const Json& json, int version) {
    M message;
    from_json(json, message, version);
    JsonContext context;
    return to_json(message, version, context);
  }
};

template <class M>
MessageEntry make_entry(Json (*to_json)(const M&, int, JsonContext&), void (*from_json)(const Json&, M&, int)) {
  EntryCode<M>::to_json = to_json;
  EntryCode<M>::from_json = from_json;
  return {M::kName,
          M::kLowestVersion,
          M::kHighestVersion,
          M::kFirstFlexibleVersion,
          EntryCode<M>::decode,
          EntryCode<M>::decode_only,
          EntryCode<M>::encode,
          EntryCode<M>::again};
}

// Every message that has a version.
const std::vector<MessageEntry>& message_entries();
// The entry of that name, or null.
const MessageEntry* find_message(std::string_view name);

}  // namespace thalweg::protocol
