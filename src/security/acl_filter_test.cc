#include "security/acl_filter.h"

#include <gtest/gtest.h>

namespace thalweg::security {
namespace {

using records::Acl;
using records::AclOperation;
using records::AclPatternType;
using records::AclPermission;
using records::AclResourceType;

Acl acl(std::string name, AclPatternType pattern) {
  return {.resource_type = AclResourceType::topic,
          .resource_name = std::move(name),
          .pattern_type = pattern,
          .principal = "User:a",
          .host = "*",
          .operation = AclOperation::read,
          .permission = AclPermission::allow};
}
const Acl kLiteral = acl("foo", AclPatternType::literal);
const Acl kPrefix = acl("fo", AclPatternType::prefixed);
const Acl kStar = acl("*", AclPatternType::literal);

AclFilter named(std::string name, AclPatternType pattern) {
  return {.resource_name = std::move(name), .pattern_type = pattern};
}

TEST(AclFilter, AnEmptyOneMeansEveryAcl) {
  for (const Acl& a : {kLiteral, kPrefix, kStar}) EXPECT_TRUE(matches({}, a));
}

TEST(AclFilter, ANameIsComparedAsThePatternTypeSays) {
  EXPECT_TRUE(matches(named("foo", AclPatternType::literal), kLiteral));
  EXPECT_FALSE(matches(named("foo", AclPatternType::literal), kPrefix));
  EXPECT_FALSE(matches(named("foo", AclPatternType::literal), kStar));
  EXPECT_TRUE(matches(named("*", AclPatternType::literal), kStar));
  EXPECT_FALSE(matches(named("foo", AclPatternType::prefixed), kPrefix));
  EXPECT_TRUE(matches(named("fo", AclPatternType::prefixed), kPrefix));
  EXPECT_TRUE(matches(named("fo", AclPatternType::any), kPrefix));
  EXPECT_TRUE(matches(named("foo", AclPatternType::any), kLiteral));
  EXPECT_FALSE(matches(named("foo", AclPatternType::any), kStar));
  for (const Acl& a : {kLiteral, kPrefix, kStar}) EXPECT_TRUE(matches(named("foo", AclPatternType::match), a));
  EXPECT_FALSE(matches(named("f", AclPatternType::match), kPrefix));
  EXPECT_FALSE(matches(named("fooo", AclPatternType::match), kLiteral));
}

TEST(AclFilter, EveryFieldThatIsGivenCounts) {
  EXPECT_TRUE(matches({.resource_type = AclResourceType::topic}, kLiteral));
  EXPECT_FALSE(matches({.resource_type = AclResourceType::group}, kLiteral));
  EXPECT_TRUE(matches({.principal = "User:a"}, kLiteral));
  EXPECT_FALSE(matches({.principal = "User:*"}, kLiteral));
  EXPECT_TRUE(matches({.host = "*"}, kLiteral));
  EXPECT_FALSE(matches({.host = "10.0.0.1"}, kLiteral));
  EXPECT_FALSE(matches({.operation = AclOperation::all}, kLiteral));
  EXPECT_FALSE(matches({.permission = AclPermission::deny}, kLiteral));
}

TEST(AclFilter, OnlyKafkasNumbersAreKnown) {
  EXPECT_TRUE(is_known(AclFilter{}));
  EXPECT_TRUE(is_known(kPrefix));
  for (const int number : {-1, 0, 16, 99}) {
    EXPECT_FALSE(is_known(AclFilter{.operation = static_cast<AclOperation>(number)})) << number;
    EXPECT_FALSE(is_known(AclFilter{.resource_type = static_cast<AclResourceType>(number)})) << number;
    EXPECT_FALSE(is_known(AclFilter{.pattern_type = static_cast<AclPatternType>(number)})) << number;
    EXPECT_FALSE(is_known(AclFilter{.permission = static_cast<AclPermission>(number)})) << number;
    Acl bad = kLiteral;
    bad.operation = static_cast<AclOperation>(number);
    EXPECT_FALSE(is_known(bad)) << number;
    EXPECT_EQ(has_zero(bad), number == 0);
    EXPECT_EQ(has_zero(AclFilter{.permission = static_cast<AclPermission>(number)}), number == 0);
  }
}

}  // namespace
}  // namespace thalweg::security
