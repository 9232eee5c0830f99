#include "security/delegation_token.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/text.h"
#include "security/crypto.h"

namespace thalweg::security {
namespace {

using protocol::ErrorCode;
using records::DelegationToken;

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
constexpr TokenLimits kLimits{.max_lifetime_ms = 1000, .expiry_ms = 100};

DelegationToken token(std::int64_t max_lifetime_ms = 0) {
  DelegationToken token{
      .token_id = "id", .owner = "User:owner", .requester = "User:asker", .renewers = {"User:renewer"}};
  start_life(token, max_lifetime_ms, kLimits, kNow);
  return token;
}

template <class T>
ErrorCode code(const protocol::Result<T>& result) {
  return result ? ErrorCode::none : result.error().code;
}

TEST(DelegationToken, LivesAsLongAsTheLimitsAllow) {
  EXPECT_EQ(token().issued_ms, kNow);
  EXPECT_EQ(token().max_ms, kNow + 1000);
  EXPECT_EQ(token(-1).max_ms, kNow + 1000);
  EXPECT_EQ(token(5000).max_ms, kNow + 1000);
  EXPECT_EQ(token(kForEver).max_ms, kNow + 1000);
  EXPECT_EQ(token(500).max_ms, kNow + 500);
  EXPECT_EQ(token(500).expires_ms, kNow + 100);
  EXPECT_EQ(token(50).expires_ms, kNow + 50);
  EXPECT_FALSE(has_run_out(token(), kNow + 100));
  EXPECT_TRUE(has_run_out(token(), kNow + 101));
}

TEST(DelegationToken, IsRenewedByItsOwnerAndByRenewers) {
  for (const char* who : {"User:owner", "User:renewer"})
    EXPECT_EQ(code(renew(token(), who, 0, kLimits, kNow)), ErrorCode::none) << who;
  for (const char* who : {"User:other", "User:asker", "Group:owner", "User:", ""})
    EXPECT_EQ(code(renew(token(), who, 0, kLimits, kNow)), ErrorCode::delegation_token_owner_mismatch) << who;
}

TEST(DelegationToken, ARenewalNeverPassesTheMaximum) {
  EXPECT_EQ(renew(token(), "User:owner", 0, kLimits, kNow + 50)->expires_ms, kNow + 150);
  EXPECT_EQ(renew(token(), "User:owner", -1, kLimits, kNow + 50)->expires_ms, kNow + 150);
  EXPECT_EQ(renew(token(), "User:owner", 20, kLimits, kNow + 50)->expires_ms, kNow + 70);
  EXPECT_EQ(renew(token(), "User:owner", kForEver, kLimits, kNow + 50)->expires_ms, kNow + 150);
  EXPECT_EQ(renew(token(120), "User:owner", 100, kLimits, kNow + 50)->expires_ms, kNow + 120);
  EXPECT_EQ(renew(token(120), "User:owner", 100, kLimits, kNow + 50)->max_ms, kNow + 120);
}

TEST(DelegationToken, WhatHasRunOutIsNotRenewedWhoeverAsks) {
  EXPECT_EQ(code(renew(token(), "User:owner", 0, kLimits, kNow + 101)), ErrorCode::delegation_token_expired);
  EXPECT_EQ(code(renew(token(), "User:other", 0, kLimits, kNow + 101)), ErrorCode::delegation_token_expired);
}

TEST(DelegationToken, ExpiresAtOnceOrLater) {
  EXPECT_EQ(code(expire(token(), "User:other", -1, kNow)), ErrorCode::delegation_token_owner_mismatch);
  EXPECT_EQ(code(expire(token(), "User:other", 5, kNow + 101)), ErrorCode::delegation_token_owner_mismatch);
  EXPECT_EQ(expire(token(), "User:renewer", 5, kNow).value()->expires_ms, kNow + 5);
  EXPECT_EQ(expire(token(), "User:owner", 0, kNow).value()->expires_ms, kNow);
  EXPECT_EQ(expire(token(), "User:owner", kForEver, kNow).value()->expires_ms, kNow + 1000);
  EXPECT_EQ(code(expire(token(), "User:owner", 5, kNow + 101)), ErrorCode::delegation_token_expired);
  EXPECT_FALSE(expire(token(), "User:owner", -1, kNow).value());
  EXPECT_FALSE(expire(token(), "User:owner", -1, kNow + 101).value());
}

TEST(DelegationToken, ItsHmacComesFromTheKeyAndTheId) {
  const TokenKey key("the-secret");
  EXPECT_EQ(key.hmac("id"), hmac(Hash::sha_512, "the-secret", "id"));
  EXPECT_NE(key.hmac("id"), key.hmac("id2"));
  EXPECT_NE(key.hmac("id"), TokenKey("the-secret2").hmac("id"));
  EXPECT_EQ(key.check(), TokenKey("the-secret").check());
  EXPECT_NE(key.check(), TokenKey("the-secret2").check());
}

}  // namespace
}  // namespace thalweg::security
