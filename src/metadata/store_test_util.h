// What the tests of stores share: executors, a store of each engine, and a snapshot as text.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/uuid.h"
#include "metadata/faulty_vfs_test_util.h"
#include "metadata/memory_store.h"
#include "metadata/sqlite_store.h"
#include "metadata/store.h"
#include "runtime/executor.h"

namespace thalweg::metadata {

// Runs what was posted when told to, on the caller's thread.
class ManualExecutor final : public runtime::Executor {
 public:
  void post(runtime::Task task) override { tasks_.push_back(std::move(task)); }
  // Runs one task; false where there is none.
  bool run_one() {
    if (tasks_.empty()) return false;
    runtime::Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }
  void run() {
    while (run_one()) {
    }
  }

 private:
  std::deque<runtime::Task> tasks_;
};

// A thread that runs what is posted to it, in order, until it is destroyed and nothing is left.
class ThreadExecutor final : public runtime::Executor {
 public:
  ThreadExecutor() : thread_([this] { work(); }) {}
  ~ThreadExecutor() override {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    ready_.notify_one();
    thread_.join();
  }
  void post(runtime::Task task) override {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      runtime::Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<runtime::Task> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

class SeededUuids final : public base::UuidSource {
 public:
  explicit SeededUuids(std::uint64_t seed) : random_(seed) {}
  base::Uuid next() override {
    base::Uuid id;
    for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
    id.bytes[0] &= 0x7f;  // no dash in front
    return id;
  }

 private:
  std::mt19937_64 random_;
};

inline base::Uuid uuid_of(int number) {
  base::Uuid id;
  id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[15] = static_cast<std::uint8_t>(number);
  id.bytes[0] = 1;
  return id;
}

// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "thalweg-metadata-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct MemoryKit {
  std::shared_ptr<MemoryDatabase> database = std::make_shared<MemoryDatabase>();
  base::Result<std::unique_ptr<Store>, StoreError> open(const StoreEnvironment& environment) {
    return open_memory_store(database, environment);
  }
  void fail_next_commit() { database->fail_next_commit({.kind = EngineFault::Kind::failed, .message = "no space"}); }
  void break_next_commit() { database->fail_next_commit({.kind = EngineFault::Kind::broken, .message = "no sync"}); }
};

struct SqliteKit {
  TemporaryFolder folder;
  base::Result<std::unique_ptr<Store>, StoreError> open(const StoreEnvironment& environment) {
    return open_sqlite_store(
        {.path = folder.file("metadata.sqlite"), .node_id = protocol::BrokerId(1), .vfs = FaultyVfs::instance().name()},
        environment);
  }
  void fail_next_commit() { FaultyVfs::instance().fail_next(FaultyVfs::Operation::write, SQLITE_FULL); }
  void break_next_commit() { FaultyVfs::instance().fail_next(FaultyVfs::Operation::sync, SQLITE_IOERR_FSYNC); }
};

// Everything a snapshot says, so that two can be compared and a difference read.
std::string text_of(const Snapshot& snapshot);

// Counts what the writer reports.
struct CountingObserver final : StoreObserver {
  std::vector<TransactionStats> transactions;
  std::vector<std::int64_t> checkpoints;  // pages
  void transaction_done(const TransactionStats& stats) override { transactions.push_back(stats); }
  void checkpoint_done(std::int64_t pages, std::int64_t /*duration_ns*/) override { checkpoints.push_back(pages); }
};

// A store whose writer and core run when the test says so.
template <class Kit>
class Bench {
 public:
  explicit Bench(WriterLimits limits = {}) : limits_(limits) { open(); }
  ~Bench() { close(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Kit kit;
  base::ManualClock clock;
  SeededUuids uuids{7};
  CountingObserver observer;
  ManualExecutor writer;
  ManualExecutor core;
  std::unique_ptr<Store> store;
  std::shared_ptr<const Snapshot> snapshot;  // what the core has
  std::vector<AppliedChange> changes;        // that the core was told of
  std::vector<std::string> events;           // callbacks and answers in their order

  [[nodiscard]] StoreEnvironment environment() {
    return {.writer = writer, .clock = clock, .uuids = uuids, .observer = &observer, .limits = limits_};
  }
  void open() {
    auto opened = kit.open(environment());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store = std::move(*opened);
    subscription_ = store->subscribe(core, [this](const auto& now, const auto& news) {
      snapshot = now;
      for (const AppliedChange& change : news) {
        changes.push_back(change);
        events.push_back("change " + std::to_string(change.revision.value()));
      }
    });
    run();
  }
  void close() {
    if (store == nullptr) return;
    subscription_.end();
    bool stopped = false;
    store->stop(core, [&stopped] { stopped = true; });
    run();
    EXPECT_TRUE(stopped);
    store.reset();
  }
  void reopen() {
    close();
    open();
  }
  void run() {
    bool ran = true;
    while (ran) {
      ran = writer.run_one();
      ran = core.run_one() || ran;
    }
  }

  // Asks for a commit whose answer goes to `into` when things run.
  void ask(ChangeSet set, std::optional<CommitResult>& into, Urgency urgency = Urgency::urgent) {
    store->commit(std::move(set), urgency, core, [this, &into](CommitResult result) {
      events.push_back(result.has_value() ? "done " + std::to_string(result->value()) : "fault");
      into = std::move(result);
    });
  }
  CommitResult commit(ChangeSet set, Urgency urgency = Urgency::urgent) {
    std::optional<CommitResult> result;
    ask(std::move(set), result, urgency);
    run();
    EXPECT_TRUE(result.has_value()) << "no answer";
    return std::move(*result);
  }
  // Commits records that must be accepted.
  Revision accept(std::vector<records::Record> records) {
    const CommitResult result = commit({.records = std::move(records)});
    EXPECT_TRUE(result.has_value()) << (result.has_value() ? "" : result.error().detail);
    return result.value_or(kNothing);
  }
  GroupPage groups(GroupRange range = {}) {
    std::optional<base::Result<GroupPage, StoreError>> page;
    store->load_group_state(std::move(range), core, [&page](auto result) { page = std::move(result); });
    run();
    EXPECT_TRUE(page.has_value() && page->has_value());
    return std::move(**page);
  }

 private:
  const WriterLimits limits_;
  Subscription subscription_;
};

inline records::TopicCreated topic_created(int number, const std::string& name, int partitions = 1) {
  records::TopicCreated record{.name = name, .topic_id = uuid_of(number), .created_ms = 1000 + number};
  for (int i = 0; i < partitions; ++i)
    record.partitions.push_back({.leader = protocol::BrokerId(1), .directory = uuid_of(9000 + i % 2)});
  return record;
}

inline records::OffsetCommitted offset_committed(const std::string& group, int topic, std::int32_t partition,
                                                 std::int64_t offset) {
  return {.group_id = group,
          .topic_id = uuid_of(topic),
          .topic = "t" + std::to_string(topic),
          .partition = partition,
          .offset = offset,
          .leader_epoch = 3,
          .metadata = "m",
          .commit_ms = 5,
          .expire_ms = 6};
}

inline records::ConfigResource topic_resource(const std::string& name) {
  return {.type = records::ResourceType::topic, .name = name};
}

}  // namespace thalweg::metadata
