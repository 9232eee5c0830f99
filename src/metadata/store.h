// Store: the transactional home of the metadata. One interface, several engines: in memory, SQLite, and shared
// databases.
//
// A write is a change set: records with preconditions. It commits whole or not at all and gets the next revision.
// Memory changes only by applying what was committed, by this process or another one: a commit is done when the
// process's own snapshot has it. Nothing here assumes that this process is the only writer; whoever read something
// before deciding names it as a precondition.
//
//   core                                   writer (one thread of its own)
//   commit(change set, done) ───post────▶  queue; one transaction for all that came while the last one ran
//   callback(snapshot, changes) ◀──post──  after the commit, once for each core and transaction
//   done(revision)              ◀──┘       in the same task, behind the callbacks
//
// Calls are safe from any thread. Callbacks run on the executor given with them, which must run its tasks one at a time
// and in order, and live until stop() is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/uuid.h"
#include "metadata/revision.h"
#include "metadata/snapshot.h"
#include "protocol/ids.h"
#include "records/record.h"
#include "runtime/executor.h"

namespace thalweg::metadata {

// ---- What a change set may ask for before it is applied ----

// No topic has this name.
struct TopicNameFree {
  std::string name{};
};
// The topic is there and has not changed since `version` (Topic::version).
struct TopicAtVersion {
  base::Uuid topic_id{};
  Revision version{};
};
// The topic is there, changed or not.
struct TopicExists {
  base::Uuid topic_id{};
};
// The config was last set by `version`; kNothing: it is not set.
struct ConfigAtVersion {
  records::ConfigResource resource{};
  std::string key{};
  Revision version{};
};
// Nobody has taken producer ids since next_producer_id was this.
struct ProducerIdBlockAt {
  std::int64_t next_producer_id = 0;
};
// The lease is held by this node at this epoch. kNoBroker with epoch 0 is a lease that nobody ever held.
struct LeaseHeld {
  std::string name{};
  protocol::BrokerId owner = protocol::kNoBroker;
  std::int32_t epoch = 0;
};
// The group's state was last changed by `version`; kNothing: there is none.
struct GroupAtVersion {
  std::string group_id{};
  Revision version{};
};

using Precondition = std::variant<TopicNameFree, TopicAtVersion, TopicExists, ConfigAtVersion, ProducerIdBlockAt,
                                  LeaseHeld, GroupAtVersion>;

// Records are applied in order, each seeing what those before it did.
struct ChangeSet {
  std::vector<Precondition> preconditions{};
  std::vector<records::Record> records{};
};

// Urgent change sets go before all bulk ones that wait, and bulk ones take a bounded part of each transaction, so that
// a topic is created in no time during a flood of offsets. Order is kept within an urgency, not between the two.
enum class Urgency { urgent, bulk };

// ---- What comes of it ----

struct CommitFault {
  enum class Kind {
    precondition,  // the one at `index` does not hold
    invalid,       // the record at `index` contradicts what is there; the precondition that says so was left out
    overloaded,    // too much waits already; nothing was done
    storage,       // the engine failed: not applied, and not there after a restart unless the sync was what failed
    stopped,       // stop() was called before
  };
  Kind kind = Kind::storage;
  std::size_t index = 0;
  std::string detail{};  // for the log
};

// A commit's answer: the revision it became. A change set without records answers with the newest revision.
using CommitResult = base::Result<Revision, CommitFault>;
using CommitDone = std::move_only_function<void(CommitResult)>;

// One committed change set, less the records that belong to coordinators.
struct AppliedChange {
  Revision revision;
  std::vector<records::Record> records;
};

// The state after the last of `changes`, which are all since the callback before, oldest first. The first call of a
// subscription has no changes: it says where things stand.
using UpdateCallback = std::move_only_function<void(const std::shared_ptr<const Snapshot>& snapshot,
                                                    const std::vector<AppliedChange>& changes)>;

// Ends the callbacks when destroyed, which must happen on the executor they run on, or after it has stopped.
class [[nodiscard]] Subscription {
 public:
  class Entry;
  Subscription() = default;
  explicit Subscription(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}
  Subscription(Subscription&&) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { end(); }
  // No callback runs after this.
  void end();

