// What only the SQLite engine does: files, migrations, crashes, checkpoints.
#include "metadata/sqlite_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/log.h"
#include "metadata/sql.h"
#include "metadata/sqlite.h"
#include "metadata/sqlite_migration.h"
#include "metadata/store_test_util.h"

namespace thalweg::metadata {
namespace {

namespace fs = std::filesystem;
using protocol::BrokerId;
using sqlite::Connection;
using testing::HasSubstr;
using testing::Not;

void run_sql(const std::string& path, const std::string& statements) {
  const auto connection = Connection::open({.path = path, .vfs = {}}).value();
  const auto done = connection->execute(statements);
  ASSERT_TRUE(done.has_value()) << done.error().message;
}
std::string ask_sql(const std::string& path, const std::string& query) {
  return Connection::open({.path = path, .vfs = {}}).value()->single(query).value();
}

// The outcome of opening `path`, closed again: the state, or why not.
struct Opened {
  std::string error;
  std::string text;
  Revision revision;
};
Opened open_once(const std::string& path, int node_id = 1) {
  ManualExecutor writer;
  const base::ManualClock clock;
  SeededUuids uuids(5);
  auto store = open_sqlite_store({.path = path, .node_id = BrokerId(node_id), .vfs = FaultyVfs::instance().name()},
                                 {.writer = writer, .clock = clock, .uuids = uuids});
  if (!store.has_value()) return {.error = store.error().message, .text = {}, .revision = kNothing};
  const auto snapshot = (*store)->opened_snapshot();
  (*store)->stop(writer, [] {});
  writer.run();
  return {.error = {}, .text = text_of(*snapshot), .revision = snapshot->revision()};
}

TEST(SqliteStore, ANewerFileIsRefusedInOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  ASSERT_EQ(open_once(path).error, "");
  run_sql(path, "UPDATE thalweg_schema SET version = 999");
  const std::string error = open_once(path).error;
  EXPECT_THAT(error, HasSubstr(path));
  EXPECT_THAT(error, HasSubstr("schema 999"));
  EXPECT_THAT(error, HasSubstr(fmt::format("up to {}", sql::migration_count())));
  EXPECT_THAT(error, Not(HasSubstr("\n")));
  EXPECT_EQ(ask_sql(path, "SELECT version FROM thalweg_schema"), "999");
}

TEST(SqliteStore, AFileOfAnotherNodeIsRefusedInOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  ASSERT_EQ(open_once(path, 3).error, "");
  ASSERT_EQ(open_once(path, 3).error, "");
  EXPECT_EQ(open_once(path, 4).error, path + ": belongs to node.id 3, not 4: set node.id=3, or use other log.dirs");
}

TEST(SqliteStore, WhatIsNoDatabaseIsRefusedInOneLine) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(10'000, 'x');
  EXPECT_THAT(open_once(folder.file("text")).error, HasSubstr("file is not a database"));
  EXPECT_THAT(open_once(folder.file("none/metadata.sqlite")).error, HasSubstr("unable to open database file"));
  ASSERT_EQ(open_once(folder.file("damaged")).error, "");
  run_sql(folder.file("damaged"), "INSERT INTO partitions VALUES (x'00', 0, 1, 0, x'00')");
  EXPECT_THAT(open_once(folder.file("damaged")).error, HasSubstr("a partition belongs to no topic"));
  run_sql(folder.file("damaged"), "INSERT INTO topics VALUES (x'0011', 't', 0, 1, 1)");
  EXPECT_THAT(open_once(folder.file("damaged")).error, HasSubstr("an id of 2 bytes"));
  run_sql(folder.file("damaged"), "INSERT INTO nodes VALUES (1, x'63', 1, 1, 0)");
  EXPECT_THAT(open_once(folder.file("damaged")).error, HasSubstr("a node: "));
  run_sql(folder.file("damaged"), "DELETE FROM store");
  EXPECT_THAT(open_once(folder.file("damaged")).error, HasSubstr("the row of the store is missing"));
}

TEST(SqliteStore, StatementsNumberTheirParametersByAppearance) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  ASSERT_EQ(open_once(path).error, "");
  const auto connection = Connection::open({.path = path, .vfs = {}}).value();
  for (const std::string_view text : sql::statement_texts()) {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(connection->handle(), text.data(), static_cast<int>(text.size()), &statement, nullptr),
              SQLITE_OK)
        << text;
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); ++i)
      EXPECT_EQ(sqlite3_bind_parameter_name(statement, i), fmt::format("${}", i)) << text;
    sqlite3_finalize(statement);
  }
}

