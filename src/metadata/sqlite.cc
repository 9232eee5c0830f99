#include "metadata/sqlite.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <cstring>

namespace thalweg::metadata::sqlite {

namespace {

EngineFault::Kind kind_of(int extended) {
  switch (extended) {
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_CORRUPTFS:
      return EngineFault::Kind::broken;
    default:
      break;
  }
  switch (extended & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return EngineFault::Kind::conflict;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return EngineFault::Kind::broken;
    default:
      return EngineFault::Kind::failed;
  }
}

// The URI of a file that nobody changes: SQLite then makes no file beside it.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri + "?immutable=1";
}

// Whether a WAL that holds something stands beside the file.
bool has_wal(const std::string& path) {
  std::FILE* const wal = std::fopen((path + "-wal").c_str(), "rb");
  if (wal == nullptr) return false;
  const bool holds_something = std::fgetc(wal) != EOF;
  std::fclose(wal);
  return holds_something;
}

}  // namespace

EngineFault fault_of(sqlite3* connection, std::string_view where) {
  const int code = connection == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(connection);
  const char* const words = connection == nullptr ? "out of memory" : sqlite3_errmsg(connection);
  const int primary = code & 0xff;
  const bool of_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL;
  const int system = connection != nullptr && of_system ? sqlite3_system_errno(connection) : 0;
  std::string message = fmt::format("{}: {} (SQLite error {})", where, words, code);
  if (system != 0) message += fmt::format(": {}", std::strerror(system));
  return {.kind = kind_of(code), .message = std::move(message)};
}

EngineResult<bool> Cursor::next() {
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return std::unexpected(fault_of(sqlite3_db_handle(statement_), *where_));
  }
}

std::string_view Cursor::text(int column) const {
  const auto* const data = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::span<const std::uint8_t> Cursor::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)};
}

EngineResult<base::Uuid> Cursor::uuid(int column) const {
  const auto found = bytes(column);
  base::Uuid uuid;
  if (found.size() != uuid.bytes.size())
    return std::unexpected(
        EngineFault{.kind = EngineFault::Kind::broken,
                    .message = fmt::format("{}: an id of {} bytes in column {} of \"{}\", 16 are due", *where_,
                                           found.size(), column, sqlite3_sql(statement_))});
  std::memcpy(uuid.bytes.data(), found.data(), found.size());
  return uuid;
}

EngineResult<std::unique_ptr<Connection>> Connection::open(const Options& options) {
  // Nobody asks SQLite how much memory it has, and counting takes a lock at each allocation. Too late where something
  // else in the process has used SQLite before, which does no harm.
  [[maybe_unused]] static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3* handle = nullptr;
  // One thread at a time uses a connection, so SQLite need not lock it.
  const bool immutable = options.read_only && !has_wal(options.path);
  const std::string name = immutable ? immutable_uri(options.path) : options.path;
  int access = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  // Beside a WAL the file must be open for writing, to be locked; nothing is written.
  if (options.read_only) access = immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;
  const int code = sqlite3_open_v2(name.c_str(), &handle, access | SQLITE_OPEN_NOMUTEX,
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<Connection> connection(new Connection(handle, options.path));
  if (code != SQLITE_OK) return std::unexpected(fault_of(handle, options.path));
  sqlite3_extended_result_codes(handle, 1);
  if (options.read_only) {
    connection->move_wal_on_close(false);
    // The index of the WAL is then kept in memory, not in a file beside it.
    TRY(connection->single("PRAGMA locking_mode = EXCLUSIVE"));
  }
  return connection;
}

void Connection::move_wal_on_close(bool move) {
  decided_ = true;
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, move ? 0 : 1, nullptr);
}

Connection::~Connection() {
  if (!decided_) move_wal_on_close((sqlite3_errcode(handle_) & 0xff) != SQLITE_IOERR);
  for (sqlite3_stmt* const statement : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

EngineResult<void> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return std::unexpected(fault_of(handle_, path_));
  return {};
}

EngineResult<std::string> Connection::single(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return std::unexpected(fault_of(handle_, path_));
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
  Cursor cursor(statement, path_);
  ASSIGN_OR_RETURN(const bool row, cursor.next());
  std::string text = row ? std::string(cursor.text(0)) : std::string();
  // What the statement changes is committed behind the last row.
  if (row) TRY(cursor.next());
  return text;
}

EngineResult<void> Connection::prepare(std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) != SQLITE_OK)
      return std::unexpected(fault_of(handle_, fmt::format("{}: \"{}\"", path_, text)));
    statements_.push_back(statement);
  }
  return {};
}

}  // namespace thalweg::metadata::sqlite
