#include "broker/fetch_session.h"

#include <algorithm>
#include <cstring>

namespace thalweg::broker {

FetchSession::Key FetchSession::key_of(std::string_view topic, const base::Uuid& topic_id, std::int32_t partition) {
  Key key;
  key.reserve(topic.size() + sizeof topic_id.bytes + sizeof partition);
  if (topic_id.is_zero()) key.append(topic);
  key.append(reinterpret_cast<const char*>(topic_id.bytes.data()), topic_id.bytes.size());
  key.append(reinterpret_cast<const char*>(&partition), sizeof partition);
  return key;
}

void FetchSession::want(const protocol::FetchRequest& request) {
  for (const auto& topic : request.topics) {
    for (const auto& wanted : topic.partitions) {
      const Key key = key_of(topic.topic, topic.topic_id, wanted.partition);
      auto it = index_.find(key);
      if (it == index_.end()) {
        partitions_.push_back(std::make_shared<SessionPartition>(
            SessionPartition{.topic = topic.topic.str(), .topic_id = topic.topic_id, .partition = wanted.partition}));
        it = index_.emplace(key, std::prev(partitions_.end())).first;
      }
      SessionPartition& known = **it->second;
      known.max_bytes = wanted.partition_max_bytes;
      known.fetch_offset = wanted.fetch_offset;
      known.leader_epoch = wanted.current_leader_epoch;
      known.last_fetched_epoch = wanted.last_fetched_epoch;
    }
  }
}

void FetchSession::forget(const protocol::FetchRequest& request) {
  for (const auto& topic : request.forgotten_topics_data) {
    for (const std::int32_t partition : topic.partitions) {
      const auto it = index_.find(key_of(topic.topic, topic.topic_id, partition));
      if (it == index_.end()) continue;
      partitions_.erase(it->second);
      index_.erase(it);
    }
  }
}

void FetchSession::adopt(const std::vector<std::shared_ptr<SessionPartition>>& partitions) {
  for (const auto& partition : partitions) {
    partitions_.push_back(partition);
    index_.emplace(key_of(partition->topic, partition->topic_id, partition->partition), std::prev(partitions_.end()));
  }
}

void FetchSession::move_to_end(const SessionPartition& partition) {
  const auto it = index_.find(key_of(partition.topic, partition.topic_id, partition.partition));
  if (it != index_.end()) partitions_.splice(partitions_.end(), partitions_, it->second);
}

bool FetchSessionCache::make_room(std::size_t partitions, std::int64_t now_ms) {
  if (sessions_.size() < slots_) return true;
  if (slots_ == 0) return false;
  // A session that nobody used for two minutes goes; else the smallest that is old enough, where the new one is larger.
  const auto oldest =
      std::ranges::min_element(sessions_, {}, [](const auto& entry) { return entry.second->last_used_ms; });
  if (now_ms - oldest->second->last_used_ms > kEvictionMs) {
    sessions_.erase(oldest);
    return true;
  }
  const auto smallest = std::ranges::min_element(sessions_, {}, [](const auto& entry) { return entry.second->size(); });
  if (now_ms - smallest->second->created_ms > kEvictionMs && smallest->second->size() < partitions) {
    sessions_.erase(smallest);
    return true;
  }
  return false;
}

std::shared_ptr<FetchSession> FetchSessionCache::create(std::size_t partitions, std::int64_t now_ms,
                                                        runtime::Random& random) {
  if (!make_room(partitions, now_ms)) return nullptr;
  auto session = std::make_shared<FetchSession>();
  const auto cores = static_cast<std::uint64_t>(cores_);
  do {
    const std::uint64_t n = 1 + random.below(static_cast<std::uint64_t>(INT32_MAX) / cores - 1);
    session->id = static_cast<std::int32_t>(n * cores + static_cast<std::uint64_t>(core_));
  } while (session->id <= 0 || sessions_.contains(session->id));
  session->created_ms = session->last_used_ms = now_ms;
  sessions_.emplace(session->id, session);
  metrics_.fetch_sessions.store(static_cast<std::int64_t>(sessions_.size()), std::memory_order_relaxed);
  return session;
}

std::shared_ptr<FetchSession> FetchSessionCache::find(std::int32_t id) {
  const auto it = sessions_.find(id);
  return it == sessions_.end() ? nullptr : it->second;
}

void FetchSessionCache::touch(FetchSession& session, std::int64_t now_ms) { session.last_used_ms = now_ms; }

void FetchSessionCache::remove(std::int32_t id) {
  sessions_.erase(id);
  metrics_.fetch_sessions.store(static_cast<std::int64_t>(sessions_.size()), std::memory_order_relaxed);
}

}  // namespace thalweg::broker
