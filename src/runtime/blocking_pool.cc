#include "runtime/blocking_pool.h"

#include <pthread.h>

#include <utility>

namespace thalweg::runtime {

BlockingPool::BlockingPool(std::string name, std::size_t threads) : name_(std::move(name)) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

BlockingPool::~BlockingPool() { stop(); }

void BlockingPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void BlockingPool::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

std::size_t BlockingPool::queued() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void BlockingPool::work() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace thalweg::runtime
