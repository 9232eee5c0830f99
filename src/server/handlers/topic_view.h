// What clients are told of a partition: its leader and replicas, and whether they can be reached.
#pragma once

#include <vector>

#include "broker/broker.h"
#include "broker/request_context.h"
#include "metadata/snapshot.h"
#include "protocol/error.h"
#include "protocol/ids.h"

namespace thalweg::server::handlers {

struct PartitionView {
  protocol::ErrorCode error = protocol::ErrorCode::none;
  protocol::BrokerId leader = protocol::kNoBroker;
  std::int32_t leader_epoch = -1;
  std::vector<protocol::BrokerId> replicas;
  std::vector<protocol::BrokerId> isr;
  std::vector<protocol::BrokerId> offline;
};

// The partition as this core's metadata has it; one in a log directory that is offline has no leader.
inline PartitionView view_partition(const broker::RequestContext& context, const metadata::Topic& topic,
                                    std::int32_t number) {
  const metadata::Partition& partition = topic.partitions[number];
  PartitionView view;
  view.leader_epoch = context.shard.snapshot()->leader_epoch(partition);
  view.replicas = {partition.leader};
  const broker::Broker& broker = context.broker;
  const bool down = partition.leader == broker.node_id() && broker.is_offline(partition.directory);
  if (down) {
    view.error = protocol::ErrorCode::leader_not_available;
    view.offline = {partition.leader};
  } else {
    view.leader = partition.leader;
    view.isr = {partition.leader};
  }
  return view;
}

}  // namespace thalweg::server::handlers
