// Clients that log in, for tests.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/messages/metadata_request.h"
#include "protocol/messages/metadata_response.h"
#include "protocol/messages/sasl_authenticate_request.h"
#include "protocol/messages/sasl_authenticate_response.h"
#include "protocol/messages/sasl_handshake_request.h"
#include "protocol/messages/sasl_handshake_response.h"
#include "security/crypto.h"
#include "security/scram_credential.h"
#include "server/connection_test_util.h"

namespace thalweg::server {

using protocol::ErrorCode;

inline protocol::SaslHandshakeRequest handshake(std::string_view mechanism) {
  protocol::SaslHandshakeRequest request;
  request.mechanism = mechanism;
  return request;
}

inline protocol::SaslAuthenticateRequest token(std::string_view bytes) {
  protocol::SaslAuthenticateRequest request;
  request.auth_bytes = base::Bytes::copy_of(bytes);
  return request;
}

inline std::string plain(std::string_view user, std::string_view password) {
  return std::string(1, '\0') + std::string(user) + std::string(1, '\0') + std::string(password);
}

// A SCRAM client: the final message for a challenge.
inline std::string scram_final(records::ScramMechanism mechanism, std::string_view bare, const std::string& challenge,
                               std::string_view password) {
  using security::hmac;
  const security::Hash hash = security::hash_of(mechanism);
  const std::size_t salt_at = challenge.find(",s=") + 3;
  const std::size_t count_at = challenge.find(",i=");
  const auto salt = security::base64_decode(std::string_view(challenge).substr(salt_at, count_at - salt_at));
  const std::string salted = security::pbkdf2(hash, password, *salt, std::stoi(challenge.substr(count_at + 3)));
  const std::string without_proof = "c=biws," + challenge.substr(0, challenge.find(','));
  std::string proof = hmac(hash, salted, "Client Key");
  const std::string signature =
      hmac(hash, security::digest(hash, proof), std::string(bare) + "," + challenge + "," + without_proof);
  for (std::size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ signature[i]);
  return without_proof + ",p=" + security::base64_encode(proof);
}

class LoginTest : public ConnectionTest {
 protected:
  LoginTest() { listener_ = {.name = "INSIDE", .security_protocol = "SASL_PLAINTEXT"}; }

  [[nodiscard]] std::vector<std::string> more_overrides() const override {
    return {"listeners=INSIDE://127.0.0.1:0",
            "listener.security.protocol.map=INSIDE:SASL_PLAINTEXT",
            "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "listener.name.inside.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
            "required user_alice=\"secret\" user_bob=\"other\";",
            "listener.name.inside.plain.connections.max.reauth.ms=60000",
            "connection.failed.authentication.delay.ms=0"};
  }

  Client connect() {
    Client client = ConnectionTest::connect();
    seen_[client.stream] = 0;  // there may have been another at its address
    return client;
  }
  void send(Client& client, const std::string& bytes) {
    on_core([&] { client.stream->push(bytes); });
  }
  // The body of the next answer that was not looked at yet; nothing where the connection ended instead.
  std::optional<base::Bytes> receive(Client& client) {
    std::size_t& seen = seen_[client.stream];
    const auto whole = [&] { return answers(client.stream->output()).size() > seen; };
    wait_until(client, [&] { return whole() || client.stream->closed(); });
    if (!whole()) return std::nullopt;
    const std::string& output = client.stream->output();
    std::size_t at = 0;
    const auto size = [&] {
      return static_cast<std::size_t>(
          base::load_be<std::int32_t>(reinterpret_cast<const std::uint8_t*>(output.data()) + at));
    };
    for (std::size_t i = 0; i < seen; ++i) at += 4 + size();
    ++seen;
    return base::Bytes::copy_of(std::string_view(output).substr(at + 8, size() - 4));
  }
  template <class Request>
  std::optional<typename Request::Response> ask(Client& client, const Request& request, int version) {
    send(client, frame(request, version, 1));
    auto body = receive(client);
    if (!body) return std::nullopt;
    bodies_.push_back(std::move(*body));  // what is decoded aliases it
    protocol::Reader reader(bodies_.back());
    if (version >= Request::Response::kFirstFlexibleVersion && Request::kApiKey != protocol::ApiKey::api_versions)
      (void)reader.uvarint();
    typename Request::Response response;
    response.decode(reader, version);
    EXPECT_TRUE(reader.ok());
    return response;
  }
  // Logs in by PLAIN.
  protocol::SaslAuthenticateResponse log_in(Client& client, std::string_view user, std::string_view password) {
    EXPECT_EQ(ask(client, handshake("PLAIN"), 1)->error_code, ErrorCode::none);
    return ask(client, token(plain(user, password)), 2).value_or(protocol::SaslAuthenticateResponse());
  }
  // The server's challenge and its last answer.
  struct Exchange {
    std::string challenge;
    protocol::SaslAuthenticateResponse last;
  };
  Exchange exchange(Client& client, records::ScramMechanism mechanism, const std::string& user,
                    std::string_view password, std::string_view extension = {}) {
    Exchange result;
    EXPECT_EQ(ask(client, handshake(security::name_of(mechanism)), 1)->error_code, ErrorCode::none);
    const std::string bare = "n=" + user + ",r=abc" + std::string(extension);
    const auto first = ask(client, token("n,," + bare), 2);
    EXPECT_EQ(first->error_code, ErrorCode::none);
    result.challenge = std::string(first->auth_bytes.view());
    result.last = *ask(client, token(scram_final(mechanism, bare, result.challenge, password)), 2);
    return result;
  }
  bool is_served(Client& client) { return ask(client, protocol::MetadataRequest{}, 9).has_value(); }
  void wait_for_end(Client& client) {
    wait_until(client, [&] { return client.stream->closed(); });
  }

  std::map<MemoryStream*, std::size_t> seen_;
  std::deque<base::Bytes> bodies_;
};

}  // namespace thalweg::server
