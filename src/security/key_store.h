// Key stores and trust stores in the forms that Kafka's `ssl.keystore.*` and `ssl.truststore.*` take: PEM text and
// PKCS#12. Bytes in, keys and certificates out; who reads the files is somebody else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "security/certificates.h"

namespace thalweg::security {

// Reads PEM text: a private key, and its certificate with the issuers behind it. Line breaks may be missing, as where
// the text stands in one line of a properties file.
//   key_password   of an encrypted key
//   errors         what is missing or wrong, never a secret
base::Result<KeyAndChain, std::string> key_from_pem(std::string_view text,
                                                    const std::optional<std::string>& key_password);

// The same where key and certificates are two texts.
base::Result<KeyAndChain, std::string> key_from_pem(std::string_view key, std::string_view certificates,
                                                    const std::optional<std::string>& key_password);

// Reads the certificates of a PEM text, of which there must be one at least.
base::Result<std::vector<Certificate>, std::string> certificates_from_pem(std::string_view text);

// Reads the first key of a PKCS#12 file and its certificates, the key's own first.
//   key_password   of the key alone, where it has one of its own
base::Result<KeyAndChain, std::string> key_from_pkcs12(std::string_view file, const std::string& password,
                                                       const std::optional<std::string>& key_password);

// Reads those certificates of a PKCS#12 file that are trusted: the ones that Java marked so and, as Java does, the
// certificate of each key. In a file without marks and keys, which OpenSSL writes, that is all of them.
//   password   none: the file is not checked, and only what is not encrypted can be read
base::Result<std::vector<Certificate>, std::string> trusted_from_pkcs12(std::string_view file,
                                                                        const std::optional<std::string>& password);

// Whether a file is in Java's own format JKS (or JCEKS), which only Java reads.
bool is_java_key_store(std::string_view file);
// How to convert such a file, in one line.
std::string how_to_convert(std::string_view path);

}  // namespace thalweg::security
