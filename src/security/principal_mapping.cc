#include "security/principal_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thalweg::security {

namespace {

using re2::RE2;
using re2::StringPiece;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

// The text up to a slash that no backslash stands before, which is taken too; nothing where there is no such slash.
std::optional<std::string> take_part(std::string_view& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '/') {
      std::string part(text.substr(0, i));
      text.remove_prefix(i + 1);
      return part;
    }
  }
  return std::nullopt;
}

// Appends a replacement in Java's notation: $N is a group, as many digits as still name one; a backslash makes the next
// character an ordinary one. A group that the pattern does not have is text.
void append_replacement(std::string& out, std::string_view replacement, const std::vector<StringPiece>& groups) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] == '\\' && i + 1 < replacement.size()) {
      out += replacement[++i];
      continue;
    }
    if (replacement[i] != '$' || i + 1 >= replacement.size() || !is_digit(replacement[i + 1])) {
      out += replacement[i];
      continue;
    }
    auto group = static_cast<std::size_t>(replacement[i + 1] - '0');
    std::size_t end = i + 2;
    while (end < replacement.size() && is_digit(replacement[end])) {
      const std::size_t longer = group * 10 + static_cast<std::size_t>(replacement[end] - '0');
      if (longer >= groups.size()) break;
      group = longer;
      ++end;
    }
    if (group >= groups.size()) {
      out += '$';
      continue;
    }
    out.append(groups[group].data(), groups[group].size());
    i = end - 1;
  }
}

// What is wrong with a replacement: Java would refuse every client for it.
std::optional<std::string> replacement_fault(std::string_view replacement, int groups) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] == '\\') {
      ++i;
    } else if (replacement[i] == '$' && (i + 1 == replacement.size() || !is_digit(replacement[i + 1]))) {
      return "$ in a replacement needs the number of a group behind it; write \\$ for the character";
    } else if (replacement[i] == '$' && groups == 0 && replacement[i + 1] != '0') {
      return fmt::format("${} in the replacement, but the pattern has no group", replacement[i + 1]);
    }
  }
  return std::nullopt;
}

}  // namespace

base::Result<PrincipalMapping::Rule, std::string> PrincipalMapping::make_rule(const std::string& pattern,
                                                                              std::string replacement, Case letters) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  Rule rule{.pattern = std::make_shared<const RE2>(pattern, quiet),
            .replacement = std::move(replacement),
            .letters = letters};
  if (!rule.pattern->ok()) return std::unexpected(fmt::format("the pattern {}: {}", pattern, rule.pattern->error()));
  if (auto wrong = replacement_fault(rule.replacement, rule.pattern->NumberOfCapturingGroups()))
    return std::unexpected(std::move(*wrong));
  return rule;
}

base::Result<PrincipalMapping, std::string> PrincipalMapping::parse(std::string_view rules) {
  constexpr std::string_view kDefault = "DEFAULT";
  constexpr std::string_view kRule = "RULE:";
  PrincipalMapping mapping;
  std::string_view rest = rules;
  skip_blanks(rest);
  while (!rest.empty()) {
    const std::string_view at = rest;
    const auto wrong = [&](std::string_view what) {
      return std::unexpected(
          fmt::format("at \"{}\": {}; a rule is DEFAULT or RULE:pattern/replacement/ with L or U or "
                      "nothing behind it, and commas stand between rules",
                      at.substr(0, 80), what));
    };
    if (rest.starts_with(kDefault)) {
      rest.remove_prefix(kDefault.size());
      mapping.rules_.emplace_back();
    } else if (rest.starts_with(kRule)) {
      rest.remove_prefix(kRule.size());
      const auto pattern = take_part(rest);
      auto replacement = pattern ? take_part(rest) : std::nullopt;
      if (!replacement) return wrong("a slash is missing");
      Case letters = Case::keep;
      if (rest.starts_with('L')) letters = Case::lower;
      if (rest.starts_with('U')) letters = Case::upper;
      if (letters != Case::keep) rest.remove_prefix(1);
      auto rule = make_rule(*pattern, std::move(*replacement), letters);
      if (!rule) return wrong(rule.error());
      mapping.rules_.push_back(std::move(*rule));
    } else {
      return wrong("no rule");
    }
    skip_blanks(rest);
    if (rest.empty()) break;
    if (!rest.starts_with(',')) return wrong(fmt::format("\"{}\" behind it", rest.substr(0, 20)));
    rest.remove_prefix(1);
    skip_blanks(rest);
  }
  if (mapping.rules_.empty()) return std::unexpected("no rule is named; DEFAULT keeps the whole name");
  return mapping;
}

// Replaces every match in the name, as Java's replaceAll does: also the empty one behind a match of all of it.
std::string PrincipalMapping::replaced(const Rule& rule, std::string_view name) {
  std::vector<StringPiece> groups(static_cast<std::size_t>(rule.pattern->NumberOfCapturingGroups()) + 1);
  const StringPiece text(name.data(), name.size());
  std::string out;
  std::size_t copied = 0;
  std::size_t from = 0;
  while (from <= name.size() && rule.pattern->Match(text, from, name.size(), RE2::UNANCHORED, groups.data(),
                                                    static_cast<int>(groups.size()))) {
    const auto begin = static_cast<std::size_t>(groups[0].data() - name.data());
    const std::size_t end = begin + groups[0].size();
    out.append(name.substr(copied, begin - copied));
    append_replacement(out, rule.replacement, groups);
    copied = end;
    from = end > begin ? end : end + 1;
  }
  out.append(name.substr(copied));
  return out;
}

std::optional<std::string> PrincipalMapping::user_name(std::string_view distinguished_name) const {
  for (const Rule& rule : rules_) {
    if (rule.pattern == nullptr) return std::string(distinguished_name);
    if (!RE2::FullMatch(StringPiece(distinguished_name.data(), distinguished_name.size()), *rule.pattern)) continue;
    std::string name = replaced(rule, distinguished_name);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
    if (rule.letters == Case::lower) std::ranges::transform(name, name.begin(), lower);
    if (rule.letters == Case::upper) std::ranges::transform(name, name.begin(), upper);
    return name;
  }
  return std::nullopt;
}

}  // namespace thalweg::security
