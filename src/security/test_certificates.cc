#include "security/test_certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstring>
#include <memory>

#include "base/check.h"

namespace thalweg::security::test {

namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

Bio memory() { return {BIO_new(BIO_s_mem()), BIO_free_all}; }

std::string text_in(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  CHECK(extension != nullptr, "a bad extension");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Pair make(const Wanted& wanted, const Pair* issuer) {
  static std::atomic<long> serial{1};
  Pair pair{.certificate = own(X509_new()), .key = own(EVP_EC_gen("P-256"))};
  X509* certificate = pair.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial.fetch_add(1));
  X509_gmtime_adj(X509_getm_notBefore(certificate), wanted.begins_in_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), wanted.ends_in_s);
  X509_set_pubkey(certificate, pair.key.get());
  X509_NAME* name = X509_get_subject_name(certificate);
  for (const auto& [type, value] : wanted.subject)
    X509_NAME_add_entry_by_txt(name, type.c_str(), MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  X509* signer = issuer == nullptr ? certificate : issuer->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  if (!wanted.names.empty()) add_extension(certificate, signer, NID_subject_alt_name, wanted.names);
  if (wanted.authority) {
    add_extension(certificate, signer, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  CHECK(X509_sign(certificate, (issuer == nullptr ? pair : *issuer).key.get(), EVP_sha256()) > 0, "cannot sign");
  return pair;
}

Pair make_authority(std::string name) {
  return make({.subject = {{"O", "Test"}, {"CN", std::move(name)}}, .names = {}, .authority = true});
}

Pair make_client(std::string name, const Pair& issuer) {
  return make({.subject = {{"O", "Test"}, {"OU", "clients"}, {"CN", std::move(name)}}, .names = {}}, &issuer);
}

std::string pem(const Certificate& certificate) {
  const Bio out = memory();
  PEM_write_bio_X509(out.get(), certificate.get());
  return text_in(out);
}

std::string pem(const PrivateKey& key, std::string_view password) {
  const Bio out = memory();
  PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), password.empty() ? nullptr : EVP_aes_256_cbc(),
                                password.empty() ? nullptr : password.data(), static_cast<int>(password.size()),
                                nullptr, nullptr);
  return text_in(out);
}

std::string pkcs12(const Pair* pair, const std::vector<Certificate>& others, const std::string& password,
                   const std::string& key_password) {
  constexpr int kIterations = 100;  // a test needs no more
  STACK_OF(PKCS12_SAFEBAG)* certificates = nullptr;
  STACK_OF(PKCS12_SAFEBAG)* keys = nullptr;
  if (pair != nullptr) {
    PKCS12_add_cert(&certificates, pair->certificate.get());
    PKCS12_add_key(&keys, pair->key.get(), 0, kIterations, NID_aes_256_cbc,
                   (key_password.empty() ? password : key_password).c_str());
  }
  for (const Certificate& other : others) PKCS12_add_cert(&certificates, other.get());
  STACK_OF(PKCS7)* safes = nullptr;
  PKCS12_add_safe(&safes, certificates, NID_aes_256_cbc, kIterations, password.c_str());
  if (keys != nullptr) PKCS12_add_safe(&safes, keys, -1, 0, nullptr);
  sk_PKCS12_SAFEBAG_pop_free(certificates, PKCS12_SAFEBAG_free);
  sk_PKCS12_SAFEBAG_pop_free(keys, PKCS12_SAFEBAG_free);
  PKCS12* store = PKCS12_add_safes(safes, 0);
  sk_PKCS7_pop_free(safes, PKCS7_free);
  CHECK(PKCS12_set_mac(store, password.c_str(), -1, nullptr, 0, kIterations, nullptr) == 1, "cannot seal");
  const Bio out = memory();
  i2d_PKCS12_bio(out.get(), store);
  PKCS12_free(store);
  return text_in(out);
}

}  // namespace thalweg::security::test
