#include "security/jaas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::security {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::string fault(std::string_view text) {
  const auto config = parse_jaas(text);
  return config ? "none" : config.error();
}

TEST(Jaas, ReadsKafkasOwnModules) {
  const auto plain = parse_jaas(
      "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"admin\"\n"
      "  user_admin=\"a;b=c \\\"d\\\" \\\\\" user_bob='x' user_carol=plain;");
  ASSERT_TRUE(plain) << plain.error();
  EXPECT_EQ(plain->module, LoginModule::plain);
  EXPECT_THAT(plain->options, ElementsAre(Pair("user_admin", "a;b=c \"d\" \\"), Pair("user_bob", "x"),
                                          Pair("user_carol", "plain"), Pair("username", "admin")));
  const auto scram = parse_jaas("org.apache.kafka.common.security.scram.ScramLoginModule required ;");
  ASSERT_TRUE(scram) << scram.error();
  EXPECT_EQ(scram->module, LoginModule::scram);
  EXPECT_TRUE(scram->options.empty());
  EXPECT_EQ(mechanisms_of(LoginModule::oauth_bearer), "OAUTHBEARER");
}

TEST(Jaas, OtherModulesAreRefusedByName) {
  EXPECT_EQ(fault("com.example.MyModule required;"),
            "the login module com.example.MyModule is not known; Java classes cannot be loaded");
  EXPECT_EQ(fault("  "), "no login module is named");
}

TEST(Jaas, AFaultSaysWhatIsWrongWithoutSecrets) {
  const std::string module = "org.apache.kafka.common.security.plain.PlainLoginModule ";
  EXPECT_EQ(fault(module + "needed;"),
            "behind the login module belongs one of required, requisite, sufficient, optional");
  EXPECT_EQ(fault(module + "required user_a=\"hunter2\""), "a semicolon belongs at the end");
  EXPECT_EQ(fault(module + "required user_a=\"hunter2;"), "a quotation mark is not closed");
  EXPECT_EQ(fault(module + "required user_a \"hunter2\";"), "an option is not of the form key=\"value\"");
  EXPECT_EQ(fault(module + "required user_a=;"), "an option is not of the form key=\"value\"");
  EXPECT_EQ(fault(module + "required user_a=\"hunter2\" user_b;"), "an option is not of the form key=\"value\"");
  EXPECT_EQ(fault(module + "required \"hunter2\"=b;"), "an option is not of the form key=\"value\"");
  EXPECT_EQ(fault(module + "required; " + module + "required;"),
            "more than one login module is named; each mechanism has one");
}

TEST(Jaas, EveryTruncationIsAFault) {
  const std::string whole = "org.apache.kafka.common.security.plain.PlainLoginModule required user_a=\"b\\\"\";";
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(fault(whole.substr(0, size)), "none") << size;
  EXPECT_EQ(fault(whole), "none");
}

}  // namespace
}  // namespace thalweg::security
