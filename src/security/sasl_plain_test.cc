#include "security/sasl_plain.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace thalweg::security {
namespace {

class SaslPlain : public testing::Test {
 protected:
  SaslPlain() : users_("the key of this test") {
    users_.add("alice", "secret");
    users_.add("böb", "pässwörd, with a comma");
  }
  SaslResult<std::string> log_in(std::initializer_list<std::string_view> parts) {
    std::string message;
    for (bool first = true; const std::string_view part : parts) {
      if (!std::exchange(first, false)) message.push_back('\0');
      message += part;
    }
    return plain_login(users_, message);
  }
  std::string told(std::initializer_list<std::string_view> parts) {
    const auto result = log_in(parts);
    return result ? "logged in" : result.error().told;
  }
  PlainUsers users_;
};

TEST_F(SaslPlain, WhoKnowsThePasswordIsTaken) {
  EXPECT_EQ(log_in({"", "alice", "secret"}), "alice");
  EXPECT_EQ(log_in({"alice", "alice", "secret"}), "alice");
  EXPECT_EQ(log_in({"", "böb", "pässwörd, with a comma"}), "böb");
}

TEST_F(SaslPlain, OthersAreToldWhatKafkaTellsThem) {
  const char* const kInvalid = "Authentication failed: Invalid username or password";
  EXPECT_EQ(told({"", "alice", "Secret"}), kInvalid);
  EXPECT_EQ(told({"", "alice", "secret2"}), kInvalid);
  EXPECT_EQ(told({"", "nobody", "secret"}), kInvalid);
  EXPECT_EQ(told({"", "", "secret"}), "Authentication failed: username not specified");
  EXPECT_EQ(told({"", "alice", ""}), "Authentication failed: password not specified");
  EXPECT_EQ(told({"böb", "alice", "secret"}),
            "Authentication failed: Client requested an authorization id that is different from username");
}

TEST_F(SaslPlain, OnlyThreePartsAreAMessage) {
  const std::string told_of = "Invalid SASL/PLAIN response: expected 3 tokens, got ";
  EXPECT_EQ(told({""}), told_of + "1");
  EXPECT_EQ(told({"", "alice"}), told_of + "2");
  EXPECT_EQ(told({"", "alice", "secret", ""}), told_of + "4");
  EXPECT_EQ(told({"", "alice", "secret", "", "", ""}), told_of + "4");
}

TEST_F(SaslPlain, NoFailureRepeatsWhatWasSent) {
  for (const auto& failed : {log_in({"", "alice", "hunter2"}), log_in({"hunter2", "alice", "secret"}),
                             log_in({"hunter2"}), log_in({"", "hunter2", ""})}) {
    ASSERT_FALSE(failed);
    EXPECT_FALSE(failed.error().reason.contains("hunter2"));
    EXPECT_FALSE(failed.error().told.contains("hunter2"));
  }
}

// The user that stands for those who do not exist cannot be logged in as.
TEST_F(SaslPlain, NobodyIsNoUser) {
  EXPECT_FALSE(users_.check("nobody", ""));
  EXPECT_FALSE(users_.check("", ""));
}

}  // namespace
}  // namespace thalweg::security
