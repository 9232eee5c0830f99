#include "security/authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "security/acl_text.h"

namespace thalweg::security {

using records::Acl;
using records::AclOperation;
using records::AclPatternType;
using records::AclPermission;
using records::AclResourceType;

namespace {

std::size_t index_of(AclResourceType type) { return static_cast<std::size_t>(std::to_underlying(type)); }

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

std::string text_of(const Decision& decision) {
  switch (decision.why) {
    case Decision::Why::super_user:
      return "super.users names the principal";
    case Decision::Why::acl:
      return "the ACL " + text_of(*decision.acl);
    case Decision::Why::no_acl:
      return "no ACL allows it";
    case Decision::Why::nothing_there:
      return decision.allowed ? "no ACL covers the resource, and allow.everyone.if.no.acl.found is true"
                              : "no ACL covers the resource";
  }
  return {};
}

bool implies(AclOperation granted, AclOperation asked) {
  using enum AclOperation;
  if (granted == asked || granted == all) return true;
  if (asked == describe) return granted == read || granted == write || granted == delete_ || granted == alter;
  return asked == describe_configs && granted == alter_configs;
}

base::Result<std::set<std::string, std::less<>>, std::string> Authorizer::parse_super_users(std::string_view text) {
  std::set<std::string, std::less<>> users;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view user = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (user.empty()) continue;
    if (!user.contains(':'))
      return std::unexpected(fmt::format("'{}' is no principal; write TYPE:NAME, such as User:{}", user, user));
    users.emplace(user);
  }
  return users;
}

// ---- what covers a name ----

template <class T>
T& Authorizer::Patterns<T>::at(const Acl& acl) {
  if (acl.pattern_type != AclPatternType::prefixed) return literal[acl.resource_name];
  const auto [found, is_new] = prefixed.try_emplace(acl.resource_name);
  if (is_new) {
    const std::size_t length = acl.resource_name.size();
    const auto at = std::ranges::lower_bound(lengths_, length, {}, &std::pair<std::size_t, std::size_t>::first);
    if (at != lengths_.end() && at->first == length)
      ++at->second;
    else
      lengths_.insert(at, {length, 1});
  }
  return found->second;
}

template <class T>
T* Authorizer::Patterns<T>::find(const Acl& acl) {
  auto& things = acl.pattern_type == AclPatternType::prefixed ? prefixed : literal;
  const auto found = things.find(acl.resource_name);
  return found == things.end() ? nullptr : &found->second;
}

template <class T>
void Authorizer::Patterns<T>::erase(const Acl& acl) {
  if (acl.pattern_type != AclPatternType::prefixed) {
    literal.erase(acl.resource_name);
    return;
  }
  if (prefixed.erase(acl.resource_name) == 0) return;
  const auto at =
      std::ranges::lower_bound(lengths_, acl.resource_name.size(), {}, &std::pair<std::size_t, std::size_t>::first);
  if (--at->second == 0) lengths_.erase(at);
}

template <class T>
template <class Visit>
bool Authorizer::Patterns<T>::visit_covering(std::string_view name, const Visit& visit) const {
  if (const auto found = literal.find(name); found != literal.end() && visit(found->second)) return true;
  if (name != kAnyName)
    if (const auto found = literal.find(kAnyName); found != literal.end() && visit(found->second)) return true;
  for (const auto& [length, count] : lengths_) {
    if (length > name.size()) break;
    if (const auto found = prefixed.find(name.substr(0, length)); found != prefixed.end() && visit(found->second))
      return true;
  }
  return false;
}

// ---- changes ----

void Authorizer::add(std::shared_ptr<const Acl> acl) {
  const std::size_t type = index_of(acl->resource_type);
  if (type >= kTypes) return;
  ++covered_[type].at(*acl);
  std::vector<Rule>& rules = rules_[acl->principal][type].at(*acl);
  HostPattern host = HostPattern::parse(acl->host);
  rules.push_back({.acl = std::move(acl), .host = std::move(host)});
  ++size_;
}

void Authorizer::remove(const Acl& acl) {
  const auto of_principal = rules_.find(acl.principal);
  const std::size_t type = index_of(acl.resource_type);
  if (of_principal == rules_.end() || type >= kTypes) return;
  std::vector<Rule>* const rules = of_principal->second[type].find(acl);
  if (rules == nullptr || std::erase_if(*rules, [&acl](const Rule& rule) { return *rule.acl == acl; }) == 0) return;
  if (rules->empty()) of_principal->second[type].erase(acl);
  if (--covered_[type].at(acl) == 0) covered_[type].erase(acl);
  --size_;
  const auto is_empty = [](const auto& patterns) { return patterns.literal.empty() && patterns.prefixed.empty(); };
  if (std::ranges::all_of(of_principal->second, is_empty)) rules_.erase(of_principal);
}

// ---- decisions ----

bool Authorizer::is_about(const Rule& rule, const Client& client, AclOperation operation) {
  const Acl& acl = *rule.acl;
  const bool same = acl.operation == operation || acl.operation == AclOperation::all;
  const bool fits = acl.permission == AclPermission::allow ? implies(acl.operation, operation) : same;
  return fits && rule.host.covers(client.host);
}

Decision Authorizer::decide(const Client& client, const Action& action) const {
  if (options_.super_users.contains(client.principal)) return {.allowed = true, .why = Decision::Why::super_user};
  const std::size_t type = index_of(action.type);
  if (type >= kTypes) return {};
  const Acl* allowing = nullptr;
  const Acl* denying = nullptr;
  const auto look = [&](const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
      if (!is_about(rule, client, action.operation)) continue;
      if (rule.acl->permission == AclPermission::deny) {
        denying = rule.acl.get();
        return true;
      }
      allowing = rule.acl.get();
    }
    return false;
  };
  for (const std::string_view principal : {client.principal, kEveryone}) {
    const auto found = rules_.find(principal);
    if (found != rules_.end() && found->second[type].visit_covering(action.name, look)) break;
  }
  if (denying != nullptr) return {.allowed = false, .why = Decision::Why::acl, .acl = denying};
  if (allowing != nullptr) return {.allowed = true, .why = Decision::Why::acl, .acl = allowing};
  const bool is_covered = covered_[type].visit_covering(action.name, [](std::size_t count) { return count > 0; });
  if (is_covered) return {.allowed = false, .why = Decision::Why::no_acl};
  return {.allowed = options_.allow_if_no_acl, .why = Decision::Why::nothing_there};
}

