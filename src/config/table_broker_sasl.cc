// Broker keys: authorization, delegation tokens, SASL and OAUTHBEARER.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> authorization_keys() {
  static constexpr ConfigKey kKeys[] = {
      because("only the built-in ACL authorizer exists; Java classes cannot be loaded",
              key("authorizer.class.name", Type::string, "", kLow, kReadOnly, kUsed,
                  one_of(",org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
                  "`org.apache.kafka.metadata.authorizer.StandardAuthorizer` switches the ACLs on, empty switches them "
                  "off.")),
      hidden(key("super.users", Type::string, "", kMedium, kReadOnly, kUsed, {},
                 "Principals to whom everything is allowed, as `User:name` separated by semicolons.")),
      hidden(key("allow.everyone.if.no.acl.found", Type::boolean, "false", kMedium, kReadOnly, kUsed, {},
                 "Whether a resource without any ACL is open to everyone.")),
      because(kNoJava, key("principal.builder.class", Type::class_,
                           "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", kMedium,
                           kPerBroker, kRefused, {}, "Java class that makes a principal from a connection.")),
      key("connection.failed.authentication.delay.ms", Type::int_, "100", kLow, kReadOnly, kUsed, at_least(0),
          "Time (ms) by which the end of a connection that failed to log in is held back."),
      key("delegation.token.secret.key", Type::password, kNull, kMedium, kReadOnly, kUsed, {},
          "Secret from which delegation tokens are signed. Null: delegation tokens are off."),
      key("delegation.token.max.lifetime.ms", Type::long_, "604800000", kMedium, kReadOnly, kUsed, at_least(1),
          "Time (ms) after which a delegation token ends for good."),
      key("delegation.token.expiry.time.ms", Type::long_, "86400000", kMedium, kReadOnly, kUsed, at_least(1),
          "Time (ms) for which a delegation token is valid before it must be renewed."),
      key("delegation.token.expiry.check.interval.ms", Type::long_, "3600000", kLow, kReadOnly, kUsed, at_least(1),
          "Time (ms) between two looks for delegation tokens that have ended."),
      because("Java classes cannot be loaded, and a policy must not be skipped",
              key("create.topic.policy.class.name", Type::class_, kNull, kLow, kReadOnly, kRefused, {},
                  "Java class that judges topics before they are created.")),
      because("Java classes cannot be loaded, and a policy must not be skipped",
              key("alter.config.policy.class.name", Type::class_, kNull, kLow, kReadOnly, kRefused, {},
                  "Java class that judges configuration changes.")),
  };
  return kKeys;
}

