// DescribeUserScramCredentials (API 50): who can log in by SCRAM, and with which mechanisms; never the keys.
#include <map>
#include <string>

#include "broker/scram_admin.h"
#include "broker/shard.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeUserScramCredentialsResponse;
using protocol::ErrorCode;
using DescribedUser = DescribeUserScramCredentialsResponse::DescribeUserScramCredentialsResult;

// The users that are asked about, and how often each is named; all there are where none is named.
std::map<std::string, int> asked_users(const metadata::Snapshot& metadata,
                                       const protocol::DescribeUserScramCredentialsRequest& request) {
  std::map<std::string, int> users;
  if (request.users && !request.users->empty()) {
    for (const auto& user : *request.users) ++users[user.name.str()];
  } else {
    for (const auto& [key, credential] : metadata.scram_credentials())
      if (!broker::is_decoy_secret(key)) users[key.user] = 1;
  }
  return users;
}

void set_error(DescribedUser& user, ErrorCode code, std::string_view message) {
  user.error_code = code;
  user.error_message = message;
}

void describe(const metadata::Snapshot& metadata, const std::string& name, DescribedUser& user) {
  if (name.empty()) return set_error(user, ErrorCode::resource_not_found, "A user has a name");
  for (const auto mechanism : {records::ScramMechanism::sha_256, records::ScramMechanism::sha_512}) {
    const auto* const credential = metadata.scram_credential({.user = name, .mechanism = mechanism});
    if (credential == nullptr) continue;
    auto& info = user.credential_infos.emplace_back();
    info.mechanism = static_cast<std::int8_t>(mechanism);
    info.iterations = credential->iterations;
  }
  if (user.credential_infos.empty()) set_error(user, ErrorCode::resource_not_found, "The user has no SCRAM credential");
}

}  // namespace

Awaitable<DescribeUserScramCredentialsResponse> describe_user_scram_credentials(
    RequestContext& context, protocol::DescribeUserScramCredentialsRequest request) {
  DescribeUserScramCredentialsResponse response;
  response.error_message = "";  // as in Kafka
  if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    response.error_message.reset();
    // As many answers as users are named, without their names.
    response.results.resize(request.users ? request.users->size() : 0);
    for (DescribedUser& user : response.results) {
      user.error_code = response.error_code;
      user.error_message.reset();
    }
    co_return response;
  }
  const auto metadata = context.shard.snapshot();
  for (const auto& [name, times] : asked_users(*metadata, request)) {
    DescribedUser& user = response.results.emplace_back();
    user.user = name;
    user.error_message = "";
    if (times > 1)
      set_error(user, ErrorCode::duplicate_resource, "A user is described only once in a request");
    else
      describe(*metadata, name, user);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
