// DiskRoom: how many bytes of records the disk of a log directory may still take in before it comes to the margin that
// is kept free (thalweg.log.dirs.reserved.bytes). Deletions, compactions, checkpoints and the metadata store need room
// of their own: on a disk that records have filled to the last byte nothing could be deleted any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace thalweg::broker {

class Broker;

// May be used from any thread.
class DiskRoom {
 public:
  // What a look at the disk has found, and the margin: from now on so much of it is room. Bytes. Without a margin
  // everything is, and the writes fail where the disk ends.
  void found(std::uint64_t free_bytes, std::int64_t reserved_bytes);

  // Takes room for records that are about to be written; false where there is too little, and nothing is taken.
  [[nodiscard]] bool take(std::uint64_t bytes) {
    const auto wanted = static_cast<std::int64_t>(bytes);
    if (room_.fetch_sub(wanted, std::memory_order_relaxed) >= wanted) return true;
    room_.fetch_add(wanted, std::memory_order_relaxed);
    return false;
  }

  // Whether the last look found no more than the margin.
  [[nodiscard]] bool full() const { return full_.load(std::memory_order_relaxed); }
  // Bytes that the last look found; -1 where there was none.
  [[nodiscard]] std::int64_t free_bytes() const { return free_.load(std::memory_order_relaxed); }

 private:
  // Half of what it could be, so that what is taken and given back at the same time cannot wrap it.
  std::atomic<std::int64_t> room_{std::numeric_limits<std::int64_t>::max() / 2};
  std::atomic<std::int64_t> free_{-1};
  std::atomic<bool> full_{false};
};

// Looks at the disks of all log directories, now and then every second, as long as the broker runs. On the first core.
void watch_disks(Broker& broker);

}  // namespace thalweg::broker