// Opens and closes with the machine's own file layer.
std::string open_on_machine(const std::string& path) {
  ManualExecutor writer;
  const base::ManualClock clock;
  SeededUuids uuids(5);
  auto store =
      open_sqlite_store({.path = path, .node_id = BrokerId(1)}, {.writer = writer, .clock = clock, .uuids = uuids});
  if (!store.has_value()) return store.error().message;
  (*store)->stop(writer, [] {});
  writer.run();
  return {};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST(SqliteStore, AFileOfAnOlderSchemaIsCopiedBeforeItIsBroughtUpToDate) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  {
    const auto connection = Connection::open({.path = path, .vfs = {}}).value();
    const std::string first[] = {sql::migration(1, sql::kSqlite)};
    ASSERT_TRUE(sqlite::migrate(*connection, first).has_value());
    ASSERT_TRUE(connection->execute("UPDATE store SET cluster_id = 'theirs'").has_value());
  }
  ASSERT_EQ(open_on_machine(path), "");
  EXPECT_EQ(ask_sql(path, "SELECT version FROM thalweg_schema"), std::to_string(sql::migration_count()));
  EXPECT_EQ(ask_sql(path + ".schema-1", "SELECT version FROM thalweg_schema"), "1");
  EXPECT_EQ(ask_sql(path + ".schema-1", "SELECT cluster_id FROM store"), "theirs");
  ASSERT_EQ(open_on_machine(path), "");
  EXPECT_EQ(names_in(fs::path(path).parent_path()).size(), 2U) << "nothing is copied again";
}

TEST(SqliteStore, AnExaminationReadsAllAndChangesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  ASSERT_EQ(open_on_machine(path), "");
  run_sql(
      path,
      "INSERT INTO group_offsets (group_id, topic_id, partition_index, topic, committed_offset, leader_epoch, "
      "metadata, commit_ms, expire_ms) VALUES ('g', x'00112233445566778899aabbccddeeff', 3, 't', 7, -1, '', 1, -1)");
  const auto before = names_in(fs::path(path).parent_path());
  std::size_t offsets = 0;
  const SqliteExamination sound =
      examine_sqlite_file(path, [&](const GroupPage& page) { offsets += page.offsets.size(); });
  EXPECT_THAT(sound.faults, testing::IsEmpty());
  ASSERT_NE(sound.snapshot, nullptr);
  EXPECT_EQ(sound.snapshot->cluster_id().size(), 22U);
  EXPECT_EQ(offsets, 1U);
  EXPECT_EQ(names_in(fs::path(path).parent_path()), before);

  // What a broker that was killed has left in the WAL counts, and stays there.
  {
    const auto connection = Connection::open({.path = path, .vfs = {}}).value();
    connection->move_wal_on_close(false);
    ASSERT_TRUE(connection->execute("DELETE FROM group_offsets").has_value());
  }
  ASSERT_TRUE(fs::exists(path + "-wal"));
  const auto wal_bytes = fs::file_size(path + "-wal");
  offsets = 0;
  EXPECT_THAT(examine_sqlite_file(path, [&](const GroupPage& page) { offsets += page.offsets.size(); }).faults,
              testing::IsEmpty());
  EXPECT_EQ(offsets, 0U);
  EXPECT_EQ(fs::file_size(path + "-wal"), wal_bytes);
}

TEST(SqliteStore, AnExaminationNamesWhatIsDamaged) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  ASSERT_EQ(open_on_machine(path), "");
  fs::resize_file(path, fs::file_size(path) - 4096);
  EXPECT_THAT(examine_sqlite_file(path, [](const GroupPage&) {}).faults, Not(testing::IsEmpty()));
  fs::resize_file(path, 0);
  EXPECT_THAT(examine_sqlite_file(path, [](const GroupPage&) {}).faults, Not(testing::IsEmpty()));
  EXPECT_THAT(examine_sqlite_file(folder.file("none"), [](const GroupPage&) {}).faults, Not(testing::IsEmpty()));
}

