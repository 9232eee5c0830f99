// What the coordinators of a Kafka broker knew, out of their topics
// __consumer_offsets and __transaction_state.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/record.h"
#include "runtime/file.h"

namespace thalweg::cli {

inline constexpr std::string_view kKafkaOffsetsTopic = "__consumer_offsets";
inline constexpr std::string_view kKafkaTransactionsTopic = "__transaction_state";

struct KafkaOffset {
  std::int64_t offset = 0;
  std::int32_t leader_epoch = -1;
  std::string metadata;
  std::int64_t commit_ms = 0;
  std::int64_t expire_ms = -1;
};

struct KafkaOffsetKey {
  std::string group;
  std::string topic;
  std::int32_t partition = 0;
  friend auto operator<=>(const KafkaOffsetKey&, const KafkaOffsetKey&) = default;
};

struct KafkaGroups {
  std::map<KafkaOffsetKey, KafkaOffset> offsets;
  // Those of the classic protocol, by id. What is stored of one is the same
  // with us.
  std::map<std::string, records::GroupChanged> classic;
  // Ids of groups of the newer protocols: of consumers, of streams, and those
  // that share.
  std::set<std::string> newer;
};

// Producer ids whose transaction is decided to be committed, while the markers
// that say so may not be written.
using KafkaCommitting = std::set<std::int64_t>;

// Reads the folders of all partitions of __transaction_state.
//   errors   one line: a file cannot be read, or is damaged
base::Result<KafkaCommitting, std::string> read_kafka_transactions(runtime::FileSystem& files,
                                                                   const std::vector<std::string>& folders);

// Reads the folders of all partitions of __consumer_offsets. Offsets of a
// transaction count where it is committed; of those that are open, where
// `committing` says so.
//   errors   as above
base::Result<KafkaGroups, std::string> read_kafka_groups(runtime::FileSystem& files,
                                                         const std::vector<std::string>& folders,
                                                         const KafkaCommitting& committing);

}  // namespace thalweg::cli
