// A certificate's name as text, byte for byte as Java prints it: principals and ACLs written for Kafka name clients so.
#pragma once

#include <openssl/x509.h>

#include <string>

namespace thalweg::security {

// The name in the form of RFC 2253, as X500Principal.getName() gives it: the last part first, CN, C, L, ST, O, OU,
// STREET, DC and UID by their names, other attributes as number and hexadecimal DER: "CN=kate,OU=ops\, eu,O=Example".
std::string distinguished_name(const X509_NAME* name);

}  // namespace thalweg::security