std::span<const ConfigKey> sasl_keys() {
  static constexpr ConfigKey kKeys[] = {
      because("this is the list of mechanisms that exist",
              key("sasl.enabled.mechanisms", Type::list, "GSSAPI", kMedium, kPerBroker, kUsed,
                  list_of("PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER,GSSAPI"),
                  "SASL mechanisms that clients may log in with.")),
      key("sasl.jaas.config", Type::password, kNull, kMedium, kPerBroker, kUsed, {},
          "Login module and its options for one mechanism, in JAAS form. Set it as "
          "`listener.name.NAME.MECHANISM.sasl.jaas.config`."),
      key("sasl.server.max.receive.size", Type::int_, "524288", kMedium, kReadOnly, kUsed, {},
          "Largest SASL message in bytes that is read from a client."),
      key("connections.max.reauth.ms", Type::long_, "0", kMedium, kReadOnly, kUsed, {},
          "Time (ms) after which a client must log in again. 0: never."),
      because("only the built-in handlers exist; Java classes cannot be loaded",
              key("sasl.server.callback.handler.class", Type::class_, kNull, kMedium, kReadOnly, kUsed,
                  one_of("org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"),
                  "Java class that checks logins. The OAUTHBEARER validator is known by its name.")),
      because(kNoJava, key("sasl.client.callback.handler.class", Type::class_, kNull, kMedium, kReadOnly, kRefused, {},
                           "Java class that provides the credentials of outgoing logins.")),
      because(
          "only the built-in handlers exist; Java classes cannot be loaded",
          key("sasl.login.callback.handler.class", Type::class_, kNull, kMedium, kReadOnly, kAccepted,
              one_of("org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"),
              "Java class that fetches credentials for outgoing logins. The OAUTHBEARER one is known by its name.")),
      because(kNoJava, key("sasl.login.class", Type::class_, kNull, kMedium, kReadOnly, kRefused, {},
                           "Java class that runs outgoing logins.")),
      key("sasl.mechanism.inter.broker.protocol", Type::string, "GSSAPI", kMedium, kPerBroker, kAccepted, {},
          "SASL mechanism that brokers use among themselves. It must be enabled when their listener uses SASL."),
      key("sasl.mechanism.controller.protocol", Type::string, "GSSAPI", kHigh, kReadOnly, kAccepted, {},
          "SASL mechanism towards controllers. There are none here."),
      key("sasl.kerberos.service.name", Type::string, kNull, kMedium, kPerBroker, kAccepted, {},
          "Kerberos name of the service. GSSAPI is not offered."),
      key("sasl.kerberos.kinit.cmd", Type::string, "/usr/bin/kinit", kMedium, kPerBroker, kAccepted, {},
          "Path of the Kerberos `kinit` program. GSSAPI is not offered."),
      key("sasl.kerberos.ticket.renew.window.factor", Type::double_, "0.8", kMedium, kPerBroker, kAccepted, {},
          "Share of a Kerberos ticket's life after which it is renewed. GSSAPI is not offered."),
      key("sasl.kerberos.ticket.renew.jitter", Type::double_, "0.05", kMedium, kPerBroker, kAccepted, {},
          "Random part added to a Kerberos ticket's renewal. GSSAPI is not offered."),
      key("sasl.kerberos.min.time.before.relogin", Type::long_, "60000", kMedium, kPerBroker, kAccepted, {},
          "Shortest time (ms) between two Kerberos logins. GSSAPI is not offered."),
      key("sasl.kerberos.principal.to.local.rules", Type::list, "DEFAULT", kMedium, kPerBroker, kAccepted, any_list(),
          "Rules that turn Kerberos principals into user names. GSSAPI is not offered."),
      key("sasl.login.refresh.window.factor", Type::double_, "0.8", kMedium, kPerBroker, kAccepted, {},
          "Share of an outgoing credential's life after which it is renewed."),
      key("sasl.login.refresh.window.jitter", Type::double_, "0.05", kMedium, kPerBroker, kAccepted, {},
          "Random part of an outgoing credential's life added to its renewal."),
      key("sasl.login.refresh.min.period.seconds", Type::short_, "60", kMedium, kPerBroker, kAccepted, {},
          "Shortest time in seconds between two renewals of an outgoing credential."),
      key("sasl.login.refresh.buffer.seconds", Type::short_, "300", kMedium, kPerBroker, kAccepted, {},
          "Seconds before its end by which an outgoing credential should be renewed."),
      key("sasl.login.connect.timeout.ms", Type::int_, kNull, kLow, kReadOnly, kUsed, {},
          "Time (ms) to connect to an identity provider. Null: no limit of its own."),
      key("sasl.login.read.timeout.ms", Type::int_, kNull, kLow, kReadOnly, kUsed, {},
          "Time (ms) to wait for an identity provider's answer. Null: no limit of its own."),
      key("sasl.login.retry.backoff.ms", Type::long_, "100", kLow, kReadOnly, kAccepted, {},
          "First pause (ms) before a failed outgoing login is tried again."),
      key("sasl.login.retry.backoff.max.ms", Type::long_, "10000", kLow, kReadOnly, kAccepted, {},
          "Longest pause (ms) between two tries of an outgoing login."),
  };
  return kKeys;
}

