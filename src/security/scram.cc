#include "security/scram.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "security/scram_credential.h"

namespace thalweg::security {

namespace {

std::unexpected<SaslFailure> refuse(std::string reason, std::string told = {}) {
  return std::unexpected(SaslFailure{.reason = std::move(reason), .told = std::move(told)});
}

// Takes the part up to the next comma, and the comma, off `text`.
std::string_view next_part(std::string_view& text) {
  const std::size_t comma = text.find(',');
  const std::string_view part = text.substr(0, comma);
  text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  return part;
}

// The value of `k=value`.
std::optional<std::string_view> value_of(std::string_view part, char name) {
  if (part.size() < 2 || part[0] != name || part[1] != '=') return std::nullopt;
  return part.substr(2);
}

// A name has its commas written as =2C and its equals signs as =3D.
std::optional<std::string> unescaped(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const bool is_comma = name.starts_with("=2C");
    if (is_comma || name.starts_with("=3D")) {
      text.push_back(is_comma ? ',' : '=');
      name.remove_prefix(3);
    } else if (name.front() == '=' || name.front() == '\0') {
      return std::nullopt;
    } else {
      text.push_back(name.front());
      name.remove_prefix(1);
    }
  }
  return text;
}

bool is_nonce(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~' && c != ','; });
}

}  // namespace

ScramServer::ScramServer(records::ScramMechanism mechanism, std::string nonce)
    : hash_(hash_of(mechanism)), nonce_(std::move(nonce)) {}

SaslResult<ScramServer::Claim> ScramServer::begin(std::string_view message) {
  const std::string_view whole = message;
  const std::string_view binding = next_part(message);
  if (binding.starts_with("p=")) return refuse("the client insists on channel binding");
  if (binding != "n" && binding != "y") return refuse("a first message that does not begin with n, y or p");
  const std::string_view asked_id = next_part(message);
  const std::string_view bare = message;
  channel_ = whole.substr(0, whole.size() - bare.size());

  if (message.starts_with("m=")) return refuse("the client insists on an extension");
  const auto name = value_of(next_part(message), 'n');
  const auto nonce = value_of(next_part(message), 'r');
  const auto user = name ? unescaped(*name) : std::nullopt;
  if (!user || user->empty()) return refuse("a first message without a user name");
  if (!nonce || !is_nonce(*nonce)) return refuse("a first message without a nonce");
  Claim claim{.user = *user};
  while (!message.empty()) {
    const std::string_view extension = next_part(message);
    if (extension == "tokenauth=true") claim.is_token = true;  // Kafka passes over those it does not know, too
  }
  if (!asked_id.empty()) {
    const auto id = value_of(asked_id, 'a');
    if (!id || unescaped(*id) != claim.user)
      return refuse("an authorization id that is not the user's",
                    "Authentication failed: Client requested an authorization id that is different from username");
  }
  client_nonce_ = *nonce;
  transcript_ = bare;
  return claim;
}

std::string ScramServer::challenge(records::ScramCredential credential) {
  credential_ = std::move(credential);
  std::string answer = fmt::format("r={}{},s={},i={}", client_nonce_, nonce_, base64_encode(credential_.salt.view()),
                                   credential_.iterations);
  transcript_ += "," + answer;
  return answer;
}

SaslResult<std::string> ScramServer::finish(std::string_view message) {
  // The proof stands last, and is not part of what it proves.
  const std::size_t at = message.rfind(",p=");
  if (at == std::string_view::npos) return refuse("a final message without a proof");
  const auto proof = base64_decode(message.substr(at + 3));
  const std::string_view without_proof = message.substr(0, at);
  std::string_view rest = without_proof;
  const auto channel = value_of(next_part(rest), 'c');
  const auto nonce = value_of(next_part(rest), 'r');
  if (!channel || !nonce || !proof) return refuse("a final message that is none");
  if (!equal_secrets(*nonce, client_nonce_ + nonce_)) return refuse("another nonce than the one we gave");
  if (base64_decode(*channel) != channel_) return refuse("another channel binding than at first");
  if (proof->size() != hash_size(hash_)) return refuse("a proof of the wrong size");

  const std::string signed_text = transcript_ + "," + std::string(without_proof);
  std::string client_key = hmac(hash_, credential_.stored_key.view(), signed_text);
  for (std::size_t i = 0; i < client_key.size(); ++i) client_key[i] = static_cast<char>(client_key[i] ^ (*proof)[i]);
  if (!equal_secrets(digest(hash_, client_key), credential_.stored_key.view()))
    return refuse("unknown user or wrong password");
  return "v=" + base64_encode(hmac(hash_, credential_.server_key.view(), signed_text));
}

}  // namespace thalweg::security