TEST(SqliteStore, ACopyIsMadeWhileTheStoreIsOpen) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metadata.sqlite");
  ManualExecutor writer;
  const base::ManualClock clock;
  SeededUuids uuids(5);
  auto store =
      open_sqlite_store({.path = path, .node_id = BrokerId(1)}, {.writer = writer, .clock = clock, .uuids = uuids});
  ASSERT_TRUE(store.has_value());
  const auto copied = copy_sqlite_file(path, folder.file("copy"), {});
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(ask_sql(folder.file("copy"), "SELECT cluster_id FROM store"), (*store)->opened_snapshot()->cluster_id());
  EXPECT_FALSE(copy_sqlite_file(path, folder.file("copy"), {}).has_value()) << "nothing is written over";
  (*store)->stop(writer, [] {});
  writer.run();
}

TEST(SqliteMigration, RunsWhatTheFileLacksAndNothingTwice) {
  const TemporaryFolder folder;
  const auto connection = Connection::open({.path = folder.file("db"), .vfs = {}}).value();
  std::vector<std::string> migrations = {"CREATE TABLE a (x BIGINT); INSERT INTO a VALUES (1);"};
  ASSERT_TRUE(sqlite::migrate(*connection, migrations).has_value());
  ASSERT_TRUE(sqlite::migrate(*connection, migrations).has_value());
  migrations.emplace_back("ALTER TABLE a ADD COLUMN y BIGINT");
  migrations.emplace_back("UPDATE a SET y = x + 1;");
  ASSERT_TRUE(sqlite::migrate(*connection, migrations).has_value());
  EXPECT_EQ(connection->single("SELECT count(*) || ' ' || max(x) || ' ' || max(y) FROM a").value(), "1 1 2");
  EXPECT_EQ(connection->single("SELECT version FROM thalweg_schema").value(), "3");
}

TEST(SqliteMigration, OneThatFailsLeavesTheFileAsItWas) {
  const TemporaryFolder folder;
  const std::vector<std::string> migrations = {"CREATE TABLE a (x BIGINT)", "CREATE TABLE b (x BIGINT)", "nonsense"};
  {
    const auto connection = Connection::open({.path = folder.file("db"), .vfs = {}}).value();
    ASSERT_TRUE(sqlite::migrate(*connection, std::span(migrations).first(1)).has_value());
    ASSERT_TRUE(connection->execute("BEGIN IMMEDIATE").has_value());
    const auto failed = sqlite::migrate(*connection, migrations);
    ASSERT_FALSE(failed.has_value());
    EXPECT_THAT(failed.error().message, HasSubstr("syntax error"));
  }
  EXPECT_EQ(ask_sql(folder.file("db"), "SELECT version FROM thalweg_schema"), "1");
  EXPECT_EQ(ask_sql(folder.file("db"), "SELECT group_concat(name) FROM sqlite_master WHERE name IN ('a', 'b')"), "a");
}

TEST(SqlDialect, BothDialectsHaveEveryWordOfTheMigrations) {
  for (std::size_t number = 1; number <= sql::migration_count(); ++number) {
    EXPECT_THAT(sql::migration(number, sql::kPostgres), Not(HasSubstr("WITHOUT ROWID")));
    EXPECT_THAT(sql::migration(number, sql::kPostgres), Not(HasSubstr("BLOB")));
    EXPECT_THAT(sql::migration(number, sql::kSqlite), HasSubstr("WITHOUT ROWID"));
  }
}

// ---- crashes ----

// A store whose every checkpoint is due at once, which remembers the state of each revision.
class Victim {
 public:
  explicit Victim(const std::string& path) {
    auto opened = open_sqlite_store({.path = path,
                                     .node_id = BrokerId(1),
                                     .vfs = FaultyVfs::instance().name(),
                                     .busy_checkpoint_pages = 12,
                                     .idle_checkpoint_pages = 12},
                                    {.writer = executor_, .clock = clock_, .uuids = uuids_});
    if (!opened.has_value()) {
      error = opened.error().message;
      return;
    }
    store_ = std::move(*opened);
    remember(*store_->opened_snapshot());
    acknowledged = store_->opened_snapshot()->revision();
    subscription_ =
        store_->subscribe(executor_, [this](const auto& snapshot, const auto& /*changes*/) { remember(*snapshot); });
    executor_.run();
  }
  ~Victim() {
    if (store_ == nullptr) return;
    subscription_.end();
    store_->stop(executor_, [] {});
    executor_.run();
  }
  // Commits one change set of a few pages; each changes the snapshot.
  CommitResult commit(int number) {
    std::optional<CommitResult> result;
    std::vector<records::Record> records;
    if (number % 4 == 3)
      records.emplace_back(records::TopicDeleted{.topic_id = uuid_of(number - 1)});
    else
      records.emplace_back(topic_created(number, "t" + std::to_string(number), 60));
    records.emplace_back(records::GroupChanged{.group_id = "g" + std::to_string(number)});
    store_->commit({.records = std::move(records)}, Urgency::urgent, executor_, [&](CommitResult answer) {
      if (answer.has_value()) acknowledged = *answer;
      result = std::move(answer);
    });
    executor_.run();
    return std::move(*result);
  }