std::span<const ConfigKey> oauth_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("sasl.oauthbearer.jwks.endpoint.url", Type::string, kNull, kMedium, kReadOnly, kUsed, {},
          "URL (https, http or file) of the keys that sign the tokens. Null: tokens cannot be verified."),
      key("sasl.oauthbearer.jwks.endpoint.refresh.ms", Type::long_, "3600000", kLow, kReadOnly, kUsed, {},
          "Time (ms) after which the signing keys are fetched again."),
      key("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", Type::long_, "100", kLow, kReadOnly, kUsed, {},
          "First pause (ms) before the signing keys are asked for again after a failure."),
      key("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", Type::long_, "10000", kLow, kReadOnly, kUsed, {},
          "Longest pause (ms) between two tries to fetch the signing keys."),
      key("sasl.oauthbearer.clock.skew.seconds", Type::int_, "30", kLow, kReadOnly, kUsed, {},
          "Seconds by which the clocks of token issuer and broker may differ."),
      key("sasl.oauthbearer.expected.audience", Type::list, "", kHigh, kReadOnly, kUsed, any_list(),
          "Audiences of which a token must name at least one. Needed with a key URL, unless unverified audiences are "
          "allowed."),
      key("sasl.oauthbearer.expected.issuer", Type::string, kNull, kHigh, kReadOnly, kUsed, {},
          "Issuer that a token must name. Needed with a key URL, unless unverified issuers are allowed."),
      key("sasl.oauthbearer.allow.unverified.audience", Type::boolean, "false", kMedium, kReadOnly, kUsed, {},
          "Whether the audience of tokens may go unchecked. Unsafe: tokens made for other services pass."),
      key("sasl.oauthbearer.allow.unverified.issuer", Type::boolean, "false", kMedium, kReadOnly, kUsed, {},
          "Whether the issuer of tokens may go unchecked. Unsafe: tokens of any issuer with a known key pass."),
      key("sasl.oauthbearer.scope.claim.name", Type::string, "scope", kLow, kReadOnly, kUsed, {},
          "Claim of the token that lists its scopes."),
      key("sasl.oauthbearer.sub.claim.name", Type::string, "sub", kLow, kReadOnly, kUsed, {},
          "Claim of the token that becomes the user name."),
      because("only the built-in validators exist; Java classes cannot be loaded",
              key("sasl.oauthbearer.jwt.validator.class", Type::class_,
                  "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", kMedium, kReadOnly, kUsed,
                  one_of("org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator,org.apache.kafka.common."
                         "security.oauthbearer.BrokerJwtValidator"),
                  "Java class that validates tokens. The built-in ones are known by their names.")),
      because(
          "only the built-in retrievers exist; Java classes cannot be loaded",
          key("sasl.oauthbearer.jwt.retriever.class", Type::class_,
              "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", kMedium, kReadOnly, kAccepted,
              one_of("org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever,org.apache.kafka.common."
                     "security.oauthbearer.ClientCredentialsJwtRetriever,org.apache.kafka.common.security.oauthbearer."
                     "FileJwtRetriever,org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever"),
              "Java class that fetches tokens for outgoing logins.")),
      key("sasl.oauthbearer.token.endpoint.url", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "URL at which tokens for outgoing logins are fetched."),
      key("sasl.oauthbearer.scope", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Scope to ask for when a token is fetched for an outgoing login."),
      key("sasl.oauthbearer.client.credentials.client.id", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Client id with which tokens for outgoing logins are fetched."),
      key("sasl.oauthbearer.client.credentials.client.secret", Type::password, kNull, kMedium, kReadOnly, kAccepted, {},
          "Client secret with which tokens for outgoing logins are fetched."),
      key("sasl.oauthbearer.assertion.algorithm", Type::string, "RS256", kMedium, kReadOnly, kAccepted,
          one_of_any_case("ES256,RS256"),
          "Signature of the assertion that is exchanged for a token in outgoing logins."),
      key("sasl.oauthbearer.assertion.claim.aud", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Audience in the assertion of outgoing logins."),
      key("sasl.oauthbearer.assertion.claim.exp.seconds", Type::int_, "300", kLow, kReadOnly, kAccepted,
          between(0, 86400), "Seconds for which the assertion of outgoing logins is valid."),
      key("sasl.oauthbearer.assertion.claim.iss", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Issuer in the assertion of outgoing logins."),
      key("sasl.oauthbearer.assertion.claim.jti.include", Type::boolean, "false", kMedium, kReadOnly, kAccepted, {},
          "Whether the assertion of outgoing logins carries a unique id."),
      key("sasl.oauthbearer.assertion.claim.nbf.seconds", Type::int_, "60", kLow, kReadOnly, kAccepted,
          between(0, 3600), "Seconds before now from which the assertion of outgoing logins is valid."),
      key("sasl.oauthbearer.assertion.claim.sub", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Subject in the assertion of outgoing logins."),
      key("sasl.oauthbearer.assertion.file", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "File with a ready assertion for outgoing logins."),
      key("sasl.oauthbearer.assertion.private.key.file", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "File with the key that signs the assertion of outgoing logins."),
      key("sasl.oauthbearer.assertion.private.key.passphrase", Type::password, kNull, kMedium, kReadOnly, kAccepted, {},
          "Passphrase of the key that signs the assertion of outgoing logins."),
      key("sasl.oauthbearer.assertion.template.file", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "File with header and claims to start the assertion of outgoing logins from."),
  };
  return kKeys;
}

}  // namespace thalweg::config
