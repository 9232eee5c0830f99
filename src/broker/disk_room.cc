#include "broker/disk_room.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/shard.h"

namespace thalweg::broker {

namespace {

constexpr std::chrono::seconds kPause{1};

using Found = std::vector<std::optional<std::uint64_t>>;  // free bytes, by directory

// Blocks.
Found look(Broker& broker) {
  Found found;
  for (const auto& directory : broker.log_directories()) {
    std::optional<std::uint64_t> free;
    if (!directory->offline)
      if (const auto asked = broker.files().free_bytes(directory->path)) free = *asked;
    found.push_back(free);
  }
  return found;
}

void note(Broker& broker, const Found& found) {
  const std::int64_t reserved = broker.shard(0).live().reserved_bytes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    // A disk that cannot be asked is found out by the next write.
    if (!found[i]) continue;
    LogDirectory& directory = *broker.log_directories()[i];
    const bool was_full = directory.room.full();
    directory.room.found(*found[i], reserved);
    if (directory.room.full() == was_full) continue;
    if (was_full) {
      LOG_INFO("broker", "{} has room again: {} bytes", directory.path, *found[i]);
    } else {
      LOG_ERROR("broker", "{} takes no records: {} bytes are left, {} are reserved", directory.path, *found[i],
                reserved);
    }
  }
}

}  // namespace

void DiskRoom::found(std::uint64_t free_bytes, std::int64_t reserved_bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const auto free = static_cast<std::int64_t>(std::min<std::uint64_t>(free_bytes, kMost));
  // Without a margin it is the disk that says when it is full.
  const std::int64_t room = reserved_bytes == 0 ? kMost : std::max<std::int64_t>(0, free - reserved_bytes);
  free_.store(free, std::memory_order_relaxed);
  room_.store(room, std::memory_order_relaxed);
  full_.store(room == 0, std::memory_order_relaxed);
}

void watch_disks(Broker& broker) {
  if (broker.shard(0).logs_closed()) return;
  broker.disk_pool().post([&broker] {
    broker.core(0).post([&broker, found = look(broker)] {
      note(broker, found);
      runtime::Core& core = broker.core(0);
      core.at(core.clock().steady() + kPause, [&broker] { watch_disks(broker); });
    });
  });
}

}  // namespace thalweg::broker
