#include "floor/offset_table.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace thalweg::floor {

namespace {

// As the metadata store sets its connection and its table, and in the order of a row's columns. The checkpoints that
// the store makes itself between transactions are left to SQLite, at as many pages.
constexpr const char* kSetUp =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000; "
    "PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; "
    "CREATE TABLE group_offsets (group_id TEXT NOT NULL, topic_id BLOB NOT NULL, partition_index BIGINT NOT NULL, "
    "topic TEXT NOT NULL, committed_offset BIGINT NOT NULL, leader_epoch BIGINT NOT NULL, metadata TEXT NOT NULL, "
    "commit_ms BIGINT NOT NULL, expire_ms BIGINT NOT NULL, PRIMARY KEY (group_id, topic_id, partition_index)) "
    "WITHOUT ROWID";
constexpr const char* kUpsert =
    "INSERT INTO group_offsets VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
    "ON CONFLICT (group_id, topic_id, partition_index) DO UPDATE SET topic = excluded.topic, "
    "committed_offset = excluded.committed_offset, leader_epoch = excluded.leader_epoch, "
    "metadata = excluded.metadata, commit_ms = excluded.commit_ms, expire_ms = excluded.expire_ms";
constexpr std::array<std::uint8_t, 16> kTopicId{};

std::string make_folder(const std::string& parent) {
  std::string path = parent + "/floor-offsets-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path);
  return path;
}

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

[[noreturn]] void give_up(sqlite3* database) {
  fmt::print(stderr, "thalweg_floor: SQLite: {}\n", sqlite3_errmsg(database));
  std::exit(1);
}

void bind(sqlite3_stmt* statement, int parameter, std::string_view text) {
  sqlite3_bind_text(statement, parameter, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

}  // namespace

OffsetTable::OffsetTable(const std::string& folder, boost::asio::any_io_executor executor)
    : executor_(std::move(executor)), folder_(make_folder(folder)) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // nobody asks, and counting takes a lock
  const std::string path = folder_ + "/offsets.sqlite";
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) give_up(database_);
  execute(kSetUp);
  begin_ = prepare("BEGIN IMMEDIATE");
  upsert_ = prepare(kUpsert);
  commit_ = prepare("COMMIT");
  thread_ = std::thread([this] { run(); });
}

OffsetTable::~OffsetTable() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  added_.notify_one();
  thread_.join();
  for (sqlite3_stmt* const statement : {begin_, upsert_, commit_}) sqlite3_finalize(statement);
  sqlite3_close(database_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

sqlite3_stmt* OffsetTable::prepare(const char* text) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    give_up(database_);
  return statement;
}

void OffsetTable::execute(const char* text) {
  if (sqlite3_exec(database_, text, nullptr, nullptr, nullptr) != SQLITE_OK) give_up(database_);
}

void OffsetTable::add(Waiting waiting) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(waiting));
  }
  added_.notify_one();
}

void OffsetTable::run() {
  std::vector<Waiting> batch;
  for (;;) {
    batch.clear();
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      batch.swap(waiting_);
    }
    write_all(batch);
    // One call on the loop for all of them.
    boost::asio::post(executor_, [done = std::move(batch)]() mutable {
      for (Waiting& one : done) std::move(one.done)();
    });
  }
}

void OffsetTable::write_all(const std::vector<Waiting>& batch) {
  const std::int64_t now = now_ms();
  step(begin_);
  for (const Waiting& one : batch) {
    bind(upsert_, 1, one.commit->group);
    sqlite3_bind_blob(upsert_, 2, kTopicId.data(), static_cast<int>(kTopicId.size()), SQLITE_STATIC);
    bind(upsert_, 4, one.commit->topic);
    sqlite3_bind_int64(upsert_, 6, -1);
    bind(upsert_, 7, std::string_view(""));
    sqlite3_bind_int64(upsert_, 8, now);
    sqlite3_bind_int64(upsert_, 9, -1);
    for (int partition = 0; partition < kPartitions; ++partition) {
      sqlite3_bind_int64(upsert_, 3, partition);
      sqlite3_bind_int64(upsert_, 5, one.commit->offsets[static_cast<std::size_t>(partition)]);
      step(upsert_);
    }
  }
  step(commit_);
}

void OffsetTable::step(sqlite3_stmt* statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) give_up(database_);
  sqlite3_reset(statement);
}

}  // namespace thalweg::floor
