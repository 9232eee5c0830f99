// Delegation tokens: made, shown, renewed and logged in with, by clients of a real broker.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/messages/create_delegation_token_request.h"
#include "protocol/messages/create_delegation_token_response.h"
#include "protocol/messages/describe_delegation_token_request.h"
#include "protocol/messages/describe_delegation_token_response.h"
#include "protocol/messages/expire_delegation_token_request.h"
#include "protocol/messages/expire_delegation_token_response.h"
#include "protocol/messages/renew_delegation_token_request.h"
#include "protocol/messages/renew_delegation_token_response.h"
#include "server/login_test_util.h"

namespace thalweg::server {
namespace {

using records::ScramMechanism;

class TokenTest : public LoginTest {
 protected:
  [[nodiscard]] std::vector<std::string> more_overrides() const override {
    std::vector<std::string> overrides = LoginTest::more_overrides();
    overrides.insert(overrides.end(),
                     {"listener.name.inside.plain.connections.max.reauth.ms=0",
                      "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                      "super.users=User:bob", "delegation.token.secret.key=the key",
                      "delegation.token.expiry.time.ms=50000", "delegation.token.max.lifetime.ms=100000"});
    return overrides;
  }

  Client logged_in(std::string_view user, std::string_view password) {
    Client client = connect();
    EXPECT_EQ(log_in(client, user, password).error_code, ErrorCode::none);
    return client;
  }
  Client alice() { return logged_in("alice", "secret"); }
  Client bob() { return logged_in("bob", "other"); }

