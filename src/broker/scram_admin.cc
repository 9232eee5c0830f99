#include "broker/scram_admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/commit.h"
#include "runtime/secure_random.h"
#include "security/scram_credential.h"

namespace thalweg::broker {

using protocol::Error;
using protocol::ErrorCode;
using protocol::Result;
using records::ScramMechanism;
using runtime::Awaitable;

namespace {

constexpr std::string_view kArea = "scram";

const records::ScramKey& decoy_key() {
  static const records::ScramKey key{.user = {}, .mechanism = ScramMechanism::sha_512};
  return key;
}

Error check_names(std::string_view user, ScramMechanism mechanism) {
  if (user.empty()) return {ErrorCode::unacceptable_credential, "The user has no name"};
  if (security::name_of(mechanism).empty())
    return {ErrorCode::unsupported_sasl_mechanism, "The SCRAM mechanism has a number that means nothing"};
  return {};
}

Error check(const metadata::Snapshot& metadata, const ScramDeletion& deletion) {
  Error error = check_names(deletion.user, deletion.mechanism);
  if (error.code != ErrorCode::none) return error;
  if (metadata.scram_credential({.user = deletion.user, .mechanism = deletion.mechanism}) == nullptr)
    return {ErrorCode::resource_not_found, "The user has no such credential to delete"};
  return {};
}

Error check(const ScramUpsertion& upsertion) {
  Error error = check_names(upsertion.user, upsertion.mechanism);
  if (error.code != ErrorCode::none) return error;
  if (upsertion.iterations < security::kLeastScramIterations || upsertion.iterations > security::kMostScramIterations)
    return {ErrorCode::unacceptable_credential,
            fmt::format("Iterations must be from {} to {}", security::kLeastScramIterations,
                        security::kMostScramIterations)};
  return {};
}

// The users of a request in the order in which they are first named.
class Plan {
 public:
  // Adds what is to be done to the user, once it was judged; a second time voids both.
  void add(const std::string& user, const Error& verdict, std::optional<records::Record> record) {
    const auto [found, is_new] = index_.try_emplace(user, users_.size());
    if (is_new) {
      users_.push_back({.user = user, .error = verdict, .record = std::move(record)});
      return;
    }
    Entry& entry = users_[found->second];
    if (entry.error.code == ErrorCode::none)
      entry.error = {ErrorCode::duplicate_resource, "A user is changed only once in a request"};
  }

  ScramChange take() && {
    ScramChange change;
    for (const bool failed : {false, true})
      for (Entry& entry : users_) {
        if ((entry.error.code != ErrorCode::none) != failed) continue;
        if (!failed) change.records.push_back(std::move(*entry.record));
        change.users.push_back({.name = std::move(entry.user), .error = std::move(entry.error)});
      }
    return change;
  }

 private:
  struct Entry {
    std::string user;
    Error error;
    std::optional<records::Record> record;
  };
  std::vector<Entry> users_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace

ScramChange plan_scram_change(const metadata::Snapshot& metadata, std::span<const ScramDeletion> deletions,
                              std::span<const ScramUpsertion> upsertions) {
  Plan plan;
  for (const ScramDeletion& deletion : deletions)
    plan.add(deletion.user, check(metadata, deletion),
             records::ScramCredentialRemoved{.key = {.user = deletion.user, .mechanism = deletion.mechanism}});
  for (const ScramUpsertion& upsertion : upsertions) {
    const Error verdict = check(upsertion);
    std::optional<records::Record> record;
    if (verdict.code == ErrorCode::none)
      record = records::ScramCredentialSet{
          .key = {.user = upsertion.user, .mechanism = upsertion.mechanism},
          .credential = security::credential_of_salted(upsertion.mechanism, upsertion.salted_password, upsertion.salt,
                                                       upsertion.iterations)};
    plan.add(upsertion.user, verdict, std::move(record));
  }
  return std::move(plan).take();
}

Awaitable<Result<void>> change_scram(RequestContext& context, std::vector<records::Record> changes) {
  if (changes.empty()) co_return Result<void>();
  metadata::ChangeSet set{.preconditions = {}, .records = std::move(changes)};
  const metadata::CommitResult committed = co_await commit(context, std::move(set));
  if (!committed) co_return std::unexpected(store_error(committed.error()));
  co_return Result<void>();
}

base::Result<void, std::string> add_first_scram_users(Broker& broker, std::span<const security::ScramLine> lines) {
  const auto metadata = broker.store().opened_snapshot();
  metadata::ChangeSet changes;
  for (const security::ScramLine& line : lines) {
    const std::string_view mechanism = security::name_of(line.key.mechanism);
    if (metadata->scram_credential(line.key) != nullptr) {
      LOG_INFO(kArea, "{} has a credential for {}, which stays as it is", line.key.user, mechanism);
      continue;
    }
    LOG_INFO(kArea, "added a credential of {} for {}", line.key.user, mechanism);
    const std::string salt = runtime::secure_random_bytes(security::kScramSaltBytes);
    changes.records.emplace_back(
        records::ScramCredentialSet{.key = line.key, .credential = security::credential_of(line, salt)});
  }
  if (changes.records.empty()) return {};
  const metadata::CommitResult committed = broker.commit_and_wait(std::move(changes));
  if (!committed) return std::unexpected("cannot write the metadata store: " + committed.error().detail);
  return {};
}

std::string_view decoy_secret(const metadata::Snapshot& metadata) {
  const records::ScramCredential* const stored = metadata.scram_credential(decoy_key());
  return stored == nullptr ? std::string_view() : stored->server_key.view();
}

records::ScramCredential decoy_for(const metadata::Snapshot& metadata, const records::ScramKey& key) {
  constexpr int kLooks = 4;  // a user has two credentials at most, and the first one may be the secret
  security::ScramShape shape;
  const auto& credentials = metadata.scram_credentials();
  auto at = credentials.lower_bound(records::ScramKey{.user = key.user, .mechanism = ScramMechanism::unknown});
  for (int look = 0; look < kLooks; ++look, ++at) {
    if (at == credentials.end()) at = credentials.begin();
    if (at == credentials.end()) break;
    const auto& [neighbour, credential] = *at;
    if (is_decoy_secret(neighbour) || neighbour.user == key.user || neighbour.mechanism != key.mechanism) continue;
    shape = {.salt_bytes = credential->salt.size(), .iterations = credential->iterations};
    break;
  }
  return security::decoy_credential(key.mechanism, decoy_secret(metadata), key.user, shape);
}

records::Record new_decoy_secret() {
  const auto random = [] { return base::Bytes::copy_of(runtime::secure_random_bytes(64)); };
  return records::ScramCredentialSet{.key = decoy_key(),
                                     .credential = {.iterations = security::kLeastScramIterations,
                                                    .salt = random(),
                                                    .stored_key = random(),
                                                    .server_key = random()}};
}

}  // namespace thalweg::broker
