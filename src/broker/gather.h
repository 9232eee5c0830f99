// gather(): one hop per core. Tasks that belong to several cores go to each core once, together, and the coroutine goes
// on when all have answered.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/shard.h"
#include "runtime/core.h"

namespace thalweg::broker {

// Tasks sorted by the core that owns what they are about.
template <class Task>
class PerCore {
 public:
  explicit PerCore(const Broker& broker) : tasks_(static_cast<std::size_t>(broker.core_count())) {}
  void add(int core, Task task) {
    tasks_[static_cast<std::size_t>(core)].push_back(std::move(task));
    ++size_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  std::vector<std::vector<Task>>& tasks() { return tasks_; }

 private:
  std::vector<std::vector<Task>> tasks_;
  std::size_t size_ = 0;
};

namespace internal {

template <class Result>
struct Gathered {
  std::size_t left = 0;
  std::vector<Result> results;
  runtime::Resume<int> resume;

  void take(std::vector<Result> more) {
    for (Result& result : more) results.push_back(std::move(result));
    if (--left == 0 && resume) std::exchange(resume, nullptr)(0);
  }
};

template <class Result, class Task, class Run>
runtime::Awaitable<void> run_there(Shard& there, runtime::Core& home, std::shared_ptr<Gathered<Result>> gathered,
                                   Run run, std::vector<Task> tasks) {
  std::vector<Result> results = co_await run(there, std::move(tasks));
  home.post([gathered, results = std::move(results)]() mutable { gathered->take(std::move(results)); });
}

}  // namespace internal

// Runs `run(Shard&, std::vector<Task>) -> Awaitable<std::vector<Result>>` on every core that has tasks, side by side,
// and returns all results in any order. `run` must be copyable and refer to nothing of the caller's.
template <class Result, class Task, class Run>
runtime::Awaitable<std::vector<Result>> gather(Shard& home, PerCore<Task> per_core, Run run) {
  auto& tasks = per_core.tasks();
  const auto home_index = static_cast<std::size_t>(home.core().index());
  if (tasks[home_index].size() == per_core.size()) {
    std::vector<Result> results = co_await run(home, std::move(tasks[home_index]));
    co_return results;
  }
  auto gathered = std::make_shared<internal::Gathered<Result>>();
  for (const auto& list : tasks) gathered->left += list.empty() ? 0 : 1;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].empty() || i == home_index) continue;
    Shard& there = home.broker().shard(static_cast<int>(i));
    there.core().spawn(internal::run_there<Result, Task, Run>(there, home.core(), gathered, run, std::move(tasks[i])));
  }
  if (!tasks[home_index].empty()) {
    std::vector<Result> own = co_await run(home, std::move(tasks[home_index]));
    gathered->take(std::move(own));
  }
  if (gathered->left > 0) {
    co_await runtime::suspend<int>([gathered](runtime::Resume<int> resume) { gathered->resume = std::move(resume); });
  }
  co_return std::move(gathered->results);
}

}  // namespace thalweg::broker
