#include "security/scram_file.h"

#include <gtest/gtest.h>

#include "security/scram_credential.h"

namespace thalweg::security {
namespace {

using records::ScramMechanism;

std::string fault(std::string_view text) {
  const auto lines = parse_scram_file(text);
  return lines ? "none" : lines.error();
}

TEST(ScramFile, ReadsPasswordsAndSaltedPasswords) {
  const auto lines = parse_scram_file(
      "# the first ones\n"
      "\n"
      "SCRAM-SHA-256=[name=alice,password=alice-secret]\r\n"
      "  SCRAM-SHA-512 = [ name=\"b,ob\" , password=\"a=b, c]\", iterations=8192 ]\n"
      "SCRAM-SHA-256=[name=carol,iterations=4096,salt=\"W22ZaJ0SNY7soEsUEjb6gQ==\","
      "saltedpassword=\"xKSVEDI6tPlSysH6mUQZOeeOp01r6B3fcJbodRPcYV0=\"]");
  ASSERT_TRUE(lines) << lines.error();
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[0].key, (records::ScramKey{.user = "alice", .mechanism = ScramMechanism::sha_256}));
  EXPECT_EQ((*lines)[0].password, "alice-secret");
  EXPECT_EQ((*lines)[0].iterations, 4096);
  EXPECT_EQ((*lines)[1].key, (records::ScramKey{.user = "b,ob", .mechanism = ScramMechanism::sha_512}));
  EXPECT_EQ((*lines)[1].password, "a=b, c]");
  EXPECT_EQ((*lines)[1].iterations, 8192);
  // That is the salted password of RFC 7677's vector: "pencil".
  EXPECT_EQ(credential_of((*lines)[2], "unused"),
            credential_of(ScramMechanism::sha_256, "pencil", *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096));
  EXPECT_EQ(credential_of((*lines)[0], "salt"), credential_of(ScramMechanism::sha_256, "alice-secret", "salt", 4096));
}

TEST(ScramFile, AFaultNamesTheLineAndNoSecret) {
  EXPECT_EQ(fault("\nSCRAM-SHA-1=[name=a,password=hunter2]"), "2: a line begins with SCRAM-SHA-256= or SCRAM-SHA-512=");
  EXPECT_EQ(fault("hunter2"), "1: a line begins with SCRAM-SHA-256= or SCRAM-SHA-512=");
  EXPECT_EQ(fault("SCRAM-SHA-256=name=a,password=hunter2"), "1: behind the mechanism belongs [key=value,...]");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,hunter2]"), "1: behind the mechanism belongs [key=value,...]");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,password=\"hunter2]"), "1: a quotation mark is not closed");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,password=\"hun\"ter2]"), "1: a comma belongs between two keys");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,hunter2=b]"),
            "1: a key that is none; allowed: name, password, salt, saltedpassword, iterations");
  EXPECT_EQ(fault("SCRAM-SHA-256=[password=hunter2]"), "1: name is missing");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a]"), "1: one of password and saltedpassword belongs");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,saltedpassword=aHVudGVyMg==]"), "1: saltedpassword needs its salt");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,salt=c2FsdA==,saltedpassword=aHVudGVyMg==]"),
            "1: saltedpassword is not of the mechanism's size");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,salt=hunter2,password=b]"), "1: salt is not base64");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,password=b,iterations=4095]"), "1: iterations must be from 4096 to 16384");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,password=b,iterations=16385]"), "1: iterations must be from 4096 to 16384");
  EXPECT_EQ(fault("SCRAM-SHA-256=[name=a,password=b,iterations=4096x]"), "1: iterations is no number");
}

}  // namespace
}  // namespace thalweg::security
