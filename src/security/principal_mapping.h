// PrincipalMapping: from the name in a client's certificate to a user name, by `ssl.principal.mapping.rules`.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thalweg::security {

class PrincipalMapping {
 public:
  // Reads rules separated by commas: DEFAULT, or RULE:pattern/replacement/ with an L or a U behind it for lower and
  // upper case. In pattern and replacement `\/` stands for a slash; $1 in the replacement is the first group.
  //   errors   which rule, and what is wrong with it
  static base::Result<PrincipalMapping, std::string> parse(std::string_view rules);

  // The user name of the first rule whose pattern matches the whole of `distinguished_name`; nothing where none does.
  [[nodiscard]] std::optional<std::string> user_name(std::string_view distinguished_name) const;

 private:
  enum class Case : std::uint8_t { keep, lower, upper };
  struct Rule {
    std::shared_ptr<const re2::RE2> pattern;  // none: DEFAULT, which takes every name as it is
    std::string replacement;
    Case letters = Case::keep;
  };

  static base::Result<Rule, std::string> make_rule(const std::string& pattern, std::string replacement, Case letters);
  static std::string replaced(const Rule& rule, std::string_view name);

  std::vector<Rule> rules_;
};

}  // namespace thalweg::security
