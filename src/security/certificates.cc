#include "security/certificates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "security/distinguished_name.h"

namespace thalweg::security {

namespace {

std::string text_of(const GENERAL_NAME* name) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> out(BIO_new(BIO_s_mem()), BIO_free_all);
  GENERAL_NAME_print(out.get(), const_cast<GENERAL_NAME*>(name));
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<std::size_t>(std::max(size, 0L))};
}

std::unexpected<Forbidden> forbidden(std::string_view key, std::string what) {
  return std::unexpected(Forbidden{.key = std::string(key), .what = std::move(what)});
}

}  // namespace

Certificate own(X509* certificate) { return {certificate, X509_free}; }
PrivateKey own(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

std::string subject_of(const X509* certificate) {
  return distinguished_name(X509_get_subject_name(const_cast<X509*>(certificate)));
}

std::vector<std::string> alternative_names_of(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::vector<std::string> texts;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i)
    texts.push_back(text_of(sk_GENERAL_NAME_value(names.get(), i)));
  std::ranges::sort(texts);
  return texts;
}

std::string end_of(const X509* certificate) {
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return "an unreadable date";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", end.tm_year + 1900, end.tm_mon + 1, end.tm_mday,
                     end.tm_hour, end.tm_min, end.tm_sec);
}

Validity validity_at(const X509* certificate, std::int64_t wall_ms) {
  std::time_t now = wall_ms / 1000;
  if (X509_cmp_time(X509_get0_notBefore(certificate), &now) > 0) return Validity::not_yet;
  return X509_cmp_time(X509_get0_notAfter(certificate), &now) < 0 ? Validity::expired : Validity::valid;
}

base::Result<void, Forbidden> check_replacement(const X509* before, const X509* after, AllowedChanges allowed) {
  if (!allowed.distinguished_name) {
    const std::string old_name = subject_of(before);
    const std::string new_name = subject_of(after);
    if (old_name != new_name)
      return forbidden("ssl.allow.dn.changes",
                       fmt::format("the new certificate is of {}, the one in use of {}", new_name, old_name));
  }
  if (!allowed.alternative_names) {
    const std::vector<std::string> old_names = alternative_names_of(before);
    const std::vector<std::string> new_names = alternative_names_of(after);
    if (!std::ranges::includes(new_names, old_names))
      return forbidden("ssl.allow.san.changes", fmt::format("the new certificate is for {}, the one in use for {}",
                                                            fmt::join(new_names, ", "), fmt::join(old_names, ", ")));
  }
  return {};
}

std::string take_openssl_reason() {
  // The last entry is the one nearest to the caller; the first says what went wrong deep down.
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  if (first == 0) return {};
  const char* reason = ERR_reason_error_string(first);
  return reason == nullptr ? fmt::format("OpenSSL error {:x}", first) : std::string(reason);
}

}  // namespace thalweg::security
