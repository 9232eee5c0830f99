// The store in one SQLite file: the embedded default. WAL with a full sync of every transaction; checkpoints are small,
// and made between transactions, so that neither does a commit wait long nor the WAL grow without end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "metadata/store.h"
#include "protocol/ids.h"

namespace thalweg::metadata {

struct SqliteOptions {
  std::string path{};                                // of the file, in a folder that is there; made where it is missing
  protocol::BrokerId node_id = protocol::kNoBroker;  // the file belongs to this node from its first opening on
  std::string cluster_id{};                          // for a new file; empty: a random one
  std::string vfs{};                                 // a file layer registered with SQLite; empty: the machine's
  // Pages (4 KiB) in the WAL that a checkpoint waits for, while commits wait and while none does.
  std::int64_t busy_checkpoint_pages = 1'000;
  std::int64_t idle_checkpoint_pages = 250;
};

// The name of the file in the first log directory.
inline constexpr const char* kSqliteFileName = "metadata.sqlite";

// Opens the file, runs the migrations it lacks and reads it into memory. Blocks.
//   errors   not a database, damaged, no access, written by a newer release, another node's
base::Result<std::unique_ptr<Store>, StoreError> open_sqlite_store(const SqliteOptions& options,
                                                                   const StoreEnvironment& environment);

}  // namespace thalweg::metadata
