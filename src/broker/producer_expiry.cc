#include "broker/producer_expiry.h"

#include <chrono>

#include "broker/broker.h"
#include "broker/shard.h"

namespace thalweg::broker {

void ProducerExpiry::start() {
  const std::chrono::milliseconds interval(shard_.broker().settings().producer_id_check_interval_ms);
  shard_.core().at(shard_.core().clock().steady() + interval, [this] {
    look();
    start();
  });
}

void ProducerExpiry::look() {
  shard_.for_each_partition([now_ms = shard_.now_ms()](Partition& partition) {
    if (partition.is_open()) partition.log().expire_producers(now_ms);
  });
}

}  // namespace thalweg::broker
