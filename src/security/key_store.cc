#include "security/key_store.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace thalweg::security {

namespace {

using BioPointer = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

BioPointer reader_of(std::string_view bytes) {
  return {BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())), BIO_free_all};
}

std::unexpected<std::string> fault(std::string what) {
  ERR_clear_error();
  return std::unexpected(std::move(what));
}

// "WHAT (OpenSSL's reason)"
std::unexpected<std::string> openssl_fault(std::string_view what) {
  const std::string reason = take_openssl_reason();
  return std::unexpected(reason.empty() ? std::string(what) : fmt::format("{} ({})", what, reason));
}

// One block of PEM text with the line breaks that OpenSSL wants.
struct PemBlock {
  std::string label;  // "CERTIFICATE"
  std::string text;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string with_lines(std::string_view label, std::string_view body) {
  constexpr std::size_t kLine = 64;
  std::string text = fmt::format("-----BEGIN {}-----\n", label);
  // Headers ("Proc-Type: 4,ENCRYPTED") stand in lines of their own, which are kept.
  if (body.contains(':')) {
    text += body.substr(std::min(body.find_first_not_of("\r\n"), body.size()));
    if (!text.ends_with('\n')) text += '\n';
  } else {
    std::string packed(body);
    std::erase_if(packed, is_blank);
    for (std::size_t at = 0; at < packed.size(); at += kLine) text += packed.substr(at, kLine) + "\n";
  }
  return text + fmt::format("-----END {}-----\n", label);
}

std::vector<PemBlock> pem_blocks(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kDashes = "-----";
  std::vector<PemBlock> blocks;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    if (begin == std::string_view::npos) return blocks;
    text.remove_prefix(begin + kBegin.size());
    const std::size_t label_end = text.find(kDashes);
    if (label_end == std::string_view::npos) return blocks;
    const std::string label(text.substr(0, label_end));
    text.remove_prefix(label_end + kDashes.size());
    const std::string last = fmt::format("-----END {}-----", label);
    const std::size_t end = text.find(last);
    if (end == std::string_view::npos) return blocks;
    blocks.push_back({label, with_lines(label, text.substr(0, end))});
    text.remove_prefix(end + last.size());
  }
}

bool is_certificate(std::string_view label) {
  return label == "CERTIFICATE" || label == "X509 CERTIFICATE" || label == "TRUSTED CERTIFICATE";
}

int give_password(char* buffer, int size, int /*writing*/, void* user) {
  const auto* password = static_cast<const std::string*>(user);
  if (password == nullptr || password->size() > static_cast<std::size_t>(size)) return -1;
  std::memcpy(buffer, password->data(), password->size());
  return static_cast<int>(password->size());
}

base::Result<PrivateKey, std::string> read_key(const PemBlock& block, const std::optional<std::string>& password) {
  const BioPointer in = reader_of(block.text);
  std::string copy = password.value_or("");
  EVP_PKEY* key = PEM_read_bio_PrivateKey(in.get(), nullptr, give_password, password ? &copy : nullptr);
  OPENSSL_cleanse(copy.data(), copy.size());
  if (key != nullptr) return own(key);
  const bool encrypted = block.label.starts_with("ENCRYPTED") || block.text.contains("ENCRYPTED");
  if (encrypted && !password) return fault("the private key is encrypted, and ssl.key.password is not set");
  if (encrypted) return openssl_fault("the private key cannot be decrypted; is ssl.key.password right?");
  return openssl_fault("the private key cannot be read");
}

base::Result<PrivateKey, std::string> only_key(std::string_view text, const std::optional<std::string>& password) {
  const std::vector<PemBlock> blocks = pem_blocks(text);
  const auto is_key = [](const PemBlock& block) { return block.label.ends_with("PRIVATE KEY"); };
  const auto block = std::ranges::find_if(blocks, is_key);
  if (block == blocks.end()) return fault("there is no private key (-----BEGIN PRIVATE KEY-----) in the PEM text");
  return read_key(*block, password);
}

base::Result<KeyAndChain, std::string> checked(KeyAndChain pair) {
  if (X509_check_private_key(pair.chain.front().get(), pair.key.get()) != 1)
    return fault(fmt::format("the private key does not belong to the first certificate ({})",
                             subject_of(pair.chain.front().get())));
  return pair;
}

// A PKCS#12 file, opened: what lies in it, in its order.
struct Bags {
  std::vector<std::unique_ptr<STACK_OF(PKCS12_SAFEBAG), void (*)(STACK_OF(PKCS12_SAFEBAG)*)>> owners;
  std::vector<const PKCS12_SAFEBAG*> bags;
  bool some_hidden = false;  // encrypted, and there was no password
};

void free_bags(STACK_OF(PKCS12_SAFEBAG) * bags) { sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free); }
void free_parts(STACK_OF(PKCS7) * parts) { sk_PKCS7_pop_free(parts, PKCS7_free); }

