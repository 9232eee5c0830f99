// SASL PLAIN: a user name and a password in one message.
//
//   [authorization id] NUL user NUL password
//
//   source   RFC 4616
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "security/sasl.h"

namespace thalweg::security {

// The users of a listener. Their passwords are not kept, only keyed hashes of them, so that one comparison takes the
// same time whatever the lengths are.
class PlainUsers {
 public:
  // `key` is random, at least 32 bytes, and not shared with anything.
  explicit PlainUsers(std::string key) : key_(std::move(key)), nobody_(mask("")) {}

  // Adds a user, or gives it another password.
  void add(std::string user, std::string_view password);
  // Whether there is such a user with that password. A user that does not exist takes the same time.
  [[nodiscard]] bool check(std::string_view user, std::string_view password) const;

 private:
  [[nodiscard]] std::string mask(std::string_view password) const;

  std::string key_;
  std::string nobody_;
  std::map<std::string, std::string, std::less<>> users_;
};

// Reads the message and checks it.
//   returns  the user
//   errors   those that Kafka tells, in its words
SaslResult<std::string> plain_login(const PlainUsers& users, std::string_view message);

}  // namespace thalweg::security
