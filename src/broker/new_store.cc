#include "broker/new_store.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "runtime/io_message.h"

namespace thalweg::broker {

using runtime::with_message;

namespace {

// What SQLite may keep beside a file.
constexpr std::array<std::string_view, 4> kSuffixes = {"", "-journal", "-wal", "-shm"};

}  // namespace

// The store comes up beside its place and moves there once it is whole and closed. A disk that fails while it is made,
// or a machine that loses power, could otherwise leave a file that is no store and that nobody dares to remove.
base::Result<void, std::string> make_store_if_missing(runtime::FileSystem& files,
                                                      const metadata::SqliteOptions& options,
                                                      const metadata::StoreEnvironment& environment) {
  ASSIGN_OR_RETURN(const bool there, with_message(files.exists(options.path)));
  if (there) return {};
  metadata::SqliteOptions beside = options;
  beside.path += ".new";
  for (const std::string_view suffix : kSuffixes)
    TRY(with_message(files.remove(fmt::format("{}{}", beside.path, suffix))));
  {
    const auto made = metadata::open_sqlite_store(beside, environment);
    if (!made) return std::unexpected(made.error().message);
  }
  // Closing moves what was written into the file itself, unless the disk fails.
  ASSIGN_OR_RETURN(const bool log_left, with_message(files.exists(beside.path + "-wal")));
  if (log_left) return std::unexpected(fmt::format("{}: could not be written whole", beside.path));
  TRY(with_message(files.rename(beside.path, options.path)));
  return with_message(files.sync_directory(options.path.substr(0, options.path.rfind('/'))));
}

}  // namespace thalweg::broker
