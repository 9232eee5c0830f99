#include "inspect/secrets.h"

#include <algorithm>

#include "inspect/value_text.h"

namespace thalweg::inspect {

namespace {

constexpr SecretField kFields[] = {
    {"SaslAuthenticateRequest", "AuthBytes", ""},
    {"SaslAuthenticateResponse", "AuthBytes", ""},
    {"CreateDelegationTokenResponse", "Hmac", ""},
    {"RenewDelegationTokenRequest", "Hmac", ""},
    {"ExpireDelegationTokenRequest", "Hmac", ""},
    {"DescribeDelegationTokenResponse", "Hmac", ""},
    {"AlterUserScramCredentialsRequest", "Salt", ""},
    {"AlterUserScramCredentialsRequest", "SaltedPassword", ""},
    {"UserScramCredentialRecord", "Salt", ""},
    {"UserScramCredentialRecord", "StoredKey", ""},
    {"UserScramCredentialRecord", "ServerKey", ""},
    // Whole requests and responses of others, whatever they hold.
    {"EnvelopeRequest", "RequestData", "", true},
    {"EnvelopeResponse", "ResponseData", "", true},
    {"AlterConfigsRequest", "Value", "Name"},
    {"IncrementalAlterConfigsRequest", "Value", "Name"},
    {"DescribeConfigsResponse", "Value", "Name"},
    {"ConfigRecord", "Value", "Name"},
};

// What the keys of secret settings have in them, in Kafka and in what is built around it.
constexpr std::string_view kWords[] = {"password",    "passwd",  "secret",       "token",   "credential", "jaas",
                                       "private.key", "ssl.key", "keystore.key", "api.key", "access.key"};

class Marker {
 public:
  explicit Marker(std::string_view message) : message_(message) {}

  bool mark(Node& node) {
    bool found = node.secret;
    for (Node& child : node.children) found = mark_child(node, child) || found;
    bool inside = false;
    for (Node& opened : node.opened) {
      // What was opened is a message of its own, or a row of records.
      const bool message = opened.type.starts_with("message v");
      inside = Marker(message ? std::string_view(opened.name) : message_).mark(opened) || inside;
    }
    // The bytes of the whole are those of its parts.
    if (inside) node.secret = true;
    return found || inside;
  }

 private:
  bool mark_child(const Node& parent, Node& child) {
    if (child.field != nullptr && child.kind == NodeKind::scalar && !child.null && is_secret(parent, child))
      child.secret = true;
    return mark(child);
  }
  [[nodiscard]] bool is_secret(const Node& parent, const Node& child) const {
    return std::ranges::any_of(kFields, [&](const SecretField& secret) {
      if (secret.message != message_ || secret.field != child.field->name) return false;
      if (secret.is_message) return !child.opened_whole || may_hold_secrets(child.opened.front().name);
      if (secret.named_by.empty()) return true;
      const auto name = std::ranges::find(parent.children, secret.named_by, &Node::name);
      // Where the key cannot be told the value is taken for a secret.
      if (name == parent.children.end()) return true;
      return is_secret_setting(name->value);
    });
  }

  std::string_view message_;
};

}  // namespace

std::span<const SecretField> secret_fields() { return kFields; }

bool may_hold_secrets(std::string_view message) {
  return std::ranges::any_of(kFields, [&](const SecretField& secret) { return secret.message == message; });
}

bool is_secret_setting(std::string_view key) {
  std::string small(key);
  std::ranges::transform(small, small.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return std::ranges::any_of(kWords, [&](std::string_view word) { return small.contains(word); });
}

bool mark_secrets(Node& root, std::string_view message) { return Marker(message).mark(root); }

void hide_secrets(Node& root) {
  if (root.secret) {
    root.value = "redacted";
    // How long it is may be seen; an encoding of SASL's own is part of the secret.
    if (root.encoding.empty()) root.encoding = counted(root.content_size, "byte");
  }
  for (Node& child : root.children) hide_secrets(child);
  for (Node& inside : root.opened) hide_secrets(inside);
}

}  // namespace thalweg::inspect
