#include "broker/new_store.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace thalweg::broker {

namespace {

// What SQLite may keep beside a file.
constexpr std::array<std::string_view, 4> kSuffixes = {"", "-journal", "-wal", "-shm"};

base::Result<void, std::string> say(runtime::IoResult<void> done) {
  if (!done) return std::unexpected(done.error().message());
  return {};
}

}  // namespace

// The store comes up beside its place and moves there once it is whole and closed. A disk that fails while it is made,
// or a machine that loses power, could otherwise leave a file that is no store and that nobody dares to remove.
base::Result<void, std::string> make_store_if_missing(runtime::FileSystem& files,
                                                      const metadata::SqliteOptions& options,
                                                      const metadata::StoreEnvironment& environment) {
  const auto exists = files.exists(options.path);
  if (!exists) return std::unexpected(exists.error().message());
  if (*exists) return {};
  metadata::SqliteOptions beside = options;
  beside.path += ".new";
  for (const std::string_view suffix : kSuffixes) TRY(say(files.remove(fmt::format("{}{}", beside.path, suffix))));
  {
    const auto made = metadata::open_sqlite_store(beside, environment);
    if (!made) return std::unexpected(made.error().message);
  }
  // Closing moves what was written into the file itself, unless the disk fails.
  const auto log_left = files.exists(beside.path + "-wal");
  if (!log_left) return std::unexpected(log_left.error().message());
  if (*log_left) return std::unexpected(fmt::format("{}: could not be written whole", beside.path));
  TRY(say(files.rename(beside.path, options.path)));
  return say(files.sync_directory(options.path.substr(0, options.path.rfind('/'))));
}

}  // namespace thalweg::broker
