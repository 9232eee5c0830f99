// SQLite as the store uses it: a connection, statements that are prepared once, and its faults as values.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/uuid.h"
#include "metadata/engine.h"
#include "metadata/revision.h"
#include "protocol/ids.h"

namespace thalweg::metadata::sqlite {

// The fault that the last call on `connection` met, with `where` before SQLite's own words.
EngineFault fault_of(sqlite3* connection, std::string_view where);

// A statement under way. Bound values must live until the cursor goes; that also resets the statement.
class Cursor {
 public:
  Cursor(sqlite3_stmt* statement, const std::string& where) : statement_(statement), where_(&where) {}
  Cursor(Cursor&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)), where_(other.where_) {}
  Cursor& operator=(Cursor&&) = delete;
  ~Cursor() {
    if (statement_ != nullptr) sqlite3_reset(statement_);
  }

  // Goes to the next row; false behind the last.
  EngineResult<bool> next();

  // The columns of the row, by number from 0.
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  // Valid until the next row.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::span<const std::uint8_t> bytes(int column) const;
  // A fault where the column does not hold 16 bytes.
  [[nodiscard]] EngineResult<base::Uuid> uuid(int column) const;

  void bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_, parameter, value); }
  void bind(int parameter, std::int32_t value) { sqlite3_bind_int64(statement_, parameter, value); }
  void bind(int parameter, std::int16_t value) { sqlite3_bind_int64(statement_, parameter, value); }
  void bind(int parameter, Revision value) { bind(parameter, value.value()); }
  void bind(int parameter, protocol::BrokerId value) { bind(parameter, value.value()); }
  void bind(int parameter, std::string_view value) {
    sqlite3_bind_text(statement_, parameter, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  }
  void bind(int parameter, const std::string& value) { bind(parameter, std::string_view(value)); }
  void bind(int parameter, std::span<const std::uint8_t> value) {
    // A null pointer would be NULL and not an empty string of bytes.
    const void* const data = value.empty() ? static_cast<const void*>("") : value.data();
    sqlite3_bind_blob64(statement_, parameter, data, value.size(), SQLITE_STATIC);
  }
  void bind(int parameter, const base::Uuid& value) { bind(parameter, std::span<const std::uint8_t>(value.bytes)); }

 private:
  sqlite3_stmt* statement_;
  const std::string* where_;
};

class Connection {
 public:
  struct Options {
    std::string path;
    std::string vfs;  // registered with SQLite; empty: its default
    // Neither the file nor what stands beside it is changed or made. Nobody else may have it open.
    bool read_only = false;
  };

  // Opens the file, creating it where it is missing; one to be read only must be there.
  static EngineResult<std::unique_ptr<Connection>> open(const Options& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] sqlite3* handle() const { return handle_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Whether closing moves what is in the WAL into the file, and removes the WAL. After a sync that has failed it must
  // not: nothing says whether what is moved, and synced again without an error, is on the disk. Where nobody has
  // decided, the last call does: a file that is refused has no WAL beside it afterwards, one that could not be written
  // keeps it.
  void move_wal_on_close(bool move);

  // Runs statements that return nothing.
  EngineResult<void> execute(const std::string& sql);
  // Runs one that returns a single text, such as a pragma; empty where there is no row.
  EngineResult<std::string> single(const std::string& sql);
  // Prepares statements for `begin`, which knows them by their place in the list.
  EngineResult<void> prepare(std::span<const std::string_view> texts);

  // Starts prepared statement `number` with these parameters.
  template <class... Values>
  Cursor begin(std::size_t number, const Values&... values) {
    Cursor cursor(statements_[number], path_);
    int parameter = 0;
    (cursor.bind(++parameter, values), ...);
    return cursor;
  }
  // Runs a prepared statement that returns nothing.
  template <class... Values>
  EngineResult<void> run(std::size_t number, const Values&... values) {
    Cursor cursor = begin(number, values...);
    TRY(cursor.next());
    return {};
  }

 private:
  Connection(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_;
  std::string path_;
  std::vector<sqlite3_stmt*> statements_;
  bool decided_ = false;  // move_wal_on_close() was called
};

}  // namespace thalweg::metadata::sqlite
