#include "security/authorizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "security/acl_text.h"

namespace thalweg::security {
namespace {

using records::Acl;
using records::AclOperation;
using records::AclPatternType;
using records::AclPermission;
using records::AclResourceType;

constexpr Client kAlice = {.principal = "User:alice", .host = "10.0.0.1"};

Acl acl(std::string name, AclOperation operation, AclPermission permission = AclPermission::allow,
        AclPatternType pattern = AclPatternType::literal) {
  return {.resource_type = AclResourceType::topic,
          .resource_name = std::move(name),
          .pattern_type = pattern,
          .principal = "User:alice",
          .host = "*",
          .operation = operation,
          .permission = permission};
}
Acl prefix(std::string name, AclOperation operation, AclPermission permission = AclPermission::allow) {
  return acl(std::move(name), operation, permission, AclPatternType::prefixed);
}
Acl for_everyone(Acl acl) {
  acl.principal = "User:*";
  return acl;
}

Authorizer with(const std::vector<Acl>& acls, Authorizer::Options options = {}) {
  Authorizer authorizer(std::move(options));
  for (const Acl& a : acls) authorizer.add(std::make_shared<const Acl>(a));
  return authorizer;
}

bool may(const Authorizer& authorizer, AclOperation operation, std::string_view topic, const Client& client = kAlice) {
  return authorizer.decide(client, {.operation = operation, .type = AclResourceType::topic, .name = topic}).allowed;
}

TEST(Authorizer, LiteralPrefixedAndAnyNamesCoverWhatTheySay) {
  const auto a = with({acl("t", AclOperation::read), prefix("ab", AclOperation::read), acl("*", AclOperation::write)});
  EXPECT_TRUE(may(a, AclOperation::read, "t"));
  EXPECT_FALSE(may(a, AclOperation::read, "tt"));
  EXPECT_TRUE(may(a, AclOperation::read, "ab"));
  EXPECT_TRUE(may(a, AclOperation::read, "abc"));
  EXPECT_FALSE(may(a, AclOperation::read, "a"));
  EXPECT_TRUE(may(a, AclOperation::write, "anything"));
  EXPECT_FALSE(may(a, AclOperation::write, "t", {.principal = "User:bob", .host = "10.0.0.1"}));
  EXPECT_FALSE(
      a.decide(kAlice, {.operation = AclOperation::read, .type = AclResourceType::group, .name = "t"}).allowed);
}

TEST(Authorizer, ADenialWinsWhereverItStands) {
  for (const Acl& denial :
       {acl("abc", AclOperation::read, AclPermission::deny), acl("*", AclOperation::all, AclPermission::deny),
        prefix("a", AclOperation::read, AclPermission::deny),
        for_everyone(prefix("ab", AclOperation::read, AclPermission::deny))}) {
    const auto a = with({acl("abc", AclOperation::all), acl("*", AclOperation::all), denial});
    const Decision decision =
        a.decide(kAlice, {.operation = AclOperation::read, .type = AclResourceType::topic, .name = "abc"});
    EXPECT_FALSE(decision.allowed);
    ASSERT_EQ(decision.why, Decision::Why::acl);
    EXPECT_EQ(*decision.acl, denial);
  }
}

TEST(Authorizer, OnlyWhatAllowsImpliesDescribing) {
  for (const auto operation : {AclOperation::read, AclOperation::write, AclOperation::delete_, AclOperation::alter,
                               AclOperation::describe, AclOperation::all}) {
    EXPECT_TRUE(may(with({acl("t", operation)}), AclOperation::describe, "t"));
    const bool denied = operation == AclOperation::describe || operation == AclOperation::all;
    EXPECT_EQ(may(with({acl("t", AclOperation::describe), acl("t", operation, AclPermission::deny)}),
                  AclOperation::describe, "t"),
              !denied);
  }
  EXPECT_FALSE(may(with({acl("t", AclOperation::create)}), AclOperation::describe, "t"));
  EXPECT_FALSE(may(with({acl("t", AclOperation::alter_configs)}), AclOperation::describe, "t"));
  EXPECT_TRUE(may(with({acl("t", AclOperation::alter_configs)}), AclOperation::describe_configs, "t"));
  EXPECT_FALSE(may(with({acl("t", AclOperation::alter)}), AclOperation::describe_configs, "t"));
}

TEST(Authorizer, AHostLimitsAnAcl) {
  Acl near = acl("t", AclOperation::read);
  near.host = "10.0.0.0/8";
  const auto a = with({near});
  EXPECT_TRUE(may(a, AclOperation::read, "t"));
  EXPECT_FALSE(may(a, AclOperation::read, "t", {.principal = "User:alice", .host = "11.0.0.1"}));
}

TEST(Authorizer, SuperUsersMayDoEverything) {
  const auto users = Authorizer::parse_super_users(" User:alice ;; User:CN=x,O=y;");
  ASSERT_TRUE(users.has_value());
  EXPECT_EQ(*users, (std::set<std::string, std::less<>>{"User:CN=x,O=y", "User:alice"}));
  EXPECT_TRUE(
      may(with({acl("t", AclOperation::all, AclPermission::deny)}, {.super_users = *users}), AclOperation::read, "t"));
  EXPECT_EQ(Authorizer::parse_super_users("User:a;bob").error(),
            "'bob' is no principal; write TYPE:NAME, such as User:bob");
}

TEST(Authorizer, WithoutAnyAclOnTheResourceTheConfigurationDecides) {
  const std::vector<Acl> of_bob = {for_everyone(prefix("closed", AclOperation::create))};
  for (const bool open : {false, true}) {
    const auto a = with(of_bob, {.allow_if_no_acl = open});
    EXPECT_EQ(may(a, AclOperation::read, "other"), open);
    EXPECT_FALSE(may(a, AclOperation::read, "closed-1"));
  }
}

TEST(Authorizer, WhatIsTakenOutNoLongerCounts) {
  auto a = with({acl("t", AclOperation::read), acl("t", AclOperation::write), prefix("p", AclOperation::read)},
                {.allow_if_no_acl = true});
  a.remove(acl("t", AclOperation::create));
  EXPECT_EQ(a.size(), 3U);
  a.remove(acl("t", AclOperation::read));
  EXPECT_FALSE(may(a, AclOperation::read, "t"));
  EXPECT_TRUE(may(a, AclOperation::write, "t"));
  a.remove(acl("t", AclOperation::write));
  EXPECT_TRUE(may(a, AclOperation::create, "t"));
  EXPECT_FALSE(may(a, AclOperation::create, "pp"));
  a.remove(prefix("p", AclOperation::read));
  EXPECT_TRUE(may(a, AclOperation::create, "pp"));
  EXPECT_EQ(a.size(), 0U);
}

TEST(Authorizer, ByTypeItIsEnoughToBeAllowedSomewhere) {
  const auto some = [](const std::vector<Acl>& acls) {
    return with(acls).decide_by_type(kAlice, AclOperation::write, AclResourceType::topic);
  };
  const auto deny = AclPermission::deny;
  EXPECT_FALSE(some({}));
  EXPECT_TRUE(some({acl("t", AclOperation::write)}));
  EXPECT_TRUE(some({prefix("t", AclOperation::all)}));
  EXPECT_FALSE(some({acl("t", AclOperation::read)}));
  EXPECT_FALSE(some({acl("t", AclOperation::write), acl("t", AclOperation::write, deny)}));
  EXPECT_FALSE(some({acl("tt", AclOperation::write), prefix("t", AclOperation::all, deny)}));
  EXPECT_FALSE(some({prefix("tt", AclOperation::write), prefix("t", AclOperation::write, deny)}));
  EXPECT_TRUE(some({prefix("t", AclOperation::write), prefix("tt", AclOperation::write, deny)}));
  EXPECT_TRUE(some({prefix("t", AclOperation::write), acl("t", AclOperation::write, deny)}));
  EXPECT_FALSE(some({acl("t", AclOperation::write), for_everyone(acl("*", AclOperation::write, deny))}));
  EXPECT_TRUE(some({for_everyone(acl("*", AclOperation::write)), prefix("h", AclOperation::write, deny)}));
}

// The same rules, asked of every ACL one after the other.
class Model {
 public:
  Authorizer::Options options;
  std::set<Acl> acls;

