// Fetch sessions (KIP-227): what a client fetches, remembered between its requests, so that it sends and gets only what
// has changed. Each core has a cache of its own; a session's number tells which core that is.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/uuid.h"
#include "broker/metrics.h"
#include "protocol/error.h"
#include "protocol/messages/fetch_request.h"
#include "runtime/random.h"

namespace thalweg::broker {

inline constexpr std::int32_t kNoSession = 0;
inline constexpr std::int32_t kInitialEpoch = 0;
inline constexpr std::int32_t kFinalEpoch = -1;

// The epoch that follows; it wraps to 1, since 0 opens a session.
constexpr std::int32_t next_session_epoch(std::int32_t epoch) {
  if (epoch < 0) return kFinalEpoch;
  return epoch == INT32_MAX ? 1 : epoch + 1;
}

// One partition as the client asked for it, and what the last answer said about it.
struct SessionPartition {
  std::string topic;    // empty from version 13 on, until the id is found to be a topic's
  base::Uuid topic_id;  // zero before version 13
  std::int32_t partition = 0;
  std::int32_t max_bytes = 0;
  std::int64_t fetch_offset = 0;
  std::int32_t leader_epoch = -1;
  std::int32_t last_fetched_epoch = -1;
  // Last told; -1: nothing yet.
  std::int64_t high_watermark = -1;
  std::int64_t log_start_offset = -1;
};

class FetchSession {
 public:
  std::int32_t id = 0;
  std::int32_t epoch = 1;
  bool uses_topic_ids = false;
  bool privileged = false;
  std::int64_t created_ms = 0;
  std::int64_t last_used_ms = 0;

  // The partitions in the order in which they are served; those that were served with data go to the end. They are
  // shared with the fetch that is under way, which outlives what another request may do to the session meanwhile.
  [[nodiscard]] const std::list<std::shared_ptr<SessionPartition>>& partitions() const { return partitions_; }
  // Adds or changes what the request names.
  void want(const protocol::FetchRequest& request);
  // Drops what the request forgets, though it may name it too.
  void forget(const protocol::FetchRequest& request);
  // Takes the partitions of the request that opens the session.
  void adopt(const std::vector<std::shared_ptr<SessionPartition>>& partitions);
  // Moves a partition to the end of the order, where it is still in it.
  void move_to_end(const SessionPartition& partition);
  [[nodiscard]] std::size_t size() const { return partitions_.size(); }

 private:
  using Key = std::string;
  // A topic is one by its id where the client gave one, whatever the name that was found for it since.
  static Key key_of(std::string_view topic, const base::Uuid& topic_id, std::int32_t partition);
  std::list<std::shared_ptr<SessionPartition>> partitions_;
  std::unordered_map<Key, std::list<std::shared_ptr<SessionPartition>>::iterator> index_;
};

class FetchSessionCache {
 public:
  // `slots` sessions at most; numbers are congruent to `core` modulo `cores`.
  FetchSessionCache(std::size_t slots, int core, int cores, CoreMetrics& metrics)
      : slots_(slots), core_(core), cores_(cores), metrics_(metrics) {}

  // A new session, or null where the cache is full of sessions that must stay (used within two minutes).
  std::shared_ptr<FetchSession> create(std::size_t partitions, std::int64_t now_ms, runtime::Random& random);
  std::shared_ptr<FetchSession> find(std::int32_t id);
  void touch(FetchSession& session, std::int64_t now_ms);
  void remove(std::int32_t id);
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

  // The core that has the session.
  static int core_of(std::int32_t id, int cores) { return id % cores; }

 private:
  static constexpr std::int64_t kEvictionMs = 120'000;  // Kafka's MinIncrementalFetchSessionEvictionMs
  bool make_room(std::size_t partitions, std::int64_t now_ms);

  std::size_t slots_;
  int core_;
  int cores_;
  CoreMetrics& metrics_;
  std::unordered_map<std::int32_t, std::shared_ptr<FetchSession>> sessions_;
};

}  // namespace thalweg::broker
