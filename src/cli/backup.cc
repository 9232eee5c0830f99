#include "cli/backup.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <memory>

#include "base/result.h"
#include "broker/backup.h"
#include "cli/output.h"
#include "console/control_socket.h"
#include "metadata/sqlite_store.h"
#include "runtime/file.h"
#include "storage/checkpoints.h"
#include "storage/copy_files.h"

namespace thalweg::cli {

namespace {

namespace asio = boost::asio;
using storage::in_directory;

// Until the copy is whole and on stable storage, no broker starts on it.
runtime::IoResult<std::uint64_t> copy_backup(runtime::FileSystem& files, const std::string& from,
                                             const std::string& to) {
  const std::string mark = in_directory(to, broker::kIncompleteCopyFileName);
  TRY(files.create_directories(to));
  TRY(files.replace_file(mark, ""));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, storage::copy_folder(files, from, to));
  TRY(files.sync_filesystem(to));
  TRY(files.remove(mark));
  TRY(files.sync_directory(to));
  return bytes;
}

}  // namespace

CLI::App* add_backup(CLI::App& app, BackupArguments& arguments) {
  CLI::App* command = app.add_subcommand("backup", "copy all that a running broker keeps");
  command->add_option("target", arguments.target, "a folder that is missing or empty")->required();
  command->add_option("--data", arguments.data, "the first of the broker's log.dirs")->capture_default_str();
  return command;
}

CLI::App* add_restore(CLI::App& app, RestoreArguments& arguments) {
  CLI::App* command = app.add_subcommand("restore", "copy a backup to where a broker is to run on it");
  command->add_option("backup", arguments.backup, "what `thalweg backup` has written")->required();
  command->add_option("target", arguments.target, "a folder that is missing or empty")->required();
  return command;
}

int backup(const BackupArguments& arguments) {
  std::error_code error;
  const std::string target = std::filesystem::absolute(arguments.target, error).lexically_normal().string();
  if (error) return failed(arguments.target + ": " + error.message());
  if (target.contains('\n')) return wrong("a path with a line break cannot be told to the broker");
  asio::io_context context;
  asio::local::stream_protocol::socket socket(context);
  boost::system::error_code fault;
  const console::SocketFolder folder(arguments.data);
  socket.connect(asio::local::stream_protocol::endpoint(folder.socket()), fault);
  if (fault)
    return failed(fmt::format("no broker answers on {}: {}; of a stopped one, copy the folder",
                              in_directory(arguments.data, console::kControlSocketName), fault.message()));
  asio::write(socket, asio::buffer("backup " + target + "\n"), fault);
  std::string answer;
  if (!fault) asio::read(socket, asio::dynamic_buffer(answer), fault);
  if (answer.ends_with('\n')) answer.pop_back();
  if (answer.starts_with("ok ")) return write(target + ": " + answer.substr(3) + "\n");
  if (answer.starts_with("error: ")) return failed(answer.substr(7));
  return failed("the broker went away before the backup was done; what is in " + target + " is not whole");
}

int restore(const RestoreArguments& arguments) {
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  const auto has = [&](const std::string& folder, const char* name) {
    return files->exists(in_directory(folder, name)).value_or(false);
  };
  if (has(arguments.backup, broker::kIncompleteCopyFileName))
    return failed(arguments.backup + " is a backup that was not finished");
  if (!has(arguments.backup, metadata::kSqliteFileName)) return failed(arguments.backup + " is no backup");
  const auto free = storage::is_free(*files, arguments.target);
  if (!free) return failed(free.error().message());
  if (!*free) return failed(arguments.target + " is not empty");
  const auto copied = copy_backup(*files, arguments.backup, arguments.target);
  if (!copied) return failed(copied.error().message());
  return write(fmt::format("{}: {} bytes restored; start a broker with log.dirs={}\n", arguments.target, *copied,
                           arguments.target));
}

}  // namespace thalweg::cli
