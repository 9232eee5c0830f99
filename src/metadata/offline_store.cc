#include "metadata/offline_store.h"

#include <future>
#include <utility>

namespace thalweg::metadata {

OfflineStore::OfflineStore()
    : random_(runtime::Random::from_machine()),
      writer_(runtime::machine_host().make_pool("metadata", 1)),
      answers_(runtime::machine_host().make_pool("answers", 1)) {}

base::Result<std::unique_ptr<OfflineStore>, StoreError> OfflineStore::open(const SqliteOptions& options) {
  std::unique_ptr<OfflineStore> offline(new OfflineStore());
  ASSIGN_OR_RETURN(
      offline->store_,
      open_sqlite_store(options, {.writer = *offline->writer_, .clock = offline->clock_, .uuids = offline->random_}));
  return offline;
}

OfflineStore::~OfflineStore() {
  if (store_) {
    std::promise<void> stopped;
    store_->stop(*answers_, [&stopped] { stopped.set_value(); });
    stopped.get_future().wait();
  }
  writer_->stop();
  answers_->stop();
}

base::Result<void, StoreError> OfflineStore::commit(ChangeSet changes) {
  std::promise<CommitResult> promise;
  auto future = promise.get_future();
  store_->commit(std::move(changes), Urgency::urgent, *answers_,
                 [&promise](CommitResult result) { promise.set_value(std::move(result)); });
  if (auto committed = future.get(); !committed)
    return std::unexpected(StoreError{std::move(committed).error().detail});
  return {};
}

}  // namespace thalweg::metadata
