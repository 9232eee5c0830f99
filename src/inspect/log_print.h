// Logs as lines of text, and as JSON with an object on each line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "inspect/catalog.h"
#include "inspect/log_files.h"
#include "inspect/log_scanner.h"
#include "inspect/log_stats.h"
#include "protocol/record_batch.h"

namespace thalweg::inspect {

// -- text; every line ends with \n --

// FILE, its size, and the names of the columns of batch_line().
std::string file_head(const LogFile& file);
// The header of a batch or message; its fault, where it has one, on a line below.
std::string batch_line(const LogItem& item);
std::string damage_line(const LogItem& item);
// A record: its offset, time, key, value and headers on one line; where it could be opened, what is inside on another.
struct RecordLineOptions {
  std::string_view topic;
  bool control = false;
  bool show_secrets = false;
};
std::string record_line(const Catalog& catalog, const protocol::Record& record, const RecordLineOptions& options);
// `name` is a partition, or what several are together.
std::string stats_text(std::string_view name, const LogStats& stats);

// -- JSON; every line ends with \n --

std::string batch_object(const LogFile& file, const LogItem& item);
std::string damage_object(const LogFile& file, const LogItem& item);
// Keys and values that are text are `key` and `value`, others `keyHex` and `valueHex`. What could be opened is beside
// them, with nothing hidden.
std::string record_object(const Catalog& catalog, const LogFile& file, const LogItem& item,
                          const protocol::Record& record);
std::string stats_object(std::string_view name, const LogStats& stats);

}  // namespace thalweg::inspect