bool Authorizer::decide_by_type(const Client& client, AclOperation operation, AclResourceType type) const {
  // Any name stands for those that no ACL names.
  if (decide(client, {.operation = operation, .type = type, .name = "hardcode"}).allowed) return true;
  if (index_of(type) >= kTypes) return false;
  // The rules that hold for the client, by what they say and about what.
  std::set<std::string_view> allowed_names;
  std::set<std::string_view> allowed_prefixes;
  std::set<std::string_view> denied_names;
  std::set<std::string_view> denied_prefixes;
  const auto sort_in = [&](const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
      const Acl& acl = *rule.acl;
      if ((acl.operation != operation && acl.operation != AclOperation::all) || !rule.host.covers(client.host))
        continue;
      const bool is_prefix = acl.pattern_type == AclPatternType::prefixed;
      auto& names = acl.permission == AclPermission::deny ? (is_prefix ? denied_prefixes : denied_names)
                                                          : (is_prefix ? allowed_prefixes : allowed_names);
      names.insert(acl.resource_name);
    }
  };
  for (const std::string_view principal : {client.principal, kEveryone}) {
    const auto found = rules_.find(principal);
    if (found == rules_.end()) continue;
    for (const auto& [name, rules] : found->second[index_of(type)].literal) sort_in(rules);
    for (const auto& [name, rules] : found->second[index_of(type)].prefixed) sort_in(rules);
    if (client.principal == kEveryone) break;
  }
  if (denied_names.contains(kAnyName)) return false;
  if (allowed_names.contains(kAnyName)) return true;
  const auto is_denied_by_prefix = [&denied_prefixes](std::string_view name) {
    for (std::size_t length = 1; length <= name.size(); ++length)
      if (denied_prefixes.contains(name.substr(0, length))) return true;
    return false;
  };
  const auto is_open = [&](std::string_view name) { return !is_denied_by_prefix(name); };
  return std::ranges::any_of(allowed_names,
                             [&](std::string_view n) { return !denied_names.contains(n) && is_open(n); }) ||
         std::ranges::any_of(allowed_prefixes, is_open);
}

}  // namespace thalweg::security
