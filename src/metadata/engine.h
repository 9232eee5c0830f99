// Engine: the database under a store. It keeps rows and makes transactions durable; what a change set means, in which
// order they go and who hears of them is the writer's business, the same over every engine.
//
// Calls block and come from one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "metadata/revision.h"
#include "metadata/snapshot.h"
#include "metadata/store.h"
#include "records/record.h"

namespace thalweg::metadata {

struct EngineFault {
  enum class Kind {
    conflict,  // another process was in the way: rolled back, the same again may work
    failed,    // this transaction is void; the next may work (a full disk)
    broken,    // nothing more can be trusted to this engine (a failed sync, a damaged file)
  };
  Kind kind = Kind::failed;
  std::string message{};
};

template <class T>
using EngineResult = base::Result<T, EngineFault>;

// One change set on its way into the tables.
struct WriteSet {
  Revision revision;
  std::span<const records::Record> records;
  const Snapshot& before;  // the state without it
  const Snapshot& after;   // the state with all of it
};

class Engine {
 public:
  struct Loaded {
    Snapshot snapshot;
    Revision newest;  // of any kind of change, at or above the snapshot's
  };

  virtual ~Engine() = default;

  // Reads everything that a snapshot holds. Also within a transaction.
  virtual EngineResult<Loaded> load() = 0;
  // Begins a transaction that writes. Returns the newest revision of any process.
  virtual EngineResult<Revision> begin() = 0;
  // The change sets behind `seen` that changed a snapshot, oldest first; nothing where they are no longer all kept.
  // Within a transaction.
  virtual EngineResult<std::optional<std::vector<AppliedChange>>> changes_since(Revision seen) = 0;
  // Within a transaction: the revision that wrote the group's state last, or kNothing.
  virtual EngineResult<Revision> group_version(const std::string& group_id) = 0;
  // Within a transaction: writes the rows of one change set, and the change for followers.
  virtual EngineResult<void> write(const WriteSet& change) = 0;
  // Within a transaction: forgets all kept changes but the last `keep`.
  virtual EngineResult<void> trim_changes(std::int64_t keep) = 0;
  // Makes the transaction durable; `newest` is the last revision written in it. After a fault it is rolled back.
  virtual EngineResult<void> commit(Revision newest) = 0;
  // Ends the transaction without a trace.
  virtual void rollback() = 0;
  // A page of groups, outside of any transaction.
  virtual EngineResult<GroupPage> load_groups(const GroupRange& range) = 0;
  // Called after each transaction, and once more with `idle` when none waits. Returns how many pages it moved into
  // place, or nothing where it found no need to.
  virtual EngineResult<std::optional<std::int64_t>> maintain(bool idle) = 0;
  virtual void close() = 0;
};

}  // namespace thalweg::metadata