  std::string error;                       // why it could not be opened
  Revision acknowledged;                   // the last
  std::map<Revision, std::string> states;  // by revision

 private:
  void remember(const Snapshot& snapshot) { states[snapshot.revision()] = text_of(snapshot); }
  ManualExecutor executor_;
  base::ManualClock clock_;
  SeededUuids uuids_{5};
  std::unique_ptr<Store> store_;
  Subscription subscription_;
};

// Opens the image of a crash and expects the state of one revision, whole: an acknowledged one or the one under way.
void expect_a_whole_revision(const std::string& path, const Victim& victim, std::map<Revision, std::string>& unseen) {
  const Opened found = open_once(path);
  ASSERT_EQ(found.error, "");
  ASSERT_GE(found.revision, victim.acknowledged);
  ASSERT_LE(found.revision, next(victim.acknowledged));
  const auto known = victim.states.find(found.revision);
  if (known != victim.states.end())
    ASSERT_EQ(found.text, known->second);
  else
    unseen[found.revision] = found.text;  // compared once the victim got there
}

void copy_files(const std::string& from, const std::string& to) {
  for (const char* const suffix : {"", "-wal", "-shm"}) fs::remove(to + suffix);
  // Shared memory is not of the disk: it is made anew.
  for (const char* const suffix : {"", "-wal"})
    if (fs::exists(from + suffix)) fs::copy_file(from + suffix, to + suffix);
}

class SqliteCrash : public testing::Test {
 public:
  // Hundreds of faults on purpose, each with its line.
  SqliteCrash() { base::set_log_level("metadata", base::LogLevel::off); }
  ~SqliteCrash() override {
    base::set_log_level("metadata", base::LogLevel::info);
    FaultyVfs::instance().before = nullptr;
    FaultyVfs::instance().synced = nullptr;
    FaultyVfs::instance().calm();
  }

 protected:
  TemporaryFolder folder_;
};

// The process is killed before each write, sync and truncation in turn: what it had written is there.
TEST_F(SqliteCrash, KilledAtAnyPointTheStoreIsAtARevision) {
  const std::string path = folder_.file("metadata.sqlite");
  const std::string image = folder_.file("image.sqlite");
  std::map<Revision, std::string> unseen;
  int images = 0;
  {
    Victim victim(path);
    FaultyVfs::instance().before = [&](FaultyVfs::Operation, const std::string& file) {
      if (HasFatalFailure() || !file.starts_with(path)) return;
      copy_files(path, image);
      expect_a_whole_revision(image, victim, unseen);
      ++images;
    };
    for (int number = 0; number < 12; ++number) ASSERT_TRUE(victim.commit(number).has_value());
    FaultyVfs::instance().before = nullptr;
    for (const auto& [revision, text] : unseen) EXPECT_EQ(text, victim.states.at(revision));
  }
  EXPECT_GT(images, 100);
}

