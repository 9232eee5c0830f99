#include "broker/acl_admin.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace thalweg::broker {
namespace {

using records::Acl;
using records::AclPatternType;
using records::AclPermission;

Acl acl(std::string name, std::string principal = "User:a") {
  return {.resource_type = ResourceType::topic,
          .resource_name = std::move(name),
          .pattern_type = AclPatternType::literal,
          .principal = std::move(principal),
          .host = "*",
          .operation = AclOperation::read,
          .permission = AclPermission::allow};
}

std::string refusal(Acl acl, const std::function<void(Acl&)>& spoil) {
  spoil(acl);
  const auto good = check_new_acl(acl);
  if (good) return "none";
  EXPECT_EQ(good.error().code, protocol::ErrorCode::invalid_request);
  return good.error().detail;
}

TEST(AclAdmin, OnlyWholeAclsAreTaken) {
  EXPECT_EQ(refusal(acl("t"), [](Acl&) {}), "none");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.host = "10.0.0.0/8"; }), "none");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.operation = AclOperation::two_phase_commit; }), "none");
  EXPECT_EQ(refusal(acl("kafka-cluster"), [](Acl& a) { a.resource_type = ResourceType::cluster; }), "none");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.resource_type = ResourceType::cluster; }),
            "The cluster's only name is kafka-cluster");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.operation = static_cast<AclOperation>(16); }),
            "The ACL has a number that means nothing");
  EXPECT_EQ(refusal(acl(""), [](Acl&) {}), "The resource name must not be empty");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.resource_type = ResourceType::any; }),
            "An ACL is for one type of resource, not for any");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.pattern_type = AclPatternType::match; }),
            "An ACL's pattern is LITERAL or PREFIXED, not MATCH");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.operation = AclOperation::any; }),
            "An ACL is for one operation or ALL, not for any");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.permission = AclPermission::any; }), "An ACL allows or denies");
  EXPECT_EQ(refusal(acl("t", "alice"), [](Acl&) {}), "'alice' is no principal; write TYPE:NAME");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.host = ""; }), "The host must not be empty");
  EXPECT_EQ(refusal(acl("t"), [](Acl& a) { a.host = "10.0.0.0/99"; }),
            "The host '10.0.0.0/99' is no range of addresses; write ADDRESS/BITS");
}

TEST(AclAdmin, AFilterFindsTheSameWithANameAsWithout) {
  metadata::Snapshot snapshot;
  for (const auto* name : {"a", "ab", "abc", "b", "*"})
    for (const auto pattern : {AclPatternType::literal, AclPatternType::prefixed})
      for (const auto type : {ResourceType::topic, ResourceType::group}) {
        Acl one = acl(name);
        one.pattern_type = pattern;
        one.resource_type = type;
        ASSERT_TRUE(snapshot.apply(metadata::Revision(1), records::AclAdded{.acl = one}).has_value());
      }
  const auto found = [&snapshot](const security::AclFilter& filter) {
    std::set<Acl> acls;
    for_each_acl(snapshot, filter, [&acls](const auto& a) { acls.insert(*a); });
    return acls;
  };
  EXPECT_EQ(found({}).size(), 20U);
  for (const auto* name : {"a", "ab", "abc", "b", "*", "c", ""})
    for (const auto pattern :
         {AclPatternType::any, AclPatternType::match, AclPatternType::literal, AclPatternType::prefixed})
      for (const auto type : {ResourceType::any, ResourceType::topic, ResourceType::group}) {
        const security::AclFilter filter{.resource_type = type, .resource_name = name, .pattern_type = pattern};
        std::set<Acl> wanted;
        for (const auto& [key, one] : snapshot.acls())
          if (security::matches(filter, *one)) wanted.insert(*one);
        EXPECT_EQ(found(filter), wanted) << name;
      }
}

}  // namespace
}  // namespace thalweg::broker
