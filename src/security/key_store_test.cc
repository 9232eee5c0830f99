#include "security/key_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "security/test_certificates.h"

namespace thalweg::security {
namespace {

using test::make;
using test::make_authority;
using test::make_client;
using test::pem;
using testing::HasSubstr;

const std::string kSecret = "open sesame";

struct KeyStoreTest : testing::Test {
  const test::Pair authority = make_authority("root");
  const test::Pair server = make({}, &authority);
  const test::Pair other = make({}, &authority);

  void expect_server(const base::Result<KeyAndChain, std::string>& pair, std::size_t chain) const {
    ASSERT_TRUE(pair) << pair.error();
    ASSERT_EQ(pair->chain.size(), chain);
    EXPECT_EQ(X509_cmp(pair->chain[0].get(), server.certificate.get()), 0);
    if (chain > 1) EXPECT_EQ(X509_cmp(pair->chain[1].get(), authority.certificate.get()), 0);
    EXPECT_EQ(EVP_PKEY_eq(pair->key.get(), server.key.get()), 1);
  }
};

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST_F(KeyStoreTest, PemHoldsAKeyAndItsChainInAnyOrder) {
  const std::string chain = pem(server.certificate) + pem(authority.certificate);
  expect_server(key_from_pem(pem(server.key) + chain, {}), 2);
  expect_server(key_from_pem("Bag Attributes\n  friendlyName: x\n" + chain + "\n" + pem(server.key), {}), 2);
}

TEST_F(KeyStoreTest, PemMayStandInOneLine) {
  expect_server(key_from_pem(in_one_line(pem(server.key)), in_one_line(pem(server.certificate)), {}), 1);
}

TEST_F(KeyStoreTest, AnEncryptedPemKeyNeedsItsPassword) {
  const std::string text = pem(server.key, kSecret) + pem(server.certificate);
  expect_server(key_from_pem(text, kSecret), 1);
  const auto wrong = key_from_pem(text, "guess");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error(), HasSubstr("is ssl.key.password right?"));
  const auto none = key_from_pem(text, std::nullopt);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error(), HasSubstr("ssl.key.password is not set"));
}

TEST_F(KeyStoreTest, PemSaysWhatIsMissing) {
  const auto no_key = key_from_pem(pem(server.certificate), {});
  ASSERT_FALSE(no_key);
  EXPECT_THAT(no_key.error(), HasSubstr("no private key"));
  const auto no_certificate = key_from_pem(pem(server.key), {});
  ASSERT_FALSE(no_certificate);
  EXPECT_THAT(no_certificate.error(), HasSubstr("no certificate"));
  EXPECT_FALSE(certificates_from_pem(""));
  EXPECT_FALSE(certificates_from_pem("-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n"));
}

TEST_F(KeyStoreTest, AKeyOfAnotherCertificateIsRefused) {
  const auto pair = key_from_pem(pem(other.key) + pem(server.certificate), {});
  ASSERT_FALSE(pair);
  EXPECT_EQ(pair.error(), "the private key does not belong to the first certificate (CN=localhost)");
}

TEST_F(KeyStoreTest, EveryCutOfAPemFileIsAnAnswer) {
  const std::string text = pem(server.key) + pem(server.certificate);
  for (std::size_t n = 0; n + 1 < text.size(); ++n)
    EXPECT_FALSE(key_from_pem(std::string_view(text).substr(0, n), {})) << "prefix of " << n;
}

TEST_F(KeyStoreTest, Pkcs12HoldsAKeyAndItsChain) {
  const std::string file = test::pkcs12(&server, {other.certificate, authority.certificate}, kSecret);
  expect_server(key_from_pkcs12(file, kSecret, {}), 2);
}

TEST_F(KeyStoreTest, APkcs12KeyMayHaveAPasswordOfItsOwn) {
  const std::string file = test::pkcs12(&server, {}, kSecret, "of the key");
  expect_server(key_from_pkcs12(file, kSecret, "of the key"), 1);
  const auto wrong = key_from_pkcs12(file, kSecret, {});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error(), HasSubstr("ssl.key.password"));
}

TEST_F(KeyStoreTest, AWrongPasswordOfAPkcs12FileIsSaidSo) {
  const std::string file = test::pkcs12(&server, {}, kSecret);
  for (const std::string& guess : {std::string("guess"), std::string()}) {
    const auto pair = key_from_pkcs12(file, guess, {});
    ASSERT_FALSE(pair);
    EXPECT_THAT(pair.error(), HasSubstr("password is wrong"));
    EXPECT_EQ(pair.error().find(kSecret), std::string::npos);
  }
}