  [[nodiscard]] bool decide(const Client& client, const Action& action) const {
    if (options.super_users.contains(client.principal)) return true;
    bool covered = false;
    bool allowed = false;
    for (const Acl& acl : acls) {
      if (acl.resource_type != action.type || !covers(acl, action.name)) continue;
      covered = true;
      if (acl.principal != client.principal && acl.principal != "User:*") continue;
      if (acl.host != "*" && acl.host != client.host) continue;
      const bool same = acl.operation == action.operation || acl.operation == AclOperation::all;
      if (acl.permission == AclPermission::deny && same) return false;
      if (acl.permission == AclPermission::allow && (same || implied(acl.operation, action.operation))) allowed = true;
    }
    return allowed || (!covered && options.allow_if_no_acl);
  }
  static bool covers(const Acl& acl, std::string_view name) {
    if (acl.pattern_type == AclPatternType::prefixed) return name.starts_with(acl.resource_name);
    return acl.resource_name == name || acl.resource_name == "*";
  }
  static bool implied(AclOperation granted, AclOperation asked) {
    static const std::set<AclOperation> kDescribe = {AclOperation::read, AclOperation::write, AclOperation::delete_,
                                                     AclOperation::alter};
    return (asked == AclOperation::describe && kDescribe.contains(granted)) ||
           (asked == AclOperation::describe_configs && granted == AclOperation::alter_configs);
  }
};

TEST(Authorizer, AlwaysDecidesAsTheRulesSay) {
  std::size_t allowed = 0;
  std::size_t denied = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](unsigned n) { return random() % n; };
    const auto name = [&] {
      if (below(10) == 0) return std::string("*");
      std::string text;
      for (unsigned n = 1 + below(4); n > 0; --n) text += static_cast<char>('a' + below(2));
      return text;
    };
    const auto any_acl = [&] {
      return Acl{.resource_type = static_cast<AclResourceType>(2 + below(2)),
                 .resource_name = name(),
                 .pattern_type = below(2) == 0 ? AclPatternType::literal : AclPatternType::prefixed,
                 .principal = below(4) == 0 ? "User:*" : "User:u" + std::to_string(below(3)),
                 .host = below(2) == 0 ? "*" : "10.0.0." + std::to_string(below(2)),
                 .operation = static_cast<AclOperation>(2 + below(14)),
                 .permission = below(4) == 0 ? AclPermission::deny : AclPermission::allow};
    };
    Model model{.options = {.super_users = {"User:u9"}, .allow_if_no_acl = seed % 2 == 0}, .acls = {}};
    Authorizer authorizer(model.options);
    for (int step = 0; step < 400; ++step) {
      if (below(3) != 0 || model.acls.empty()) {
        const Acl added = any_acl();
        if (model.acls.insert(added).second) authorizer.add(std::make_shared<const Acl>(added));
      } else {
        const auto gone = std::next(model.acls.begin(), below(static_cast<unsigned>(model.acls.size())));
        authorizer.remove(*gone);
        model.acls.erase(gone);
      }
      ASSERT_EQ(authorizer.size(), model.acls.size());
      for (int n = 0; n < 20; ++n) {
        const std::string principal = below(20) == 0 ? "User:u9" : "User:u" + std::to_string(below(4));
        const std::string host = "10.0.0." + std::to_string(below(3));
        const std::string asked = name();
        const Client client{.principal = principal, .host = host};
        const Action action{.operation = static_cast<AclOperation>(3 + below(13)),
                            .type = static_cast<AclResourceType>(2 + below(2)),
                            .name = asked};
        const Decision decision = authorizer.decide(client, action);
        ASSERT_EQ(decision.allowed, model.decide(client, action))
            << principal << ' ' << host << ' ' << name_of(action.operation) << ' ' << asked << ": "
            << text_of(decision);
        ++(decision.allowed ? allowed : denied);
      }
    }
  }
  EXPECT_GT(allowed, 10'000U);
  EXPECT_GT(denied, 10'000U);
}

TEST(AclText, AnAclIsOneLine) {
  EXPECT_EQ(text_of(prefix("orders-", AclOperation::delete_, AclPermission::deny)),
            "DENY DELETE on TOPIC PREFIXED orders- to User:alice from *");
  EXPECT_EQ(name_of(AclOperation::two_phase_commit), "TWO_PHASE_COMMIT");
  EXPECT_EQ(name_of(AclResourceType::user), "USER");
  EXPECT_EQ(name_of(static_cast<AclOperation>(99)), "UNKNOWN");
  EXPECT_EQ(name_of(static_cast<AclOperation>(-1)), "UNKNOWN");
}

}  // namespace
}  // namespace thalweg::security
