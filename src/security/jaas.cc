#include "security/jaas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace thalweg::security {

namespace {

using base::Result;

struct Module {
  std::string_view name;
  LoginModule module;
  std::string_view mechanisms;
};

constexpr auto kModules = std::to_array<Module>({
    {"org.apache.kafka.common.security.plain.PlainLoginModule", LoginModule::plain, "PLAIN"},
    {"org.apache.kafka.common.security.scram.ScramLoginModule", LoginModule::scram, "SCRAM-SHA-256, SCRAM-SHA-512"},
    {"org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule", LoginModule::oauth_bearer, "OAUTHBEARER"},
    {"com.sun.security.auth.module.Krb5LoginModule", LoginModule::kerberos, "GSSAPI"},
});

constexpr auto kFlags = std::to_array<std::string_view>({"required", "requisite", "sufficient", "optional"});

struct Token {
  std::string text;
  bool quoted = false;
  friend bool operator==(const Token& token, std::string_view text) { return !token.quoted && token.text == text; }
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::optional<std::string> quoted_text(std::string_view text, std::size_t& at) {
  const char quote = text[at++];
  std::string result;
  while (at < text.size() && text[at] != quote) {
    if (text[at] != '\\') {
      result.push_back(text[at++]);
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    const char c = text[at++];
    result.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
  }
  if (at == text.size()) return std::nullopt;
  ++at;
  return result;
}

Result<std::vector<Token>, std::string> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (is_space(c)) {
      ++at;
    } else if (c == ';' || c == '=') {
      tokens.push_back({.text = std::string(1, c)});
      ++at;
    } else if (c == '"' || c == '\'') {
      auto quoted = quoted_text(text, at);
      if (!quoted) return std::unexpected(std::string("a quotation mark is not closed"));
      tokens.push_back({.text = std::move(*quoted), .quoted = true});
    } else {
      const std::size_t begin = at;
      while (at < text.size() && !is_space(text[at]) && text[at] != ';' && text[at] != '=' && text[at] != '"') ++at;
      tokens.push_back({.text = std::string(text.substr(begin, at - begin))});
    }
  }
  return tokens;
}

}  // namespace

Result<JaasConfig, std::string> parse_jaas(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<Token> tokens, tokens_of(text));
  const auto fault = [](std::string what) { return std::unexpected(std::move(what)); };
  if (tokens.empty()) return fault("no login module is named");
  const auto* const module = std::ranges::find(kModules, tokens.front().text, &Module::name);
  if (module == kModules.end())
    return fault(fmt::format("the login module {} is not known; Java classes cannot be loaded", tokens.front().text));
  if (tokens.size() < 2 || std::ranges::find(kFlags, tokens[1].text) == kFlags.end())
    return fault(fmt::format("behind the login module belongs one of {}", fmt::join(kFlags, ", ")));

  JaasConfig config{.module = module->module};
  std::size_t at = 2;
  for (; at < tokens.size() && tokens[at] != ";"; at += 3) {
    // A value is not repeated: it may be a secret.
    if (tokens[at].quoted || tokens[at] == "=" || at + 2 >= tokens.size() || tokens[at + 1] != "=" ||
        tokens[at + 2] == ";" || tokens[at + 2] == "=")
      return fault("an option is not of the form key=\"value\"");
    config.options.insert_or_assign(tokens[at].text, tokens[at + 2].text);
  }
  if (at == tokens.size()) return fault("a semicolon belongs at the end");
  if (at + 1 != tokens.size()) return fault("more than one login module is named; each mechanism has one");
  return config;
}

std::string_view mechanisms_of(LoginModule module) {
  return std::ranges::find(kModules, module, &Module::module)->mechanisms;
}

}  // namespace thalweg::security
