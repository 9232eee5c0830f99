#include "simulation/committer.h"

#include <set>
#include <vector>

#include "protocol/messages/offset_commit_request.h"
#include "protocol/messages/offset_commit_response.h"

namespace thalweg::simulation {

using protocol::ErrorCode;

void Committer::do_something(bool winding_down) {
  if (winding_down || client_.waiting() > 3) return;
  std::set<PartitionId> wanted;
  for (std::uint64_t i = 0; i <= random_.below(3); ++i)
    if (const auto where = any_partition()) wanted.insert(*where);
  if (wanted.empty()) return;
  const std::int64_t offset = next_++;
  protocol::OffsetCommitRequest request;
  request.group_id = protocol::GroupId(kGroup);
  for (const PartitionId& where : wanted) {
    if (request.topics.empty() || request.topics.back().topic_id != where.topic)
      request.topics.emplace_back().topic_id = where.topic;
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partition_index = where.number;
    partition.committed_offset = offset;
    world_.ledger().committing(where, offset);
  }
  client_.send(request, 10, [this, offset](const protocol::OffsetCommitResponse* response) {
    if (response == nullptr) return;
    for (const auto& topic : response->topics) {
      for (const auto& partition : topic.partitions) {
        const PartitionId where{.topic = topic.topic_id, .number = partition.partition_index};
        const auto known = world_.ledger().topics().find(where.topic);
        if (known == world_.ledger().topics().end() || known->second.deleting) continue;
        if (partition.error_code == ErrorCode::none) {
          world_.ledger().committed(where, offset);
        } else {
          allow_if_troubled(partition.error_code, "commit of an offset of " + where.str());
        }
      }
    }
  });
}

}  // namespace thalweg::simulation
