// Logins over a stream in memory, to a real broker.
#include "server/login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "protocol/messages/alter_user_scram_credentials_request.h"
#include "protocol/messages/alter_user_scram_credentials_response.h"
#include "protocol/messages/api_versions_request.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/describe_user_scram_credentials_request.h"
#include "protocol/messages/describe_user_scram_credentials_response.h"
#include "server/login_test_util.h"

namespace thalweg::server {
namespace {

using records::ScramMechanism;
using testing::ElementsAre;

TEST_F(LoginTest, PlainLogsInAndTheConnectionHasItsPrincipal) {
  Client client = connect();
  ASSERT_EQ(ask(client, protocol::ApiVersionsRequest{}, 0)->error_code, ErrorCode::none);
  const auto offered = ask(client, handshake("PLAIN"), 1);
  EXPECT_THAT(offered->mechanisms, ElementsAre("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"));
  const auto answer = ask(client, token(plain("alice", "secret")), 2);
  EXPECT_EQ(answer->error_code, ErrorCode::none);
  EXPECT_EQ(answer->session_lifetime_ms, 60'000);
  EXPECT_TRUE(is_served(client));
  on_core([&] { EXPECT_EQ(client.connection->info().principal.str(), "User:alice"); });
  // A login that nobody asked for is no reason to end the connection.
  EXPECT_EQ(ask(client, token("x"), 2)->error_code, ErrorCode::illegal_sasl_state);
  EXPECT_TRUE(is_served(client));
  hang_up(client);
  EXPECT_EQ(broker_->shard(0).metrics().bytes_in_flight.load(), 0);
}

TEST_F(LoginTest, AFailedLoginIsToldOnceAndTheConnectionEnds) {
  Client client = connect();
  const auto answer = log_in(client, "alice", "wrong");
  EXPECT_EQ(answer.error_code, ErrorCode::sasl_authentication_failed);
  EXPECT_EQ(answer.error_message->view(), "Authentication failed: Invalid username or password");
  wait_for_end(client);
  on_core([&] { EXPECT_EQ(client.connection->info().principal.str(), "User:ANONYMOUS"); });
}

class SlowLoginTest : public LoginTest {
 protected:
  [[nodiscard]] std::vector<std::string> more_overrides() const override {
    std::vector<std::string> overrides = LoginTest::more_overrides();
    overrides.emplace_back("connection.failed.authentication.delay.ms=30");
    return overrides;
  }
};

TEST_F(SlowLoginTest, AFailureIsHeldBackAndAnEndMeanwhileIsNot) {
  Client client = connect();
  EXPECT_EQ(ask(client, handshake("PLAIN"), 1)->error_code, ErrorCode::none);
  const auto began = clock_.steady();
  EXPECT_EQ(ask(client, token(plain("alice", "wrong")), 2)->error_code, ErrorCode::sasl_authentication_failed);
  EXPECT_GE(clock_.steady() - began, std::chrono::milliseconds(30));
  wait_for_end(client);

  Client second = connect();
  EXPECT_EQ(ask(second, handshake("PLAIN"), 1)->error_code, ErrorCode::none);
  send(second, frame(token(plain("alice", "wrong")), 2, 1));
  on_core([&] { second.connection->close(); });
  wait_for_end(second);
  EXPECT_EQ(answers(second.stream->output()).size(), 1U);
}

TEST_F(LoginTest, BareTokensFollowTheOldHandshake) {
  Client client = connect();
  EXPECT_EQ(ask(client, handshake("PLAIN"), 0)->error_code, ErrorCode::none);
  const std::string bare = plain("bob", "other");
  std::string framed(4, '\0');
  base::store_be(reinterpret_cast<std::uint8_t*>(framed.data()), static_cast<std::int32_t>(bare.size()));
  const std::size_t before = client.stream->output().size();
  send(client, framed + bare);
  wait_until(client, [&] { return client.stream->output().size() == before + 4; });
  EXPECT_EQ(client.stream->output().substr(before), std::string(4, '\0'));
  on_core([&] { EXPECT_EQ(client.connection->info().principal.str(), "User:bob"); });
  send(client, frame(protocol::MetadataRequest{}, 9, 1));
  wait_until(client, [&] { return client.stream->output().size() > before + 4; });
  hang_up(client);
}

TEST_F(LoginTest, NothingElseIsServedBeforeTheLogin) {
  for (const bool after_versions : {false, true}) {
    Client client = connect();
    if (after_versions) {
      ASSERT_TRUE(ask(client, protocol::ApiVersionsRequest{}, 0));
    }
    EXPECT_FALSE(is_served(client));
    wait_for_end(client);
  }
  Client impatient = connect();
  EXPECT_FALSE(ask(impatient, token(plain("alice", "secret")), 2));
  Client curious = connect();
  ASSERT_TRUE(ask(curious, protocol::ApiVersionsRequest{}, 0));
  EXPECT_FALSE(ask(curious, protocol::ApiVersionsRequest{}, 0));
  Client confused = connect();
  ASSERT_EQ(ask(confused, handshake("PLAIN"), 1)->error_code, ErrorCode::none);
  EXPECT_EQ(ask(confused, handshake("PLAIN"), 1)->error_code, ErrorCode::illegal_sasl_state);
  wait_for_end(confused);
  Client large = connect();
  send(large, std::string("\0\x08\0\x01", 4));  // one byte more than sasl.server.max.receive.size
  wait_for_end(large);
}

TEST_F(LoginTest, AMechanismThatIsNotEnabledIsAnsweredWithThoseThatAre) {
  Client client = connect();
  const auto answer = ask(client, handshake("GSSAPI"), 1);
  EXPECT_EQ(answer->error_code, ErrorCode::unsupported_sasl_mechanism);
  EXPECT_THAT(answer->mechanisms, ElementsAre("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"));
  wait_for_end(client);
}

TEST_F(LoginTest, ASessionEndsUnlessTheClientLogsInAgain) {
  Client client = connect();
  log_in(client, "alice", "secret");
  clock_.set_forward(std::chrono::seconds(30));
  EXPECT_EQ(log_in(client, "alice", "secret").session_lifetime_ms, 60'000);
  clock_.set_forward(std::chrono::seconds(50));
  EXPECT_TRUE(is_served(client));
  clock_.set_forward(std::chrono::seconds(50));
  // Too late for a request, not for another login.
  EXPECT_EQ(log_in(client, "alice", "secret").error_code, ErrorCode::none);
  EXPECT_TRUE(is_served(client));
  clock_.set_forward(std::chrono::seconds(61));
  EXPECT_FALSE(is_served(client));
}

TEST_F(LoginTest, AnotherLoginIsOfTheSamePrincipalAndMechanism) {
  Client client = connect();
  log_in(client, "alice", "secret");
  clock_.set_forward(std::chrono::seconds(2));
  const auto other = log_in(client, "bob", "other");
  EXPECT_EQ(other.error_code, ErrorCode::sasl_authentication_failed);
  EXPECT_EQ(other.error_message->view(), "Cannot change principals during re-authentication from User.alice: User.bob");
  wait_for_end(client);

  Client second = connect();
  log_in(second, "alice", "secret");
  clock_.set_forward(std::chrono::seconds(2));
  EXPECT_EQ(ask(second, handshake("SCRAM-SHA-256"), 1)->error_code, ErrorCode::none);
  EXPECT_FALSE(ask(second, token("n,,n=alice,r=x"), 2));

  // Not twice a second: then it is a request that makes no sense.
  Client hasty = connect();
  log_in(hasty, "alice", "secret");
  log_in(hasty, "alice", "secret");
  EXPECT_EQ(ask(hasty, handshake("PLAIN"), 1)->error_code, ErrorCode::illegal_sasl_state);
  hang_up(hasty);
}

class ScramLoginTest : public LoginTest {
 protected:
  void set_password(std::string_view user, ScramMechanism mechanism, std::string_view password) {
    Client admin = connect();
    log_in(admin, "alice", "secret");
    protocol::AlterUserScramCredentialsRequest request;
    auto& upsertion = request.upsertions.emplace_back();
    upsertion.name = user;
    upsertion.mechanism = static_cast<std::int8_t>(mechanism);
    upsertion.iterations = 4096;
    upsertion.salt = base::Bytes::copy_of("some salt");
    upsertion.salted_password =
        base::Bytes::copy_of(security::pbkdf2(security::hash_of(mechanism), password, "some salt", 4096));
    const auto answer = ask(admin, request, 0);
    ASSERT_EQ(answer->results.size(), 1U);
    EXPECT_EQ(answer->results[0].error_code, ErrorCode::none);
    hang_up(admin);
  }
};

TEST_F(ScramLoginTest, AUserLogsInWithThePasswordThatWasSet) {
  for (const auto mechanism : {ScramMechanism::sha_256, ScramMechanism::sha_512}) {
    set_password("carol", mechanism, "pencil");
    Client client = connect();
    const Exchange good = exchange(client, mechanism, "carol", "pencil");
    EXPECT_EQ(good.last.error_code, ErrorCode::none);
    EXPECT_TRUE(good.last.auth_bytes.view().starts_with("v="));
    EXPECT_EQ(good.last.session_lifetime_ms, 0);
    EXPECT_TRUE(is_served(client));
    on_core([&] { EXPECT_EQ(client.connection->info().principal.str(), "User:carol"); });
    hang_up(client);
  }
}

TEST_F(ScramLoginTest, AnUnknownUserLooksLikeAWrongPassword) {
  set_password("carol", ScramMechanism::sha_256, "pencil");
  const auto attempt = [&](const std::string& user) {
    Client client = connect();
    Exchange failed = exchange(client, ScramMechanism::sha_256, user, "wrong");
    EXPECT_EQ(failed.last.error_code, ErrorCode::sasl_authentication_failed);
    EXPECT_EQ(failed.last.error_message->view(),
              "Authentication failed during authentication due to invalid credentials with SASL mechanism "
              "SCRAM-SHA-256");
    EXPECT_TRUE(failed.last.auth_bytes.empty());
    wait_for_end(client);
    return failed.challenge.substr(failed.challenge.find(",s="));
  };
  EXPECT_EQ(attempt("carol"), ",s=" + security::base64_encode("some salt") + ",i=4096");
  const std::string decoy = attempt("nobody");
  EXPECT_EQ(decoy.size(), attempt("carol").size());
  EXPECT_EQ(attempt("nobody"), decoy);
  EXPECT_NE(attempt("nobody2"), decoy);
}

TEST_F(ScramLoginTest, CredentialsAreDescribedWithoutTheirKeys) {
  set_password("carol", ScramMechanism::sha_256, "pencil");
  set_password("carol", ScramMechanism::sha_512, "pencil");
  Client admin = connect();
  log_in(admin, "alice", "secret");
  protocol::DescribeUserScramCredentialsRequest request;
  const auto all = ask(admin, request, 0);
  ASSERT_EQ(all->results.size(), 1U);
  EXPECT_EQ(all->results[0].user, "carol");
  ASSERT_EQ(all->results[0].credential_infos.size(), 2U);
  EXPECT_EQ(all->results[0].credential_infos[1].mechanism, 2);
  EXPECT_EQ(all->results[0].credential_infos[1].iterations, 4096);
  auto& users = request.users.emplace();
  for (const char* name : {"carol", "nobody", "twice", "twice", ""}) users.emplace_back().name = name;
  const auto some = ask(admin, request, 0);
  ASSERT_EQ(some->results.size(), 4U);
  EXPECT_EQ(some->results[0].error_code, ErrorCode::resource_not_found);  // the empty name, which is the decoy's
  EXPECT_EQ(some->results[1].error_code, ErrorCode::none);
  EXPECT_EQ(some->results[2].error_code, ErrorCode::resource_not_found);
  EXPECT_EQ(some->results[3].error_code, ErrorCode::duplicate_resource);
  hang_up(admin);
}

}  // namespace
}  // namespace thalweg::server
