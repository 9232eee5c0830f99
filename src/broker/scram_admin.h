// SCRAM credentials: the rules for changing them, and what logins of users without one are answered from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/request_context.h"
#include "metadata/snapshot.h"
#include "protocol/error.h"
#include "records/record.h"
#include "runtime/await.h"
#include "security/scram_file.h"

namespace thalweg::broker {

struct ScramDeletion {
  std::string user;
  records::ScramMechanism mechanism = records::ScramMechanism::unknown;
};

struct ScramUpsertion {
  std::string user;
  records::ScramMechanism mechanism = records::ScramMechanism::unknown;
  std::int32_t iterations = 0;
  std::string salt;
  std::string salted_password;
};

// What comes of a request to change credentials: an answer for each user, and the records that make it so.
struct ScramChange {
  struct User {
    std::string name;
    protocol::Error error;  // none where it is done
  };
  std::vector<User> users;
  std::vector<records::Record> records;
};

// Judges the changes. A user is changed once in a request, whichever the mechanism; those that are refused come last.
//   errors   of a user: duplicate_resource, unacceptable_credential (no name, iterations out of bounds),
//            unsupported_sasl_mechanism, resource_not_found (nothing to delete)
ScramChange plan_scram_change(const metadata::Snapshot& metadata, std::span<const ScramDeletion> deletions,
                              std::span<const ScramUpsertion> upsertions);

// Stores the changes, all in one change set.
//   errors   those of the store
runtime::Awaitable<protocol::Result<void>> change_scram(RequestContext& context, std::vector<records::Record> changes);

// Adds the credentials of users that have none for the mechanism, before anybody is served; the others are left alone,
// so that the same file may be given at every start. Not on a core.
//   errors   one line: the store failed
base::Result<void, std::string> add_first_scram_users(Broker& broker, std::span<const security::ScramLine> lines);

// The secret that answers to users without a credential are made from, the same on every broker and after a restart;
// empty before a broker with SASL has started. It is stored as the credential of the empty user name, which nobody can
// have.
std::string_view decoy_secret(const metadata::Snapshot& metadata);
// The credential that a login of whoever has none is answered from. It looks like that of a user near it in the
// alphabet, so that neither the size of a salt nor the iterations tell who exists; what it costs does not depend on
// whether the user does.
records::ScramCredential decoy_for(const metadata::Snapshot& metadata, const records::ScramKey& key);
// Whether the credential is that secret and no user's.
inline bool is_decoy_secret(const records::ScramKey& key) { return key.user.empty(); }
// A new one to store.
records::Record new_decoy_secret();

}  // namespace thalweg::broker