  protocol::CreateDelegationTokenResponse create(Client& client, std::string_view owner = {},
                                                 std::string_view renewer = {}, std::string_view type = "User") {
    protocol::CreateDelegationTokenRequest request;
    request.max_lifetime_ms = -1;
    if (!owner.empty()) {
      request.owner_principal_type = "User";
      request.owner_principal_name = owner;
    }
    if (!renewer.empty()) {
      auto& entry = request.renewers.emplace_back();
      entry.principal_type = type;
      entry.principal_name = renewer;
    }
    return *ask(client, request, 3);
  }
  ErrorCode renew(Client& client, const base::Bytes& hmac, std::int64_t period_ms = -1) {
    protocol::RenewDelegationTokenRequest request;
    request.hmac = hmac;
    request.renew_period_ms = period_ms;
    return ask(client, request, 2)->error_code;
  }
  ErrorCode expire(Client& client, const base::Bytes& hmac, std::int64_t period_ms) {
    protocol::ExpireDelegationTokenRequest request;
    request.hmac = hmac;
    request.expiry_time_period_ms = period_ms;
    return ask(client, request, 2)->error_code;
  }
  // The ids that the client may see, of some owners or of all.
  std::vector<std::string> seen(Client& client, std::optional<std::vector<std::string>> owners = std::nullopt) {
    protocol::DescribeDelegationTokenRequest request;
    if (owners) {
      auto& list = request.owners.emplace();
      for (const std::string& owner : *owners) {
        auto& entry = list.emplace_back();
        entry.principal_type = "User";
        entry.principal_name = owner;
      }
    } else {
      request.owners.reset();
    }
    const auto answer = ask(client, request, 3);
    EXPECT_EQ(answer->error_code, ErrorCode::none);
    std::vector<std::string> ids;
    for (const auto& token : answer->tokens) ids.push_back(token.token_id.str());
    return ids;
  }
  Exchange token_login(Client& client, const protocol::CreateDelegationTokenResponse& token,
                       ScramMechanism mechanism = ScramMechanism::sha_256) {
    return exchange(client, mechanism, token.token_id.str(), security::base64_encode(token.hmac.view()),
                    ",tokenauth=true");
  }
};

TEST_F(TokenTest, ATokenLogsItsOwnerInUntilItEnds) {
  Client owner = alice();
  const auto token = create(owner);
  ASSERT_EQ(token.error_code, ErrorCode::none);
  EXPECT_EQ(token.principal_name, "alice");
  EXPECT_EQ(token.hmac.size(), 64U);
  EXPECT_EQ(token.expiry_timestamp_ms, token.issue_timestamp_ms + 50'000);
  EXPECT_EQ(token.max_timestamp_ms, token.issue_timestamp_ms + 100'000);
  for (const auto mechanism : {ScramMechanism::sha_256, ScramMechanism::sha_512, ScramMechanism::sha_256}) {
    Client job = connect();
    const Exchange login = token_login(job, token, mechanism);
    EXPECT_EQ(login.last.error_code, ErrorCode::none);
    EXPECT_GT(login.last.session_lifetime_ms, 0);
    EXPECT_LE(login.last.session_lifetime_ms, 50'000);
    on_core([&] { EXPECT_EQ(job.connection->info().principal.str(), "User:alice"); });
    // With a token no other is to be had.
    EXPECT_EQ(create(job).error_code, ErrorCode::delegation_token_request_not_allowed);
    EXPECT_EQ(renew(job, token.hmac), ErrorCode::delegation_token_request_not_allowed);
    EXPECT_EQ(expire(job, token.hmac, -1), ErrorCode::delegation_token_request_not_allowed);
    hang_up(job);
  }
  Client job = connect();
  EXPECT_EQ(token_login(job, token).last.error_code, ErrorCode::none);
  clock_.set_forward(std::chrono::seconds(51));
  EXPECT_FALSE(is_served(job));
  Client late = connect();
  EXPECT_EQ(token_login(late, token).last.error_code, ErrorCode::sasl_authentication_failed);
  wait_for_end(late);
  hang_up(owner);
}

TEST_F(TokenTest, AWrongHmacOrIdDoesNotLogIn) {
  Client owner = alice();
  auto token = create(owner);
  const auto fails = [&] {
    Client client = connect();
    const bool failed = token_login(client, token).last.error_code == ErrorCode::sasl_authentication_failed;
    wait_for_end(client);
    return failed;
  };
  const auto whole = token;
  token.hmac = base::Bytes::copy_of(std::string(64, 'x'));
  EXPECT_TRUE(fails());
  token = whole;
  token.token_id = "AAAAAAAAAAAAAAAAAAAAAA";
  EXPECT_TRUE(fails());
  token = whole;
  // A user's name is no token's id, nor the other way round.
  Client client = connect();
  EXPECT_EQ(exchange(client, ScramMechanism::sha_256, token.token_id.str(), security::base64_encode(token.hmac.view()))
                .last.error_code,
            ErrorCode::sasl_authentication_failed);
  wait_for_end(client);
  EXPECT_EQ(expire(owner, token.hmac, -1), ErrorCode::none);
  EXPECT_TRUE(fails());
  hang_up(owner);
}

TEST_F(TokenTest, AnotherOwnerNeedsTheRightToAndRenewersAreUsers) {
  Client plain_user = alice();
  Client super_user = bob();
  const auto refused = create(plain_user, "carol", "x", "Group");
  EXPECT_EQ(refused.error_code, ErrorCode::delegation_token_authorization_failed);
  EXPECT_EQ(refused.principal_name, "carol");
  EXPECT_EQ(refused.token_requester_principal_name, "alice");
  EXPECT_EQ(refused.expiry_timestamp_ms, -1);
  EXPECT_TRUE(refused.hmac.empty());
  EXPECT_EQ(create(super_user, "carol", "x", "Group").error_code, ErrorCode::invalid_principal_type);
  const auto made = create(super_user, "carol", "alice");
  EXPECT_EQ(made.error_code, ErrorCode::none);
  Client job = connect();
  EXPECT_EQ(token_login(job, made).last.error_code, ErrorCode::none);
  on_core([&] { EXPECT_EQ(job.connection->info().principal.str(), "User:carol"); });
  hang_up(job);
  // A renewer renews and sees it.
  EXPECT_EQ(renew(plain_user, made.hmac), ErrorCode::none);
  EXPECT_EQ(renew(super_user, made.hmac), ErrorCode::delegation_token_owner_mismatch);
  EXPECT_EQ(seen(plain_user), std::vector<std::string>{made.token_id.str()});
  hang_up(plain_user);
  hang_up(super_user);
}

TEST_F(TokenTest, TokensAreRenewedAndEndedByTheirOwn) {
  Client owner = alice();
  Client other = bob();
  const auto token = create(owner);
  EXPECT_EQ(renew(owner, base::Bytes::copy_of("unknown")), ErrorCode::delegation_token_not_found);
  EXPECT_EQ(renew(other, token.hmac), ErrorCode::delegation_token_owner_mismatch);
  EXPECT_EQ(renew(owner, token.hmac), ErrorCode::none);
  EXPECT_EQ(expire(other, token.hmac, -1), ErrorCode::delegation_token_owner_mismatch);
  clock_.set_forward(std::chrono::seconds(40));
  EXPECT_EQ(renew(owner, token.hmac), ErrorCode::none);
  clock_.set_forward(std::chrono::seconds(40));
  EXPECT_EQ(expire(owner, token.hmac, 1000), ErrorCode::none);
  clock_.set_forward(std::chrono::seconds(2));
  EXPECT_EQ(renew(owner, token.hmac), ErrorCode::delegation_token_expired);
  EXPECT_EQ(expire(owner, token.hmac, 5), ErrorCode::delegation_token_expired);
  EXPECT_EQ(seen(owner).size(), 1U);
  EXPECT_EQ(expire(owner, token.hmac, -1), ErrorCode::none);
  EXPECT_EQ(expire(owner, token.hmac, -1), ErrorCode::delegation_token_not_found);
  EXPECT_TRUE(seen(owner).empty());
  hang_up(owner);
}

TEST_F(TokenTest, OnlyWhoMaySeesATokenAndOnlyThoseAskedFor) {
  Client owner = alice();
  Client super_user = bob();
  const std::string mine = create(owner).token_id.str();
  const std::string theirs = create(super_user).token_id.str();
  EXPECT_EQ(seen(owner), std::vector{mine});
  EXPECT_EQ(seen(super_user).size(), 2U);
  EXPECT_EQ(seen(super_user, std::vector<std::string>{"alice"}), std::vector{mine});
  EXPECT_TRUE(seen(super_user, std::vector<std::string>{}).empty());
  EXPECT_TRUE(seen(owner, std::vector<std::string>{"bob"}).empty());
  hang_up(owner);
  hang_up(super_user);
}

TEST_F(TokenTest, APlainConnectionHasNothingToDoWithTokens) {
  listener_ = {.name = "PLAINTEXT", .security_protocol = "PLAINTEXT"};
  Client client = connect();
  EXPECT_EQ(create(client).error_code, ErrorCode::delegation_token_request_not_allowed);
  EXPECT_EQ(renew(client, {}), ErrorCode::delegation_token_request_not_allowed);
  EXPECT_EQ(ask(client, protocol::DescribeDelegationTokenRequest{}, 3)->error_code,
            ErrorCode::delegation_token_request_not_allowed);
  hang_up(client);
}

class NoTokenTest : public TokenTest {
 protected:
  [[nodiscard]] std::vector<std::string> more_overrides() const override { return LoginTest::more_overrides(); }
};

TEST_F(NoTokenTest, WithoutASecretKeyThereAreNone) {
  Client client = alice();
  EXPECT_EQ(create(client).error_code, ErrorCode::delegation_token_auth_disabled);
  EXPECT_EQ(create(client, {}, "x", "Group").error_code, ErrorCode::invalid_principal_type);
  EXPECT_EQ(renew(client, {}), ErrorCode::delegation_token_auth_disabled);
  EXPECT_EQ(expire(client, {}, -1), ErrorCode::delegation_token_auth_disabled);
  EXPECT_EQ(ask(client, protocol::DescribeDelegationTokenRequest{}, 3)->error_code,
            ErrorCode::delegation_token_auth_disabled);
  hang_up(client);
}

}  // namespace
}  // namespace thalweg::server