// Whether the failure is one of an algorithm that OpenSSL does not offer.
bool has_old_encryption() {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  return reason == ERR_R_UNSUPPORTED || reason == EVP_R_UNSUPPORTED_ALGORITHM || reason == EVP_R_UNKNOWN_CIPHER;
}

constexpr std::string_view kOldEncryption =
    "is encrypted in a way that OpenSSL 3 no longer reads (RC2 or the like); write it again with a newer keytool or "
    "`openssl pkcs12 -export`";

base::Result<Bags, std::string> open_pkcs12(std::string_view file, const std::optional<std::string>& password) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  const std::unique_ptr<PKCS12, decltype(&PKCS12_free)> store(
      d2i_PKCS12(nullptr, &bytes, static_cast<long>(file.size())), PKCS12_free);
  if (store == nullptr) return fault("this is no PKCS#12 file");
  const int password_size = password ? static_cast<int>(password->size()) : 0;
  const char* secret = password ? password->data() : nullptr;
  if (password && PKCS12_mac_present(store.get()) == 1 && PKCS12_verify_mac(store.get(), secret, password_size) != 1)
    return fault("the password is wrong, or the file is damaged");
  const std::unique_ptr<STACK_OF(PKCS7), decltype(&free_parts)> parts(PKCS12_unpack_authsafes(store.get()), free_parts);
  if (parts == nullptr) return openssl_fault("the PKCS#12 file cannot be read");
  Bags result;
  for (int i = 0; i < sk_PKCS7_num(parts.get()); ++i) {
    PKCS7* part = sk_PKCS7_value(parts.get(), i);
    STACK_OF(PKCS12_SAFEBAG)* bags = nullptr;
    if (PKCS7_type_is_data(part)) {
      bags = PKCS12_unpack_p7data(part);
    } else if (PKCS7_type_is_encrypted(part)) {
      if (!password) {
        result.some_hidden = true;
        continue;
      }
      bags = PKCS12_unpack_p7encdata(part, secret, password_size);
    } else {
      continue;
    }
    if (bags == nullptr && has_old_encryption()) return fault(fmt::format("the PKCS#12 file {}", kOldEncryption));
    if (bags == nullptr) return openssl_fault("the PKCS#12 file cannot be decrypted");
    result.owners.emplace_back(bags, free_bags);
    for (int j = 0; j < sk_PKCS12_SAFEBAG_num(bags); ++j) result.bags.push_back(sk_PKCS12_SAFEBAG_value(bags, j));
  }
  return result;
}

struct MarkedCertificate {
  Certificate certificate;
  bool trusted = false;  // marked so by Java
};

bool is_marked_trusted(const PKCS12_SAFEBAG* bag) {
  constexpr std::string_view kTrustedKeyUsage = "2.16.840.1.113894.746875.1.1";
  const STACK_OF(X509_ATTRIBUTE)* attributes = PKCS12_SAFEBAG_get0_attrs(bag);
  for (int i = 0; i < sk_X509_ATTRIBUTE_num(attributes); ++i) {
    std::array<char, 80> number{};
    OBJ_obj2txt(number.data(), number.size(), X509_ATTRIBUTE_get0_object(sk_X509_ATTRIBUTE_value(attributes, i)), 1);
    if (kTrustedKeyUsage == number.data()) return true;
  }
  return false;
}

std::vector<MarkedCertificate> certificates_in(const Bags& bags) {
  std::vector<MarkedCertificate> found;
  for (const PKCS12_SAFEBAG* bag : bags.bags) {
    if (PKCS12_SAFEBAG_get_nid(bag) != NID_certBag) continue;
    X509* certificate = PKCS12_SAFEBAG_get1_cert(bag);
    if (certificate != nullptr) found.push_back({own(certificate), is_marked_trusted(bag)});
  }
  return found;
}

bool is_key(const PKCS12_SAFEBAG* bag) {
  const int kind = PKCS12_SAFEBAG_get_nid(bag);
  return kind == NID_keyBag || kind == NID_pkcs8ShroudedKeyBag;
}

base::Result<PrivateKey, std::string> key_in(const PKCS12_SAFEBAG* bag, const std::string& password) {
  using Info = std::unique_ptr<PKCS8_PRIV_KEY_INFO, decltype(&PKCS8_PRIV_KEY_INFO_free)>;
  if (PKCS12_SAFEBAG_get_nid(bag) == NID_keyBag) {
    EVP_PKEY* key = EVP_PKCS82PKEY(PKCS12_SAFEBAG_get0_p8inf(bag));
    if (key == nullptr) return openssl_fault("the private key cannot be read");
    return own(key);
  }
  const Info info(PKCS12_decrypt_skey(bag, password.data(), static_cast<int>(password.size())),
                  PKCS8_PRIV_KEY_INFO_free);
  if (info == nullptr && has_old_encryption()) return fault(fmt::format("the private key {}", kOldEncryption));
  if (info == nullptr)
    return fault("the private key cannot be decrypted; has it a password of its own (ssl.key.password)?");
  EVP_PKEY* key = EVP_PKCS82PKEY(info.get());
  if (key == nullptr) return openssl_fault("the private key cannot be read");
  return own(key);
}

