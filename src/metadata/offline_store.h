// OfflineStore: the store of a broker that does not run, for commands that write to it. Every call waits.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "metadata/sqlite_store.h"
#include "runtime/host.h"
#include "runtime/random.h"

namespace thalweg::metadata {

class OfflineStore {
 public:
  // Opens the file, or makes it; see open_sqlite_store().
  static base::Result<std::unique_ptr<OfflineStore>, StoreError> open(const SqliteOptions& options);
  // Closes the file.
  ~OfflineStore();
  OfflineStore(const OfflineStore&) = delete;
  OfflineStore& operator=(const OfflineStore&) = delete;

  // Commits the change set.
  //   errors   what of it does not hold, or what could not be written
  base::Result<void, StoreError> commit(ChangeSet changes);

 private:
  OfflineStore();
  const base::SystemClock clock_;
  runtime::Random random_;
  std::unique_ptr<runtime::Pool> writer_;
  std::unique_ptr<runtime::Pool> answers_;
  std::unique_ptr<Store> store_;
};

}  // namespace thalweg::metadata
