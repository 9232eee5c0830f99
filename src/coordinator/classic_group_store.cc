// How a classic group is stored and loaded: Kafka's GroupMetadataValue, and what its members' metadata says about the
// topics they read.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "coordinator/classic_group.h"
#include "protocol/messages/consumer_protocol_subscription.h"
#include "protocol/messages/group_metadata_value.h"
#include "protocol/wire.h"

namespace thalweg::coordinator {

namespace {

// Of GroupMetadataValue; what Kafka 4.4 writes.
constexpr std::int16_t kStoredVersion = 3;

// The topics of a ConsumerProtocolSubscription, of whichever version: all begin alike. Nothing where it is none.
std::optional<std::vector<std::string>> subscribed_topics(const base::Bytes& metadata) {
  protocol::Reader reader(metadata);
  (void)reader.fixed<std::int16_t>();  // the version
  protocol::ConsumerProtocolSubscription subscription;
  subscription.decode(reader, 0);
  if (!reader.ok()) return std::nullopt;
  std::vector<std::string> topics;
  topics.reserve(subscription.topics.size());
  for (const auto& topic : subscription.topics) topics.push_back(topic.str());
  return topics;
}

std::optional<std::string> text(const std::optional<base::String>& value) {
  return value ? std::optional(value->str()) : std::nullopt;
}

}  // namespace

void ClassicGroup::read_subscriptions() {
  subscribed_topics_.reset();
  if (!of_consumers()) return;
  std::set<std::string, std::less<>> topics;
  if (!members_.empty()) {
    if (!protocol_name_) return;
    for (const auto& [id, member] : members_) {
      const auto of_member = subscribed_topics(member.metadata(*protocol_name_));
      if (!of_member) return;
      topics.insert(of_member->begin(), of_member->end());
    }
  }
  subscribed_topics_ = std::move(topics);
}

void ClassicGroup::store(Step& step) const {
  protocol::GroupMetadataValue value;
  value.protocol_type = protocol_type_.value_or("");
  value.generation = generation_;
  value.protocol = protocol_name_;
  value.leader = leader_;
  value.current_state_timestamp = state_since_ms_;
  for (const auto& [id, member] : members_) {
    auto& stored = value.members.emplace_back();
    stored.member_id = id;
    if (member.instance_id) stored.group_instance_id = *member.instance_id;
    stored.client_id = member.client_id;
    stored.client_host = member.client_host;
    stored.rebalance_timeout = member.rebalance_timeout_ms;
    stored.session_timeout = member.session_timeout_ms;
    if (protocol_name_) stored.subscription = member.metadata(*protocol_name_);
    stored.assignment = member.assignment;
  }
  protocol::Writer writer(256);
  value.encode(writer, kStoredVersion);
  CHECK(writer.ok(), "a group is within the limits of its format");
  step.writes.emplace_back(records::GroupChanged{.group_id = id_,
                                                 .kind = records::GroupKind::classic,
                                                 .state_version = kStoredVersion,
                                                 .state = std::move(writer).finish().flatten()});
}

base::Result<ClassicGroup, std::string> ClassicGroup::load(GroupEnvironment environment,
                                                           const records::GroupChanged& stored, Time now, Step& step) {
  protocol::GroupMetadataValue value;
  if (stored.state_version < protocol::GroupMetadataValue::kLowestVersion ||
      stored.state_version > protocol::GroupMetadataValue::kHighestVersion)
    return std::unexpected(fmt::format("group {} is stored in version {}", stored.group_id, stored.state_version));
  protocol::Reader reader(stored.state);
  value.decode(reader, stored.state_version);
  if (!reader.ok()) return std::unexpected(fmt::format("group {}: {}", stored.group_id, reader.fault()));

  ClassicGroup group(environment, stored.group_id);
  if (!value.protocol_type.empty()) group.protocol_type_ = value.protocol_type.str();
  group.generation_ = value.generation;
  group.protocol_name_ = text(value.protocol);
  group.leader_ = text(value.leader);
  group.state_since_ms_ = value.current_state_timestamp;
  group.state_ = group.previous_state_ = value.members.empty() ? State::empty : State::stable;
  for (const auto& m : value.members) {
    ClassicMember member{.id = m.member_id.str(),
                         .instance_id = text(m.group_instance_id),
                         .client_id = m.client_id.str(),
                         .client_host = m.client_host.str(),
                         .rebalance_timeout_ms = m.rebalance_timeout,
                         .session_timeout_ms = m.session_timeout,
                         .assignment = m.assignment.copy()};
    if (group.protocol_name_)
      member.protocols.push_back({.name = *group.protocol_name_, .metadata = m.subscription.copy()});
    group.start_session(member, member.session_timeout_ms, now);
    if (member.instance_id) group.static_members_[*member.instance_id] = member.id;
    const std::string id = member.id;
    group.members_.emplace(id, std::move(member));
  }
  group.read_subscriptions();
  if (std::cmp_greater(group.members_.size(), environment.settings->max_size))
    group.prepare_rebalance("the group is larger than group.max.size allows", now, step);
  return group;
}

}  // namespace thalweg::coordinator