// The certificate and its issuers, as far as they are among `all`.
std::vector<Certificate> chain_from(Certificate first, const std::vector<MarkedCertificate>& all) {
  std::vector<Certificate> chain = {std::move(first)};
  while (chain.size() <= all.size()) {
    X509* last = chain.back().get();
    if (X509_check_issued(last, last) == X509_V_OK) break;
    const auto issuer = std::ranges::find_if(
        all, [last](const auto& one) { return X509_check_issued(one.certificate.get(), last) == X509_V_OK; });
    if (issuer == all.end()) break;
    chain.push_back(issuer->certificate);
  }
  return chain;
}

}  // namespace

base::Result<KeyAndChain, std::string> key_from_pem(std::string_view text,
                                                    const std::optional<std::string>& key_password) {
  return key_from_pem(text, text, key_password);
}

base::Result<KeyAndChain, std::string> key_from_pem(std::string_view key, std::string_view certificates,
                                                    const std::optional<std::string>& key_password) {
  KeyAndChain pair;
  ASSIGN_OR_RETURN(pair.key, only_key(key, key_password));
  ASSIGN_OR_RETURN(pair.chain, certificates_from_pem(certificates));
  return checked(std::move(pair));
}

base::Result<std::vector<Certificate>, std::string> certificates_from_pem(std::string_view text) {
  std::vector<Certificate> certificates;
  for (const PemBlock& block : pem_blocks(text)) {
    if (!is_certificate(block.label)) continue;
    const BioPointer in = reader_of(block.text);
    X509* certificate = PEM_read_bio_X509_AUX(in.get(), nullptr, nullptr, nullptr);
    if (certificate == nullptr)
      return openssl_fault(fmt::format("certificate {} of the PEM text cannot be read", certificates.size() + 1));
    certificates.push_back(own(certificate));
  }
  if (certificates.empty()) return fault("there is no certificate (-----BEGIN CERTIFICATE-----) in the PEM text");
  return certificates;
}

base::Result<KeyAndChain, std::string> key_from_pkcs12(std::string_view file, const std::string& password,
                                                       const std::optional<std::string>& key_password) {
  ASSIGN_OR_RETURN(const Bags bags, open_pkcs12(file, password));
  const auto bag = std::ranges::find_if(bags.bags, is_key);
  if (bag == bags.bags.end()) return fault("there is no private key in the PKCS#12 file");
  KeyAndChain pair;
  ASSIGN_OR_RETURN(pair.key, key_in(*bag, key_password.value_or(password)));
  const std::vector<MarkedCertificate> certificates = certificates_in(bags);
  const auto first = std::ranges::find_if(certificates, [&](const auto& one) {
    return X509_check_private_key(one.certificate.get(), pair.key.get()) == 1;
  });
  ERR_clear_error();
  if (certificates.empty()) return fault("there is no certificate in the PKCS#12 file");
  if (first == certificates.end()) return fault("no certificate of the PKCS#12 file belongs to its private key");
  pair.chain = chain_from(first->certificate, certificates);
  return pair;
}

base::Result<std::vector<Certificate>, std::string> trusted_from_pkcs12(std::string_view file,
                                                                        const std::optional<std::string>& password) {
  ASSIGN_OR_RETURN(const Bags bags, open_pkcs12(file, password));
  const std::vector<MarkedCertificate> all = certificates_in(bags);
  const bool plain = std::ranges::none_of(all, &MarkedCertificate::trusted) && std::ranges::none_of(bags.bags, is_key);
  std::vector<Certificate> trusted;
  for (const MarkedCertificate& one : all)
    if (plain || one.trusted) trusted.push_back(one.certificate);
  for (const PKCS12_SAFEBAG* bag : bags.bags) {
    if (!is_key(bag) || !password) continue;
    const auto key = key_in(bag, *password);
    if (!key) continue;  // a key that cannot be read makes nobody trusted
    for (const MarkedCertificate& one : all)
      if (X509_check_private_key(one.certificate.get(), key->get()) == 1) trusted.push_back(one.certificate);
  }
  ERR_clear_error();
  if (trusted.empty())
    return fault(bags.some_hidden ? "the certificates are encrypted, and there is no password"
                                  : "there is no trusted certificate in the PKCS#12 file");
  return trusted;
}

bool is_java_key_store(std::string_view file) {
  constexpr std::string_view kJks("\xFE\xED\xFE\xED", 4);
  constexpr std::string_view kJceks("\xCE\xCE\xCE\xCE", 4);
  return file.starts_with(kJks) || file.starts_with(kJceks);
}

std::string how_to_convert(std::string_view path) {
  return fmt::format(
      "the format JKS is Java's own and cannot be read; convert the file: keytool -importkeystore -srckeystore {0} "
      "-destkeystore {0}.p12 -deststoretype PKCS12",
      path);
}

}  // namespace thalweg::security
