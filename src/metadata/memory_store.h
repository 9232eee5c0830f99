// The store in memory: for tests, for simulations, and for brokers whose metadata may go with the process.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "metadata/engine.h"
#include "metadata/store.h"

namespace thalweg::metadata {

// What stores in memory keep their rows in. It outlives them, so a store that is opened on it again finds what was
// committed. All stores that are open on one database must share one writer executor.
class MemoryDatabase {
 public:
  MemoryDatabase();
  ~MemoryDatabase();
  MemoryDatabase(const MemoryDatabase&) = delete;
  MemoryDatabase& operator=(const MemoryDatabase&) = delete;

  // The next commit fails like this; the one after it does not, unless the store takes the fault to be final.
  void fail_next_commit(EngineFault fault);

  struct Contents;

 private:
  friend class MemoryEngine;
  std::unique_ptr<Contents> contents_;
  std::optional<EngineFault> next_fault_;
};

// Opens a store on `database`, with the cluster id given or, where that is empty, a random one if it has none yet.
base::Result<std::unique_ptr<Store>, StoreError> open_memory_store(std::shared_ptr<MemoryDatabase> database,
                                                                   const StoreEnvironment& environment,
                                                                   const std::string& cluster_id = {});

}  // namespace thalweg::metadata