// The power goes after each commit: of every file only what had been synced is there, nothing else.
TEST_F(SqliteCrash, WhatWasAcknowledgedSurvivesTheLossOfAllThatWasNotSynced) {
  const std::string path = folder_.file("metadata.sqlite");
  const std::string durable = folder_.file("durable.sqlite");
  const std::string image = folder_.file("image.sqlite");
  FaultyVfs::instance().synced = [&](const std::string& file) {
    if (file.starts_with(path))
      fs::copy_file(file, durable + file.substr(path.size()), fs::copy_options::overwrite_existing);
  };
  std::map<Revision, std::string> unseen;
  Victim victim(path);
  for (int number = 0; number < 40; ++number) {
    ASSERT_TRUE(victim.commit(number).has_value());
    copy_files(durable, image);
    expect_a_whole_revision(image, victim, unseen);
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(unseen.empty());
}

// A WAL that ends anywhere, as after a torn write, holds the transactions that are whole.
TEST_F(SqliteCrash, AWalCutAnywhereIsAtARevision) {
  const std::string path = folder_.file("metadata.sqlite");
  const std::string image = folder_.file("image.sqlite");
  std::map<Revision, std::string> states;
  std::string wal;
  {
    const std::string start = folder_.file("start.sqlite");
    ASSERT_EQ(open_once(path).error, "");
    copy_files(path, start);
    ManualExecutor executor;
    const base::ManualClock clock;
    SeededUuids uuids(1);
    auto store =
        open_sqlite_store({.path = path, .node_id = BrokerId(1)}, {.writer = executor, .clock = clock, .uuids = uuids})
            .value();
    states[store->opened_snapshot()->revision()] = text_of(*store->opened_snapshot());
    Subscription subscription = store->subscribe(
        executor, [&](const auto& snapshot, const auto&) { states[snapshot->revision()] = text_of(*snapshot); });
    for (int i = 0; i < 8; ++i) {
      store->commit({.records = {topic_created(i, "t" + std::to_string(i), 20)}}, Urgency::urgent, executor,
                    [](auto) {});
      executor.run();
    }
    std::ifstream in(path + "-wal", std::ios::binary);
    wal.assign(std::istreambuf_iterator<char>(in), {});
    copy_files(start, path + ".begin");
    subscription.end();
    store->stop(executor, [] {});
    executor.run();
  }
  Revision last = kNothing;
  std::size_t revisions = 0;
  for (std::size_t cut = 0;; cut = std::min(cut + 1024 + 7, wal.size())) {
    copy_files(path + ".begin", image);
    std::ofstream(image + "-wal", std::ios::binary) << wal.substr(0, cut);
    const Opened found = open_once(image);
    ASSERT_EQ(found.error, "");
    ASSERT_EQ(found.text, states.at(found.revision)) << cut;
    ASSERT_GE(found.revision, last);
    revisions += found.revision > last ? 1 : 0;
    last = found.revision;
    if (cut == wal.size()) break;
  }
  EXPECT_EQ(last, states.rbegin()->first);
  EXPECT_GE(revisions, 8U);
}

// Closing moves the WAL into the file and removes it; after a failed sync nobody knows what of that would be on the
// disk.
TEST_F(SqliteCrash, AStoreWhoseSyncFailedLeavesTheWalWhereItIs) {
  const std::string path = folder_.file("left.sqlite");
  {
    Victim victim(path);
    ASSERT_EQ(victim.error, "");
    ASSERT_TRUE(victim.commit(0).has_value());
  }
  EXPECT_FALSE(std::filesystem::exists(path + "-wal")) << "a store that is well takes it away";
  {
    Victim victim(path);
    ASSERT_TRUE(victim.commit(1).has_value());
    FaultyVfs::instance().fail_next(FaultyVfs::Operation::sync, SQLITE_IOERR_FSYNC);
    ASSERT_FALSE(victim.commit(2).has_value());
  }
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
}

// SQLite gives the new mode as a row before it commits the change.
TEST_F(SqliteCrash, ASwitchToTheWalThatFailsIsAnError) {
  for (std::int64_t n = 0;; ++n) {
    SCOPED_TRACE(fmt::format("operation {}", n));
    const std::string path = folder_.file(fmt::format("switch-{}.sqlite", n));
    const auto connection = Connection::open({.path = path, .vfs = FaultyVfs::instance().name()}).value();
    FaultyVfs::instance().fail_nth(n, false);
    const auto mode = connection->single("PRAGMA journal_mode = WAL");
    const bool was_hit = FaultyVfs::instance().calm();
    if (mode.has_value()) EXPECT_EQ(*mode, connection->single("PRAGMA journal_mode").value());
    if (!was_hit) break;
  }
}

// The n-th write, sync or truncation fails, once or from then on. What was acknowledged is there in the end, what
// failed is not (a failed sync leaves that open), and a store that is not broken goes on.
TEST_F(SqliteCrash, TheNthOperationFails) {
  for (const bool all_after : {false, true}) {
    for (std::int64_t n = 0;; ++n) {
      SCOPED_TRACE(fmt::format("operation {}{}", n, all_after ? " and all after" : ""));
      const std::string path = folder_.file(fmt::format("{}-{}.sqlite", n, all_after));
      std::map<Revision, std::string> states;
      std::vector<int> acknowledged;
      std::vector<int> failed;
      bool broken = false;
      FaultyVfs::instance().fail_nth(n, all_after);
      bool was_hit = false;
      {
        Victim victim(path);
        if (victim.error.empty()) {
          for (int number = 0; number < 6; number += number % 4 == 2 ? 2 : 1) {
            const CommitResult result = victim.commit(number);
            (result.has_value() ? acknowledged : failed).push_back(number);
            if (!result.has_value()) {
              EXPECT_EQ(result.error().kind, CommitFault::Kind::storage);
              broken = broken || result.error().detail.contains("1034");
            }
          }
          was_hit = FaultyVfs::instance().calm();
          const CommitResult after = victim.commit(100);
          if (!broken && after.has_value())
            acknowledged.push_back(100);
          else
            EXPECT_TRUE(!after.has_value() && was_hit);
        } else {
          EXPECT_THAT(victim.error, HasSubstr(path));
          was_hit = FaultyVfs::instance().calm();
        }
      }
      const Opened found = open_once(path);
      ASSERT_EQ(found.error, "");
      for (const int number : acknowledged) EXPECT_THAT(found.text, HasSubstr(fmt::format("topic t{} ", number)));
      if (!broken)
        for (const int number : failed) EXPECT_THAT(found.text, Not(HasSubstr(fmt::format("topic t{} ", number))));
      if (!was_hit) {
        EXPECT_GT(n, 30);
        EXPECT_TRUE(failed.empty());
        break;
      }
    }
  }
}

// ---- checkpoints ----

struct Flood {
  TemporaryFolder folder;
  std::string path = folder.file("metadata.sqlite");
  ManualExecutor executor;
  base::ManualClock clock;
  SeededUuids uuids{1};
  CountingObserver observer;
  std::unique_ptr<Store> store;
  int next_topic = 0;

  Flood() {
    store = open_sqlite_store({.path = path,
                               .node_id = BrokerId(1),
                               .vfs = FaultyVfs::instance().name(),
                               .busy_checkpoint_pages = 200,
                               .idle_checkpoint_pages = 50},
                              {.writer = executor, .clock = clock, .uuids = uuids, .observer = &observer})
                .value();
  }
  ~Flood() {
    store->stop(executor, [] {});
    executor.run();
  }
  // Commits topics, `waiting` of them at a time.
  void commit(int topics, int waiting) {
    for (int i = 0; i < topics; i += waiting) {
      for (int j = 0; j < waiting; ++j, ++next_topic)
        store->commit({.records = {topic_created(next_topic, "t" + std::to_string(next_topic), 3)}}, Urgency::urgent,
                      executor, [](const CommitResult& result) { EXPECT_TRUE(result.has_value()); });
      executor.run();
    }
  }
  [[nodiscard]] std::uintmax_t wal_pages() const { return fs::file_size(path + "-wal") / 4096; }
};

TEST(SqliteCheckpoint, TheWalStaysSmallHoweverMuchIsCommitted) {
  Flood flood;
  flood.commit(1500, 1);
  EXPECT_LT(flood.wal_pages(), 100U);
  ASSERT_GT(flood.observer.checkpoints.size(), 10U);
  for (const std::int64_t pages : flood.observer.checkpoints) EXPECT_LT(pages, 100);
}

TEST(SqliteCheckpoint, AReaderFromOutsideHoldsNoCommitUp) {
  Flood flood;
  flood.commit(10, 1);
  const auto reader = Connection::open({.path = flood.path, .vfs = {}}).value();
  ASSERT_TRUE(reader->execute("BEGIN").has_value());
  EXPECT_EQ(reader->single("SELECT count(*) FROM topics").value(), "10");
  flood.commit(400, 1);
  EXPECT_EQ(reader->single("SELECT count(*) FROM topics").value(), "10");
  EXPECT_GT(flood.wal_pages(), 400U);
  const std::size_t tries = flood.observer.checkpoints.size();
  EXPECT_LT(tries, 100U) << "a checkpoint that gets nowhere is not tried after each commit";
  ASSERT_TRUE(reader->execute("COMMIT").has_value());
  flood.commit(600, 1);
  EXPECT_EQ(reader->single("SELECT count(*) FROM topics").value(), "1010");
  EXPECT_GT(flood.observer.checkpoints.size(), tries + 5) << "once it is gone they go on";
}

}  // namespace
}  // namespace thalweg::metadata