TEST_F(KeyStoreTest, EveryCutOfAPkcs12FileIsAnAnswer) {
  const std::string file = test::pkcs12(&server, {authority.certificate}, kSecret);
  for (std::size_t n = 0; n < file.size(); ++n) {
    EXPECT_FALSE(key_from_pkcs12(std::string_view(file).substr(0, n), kSecret, {})) << "prefix of " << n;
    EXPECT_FALSE(trusted_from_pkcs12(std::string_view(file).substr(0, n), kSecret)) << "prefix of " << n;
  }
}

TEST_F(KeyStoreTest, APkcs12FileOfCertificatesTrustsThemAll) {
  const std::string file = test::pkcs12(nullptr, {authority.certificate, other.certificate}, kSecret);
  const auto trusted = trusted_from_pkcs12(file, kSecret);
  ASSERT_TRUE(trusted) << trusted.error();
  EXPECT_EQ(trusted->size(), 2U);
  const auto no_password = trusted_from_pkcs12(file, std::nullopt);
  ASSERT_FALSE(no_password);
  EXPECT_THAT(no_password.error(), HasSubstr("there is no password"));
  const auto no_key = key_from_pkcs12(file, kSecret, {});
  ASSERT_FALSE(no_key);
  EXPECT_THAT(no_key.error(), HasSubstr("no private key"));
}

TEST_F(KeyStoreTest, OfAKeyAndItsChainOnlyTheKeysOwnCertificateIsTrusted) {
  const std::string file = test::pkcs12(&server, {authority.certificate}, kSecret);
  const auto trusted = trusted_from_pkcs12(file, kSecret);
  ASSERT_TRUE(trusted) << trusted.error();
  ASSERT_EQ(trusted->size(), 1U);
  EXPECT_EQ(X509_cmp((*trusted)[0].get(), server.certificate.get()), 0);
}

TEST(KeyStore, JavasOwnFormatIsKnown) {
  EXPECT_TRUE(is_java_key_store(std::string_view("\xFE\xED\xFE\xED\0\0\0\2", 8)));
  EXPECT_FALSE(is_java_key_store("0\x82"));
  EXPECT_FALSE(is_java_key_store(""));
  EXPECT_THAT(how_to_convert("/etc/a.jks"), HasSubstr("keytool -importkeystore -srckeystore /etc/a.jks"));
}

TEST(Certificates, SayWhenTheyAreInForce) {
  const test::Pair past = make({.begins_in_s = -7200, .ends_in_s = -3600});
  const test::Pair present = make({});
  const test::Pair future = make({.begins_in_s = 3600, .ends_in_s = 7200});
  const std::int64_t now = std::int64_t{::time(nullptr)} * 1000;  // what OpenSSL counted from
  EXPECT_EQ(validity_at(past.certificate.get(), now), Validity::expired);
  EXPECT_EQ(validity_at(present.certificate.get(), now), Validity::valid);
  EXPECT_EQ(validity_at(future.certificate.get(), now), Validity::not_yet);
  EXPECT_THAT(alternative_names_of(present.certificate.get()),
              testing::ElementsAre("DNS:localhost", "IP Address:127.0.0.1"));
  EXPECT_THAT(end_of(present.certificate.get()), testing::EndsWith(" UTC"));
}

TEST(TlsReplacement, MayNotNameAnotherSubjectUnlessAllowed) {
  const test::Pair before = test::make({});
  const test::Pair after = test::make({.subject = {{"CN", "other"}}});
  EXPECT_TRUE(check_replacement(before.certificate.get(), before.certificate.get(), {}));
  const auto refused = check_replacement(before.certificate.get(), after.certificate.get(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().key, "ssl.allow.dn.changes");
  EXPECT_TRUE(check_replacement(before.certificate.get(), after.certificate.get(), {.distinguished_name = true}));
}

TEST(TlsReplacement, MayAddNamesButNotLoseThemUnlessAllowed) {
  const test::Pair few = test::make({.names = "DNS:a"});
  const test::Pair many = test::make({.subject = {{"CN", "localhost"}}, .names = "DNS:b,DNS:a"});
  EXPECT_TRUE(check_replacement(few.certificate.get(), many.certificate.get(), {}));
  const auto refused = check_replacement(many.certificate.get(), few.certificate.get(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().key, "ssl.allow.san.changes");
  EXPECT_TRUE(check_replacement(many.certificate.get(), few.certificate.get(), {.alternative_names = true}));
}

}  // namespace
}  // namespace thalweg::security
