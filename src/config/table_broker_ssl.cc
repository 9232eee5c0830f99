// Broker keys: TLS.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> ssl_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("ssl.client.auth", Type::string, "none", kMedium, kPerBroker, kUsed, one_of("required,requested,none"),
          "Whether TLS clients must (`required`), may (`requested`) or do not (`none`) show a certificate."),
      key("ssl.enabled.protocols", Type::list, "TLSv1.2,TLSv1.3", kMedium, kPerBroker, kUsed, any_list(),
          "TLS versions that are offered: TLSv1.2 and TLSv1.3."),
      key("ssl.cipher.suites", Type::list, "", kMedium, kPerBroker, kUsed, any_list(),
          "Cipher suites that are offered, by their IANA names. Empty: those with forward secrecy and authenticated "
          "encryption."),
      key("ssl.keystore.location", Type::string, kNull, kMedium, kPerListener, kUsed, {},
          "File with the broker's key and certificates, PKCS12 or PEM."),
      key("ssl.keystore.password", Type::password, kNull, kMedium, kPerListener, kUsed, {},
          "Password of the key store file."),
      key("ssl.keystore.type", Type::string, "JKS", kMedium, kPerListener, kUsed, {},
          "Format of the key store: PKCS12, PEM, or JKS for a file that Java's keytool wrote."),
      key("ssl.keystore.key", Type::password, kNull, kMedium, kPerListener, kUsed, {},
          "The broker's private key itself, as PEM text."),
      key("ssl.keystore.certificate.chain", Type::password, kNull, kMedium, kPerListener, kUsed, {},
          "The broker's certificate and its issuers themselves, as PEM text."),
      key("ssl.key.password", Type::password, kNull, kMedium, kPerListener, kUsed, {},
          "Password of the private key, in the key store or in `ssl.keystore.key`."),
      key("ssl.truststore.location", Type::string, kNull, kMedium, kPerListener, kUsed, {},
          "File with the certificates whose clients are trusted, PKCS12 or PEM."),
      key("ssl.truststore.password", Type::password, kNull, kMedium, kPerListener, kUsed, {},
          "Password of the trust store file."),
      key("ssl.truststore.type", Type::string, "JKS", kMedium, kPerListener, kUsed, {},
          "Format of the trust store: PKCS12, PEM, or JKS for a file that Java's keytool wrote."),
      key("ssl.truststore.certificates", Type::password, kNull, kMedium, kPerListener, kUsed, {},
          "The trusted certificates themselves, as PEM text."),
      key("ssl.principal.mapping.rules", Type::string, "DEFAULT", kLow, kReadOnly, kUsed, {},
          "Rules that turn a certificate's distinguished name into a user name. `DEFAULT` keeps the whole name."),
      key("ssl.allow.dn.changes", Type::boolean, "false", kLow, kReadOnly, kUsed, {},
          "Whether a reloaded certificate may name another subject."),
      key("ssl.allow.san.changes", Type::boolean, "false", kLow, kReadOnly, kUsed, {},
          "Whether a reloaded certificate may lose subject alternative names."),
      key("ssl.protocol", Type::string, "TLSv1.3", kMedium, kPerBroker, kAccepted, {},
          "TLS version from which a Java TLS context is made. `ssl.enabled.protocols` decides here."),
      key("ssl.endpoint.identification.algorithm", Type::string, "https", kLow, kPerBroker, kAccepted, {},
          "How the names in other brokers' certificates are checked."),
      key("ssl.keymanager.algorithm", Type::string, "SunX509", kMedium, kPerBroker, kAccepted, {},
          "Algorithm of Java's key manager."),
      key("ssl.trustmanager.algorithm", Type::string, "PKIX", kMedium, kPerBroker, kAccepted, {},
          "Algorithm of Java's trust manager."),
      key("ssl.secure.random.implementation", Type::string, kNull, kLow, kPerBroker, kAccepted, {},
          "Java's source of randomness for TLS. OpenSSL has its own."),
      because("TLS comes from OpenSSL", key("ssl.provider", Type::string, kNull, kMedium, kPerBroker, kRefused, {},
                                            "Java security provider for TLS.")),
      because("TLS comes from OpenSSL, Java classes cannot be loaded",
              key("ssl.engine.factory.class", Type::class_, kNull, kLow, kPerBroker, kRefused, {},
                  "Java class that makes TLS engines.")),
  };
  return kKeys;
}

}  // namespace thalweg::config
