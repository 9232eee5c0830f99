// The lines of `sasl.jaas.config`: which login module, and its options. Kafka's own modules are known by their names;
// there is no Java here that could load another.
//
//   MODULE required|requisite|sufficient|optional [key=value | key="value"]... ;
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace thalweg::security {

enum class LoginModule { plain, scram, oauth_bearer, kerberos };

struct JaasConfig {
  LoginModule module = LoginModule::plain;
  std::map<std::string, std::string, std::less<>> options;
};

// Reads the one module that a line names.
//   errors   what is wrong, without the line's secrets: not of that form, more than one module, a module that is not
//            Kafka's
base::Result<JaasConfig, std::string> parse_jaas(std::string_view text);

// The SASL mechanisms that a module serves, for a message: "PLAIN".
std::string_view mechanisms_of(LoginModule module);

}  // namespace thalweg::security
