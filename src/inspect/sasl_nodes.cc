#include "inspect/sasl_nodes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "inspect/gss_nodes.h"
#include "inspect/value_text.h"

namespace thalweg::inspect {

namespace {

constexpr std::size_t kTextLimit = 256;
// What parts the key-value pairs of OAUTHBEARER.
constexpr char kPairEnd = '\x01';

struct Attribute {
  char letter;
  std::string_view name;
  std::string_view about;
  bool secret;
};
// Of SCRAM, client and server.
constexpr Attribute kAttributes[] = {
    {'a', "authzid", "who is to be acted for", false},
    {'n', "user", "who logs in; = and , stand there as =3D and =2C", false},
    {'r', "nonce", "random text of the client, then of the server", false},
    {'c', "channel_binding", "the first header again, as base64", false},
    {'s', "salt", "random bytes mixed into the password, as base64", true},
    {'i', "iterations", "how often the password was hashed", false},
    {'p', "proof", "that the client knows the password, as base64", true},
    {'v', "verifier", "that the server knows the credential, as base64", true},
    {'e', "error", "why the server refused", false},
    {'m', "extension", "a mandatory extension", false},
    {'t', "tokenauth", "true: the user is a delegation token", false},
};

std::vector<Node> message_of(std::string_view mechanism, std::size_t size, std::vector<Node> parts) {
  std::vector<Node> nodes(1);
  Node& root = nodes.front();
  root.name = mechanism;
  root.type = "SASL";
  root.part = Part::message_body;
  root.size = size;
  root.children = std::move(parts);
  return nodes;
}

// Cuts one text into nodes from left to right.
class Cutter {
 public:
  Cutter(std::string_view text, std::string_view mechanism) : text_(text), mechanism_(mechanism) {}

  // How many of a node's bytes stand around its value.
  struct Around {
    std::size_t front = 0;
    std::size_t back = 0;
  };
  void cut(std::string_view name, std::string_view about, std::size_t size, Around around, bool secret) {
    Node node;
    node.name = name;
    node.type = "string";
    node.about = about;
    node.kind = NodeKind::scalar;
    node.part = Part::message_body;
    node.offset = at_;
    node.size = size;
    node.content_size = size - around.front - around.back;
    node.value = quoted(text_.substr(at_ + around.front, node.content_size), kTextLimit);
    node.secret = secret;
    at_ += size;
    parts_.push_back(std::move(node));
  }
  [[nodiscard]] std::string_view left() const { return text_.substr(at_); }
  std::vector<Node> done() && { return message_of(mechanism_, text_.size(), std::move(parts_)); }

 private:
  std::string_view text_;
  std::string_view mechanism_;
  std::size_t at_ = 0;
  std::vector<Node> parts_;
};

// y, n or p=name, a comma, perhaps a=authzid, a comma: what SCRAM and OAUTHBEARER begin with; 0 where it is something
// else.
std::size_t gs2_header(std::string_view text) {
  if (!text.starts_with("n,") && !text.starts_with("y,") && !text.starts_with("p=")) return 0;
  const std::size_t first = text.find(',');
  if (first == std::string_view::npos) return 0;
  const std::size_t second = text.find(',', first + 1);
  if (second == std::string_view::npos || (second != first + 1 && !text.substr(first + 1).starts_with("a="))) return 0;
  return second + 1;
}

const Attribute* find_attribute(char letter) {
  const auto* found = std::ranges::find(kAttributes, letter, &Attribute::letter);
  return found == std::end(kAttributes) ? nullptr : found;
}

// Whether every part between commas is a letter, = and more, as in SCRAM.
bool is_scram(std::string_view text) {
  if (std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; })) return false;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    if (part.size() < 2 || part[1] != '=') return false;
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return true;
}

void cut_scram(Cutter& cutter) {
  while (!cutter.left().empty()) {
    const std::size_t end = cutter.left().find(',');
    const bool last = end == std::string_view::npos;
    const Attribute* attribute = find_attribute(cutter.left()[0]);
    // The comma belongs to the part in front of it.
    cutter.cut(attribute == nullptr ? "attribute" : attribute->name,
               attribute == nullptr ? "an extension" : attribute->about, last ? cutter.left().size() : end + 1,
               {.front = 2, .back = last ? 0U : 1U}, attribute == nullptr || attribute->secret);
  }
}

void cut_pairs(Cutter& cutter) {
  while (!cutter.left().empty()) {
    const std::size_t end = cutter.left().find(kPairEnd);
    const bool last = end == std::string_view::npos;
    const std::size_t size = last ? cutter.left().size() : end + 1;
    const std::string_view pair = cutter.left().substr(0, size - (last ? 0 : 1));
    const std::size_t equals = pair.find('=');
    const bool named = equals != std::string_view::npos;
    const std::string name = named ? std::string(pair.substr(0, equals)) : "end";
    const bool plain = name == "host" || name == "port" || name == "end";
    cutter.cut(quoted(name, kTextLimit),
               name == "auth" ? "the token that logs in"
               : named        ? "of the client"
                              : "no more",
               size, {.front = named ? equals + 1 : 0, .back = last ? 0U : 1U}, !plain);
  }
}

}  // namespace

std::vector<Node> sasl_nodes(std::span<const std::uint8_t> bytes, bool from_client) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return {};
  if (std::vector<Node> parts = gss_nodes(bytes, from_client); !parts.empty())
    return message_of("GSSAPI", text.size(), std::move(parts));
  const std::size_t header = from_client ? gs2_header(text) : 0;
  if (header > 0 &&
      (header == text.size() || text[header] == kPairEnd || text.find(kPairEnd) != std::string_view::npos)) {
    Cutter cutter(text, "OAUTHBEARER");
    cutter.cut("header", "channel binding and who is to be acted for", header, {}, false);
    if (cutter.left().starts_with(kPairEnd)) cutter.cut("begin", "the pairs follow", 1, {}, false);
    cut_pairs(cutter);
    return std::move(cutter).done();
  }
  if (header > 0 && is_scram(text.substr(header))) {
    Cutter cutter(text, "SCRAM");
    cutter.cut("header", "channel binding and who is to be acted for", header, {}, false);
    cut_scram(cutter);
    return std::move(cutter).done();
  }
  if (is_scram(text) && (from_client ? text.starts_with("c=") : text.find_first_of("rve") == 0)) {
    Cutter cutter(text, "SCRAM");
    cut_scram(cutter);
    return std::move(cutter).done();
  }
  const std::size_t first = text.find('\0');
  const std::size_t second = first == std::string_view::npos ? first : text.find('\0', first + 1);
  if (from_client && second != std::string_view::npos && text.find('\0', second + 1) == std::string_view::npos &&
      second > first + 1) {
    Cutter cutter(text, "PLAIN");
    cutter.cut("authzid", "who is to be acted for; empty: the user", first, {}, false);
    cutter.cut("user", "who logs in", second - first, {.front = 1}, false);
    cutter.cut("password", "password of the user", text.size() - second, {.front = 1}, true);
    return std::move(cutter).done();
  }
  return {};
}

}  // namespace thalweg::inspect
