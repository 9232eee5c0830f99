#include "security/scram.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "security/scram_credential.h"

namespace thalweg::security {
namespace {

using records::ScramMechanism;

constexpr std::string_view kClientNonce = "rOprNGfwEbeRWgbNEkqO";
constexpr std::string_view kServerNonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const std::string kFirst = "n,,n=user,r=" + std::string(kClientNonce);
const std::string kNonce = std::string(kClientNonce) + std::string(kServerNonce);

records::ScramCredential pencil(ScramMechanism mechanism) {
  return credential_of(mechanism, "pencil", *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096);
}

// A client of its own, from RFC 5802; it spoils what a test asks it to.
struct Client {
  ScramMechanism mechanism = ScramMechanism::sha_256;
  std::string password = "pencil";
  std::string first = kFirst;
  std::string channel = "biws";

  [[nodiscard]] std::string final_message(const std::string& challenge, std::string nonce = kNonce) const {
    const Hash hash = hash_of(mechanism);
    const std::size_t salt_at = challenge.find(",s=") + 3;
    const std::size_t count_at = challenge.find(",i=");
    const std::string salt = *base64_decode(std::string_view(challenge).substr(salt_at, count_at - salt_at));
    const std::string salted = pbkdf2(hash, password, salt, std::stoi(challenge.substr(count_at + 3)));
    const std::string client_key = hmac(hash, salted, "Client Key");
    const std::string without_proof = "c=" + channel + ",r=" + nonce;
    const std::string bare = first.substr(first.find("n=", 3));
    const std::string signature = hmac(hash, digest(hash, client_key), bare + "," + challenge + "," + without_proof);
    std::string proof = client_key;
    for (std::size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ signature[i]);
    return without_proof + ",p=" + base64_encode(proof);
  }
};

// The log's reason where a login with this first message fails, else the server's final message.
std::string outcome(const Client& client, records::ScramCredential credential,
                    const std::function<void(std::string&)>& spoil = {}) {
  ScramServer server(client.mechanism, std::string(kServerNonce));
  const auto claim = server.begin(client.first);
  if (!claim) return claim.error().reason;
  std::string message = client.final_message(server.challenge(std::move(credential)));
  if (spoil) spoil(message);
  const auto answer = server.finish(message);
  return answer ? *answer : answer.error().reason;
}

TEST(Scram, AnswersAsTheStandardsVectorDoes) {
  // RFC 7677, section 3
  ScramServer server(ScramMechanism::sha_256, std::string(kServerNonce));
  const auto claim = server.begin(kFirst);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->user, "user");
  EXPECT_FALSE(claim->is_token);
  EXPECT_EQ(server.challenge(pencil(ScramMechanism::sha_256)), "r=" + kNonce + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  const auto answer = server.finish("c=biws,r=" + kNonce + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  ASSERT_TRUE(answer) << answer.error().reason;
  EXPECT_EQ(*answer, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

TEST(Scram, TheLongerHashAnswersTheSameExchange) {
  // The same exchange under SHA-512, by Python's hashlib.
  ScramServer server(ScramMechanism::sha_512, std::string(kServerNonce));
  ASSERT_TRUE(server.begin(kFirst));
  server.challenge(pencil(ScramMechanism::sha_512));
  const auto answer =
      server.finish("c=biws,r=" + kNonce +
                    ",p=gMGXRcevScNtxZ6/8lQYpGtnsNAc3mGcmNomv+xnoOMw+3R2xNJdMNnzMlTN8PPC6wdp6dybEmDYXYTxwnYPJQ==");
  ASSERT_TRUE(answer) << answer.error().reason;
  EXPECT_EQ(*answer, "v=ZQnYEgWQMFmmsM8aQMF0nDDCy/AgCzkwk8CmMZYcMg0vSVlKDanekLtifDSeVGT4+5ZxXnJq199RVG2rR7N7Zw==");
}

TEST(Scram, AWrongPasswordOrProofFails) {
  const auto credential = pencil(ScramMechanism::sha_256);
  EXPECT_TRUE(outcome({}, credential).starts_with("v="));
  EXPECT_EQ(outcome({.password = "Pencil"}, credential), "unknown user or wrong password");
  const auto with_proof = [&](const std::string& proof) {
    return outcome({}, credential,
                   [&](std::string& message) { message = message.substr(0, message.find(",p=") + 3) + proof; });
  };
  EXPECT_EQ(with_proof("AAAA"), "a proof of the wrong size");
  EXPECT_EQ(with_proof(""), "a proof of the wrong size");
  EXPECT_EQ(with_proof("%%%%"), "a final message that is none");
  EXPECT_EQ(with_proof(base64_encode(std::string(32, '\0'))), "unknown user or wrong password");
  // One that gives the stored key itself, as somebody would who has read the store.
  EXPECT_EQ(with_proof(base64_encode(credential.stored_key.view())), "unknown user or wrong password");
}

TEST(Scram, AnotherNonceFails) {
  const auto credential = pencil(ScramMechanism::sha_256);
  for (const std::string& nonce : {std::string(kClientNonce), std::string(kServerNonce), kNonce + "x",
                                   kNonce.substr(0, kNonce.size() - 1), std::string("x") + kNonce}) {
    ScramServer server(ScramMechanism::sha_256, std::string(kServerNonce));
    ASSERT_TRUE(server.begin(kFirst));
    const std::string challenge = server.challenge(credential);
    const auto answer = server.finish(Client{}.final_message(challenge, nonce));
    ASSERT_FALSE(answer) << nonce;
    EXPECT_EQ(answer.error().reason, "another nonce than the one we gave");
  }
}

TEST(Scram, TheChannelBindingMustBeWhatItWasAtFirst) {
  const auto credential = pencil(ScramMechanism::sha_256);
  EXPECT_EQ(outcome({.channel = "eSws"}, credential), "another channel binding than at first");  // y,,
  EXPECT_EQ(outcome({.channel = ""}, credential), "another channel binding than at first");
  EXPECT_EQ(outcome({.channel = "%"}, credential), "another channel binding than at first");
  // A client that could bind a channel and believes that we cannot is right.
  EXPECT_TRUE(outcome({.first = "y,,n=user,r=rOprNGfwEbeRWgbNEkqO", .channel = "eSws"}, credential).starts_with("v="));
  EXPECT_EQ(outcome({.first = "p=tls-unique,,n=user,r=rOprNGfwEbeRWgbNEkqO"}, credential),
            "the client insists on channel binding");
}

TEST(Scram, TheFirstMessageIsReadStrictly) {
  const auto begin = [](std::string_view message) {
    ScramServer server(ScramMechanism::sha_256, std::string(kServerNonce));
    return server.begin(message);
  };
  EXPECT_EQ(begin("n,,n=a=2Cb=3Dc,r=x")->user, "a,b=c");
  EXPECT_EQ(begin("n,a=user,n=user,r=x")->user, "user");
  EXPECT_TRUE(begin("n,,n=id,r=x,tokenauth=true")->is_token);
  EXPECT_FALSE(begin("n,,n=id,r=x,tokenauth=false,other=1")->is_token);
  EXPECT_EQ(begin("n,a=admin,n=user,r=x").error().told,
            "Authentication failed: Client requested an authorization id that is different from username");
  EXPECT_EQ(begin("n,,m=must,n=user,r=x").error().reason, "the client insists on an extension");
  for (const char* bad : {"", "n", "n,", "n,,", "x,,n=user,r=x", "n,,r=x,n=user", "n,,n=user", "n,,n=,r=x",
                          "n,,n=us=er,r=x", "n,,n=us=2c,r=x", "n,,n=user,r=", "n,,n=user,r=a\tb", "n,,n=user,q=x"})
    EXPECT_FALSE(begin(bad)) << bad;
}

TEST(Scram, EveryTruncationOfTheFinalMessageFails) {
  const auto credential = pencil(ScramMechanism::sha_256);
  std::size_t size = 0;
  EXPECT_TRUE(outcome({}, credential, [&](std::string& message) { size = message.size(); }).starts_with("v="));
  for (std::size_t cut = 0; cut < size; ++cut)
    EXPECT_FALSE(outcome({}, credential, [&](std::string& message) { message.resize(cut); }).starts_with("v=")) << cut;
}

// Who does not exist looks like who does: a salt that stays, of the same size, and a failure at the same step.
TEST(Scram, AUserThatDoesNotExistGetsAStableDecoy) {
  for (const auto mechanism : {ScramMechanism::sha_256, ScramMechanism::sha_512}) {
    const auto decoy = decoy_credential(mechanism, "secret", "nobody");
    EXPECT_EQ(decoy, decoy_credential(mechanism, "secret", "nobody"));
    EXPECT_NE(decoy.salt, decoy_credential(mechanism, "secret", "nobody2").salt);
    EXPECT_NE(decoy.salt, decoy_credential(mechanism, "other", "nobody").salt);
    EXPECT_EQ(decoy.salt.size(), kScramSaltBytes);
    EXPECT_EQ(decoy.iterations, kLeastScramIterations);
    EXPECT_EQ(decoy.stored_key.size(), pencil(mechanism).stored_key.size());
    EXPECT_EQ(outcome({.mechanism = mechanism}, decoy), "unknown user or wrong password");
  }
  EXPECT_NE(decoy_credential(ScramMechanism::sha_256, "secret", "a").salt,
            decoy_credential(ScramMechanism::sha_512, "secret", "a").salt);
}

TEST(Scram, MechanismsHaveKafkasNames) {
  EXPECT_EQ(name_of(ScramMechanism::sha_256), "SCRAM-SHA-256");
  EXPECT_EQ(scram_mechanism("SCRAM-SHA-512"), ScramMechanism::sha_512);
  EXPECT_EQ(scram_mechanism("SCRAM-SHA-1"), std::nullopt);
  EXPECT_EQ(scram_mechanism(""), std::nullopt);
}

}  // namespace
}  // namespace thalweg::security
