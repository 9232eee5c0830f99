// AlterUserScramCredentials (API 51): sets and deletes SCRAM credentials; one answer for each user.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/scram_admin.h"
#include "broker/shard.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::AlterUserScramCredentialsRequest;
using protocol::AlterUserScramCredentialsResponse;
using protocol::ErrorCode;

void add(AlterUserScramCredentialsResponse& response, const std::string& user, const protocol::Error& error) {
  auto& result = response.results.emplace_back();
  result.user = user;
  result.error_code = error.code;
  result.error_message.reset();
  if (error.code != ErrorCode::none)
    result.error_message = error.detail.empty() ? protocol::error_text(error.code) : std::string_view(error.detail);
}

AlterUserScramCredentialsResponse refuse_all(const AlterUserScramCredentialsRequest& request, ErrorCode code) {
  std::set<std::string> users;
  for (const auto& deletion : request.deletions) users.insert(deletion.name.str());
  for (const auto& upsertion : request.upsertions) users.insert(upsertion.name.str());
  AlterUserScramCredentialsResponse response;
  for (const std::string& user : users) add(response, user, {.code = code, .detail = {}});
  return response;
}

}  // namespace

Awaitable<AlterUserScramCredentialsResponse> alter_user_scram_credentials(RequestContext& context,
                                                                          AlterUserScramCredentialsRequest request) {
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource))
    co_return refuse_all(request, ErrorCode::cluster_authorization_failed);
  std::vector<broker::ScramDeletion> deletions;
  for (const auto& deletion : request.deletions)
    deletions.push_back(
        {.user = deletion.name.str(), .mechanism = static_cast<records::ScramMechanism>(deletion.mechanism)});
  std::vector<broker::ScramUpsertion> upsertions;
  for (const auto& upsertion : request.upsertions)
    upsertions.push_back({.user = upsertion.name.str(),
                          .mechanism = static_cast<records::ScramMechanism>(upsertion.mechanism),
                          .iterations = upsertion.iterations,
                          .salt = std::string(upsertion.salt.view()),
                          .salted_password = std::string(upsertion.salted_password.view())});
  broker::ScramChange change = broker::plan_scram_change(*context.shard.snapshot(), deletions, upsertions);
  AlterUserScramCredentialsResponse response;
  const auto done = co_await broker::change_scram(context, std::move(change.records));
  for (const auto& user : change.users)
    add(response, user.name, done || user.error.code != ErrorCode::none ? user.error : done.error());
  co_return response;
}

}  // namespace thalweg::server::handlers
