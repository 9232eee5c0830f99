// Writer: the store over any engine. It gathers the change sets of all cores into group commits, checks preconditions,
// applies what was committed to memory and tells the cores.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "metadata/engine.h"
#include "metadata/store.h"

namespace thalweg::metadata {

class Writer final : public Store {
 public:
  // Loads what the engine holds and, in a store that has none, creates the cluster id: `cluster_id`, or a random one
  // where that is empty. Blocks. The executor, clock and observer in `environment` must outlive stop().
  static base::Result<std::unique_ptr<Store>, StoreError> open(std::unique_ptr<Engine> engine,
                                                               const StoreEnvironment& environment,
                                                               const std::string& cluster_id);

  void commit(ChangeSet changes, Urgency urgency, runtime::Executor& executor, CommitDone done) override;
  Subscription subscribe(runtime::Executor& executor, UpdateCallback callback) override;
  [[nodiscard]] std::shared_ptr<const Snapshot> opened_snapshot() const override { return opened_; }
  void load_group_state(GroupRange range, runtime::Executor& executor, GroupsDone done) override;
  void refresh(runtime::Executor& executor, CommitDone done) override;
  void stop(runtime::Executor& executor, std::move_only_function<void()> done) override;

 private:
  class State;
  Writer(std::shared_ptr<State> state, std::shared_ptr<const Snapshot> opened)
      : state_(std::move(state)), opened_(std::move(opened)) {}

  // Touched on the writer's thread alone, but for its count of what waits. Tasks under way hold it too, so a store may
  // be let go of while its last commits run.
  std::shared_ptr<State> state_;
  std::shared_ptr<const Snapshot> opened_;
};

}  // namespace thalweg::metadata
