#include "broker/scram_admin.h"

#include <gtest/gtest.h>

#include "security/scram_credential.h"

namespace thalweg::broker {
namespace {

using protocol::ErrorCode;
using records::ScramMechanism;

metadata::Snapshot with_users(std::initializer_list<records::ScramKey> keys) {
  metadata::Snapshot snapshot;
  for (const records::ScramKey& key : keys)
    EXPECT_TRUE(snapshot.apply(metadata::Revision(1), records::ScramCredentialSet{.key = key}));
  return snapshot;
}

ScramUpsertion upsertion(std::string user, ScramMechanism mechanism = ScramMechanism::sha_256,
                         std::int32_t iterations = 4096) {
  return {.user = std::move(user),
          .mechanism = mechanism,
          .iterations = iterations,
          .salt = "salt",
          .salted_password = "salted"};
}

// "user code, ..." in the order of the answer.
std::string text(const ScramChange& change) {
  std::string text;
  for (const auto& user : change.users)
    text += (text.empty() ? "" : ", ") + user.name + " " + std::to_string(static_cast<int>(user.error.code));
  return text;
}

TEST(ScramAdmin, SetsAndDeletes) {
  const auto before = with_users({{.user = "old", .mechanism = ScramMechanism::sha_512}});
  const std::vector<ScramDeletion> deletions = {{.user = "old", .mechanism = ScramMechanism::sha_512}};
  const std::vector<ScramUpsertion> upsertions = {upsertion("new")};
  const ScramChange change = plan_scram_change(before, deletions, upsertions);
  EXPECT_EQ(text(change), "old 0, new 0");
  ASSERT_EQ(change.records.size(), 2U);
  metadata::Snapshot after = before;
  for (const auto& record : change.records) ASSERT_TRUE(after.apply(metadata::Revision(2), record));
  EXPECT_EQ(after.scram_credential({.user = "old", .mechanism = ScramMechanism::sha_512}), nullptr);
  const auto* const set = after.scram_credential({.user = "new", .mechanism = ScramMechanism::sha_256});
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(*set, security::credential_of_salted(ScramMechanism::sha_256, "salted", "salt", 4096));
}

TEST(ScramAdmin, WhatCannotBeIsRefusedForItsUserAlone) {
  const auto before = with_users({{.user = "old", .mechanism = ScramMechanism::sha_512}});
  const std::vector<ScramDeletion> deletions = {{.user = "old", .mechanism = ScramMechanism::sha_256},
                                                {.user = "", .mechanism = ScramMechanism::sha_256},
                                                {.user = "unknown", .mechanism = static_cast<ScramMechanism>(9)}};
  const std::vector<ScramUpsertion> upsertions = {
      upsertion("few", ScramMechanism::sha_256, 4095), upsertion("many", ScramMechanism::sha_256, 16'385),
      upsertion("none", ScramMechanism::unknown), upsertion("most", ScramMechanism::sha_512, 16'384)};
  const ScramChange change = plan_scram_change(before, deletions, upsertions);
  EXPECT_EQ(text(change), "most 0, old 91,  93, unknown 33, few 93, many 93, none 33");
  EXPECT_EQ(change.records.size(), 1U);
}

TEST(ScramAdmin, AUserIsChangedOnceInARequest) {
  const auto before = with_users({{.user = "a", .mechanism = ScramMechanism::sha_256}});
  const std::vector<ScramDeletion> deletions = {{.user = "a", .mechanism = ScramMechanism::sha_256}};
  const std::vector<ScramUpsertion> upsertions = {upsertion("a", ScramMechanism::sha_512), upsertion("b"),
                                                  upsertion("b"), upsertion("b"), upsertion("c")};
  const ScramChange change = plan_scram_change(before, deletions, upsertions);
  EXPECT_EQ(text(change), "c 0, a 92, b 92");
  EXPECT_EQ(change.records.size(), 1U);
}

TEST(ScramAdmin, ADecoyLooksLikeTheUsersThatThereAre) {
  metadata::Snapshot snapshot;
  ASSERT_TRUE(snapshot.apply(metadata::Revision(1), new_decoy_secret()));
  const auto decoy = [&](const char* user, ScramMechanism mechanism) {
    return decoy_for(snapshot, {.user = user, .mechanism = mechanism});
  };
  EXPECT_EQ(decoy("x", ScramMechanism::sha_256).salt.size(), security::kScramSaltBytes);
  EXPECT_EQ(decoy("x", ScramMechanism::sha_256).iterations, 4096);
  const auto add = [&](const char* user, ScramMechanism mechanism, std::int32_t iterations, std::string_view salt) {
    const records::ScramCredentialSet set{.key = {.user = user, .mechanism = mechanism},
                                          .credential = {.iterations = iterations, .salt = base::Bytes::copy_of(salt)}};
    ASSERT_TRUE(snapshot.apply(metadata::Revision(2), set));
  };
  add("m", ScramMechanism::sha_256, 8192, "salt of this size");
  add("n", ScramMechanism::sha_512, 9000, "short");
  for (const char* user : {"a", "m1", "z"}) {
    EXPECT_EQ(decoy(user, ScramMechanism::sha_256).iterations, 8192) << user;
    EXPECT_EQ(decoy(user, ScramMechanism::sha_256).salt.size(), 17U) << user;
    EXPECT_EQ(decoy(user, ScramMechanism::sha_256), decoy(user, ScramMechanism::sha_256));
    EXPECT_EQ(decoy(user, ScramMechanism::sha_512).iterations, 9000) << user;
  }
}

TEST(ScramAdmin, TheDecoySecretIsStoredAsNobodysCredential) {
  metadata::Snapshot snapshot;
  EXPECT_TRUE(decoy_secret(snapshot).empty());
  ASSERT_TRUE(snapshot.apply(metadata::Revision(1), new_decoy_secret()));
  EXPECT_EQ(decoy_secret(snapshot).size(), 64U);
  ASSERT_EQ(snapshot.scram_credentials().size(), 1U);
  for (const auto& [key, credential] : snapshot.scram_credentials()) EXPECT_TRUE(is_decoy_secret(key));
}

}  // namespace
}  // namespace thalweg::broker
