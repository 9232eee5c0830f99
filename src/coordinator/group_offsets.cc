#include "coordinator/group_offsets.h"

namespace thalweg::coordinator {

const CommittedOffset* GroupOffsets::find(const base::Uuid& topic_id, std::int32_t partition) const {
  const auto topic = topics_.find(topic_id);
  if (topic == topics_.end()) return nullptr;
  const auto it = topic->second.partitions.find(partition);
  return it == topic->second.partitions.end() ? nullptr : &it->second;
}

void GroupOffsets::put(const records::OffsetCommitted& record) {
  Topic& topic = topics_[record.topic_id];
  if (topic.name.empty()) topic.name = record.topic;
  CommittedOffset value{.offset = record.offset,
                        .leader_epoch = record.leader_epoch,
                        .metadata = record.metadata,
                        .commit_ms = record.commit_ms,
                        .expire_ms = record.expire_ms};
  if (topic.partitions.insert_or_assign(record.partition, std::move(value)).second) ++size_;
}

void GroupOffsets::remove(const base::Uuid& topic_id, std::int32_t partition) {
  const auto topic = topics_.find(topic_id);
  if (topic == topics_.end()) return;
  size_ -= topic->second.partitions.erase(partition);
  if (topic->second.partitions.empty()) topics_.erase(topic);
}

void GroupOffsets::remove_topic(const base::Uuid& topic_id) {
  const auto topic = topics_.find(topic_id);
  if (topic == topics_.end()) return;
  size_ -= topic->second.partitions.size();
  topics_.erase(topic);
}

}  // namespace thalweg::coordinator
