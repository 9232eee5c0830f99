#include "security/sasl_plain.h"

#include <fmt/format.h>

#include <algorithm>

#include "security/crypto.h"

namespace thalweg::security {

namespace {

std::unexpected<SaslFailure> refuse(std::string reason, std::string told) {
  return std::unexpected(SaslFailure{.reason = std::move(reason), .told = std::move(told)});
}

// Nobody counts further.
constexpr std::ptrdiff_t kMostParts = 4;

}  // namespace

std::string PlainUsers::mask(std::string_view password) const { return hmac(Hash::sha_256, key_, password); }

void PlainUsers::add(std::string user, std::string_view password) {
  users_.insert_or_assign(std::move(user), mask(password));
}

bool PlainUsers::check(std::string_view user, std::string_view password) const {
  const auto found = users_.find(user);
  const bool known = found != users_.end();
  const bool equal = equal_secrets(mask(password), known ? found->second : nobody_);
  return known && equal;
}

SaslResult<std::string> plain_login(const PlainUsers& users, std::string_view message) {
  const std::size_t first = message.find('\0');
  const std::size_t second = first == std::string_view::npos ? first : message.find('\0', first + 1);
  if (second == std::string_view::npos || message.find('\0', second + 1) != std::string_view::npos)
    return refuse("a message that is none", fmt::format("Invalid SASL/PLAIN response: expected 3 tokens, got {}",
                                                        std::min(1 + std::ranges::count(message, '\0'), kMostParts)));
  const std::string_view authorization_id = message.substr(0, first);
  const std::string_view user = message.substr(first + 1, second - first - 1);
  const std::string_view password = message.substr(second + 1);
  if (user.empty()) return refuse("no user name", "Authentication failed: username not specified");
  if (password.empty()) return refuse("no password", "Authentication failed: password not specified");
  if (!users.check(user, password))
    return refuse("unknown user or wrong password", "Authentication failed: Invalid username or password");
  if (!authorization_id.empty() && authorization_id != user)
    return refuse("an authorization id that is not the user's",
                  "Authentication failed: Client requested an authorization id that is different from username");
  return std::string(user);
}

}  // namespace thalweg::security
