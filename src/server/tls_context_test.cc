// Beside the server: what makes certificates for tests is in security/, to the right of runtime/.
#include "runtime/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "security/test_certificates.h"

namespace thalweg::runtime {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct TlsContextTest : testing::Test {
  const security::test::Pair own_pair = security::test::make({});
  base::Result<TlsContext, TlsFault> made(std::vector<std::string> protocols,
                                          std::vector<std::string> suites = {}) const {
    return make_tls_context({.protocols = std::move(protocols),
                             .cipher_suites = std::move(suites),
                             .key = own_pair.key,
                             .chain = {own_pair.certificate}});
  }
};

TEST_F(TlsContextTest, TheDefaultsAreForwardSecretAndAuthenticated) {
  const auto config = made({"TLSv1.2", "TLSv1.3"});
  ASSERT_TRUE(config) << config.error().what;
  EXPECT_THAT(config->protocols, ElementsAre("TLSv1.2", "TLSv1.3"));
  EXPECT_THAT(config->ciphers,
              ElementsAre("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256",
                          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
                          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
                          "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256"));
}

TEST_F(TlsContextTest, OneVersionMayBeOfferedAlone) {
  const auto new_one = made({"TLSv1.3"});
  ASSERT_TRUE(new_one) << new_one.error().what;
  EXPECT_THAT(new_one->protocols, ElementsAre("TLSv1.3"));
  const auto old_one = made({"TLSv1.2"});
  ASSERT_TRUE(old_one) << old_one.error().what;
  EXPECT_THAT(old_one->protocols, ElementsAre("TLSv1.2"));
  EXPECT_THAT(old_one->ciphers, Each(HasSubstr("_WITH_")));
}

TEST_F(TlsContextTest, OldAndUnknownVersionsAreRefusedByName) {
  for (const char* name : {"TLSv1", "TLSv1.1", "SSLv3", "tls"}) {
    const auto config = made({"TLSv1.2", name});
    ASSERT_FALSE(config) << name;
    EXPECT_EQ(config.error().key, "ssl.enabled.protocols");
    EXPECT_EQ(config.error().what, std::string(name) + " is not offered; allowed: TLSv1.2, TLSv1.3");
  }
  EXPECT_FALSE(made({}));
}

TEST_F(TlsContextTest, SuitesAreNamedAsJavaNamesThem) {
  const auto config =
      made({"TLSv1.2", "TLSv1.3"}, {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                                    "TLS_EMPTY_RENEGOTIATION_INFO_SCSV", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"});
  ASSERT_TRUE(config) << config.error().what;
  EXPECT_THAT(config->ciphers, ElementsAre("TLS_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                                           "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"));
}

TEST_F(TlsContextTest, AVersionWithoutASuiteIsNotOffered) {
  const auto config = made({"TLSv1.2", "TLSv1.3"}, {"TLS_AES_256_GCM_SHA384"});
  ASSERT_TRUE(config) << config.error().what;
  EXPECT_THAT(config->protocols, ElementsAre("TLSv1.3"));
  EXPECT_THAT(config->ciphers, ElementsAre("TLS_AES_256_GCM_SHA384"));
  const auto none = made({"TLSv1.2"}, {"TLS_AES_256_GCM_SHA384"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().key, "ssl.cipher.suites");
}

TEST_F(TlsContextTest, UnknownSuitesAreRefusedByName) {
  for (const char* name :
       {"TLS_FOO_WITH_BAR", "ECDHE-RSA-AES128-GCM-SHA256", "TLS_NONE_SUCH", "TLS_RSA_WITH_RC4_128_MD5"}) {
    const auto config = made({"TLSv1.2", "TLSv1.3"}, {name});
    ASSERT_FALSE(config) << name;
    EXPECT_EQ(config.error().key, "ssl.cipher.suites");
    EXPECT_THAT(config.error().what, HasSubstr(name));
  }
}

TEST(ClientAuth, HasKafkasWords) {
  EXPECT_EQ(parse_client_auth("required"), ClientAuth::required);
  EXPECT_EQ(parse_client_auth("REQUESTED"), ClientAuth::requested);
  EXPECT_EQ(parse_client_auth("none"), ClientAuth::none);
  EXPECT_EQ(parse_client_auth("maybe"), std::nullopt);
}

}  // namespace
}  // namespace thalweg::runtime
