// FlushScheduler: makes what logs have written durable, many requests at a time. One for each core and log directory.
//
// While a round of syncs runs on a pool, new requests gather for the next one (group commit). A round with few files
// syncs them side by side; one with many syncs the file system once. A sync that fails is never tried again, since the
// kernel may have dropped the data: the directory is offline from then on and every request fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "runtime/executor.h"
#include "runtime/file.h"
#include "storage/flush.h"

namespace thalweg::storage {

struct FlushOptions {
  std::string directory;  // the log directory
  // A round of more files than this syncs the whole file system. Where the disk is shared with others' dirty data a
  // higher value is better; see flush_scheduler_benchmark for numbers.
  std::size_t most_single_syncs = 8;
};

class FlushScheduler {
 public:
  // Called on the core: an error where the directory is offline.
  using Done = std::move_only_function<void(runtime::IoResult<void>)>;
  // Told of each round: files that were asked for, and nanoseconds from start to end.
  using Observer = std::function<void(std::size_t files, std::int64_t nanoseconds)>;

  // `home` is the core's loop, where request() is called and callbacks run; `pool` may block. All outlive the
  // scheduler, which itself must not be destroyed while a round runs (see idle()).
  FlushScheduler(runtime::FileSystem& files, runtime::Executor& home, runtime::Executor& pool, const base::Clock& clock,
                 FlushOptions options);
  ~FlushScheduler();
  FlushScheduler(const FlushScheduler&) = delete;
  FlushScheduler& operator=(const FlushScheduler&) = delete;

  // Makes the targets durable, then calls `done`; never inside this call. Requests of one loop turn share a round.
  // Where a small file found no room, the error is out_of_space() and the directory is not offline: ask again later.
  void request(FlushTargets targets, Done done);
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  // Whether a sync has failed.
  [[nodiscard]] bool offline() const { return error_ != nullptr; }
  // Whether nothing runs and nothing waits.
  [[nodiscard]] bool idle() const { return !running_ && !scheduled_ && gathering_.waiters.empty(); }

 private:
  struct Round {
    std::vector<std::shared_ptr<runtime::File>> files;
    std::vector<std::string> folders;
    std::vector<FileReplacement> replacements;
    std::vector<Done> waiters;
  };
  struct Progress;

  void start();
  void finish(const std::shared_ptr<Progress>& progress);

  runtime::FileSystem& files_;
  runtime::Executor& home_;
  runtime::Executor& pool_;
  const base::Clock& clock_;
  FlushOptions options_;
  Observer observer_;
  Round gathering_;
  bool scheduled_ = false;
  bool running_ = false;
  std::unique_ptr<runtime::IoError> error_;
};

}  // namespace thalweg::storage
