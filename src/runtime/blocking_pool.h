// BlockingPool: a named, bounded set of threads for calls that wait for a disk, a database or a long computation.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/executor.h"

namespace thalweg::runtime {

class BlockingPool final : public Pool {
 public:
  // Starts `threads` threads; with one, tasks run in order.
  BlockingPool(std::string name, std::size_t threads);
  // Runs what is queued, then ends the threads.
  ~BlockingPool() override;
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  void post(Task task) override;
  // Runs what is queued, then ends the threads; later posts are dropped.
  void stop() override;
  // Tasks that no thread has begun yet.
  [[nodiscard]] std::size_t queued() const override;

 private:
  void work();

  const std::string name_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace thalweg::runtime
