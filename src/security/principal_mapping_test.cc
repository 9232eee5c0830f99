#include "security/principal_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::security {
namespace {

using testing::HasSubstr;

// The user name, or "no rule", or "ERROR ...".
std::string mapped(std::string_view rules, std::string_view name) {
  const auto mapping = PrincipalMapping::parse(rules);
  if (!mapping) return "ERROR " + mapping.error();
  return mapping->user_name(name).value_or("no rule");
}

TEST(PrincipalMapping, TheDefaultKeepsTheName) {
  for (const char* rules : {"DEFAULT", "  DEFAULT  ", "DEFAULT,"})
    EXPECT_EQ(mapped(rules, "CN=kate,O=x"), "CN=kate,O=x") << rules;
}

TEST(PrincipalMapping, TheFirstRuleThatMatchesAllOfTheNameDecides) {
  const std::string rules =
      "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L, "
      "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L ,DEFAULT";
  EXPECT_EQ(mapped(rules, "CN=Kate,OU=Eng,O=x,L=y,ST=z,C=DE"), "kate@eng");
  EXPECT_EQ(mapped(rules, "OU=x,CN=Kate.B,O=y"), "kate.b");
  EXPECT_EQ(mapped(rules, "O=None"), "O=None");
  EXPECT_EQ(mapped("RULE:CN=a/x/,DEFAULT", "CN=ab"), "CN=ab");
}

TEST(PrincipalMapping, WithoutARuleThatMatchesThereIsNoName) { EXPECT_EQ(mapped("RULE:^CN=x$/y/", "CN=y"), "no rule"); }

TEST(PrincipalMapping, LettersBecomeLowerOrUpper) {
  EXPECT_EQ(mapped("RULE:^CN=(.*?),.*$/$1/L", "CN=Kate,O=x"), "kate");
  EXPECT_EQ(mapped("RULE:^CN=(.*?),.*$/$1/U", "CN=Kate,O=x"), "KATE");
  EXPECT_EQ(mapped("RULE:^CN=(.*?),.*$/$1/", "CN=Kate,O=x"), "Kate");
}

// What Java's replaceAll makes of the same.
TEST(PrincipalMapping, ReplacesAsJavaDoes) {
  EXPECT_EQ(mapped("RULE:.*/x/", "CN=kate"), "xx");  // the empty rest is a match, too
  EXPECT_EQ(mapped("RULE:CN=(.*)/$1/", "CN=kate"), "kate");
  EXPECT_EQ(mapped("RULE:(.*?)/[$1]/", "ab"), "[]a[]b[]");
  EXPECT_EQ(mapped("RULE:CN=(.*)/$1$2/", "CN=kate"), "kate$2");
  EXPECT_EQ(mapped("RULE:CN=(.*)/$12/", "CN=kate"), "kate2");
  EXPECT_EQ(mapped("RULE:CN=(.*)/$0!/", "CN=kate"), "CN=kate!");
  EXPECT_EQ(mapped("RULE:CN=(a\\/b)/$1\\/\\$1/", "CN=a/b"), "a/b/$1");
}

TEST(PrincipalMapping, ABadRuleIsNamed) {
  for (const char* rules : {"garbage", "DEFAULT garbage", "RULE:^CN=(.*)$/$1", "RULE:^CN=(.*)$/$1/LU",
                            "RULE:^CN=(.*)$/$1/L/", "RULE:^CN=(.*)$/$1/X", "RULE:CN=(/x/", "DEFAULT RULE:a/b/"}) {
    const auto mapping = PrincipalMapping::parse(rules);
    ASSERT_FALSE(mapping) << rules;
    EXPECT_THAT(mapping.error(), HasSubstr("RULE:pattern/replacement/")) << rules;
  }
}

TEST(PrincipalMapping, WhatWouldRefuseEveryClientIsFoundAtOnce) {
  for (const char* rules : {"", "  ", "RULE:CN=.*/$1/", "RULE:CN=(.*)/$a/", "RULE:CN=(.*)/x$/", "RULE:CN=(.*)/${n}/"})
    EXPECT_FALSE(PrincipalMapping::parse(rules)) << rules;
}

}  // namespace
}  // namespace thalweg::security
