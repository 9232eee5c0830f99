#include "inspect/gss_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/endian.h"
#include "inspect/value_text.h"

namespace thalweg::inspect {

namespace {

using Span = std::span<const std::uint8_t>;
using base::load_be;

constexpr std::size_t kBytesLimit = 64;
constexpr std::size_t kTextLimit = 256;

// Tags of DER.
constexpr std::uint8_t kToken = 0x60;  // [APPLICATION 0]
constexpr std::uint8_t kOid = 0x06;
constexpr std::uint8_t kInteger = 0x02;
constexpr std::uint8_t kSequence = 0x30;
constexpr std::uint8_t kKrbError = 0x7e;   // [APPLICATION 30]
constexpr std::uint8_t kErrorCode = 0xa6;  // [6]

// A value of DER: how many bytes stand in front of it, and how long it is.
struct DerValue {
  std::size_t front = 0;
  std::size_t size = 0;
};

// The value that `bytes` begin with, of this tag and not longer than they are.
std::optional<DerValue> der_value(Span bytes, std::uint8_t tag) {
  if (bytes.size() < 2 || bytes[0] != tag) return std::nullopt;
  DerValue value{.front = 2, .size = bytes[1]};
  constexpr std::uint8_t kLong = 0x80;
  if (bytes[1] >= kLong) {
    const std::size_t digits = bytes[1] - kLong;
    if (digits == 0 || digits > 4 || bytes.size() < 2 + digits) return std::nullopt;
    value.size = 0;
    for (std::size_t i = 0; i < digits; ++i) value.size = value.size << 8U | bytes[2 + i];
    value.front += digits;
  }
  if (value.size > bytes.size() - value.front) return std::nullopt;
  return value;
}

// An OID as 1.2.840.113554; empty where the bytes are none.
std::string oid_text(Span bytes) {
  std::string text;
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) {
    if (number >> 56U != 0) return {};
    number = number << 7U | (byte & 0x7fU);
    if ((byte & 0x80U) != 0) continue;
    if (text.empty()) {
      // The first two numbers share one.
      const std::uint64_t first = std::min<std::uint64_t>(number / 40, 2);
      text = fmt::format("{}.{}", first, number - first * 40);
    } else {
      text += fmt::format(".{}", number);
    }
    number = 0;
  }
  return !bytes.empty() && (bytes.back() & 0x80U) == 0 ? text : std::string();
}

struct Mechanism {
  std::string_view oid;
  std::string_view name;
  bool kerberos;
};
constexpr Mechanism kMechanisms[] = {
    {"1.2.840.113554.1.2.2", "Kerberos 5", true},
    {"1.2.840.48018.1.2.2", "Kerberos 5 of Microsoft", true},
    {"1.3.6.1.5.5.2", "SPNEGO", false},
};

// What the two bytes behind the OID of Kerberos say.
struct Kind {
  std::uint16_t id;
  std::string_view name;
  std::string_view about;
  bool secret;
};
constexpr Kind kKinds[] = {
    {0x0100, "AP-REQ", "the client's ticket for the service, and proof that it is its own", true},
    {0x0200, "AP-REP", "proof that the service could read the ticket", true},
    {0x0300, "KRB-ERROR", "why the service refused", false},
    {0x0101, "MIC", "a checksum alone, in the form before RFC 4121", true},
    {0x0201, "Wrap", "wrapped data in the form before RFC 4121", true},
};

// Errors in KRB-ERROR that a client of a broker meets, as RFC 4120 numbers them.
struct ErrorMeaning {
  std::int64_t code;
  std::string_view meaning;
};
constexpr ErrorMeaning kErrors[] = {
    {7, "the service is not known to Kerberos"},
    {31, "the service's key does not fit"},
    {32, "the ticket has expired"},
    {33, "the ticket is not valid yet"},
    {34, "the request has been seen before"},
    {35, "the ticket is for another service"},
    {36, "ticket and authenticator name different clients"},
    {37, "the clocks differ too much"},
    {41, "the message has been changed"},
    {44, "the service has no key of that version"},
    {45, "the service's key is not available"},
};

std::string_view find_meaning(std::int64_t code) {
  const auto* found = std::ranges::find(kErrors, code, &ErrorMeaning::code);
  return found == std::end(kErrors) ? std::string_view() : found->meaning;
}

// The number of the error in a KRB-ERROR.
std::optional<std::int64_t> error_code(Span message) {
  const auto inside = [](Span bytes, const DerValue& value) { return bytes.subspan(value.front, value.size); };
  const auto error = der_value(message, kKrbError);
  if (!error) return std::nullopt;
  const Span outer = inside(message, *error);
  const auto sequence = der_value(outer, kSequence);
  if (!sequence) return std::nullopt;
  Span fields = inside(outer, *sequence);
  while (!fields.empty()) {
    const auto field = der_value(fields, fields[0]);
    if (!field) return std::nullopt;
    const Span content = inside(fields, *field);
    const auto number = fields[0] == kErrorCode ? der_value(content, kInteger) : std::nullopt;
    if (number && number->size >= 1 && number->size <= 4) {
      const Span digits = inside(content, *number);
      std::int64_t code = (digits[0] & 0x80U) != 0 ? -1 : 0;
      for (const std::uint8_t digit : digits) code = code * 256 + digit;
      return code;
    }
    fields = fields.subspan(field->front + field->size);
  }
  return std::nullopt;
}

// Cuts a token into nodes from its front.
class Parts {
 public:
  explicit Parts(Span token) : token_(token) {}

