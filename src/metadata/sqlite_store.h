// The store in one SQLite file: the embedded default. WAL with a full sync of every transaction; checkpoints are small,
// and made between transactions, so that neither does a commit wait long nor the WAL grow without end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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

// Writes a copy of the file, as of one moment, to `copy`, where nothing may be; the store may be open and serve. Not
// synced. Blocks.
base::Result<void, StoreError> copy_sqlite_file(const std::string& path, const std::string& copy,
                                                const std::string& vfs);

// What stands in the file of a store that no broker has open.
struct SqliteExamination {
  std::vector<std::string> faults;           // what PRAGMA integrity_check found, and what could not be read
  std::shared_ptr<const Snapshot> snapshot;  // null where it cannot be read
  std::int64_t schema = 0;                   // the number of its last migration
};
using GroupPageVisitor = std::function<void(const GroupPage&)>;

// Reads the whole file, with its WAL, and changes nothing. `visit` is shown all groups and their offsets, page by page,
// where the snapshot can be read. A file of an older release is not read beyond the check of the database itself.
SqliteExamination examine_sqlite_file(const std::string& path, const GroupPageVisitor& visit);

}  // namespace thalweg::metadata