 private:
  std::shared_ptr<Entry> entry_;
};

// ---- The state of groups, which coordinators load when they take over ----

struct StoredGroup {
  records::GroupChanged state;
  Revision version;
};

// Groups by id, in byte order: `first` and everything behind it, before `end` unless that is empty.
struct GroupRange {
  std::string first{};
  std::string end{};
  // Stop at the end of the group that reaches this many rows; a bound on the memory that one answer takes.
  std::size_t rows = 10'000;
};

struct GroupPage {
  std::vector<StoredGroup> groups;                // by group id
  std::vector<records::OffsetCommitted> offsets;  // by group id, topic id, partition; also of groups without state
  std::string next;                               // where the next page begins; empty: there is none
};

// Why a store cannot be opened or read: one line that says what, where and what would be right.
struct StoreError {
  std::string message;
};

using GroupsDone = std::move_only_function<void(base::Result<GroupPage, StoreError>)>;

class Store {
 public:
  virtual ~Store() = default;

  // Commits the change set and answers on `executor`, behind the callbacks of this executor's subscriptions that show
  // it. The answer always comes.
  virtual void commit(ChangeSet changes, Urgency urgency, runtime::Executor& executor, CommitDone done) = 0;

  // Calls `callback` on `executor`: once with the state at that time, then after each transaction that changed it.
  // Revisions come in order and none is left out, but those that touch only groups and offsets. Call it on the
  // executor, or before the executor runs.
  virtual Subscription subscribe(runtime::Executor& executor, UpdateCallback callback) = 0;

  // The state when the store was opened, to start from; subscriptions tell what became of it.
  [[nodiscard]] virtual std::shared_ptr<const Snapshot> opened_snapshot() const = 0;

  // Reads one page of groups and offsets as of now, behind the commits asked for so far.
  virtual void load_group_state(GroupRange range, runtime::Executor& executor, GroupsDone done) = 0;

  // Brings memory to the newest revision that any process committed, then answers with it as a commit does.
  virtual void refresh(runtime::Executor& executor, CommitDone done) = 0;

  // Commits what waits, closes the engine, then calls `done`. Whatever is asked for later is answered with `stopped`.
  virtual void stop(runtime::Executor& executor, std::move_only_function<void()> done) = 0;
};

// ---- What an engine is opened with ----

// What one transaction cost; told on the writer's thread, so it must only count.
struct TransactionStats {
  std::size_t change_sets = 0;      // committed
  std::size_t refused = 0;          // preconditions that failed, invalid records
  std::size_t records = 0;          // committed
  std::int64_t transaction_ns = 0;  // from its begin to the answer
  std::int64_t sync_ns = 0;         // of that, making it durable
  bool failed = false;              // the engine failed, all were answered with `storage`
};

class StoreObserver {
 public:
  virtual ~StoreObserver() = default;
  virtual void transaction_done(const TransactionStats& stats) = 0;
  // The engine moved `pages` from its write-ahead log into place.
  virtual void checkpoint_done(std::int64_t pages, std::int64_t duration_ns) = 0;
};

struct WriterLimits {
  std::size_t urgent_rows_per_transaction = 16'384;  // a change set is never cut; one bigger than this goes alone
  std::size_t bulk_rows_per_transaction = 2'048;     // an eighth of it beside urgent ones
  std::size_t queued_rows = 1U << 20;                // more than this waiting: overloaded
  std::int64_t changes_kept = 10'000;                // that a follower may be behind without reading everything again
};

struct StoreEnvironment {
  runtime::Executor& writer;  // one thread of its own that runs tasks in order, as the engine's calls block
  const base::Clock& clock;
  base::UuidSource& uuids;  // for the cluster id
  StoreObserver* observer = nullptr;
  WriterLimits limits = {};
};

}  // namespace thalweg::metadata