  // The next part, of `size` bytes whose last `content` are its value.
  Node& add(std::string_view name, std::string_view type, std::size_t size, std::size_t content, std::string value,
            std::string_view about) {
    Node node;
    node.name = name;
    node.type = type;
    node.value = std::move(value);
    node.about = about;
    node.kind = NodeKind::scalar;
    node.part = Part::message_body;
    node.offset = at_;
    node.size = size;
    node.content_size = content;
    at_ += size;
    nodes_.push_back(std::move(node));
    return nodes_.back();
  }
  void add_bytes(std::string_view name, std::size_t size, std::string_view about, bool secret) {
    if (size == 0) return;
    add(name, "bytes", size, size, bytes_text(left().first(size), kBytesLimit), about).secret = secret;
  }
  [[nodiscard]] Span left() const { return token_.subspan(at_); }
  std::vector<Node> done() && { return std::move(nodes_); }

 private:
  Span token_;
  std::size_t at_ = 0;
  std::vector<Node> nodes_;
};

// -- tokens with a frame --

void add_kerberos(Parts& parts) {
  constexpr std::size_t kIdSize = 2;
  if (parts.left().size() < kIdSize) return;
  const auto id = load_be<std::uint16_t>(parts.left().data());
  const auto* kind = std::ranges::find(kKinds, id, &Kind::id);
  if (kind == std::end(kKinds)) return;
  parts.add("token_id", "uint16", kIdSize, kIdSize, fmt::format("{:#06x}", id), "which message of Kerberos follows")
      .encoding = kind->name;
  const std::optional<std::int64_t> code = kind->name == "KRB-ERROR" ? error_code(parts.left()) : std::nullopt;
  const std::size_t size = parts.left().size();
  if (!code) return parts.add_bytes(kind->name, size, kind->about, kind->secret);
  Node& error = parts.add(kind->name, "bytes", size, size, fmt::format("error {}", *code), kind->about);
  error.encoding = find_meaning(*code);
}

std::vector<Node> framed_nodes(Span token) {
  const auto outer = der_value(token, kToken);
  if (!outer || outer->front + outer->size != token.size()) return {};
  const auto oid = der_value(token.subspan(outer->front), kOid);
  const std::string name = oid ? oid_text(token.subspan(outer->front + oid->front, oid->size)) : "";
  if (name.empty()) return {};
  Parts parts(token);
  parts.add("frame", "", outer->front, 0, "", "tag 0x60 and the length of what follows").encoding =
      counted(outer->size, "byte");
  const auto* mechanism = std::ranges::find(kMechanisms, name, &Mechanism::oid);
  const bool known = mechanism != std::end(kMechanisms);
  Node& node = parts.add("mechanism", "OID", oid->front + oid->size, oid->size, name, "what the token is of");
  if (known) node.encoding = mechanism->name;
  if (known && mechanism->kerberos) add_kerberos(parts);
  parts.add_bytes("token", parts.left().size(), "the mechanism's own", true);
  return std::move(parts).done();
}

// -- wrapped data --

constexpr std::size_t kWrapHeader = 16;
constexpr std::uint8_t kByAcceptor = 0x01;
constexpr std::uint8_t kSealed = 0x02;
constexpr std::uint8_t kSubkey = 0x04;

std::string bits_text(std::uint8_t bits, std::span<const std::pair<std::uint8_t, std::string_view>> names) {
  std::string text;
  for (const auto& [bit, name] : names) {
    if ((bits & bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text.empty() ? "none" : text;
}

// What SASL says in wrapped data once Kerberos is done: what the sender offers or has chosen, how much it can take at
// once, and of the client who is to be acted for.
void add_layers(Parts& parts, std::size_t size, bool from_client) {
  static constexpr std::pair<std::uint8_t, std::string_view> kLayers[] = {
      {0x01, "no layer"}, {0x02, "integrity"}, {0x04, "confidentiality"}};
  constexpr std::size_t kSize = 4;
  constexpr std::uint8_t kKnown = 0x07;
  const Span data = parts.left().first(size);
  if (size < kSize || (data[0] & ~kKnown) != 0 || data[0] == 0 || (!from_client && size > kSize))
    return parts.add_bytes("data", size, "what was wrapped", true);
  const std::uint32_t most = load_be<std::uint32_t>(data.data()) & 0x00ffffffU;
  parts
      .add("security_layers", "uint8", 1, 1, fmt::format("{}", data[0]),
           from_client ? "the layer that the client has chosen" : "the layers that the server offers, a bit each")
      .encoding = bits_text(data[0], kLayers);
  parts.add("max_size", "uint24", 3, 3, fmt::format("{}", most),
            "bytes that the sender can take in one wrapped token; 0 without a layer");
  if (size == kSize) return;
  const Span who = data.subspan(kSize);
  parts.add("authzid", "string", who.size(), who.size(),
            quoted({reinterpret_cast<const char*>(who.data()), who.size()}, kTextLimit), "who is to be acted for");
}

std::vector<Node> wrapped_nodes(Span token, bool from_client) {
  static constexpr std::pair<std::uint8_t, std::string_view> kFlags[] = {
      {kByAcceptor, "sent by the acceptor"}, {kSealed, "sealed"}, {kSubkey, "the acceptor's subkey"}};
  constexpr std::uint16_t kWrap = 0x0504;
  constexpr std::uint8_t kFiller = 0xff;
  if (token.size() < kWrapHeader || load_be<std::uint16_t>(token.data()) != kWrap || token[3] != kFiller ||
      (token[2] & ~(kByAcceptor | kSealed | kSubkey)) != 0)
    return {};
  const std::uint8_t flags = token[2];
  const auto extra = load_be<std::uint16_t>(token.data() + 4);
  const auto rotated = load_be<std::uint16_t>(token.data() + 6);
  const bool sealed = (flags & kSealed) != 0;
  Parts parts(token);
  parts.add("token_id", "uint16", 2, 2, "0x0504", "wrapped data").encoding = "Wrap";
  parts.add("flags", "uint8", 1, 1, fmt::format("{}", flags), "who has sent it, and how").encoding =
      bits_text(flags, kFlags);
  parts.add("filler", "uint8", 1, 1, "255", "always 0xff");
  parts.add("extra_count", "uint16", 2, 2, fmt::format("{}", extra),
            sealed ? "bytes of padding behind the data" : "bytes of the checksum");
  parts.add("right_rotation", "uint16", 2, 2, fmt::format("{}", rotated),
            "by how many bytes what follows is turned to the right");
  parts.add("sequence_number", "uint64", 8, 8, fmt::format("{}", load_be<std::uint64_t>(token.data() + 8)),
            "counts what one side has sent");
  const std::size_t size = parts.left().size();
  const std::string_view checksum = "that nobody has changed the data";
  if (sealed) {
    parts.add_bytes("sealed", size, "data, padding and checksum, encrypted", true);
  } else if (extra <= size && (rotated == 0 || rotated == size)) {
    add_layers(parts, size - extra, from_client);
    parts.add_bytes("checksum", extra, checksum, true);
  } else if (extra <= size && rotated == extra) {
    // Turned so that the checksum comes first.
    parts.add_bytes("checksum", extra, checksum, true);
    add_layers(parts, size - extra, from_client);
  } else {
    parts.add_bytes("rotated", size, "data and checksum, turned so that neither is whole", true);
  }
  return std::move(parts).done();
}

}  // namespace

std::vector<Node> gss_nodes(Span token, bool from_client) {
  std::vector<Node> nodes = framed_nodes(token);
  return nodes.empty() ? wrapped_nodes(token, from_client) : nodes;
}

}  // namespace thalweg::inspect
