// GroupOffsets: the offsets that one group has committed, as they are stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/uuid.h"
#include "records/record.h"

namespace thalweg::coordinator {

struct CommittedOffset {
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
  std::string metadata;
  std::int64_t commit_ms = 0;   // wall time
  std::int64_t expire_ms = -1;  // -1: kept by the rule of offsets.retention.minutes
};

class GroupOffsets {
 public:
  struct Topic {
    std::string name;
    std::map<std::int32_t, CommittedOffset> partitions;
  };
  using Topics = std::map<base::Uuid, Topic>;

  [[nodiscard]] bool empty() const { return topics_.empty(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Topics& topics() const { return topics_; }
  // The offset, or null where none was committed.
  [[nodiscard]] const CommittedOffset* find(const base::Uuid& topic_id, std::int32_t partition) const;

  void put(const records::OffsetCommitted& record);
  void remove(const base::Uuid& topic_id, std::int32_t partition);
  void remove_topic(const base::Uuid& topic_id);

 private:
  Topics topics_;
  std::size_t size_ = 0;
};

}  // namespace thalweg::coordinator
