// The command line.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>

#include "cli/backup.h"
#include "cli/decode.h"
#include "cli/fsck.h"
#include "cli/import.h"
#include "cli/inspect.h"
#include "cli/serve.h"
#include "config/docs_page.h"

#ifndef THALWEG_VERSION
#define THALWEG_VERSION "unknown"
#endif

int main(int argc, char** argv) {
  CLI::App app{"Thalweg: a Kafka-compatible event-streaming broker"};
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", THALWEG_VERSION);

  thalweg::cli::ServeArguments serve_arguments;
  std::string config_file;
  std::string scram_file;
  CLI::App* serve = app.add_subcommand("serve", "run the broker");
  serve->add_option("--config", config_file, "server.properties to read");
  serve->add_option("-o,--override", serve_arguments.overrides, "key=value over the file; may be given more than once")
      ->allow_extra_args(false);
  serve->add_option(
      "--add-scram-file", scram_file,
      "SCRAM credentials for users that have none yet, a line each: SCRAM-SHA-256=[name=...,password=...]");
  serve->add_flag("--log-json", serve_arguments.json_log, "log lines as JSON");
  serve->add_option("--log-level", serve_arguments.log_level, "trace, debug, info, warn, error or off");
  CLI::App* configuration = app.add_subcommand("configuration", "print the reference of every configuration key");

  thalweg::cli::InspectArguments inspect_arguments;
  CLI::App* inspect = thalweg::cli::add_inspect(app, inspect_arguments);
  thalweg::cli::DecodeArguments decode_arguments;
  CLI::App* decode = thalweg::cli::add_decode(app, decode_arguments);

  thalweg::cli::FsckArguments fsck_arguments;
  CLI::App* fsck = thalweg::cli::add_fsck(app, fsck_arguments);
  thalweg::cli::BackupArguments backup_arguments;
  CLI::App* backup = thalweg::cli::add_backup(app, backup_arguments);
  thalweg::cli::RestoreArguments restore_arguments;
  CLI::App* restore = thalweg::cli::add_restore(app, restore_arguments);
  thalweg::cli::ImportArguments import_arguments;
  CLI::App* import_command = thalweg::cli::add_import(app, import_arguments);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  if (configuration->parsed()) {
    const std::string page = thalweg::config::configuration_page();
    return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
  }
  if (inspect->parsed()) return thalweg::cli::inspect(inspect_arguments);
  if (decode->parsed()) return thalweg::cli::decode(decode_arguments);
  if (backup->parsed()) return thalweg::cli::backup(backup_arguments);
  if (restore->parsed()) return thalweg::cli::restore(restore_arguments);
  if (import_command->parsed()) return thalweg::cli::import_kafka(import_arguments);
  if (fsck->parsed()) return thalweg::cli::fsck(fsck_arguments);
  if (serve->parsed()) {
    if (!config_file.empty()) serve_arguments.config_file = config_file;
    if (!scram_file.empty()) serve_arguments.scram_file = scram_file;
    return thalweg::cli::serve(serve_arguments);
  }
  std::fputs(app.help().c_str(), stderr);
  return 2;
}
