#include "cli/fsck.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "broker/backup.h"
#include "cli/data_folder.h"
#include "cli/output.h"
#include "cli/rebuild_store.h"
#include "inspect/log_check.h"
#include "inspect/value_text.h"
#include "metadata/sqlite_store.h"
#include "storage/log_repair.h"

namespace thalweg::cli {

namespace {

using inspect::counted;
using inspect::Finding;
using storage::OffsetMap;
using storage::TopicPartition;

constexpr std::string_view kExamples = R"(examples:
  thalweg fsck thalweg-data                 check, change nothing
  thalweg fsck --repair disk1 disk2         all log.dirs of one broker together
  thalweg fsck --logs-only kafka-logs       the logs of a folder that Kafka has written)";

// A partition that was found, and where.
struct CheckedLog {
  const DataFolder* folder = nullptr;
  inspect::LogCheckReport report;
};

std::optional<std::int64_t> line_of(const OffsetMap& offsets, const TopicPartition& partition) {
  const auto it = offsets.find(partition);
  return it == offsets.end() ? std::nullopt : std::optional(it->second);
}

class Fsck {
 public:
  Fsck(runtime::FileSystem& files, const FsckArguments& arguments, std::vector<DataFolder> folders)
      : files_(files), arguments_(arguments), folders_(std::move(folders)) {}

  int run() {
    for (const DataFolder& folder : folders_) check_properties(folder);
    if (!arguments_.logs_only) examine_store();
    for (const DataFolder& folder : folders_) check_folder(folder);
    if (!arguments_.logs_only) check_store();
    if (arguments_.repair && !arguments_.logs_only) repair_store();
    summarize();
    if (std::fflush(stdout) != 0) return failed("the output could not be written");
    return faults_ == 0 && !failed_ ? 0 : 1;
  }

 private:
  void find(Finding finding) {
    ++faults_;
    fmt::print("{}\n", inspect::finding_line(finding));
  }
  void find(std::string file, std::optional<std::int64_t> offset, std::string what) {
    find({.file = std::move(file), .position = std::nullopt, .offset = offset, .what = std::move(what)});
  }
  // What is worth knowing and no fault.
  static void note(const std::string& line) { fmt::print("note: {}\n", line); }
  static void say_repaired(const std::string& line) { fmt::print("repaired: {}\n", line); }
  void fail(std::string_view line) {
    failed_ = true;
    (void)failed(line);
  }

  void check_properties(const DataFolder& folder);
  void examine_store();
  void check_folder(const DataFolder& folder);
  OffsetMap read_checkpoint(const DataFolder& folder, std::string_view name);
  void check_log(const DataFolder& folder, const TopicPartition& partition, std::int64_t log_start, bool compacted);
  void repair(const DataFolder& folder, const TopicPartition& partition, std::int64_t log_start, CheckedLog& log);
  void check_offsets(const DataFolder& folder, std::string_view name, const OffsetMap& offsets);
  void lower_offsets(const DataFolder& folder, std::string_view name, OffsetMap offsets);
  void check_store();
  void check_topic(const DataFolder& folder, const TopicPartition& partition, const CheckedLog& log);
  void check_missing(const metadata::Topic& topic);
  void note_commits();
  [[nodiscard]] bool compacted(const TopicPartition& partition) const;
  void repair_store();
  void summarize() const;

  runtime::FileSystem& files_;
  const FsckArguments& arguments_;
  std::vector<DataFolder> folders_;
  const base::SystemClock clock_;
  std::map<TopicPartition, CheckedLog> logs_;
  std::map<TopicPartition, std::int64_t> promised_;  // behind what a checkpoint says is there
  const DataFolder* store_folder_ = nullptr;
  metadata::SqliteExamination store_;
  std::vector<records::OffsetCommitted> commits_;
  std::uint64_t faults_ = 0;
  std::uint64_t unwritten_ = 0;  // partitions of the store without a folder, which nobody has written to
  bool failed_ = false;
};

void Fsck::check_properties(const DataFolder& folder) {
  if (files_.exists(folder.in(broker::kIncompleteCopyFileName)).value_or(false))
    find(folder.in(broker::kIncompleteCopyFileName), std::nullopt, "the folder is a copy that was not finished");
  const std::string path = folder.in(storage::kMetaPropertiesFileName);
  if (!folder.properties_fault.empty()) return find(path, std::nullopt, folder.properties_fault);
  if (!folder.properties) {
    if (!arguments_.logs_only || !folder.partitions.empty())
      find(path, std::nullopt, "missing: it says whose folder this is");
    return;
  }
  const storage::MetaProperties& first = folders_.front().properties.value_or(*folder.properties);
  if (folder.properties->cluster_id != first.cluster_id || folder.properties->node_id != first.node_id)
    find(path, std::nullopt,
         fmt::format("node {} of cluster {}, but {} belongs to node {} of cluster {}", folder.properties->node_id,
                     folder.properties->cluster_id, folders_.front().path, first.node_id, first.cluster_id));
}

void Fsck::examine_store() {
  for (const DataFolder& folder : folders_)
    if (folder.has_store && store_folder_ == nullptr) store_folder_ = &folder;
  if (store_folder_ == nullptr) {
    // Kafka keeps its metadata in a log of its own, which is checked like any other.
    if (std::ranges::any_of(folders_, &DataFolder::of_kafka)) return;
    find(folders_.front().in(metadata::kSqliteFileName), std::nullopt,
         "missing: it is the only home of topics, configs and committed offsets (--logs-only where there is none)");
    return;
  }
  const std::string path = store_folder_->in(metadata::kSqliteFileName);
  store_ = metadata::examine_sqlite_file(path, [this](const metadata::GroupPage& page) {
    commits_.insert(commits_.end(), page.offsets.begin(), page.offsets.end());
  });
  for (const std::string& fault : store_.faults) find(path, std::nullopt, fault);
  if (!store_.snapshot) {
    if (store_.faults.empty())
      note(fmt::format("{}: of an older release (schema {}); its contents are checked once this release has opened it",
                       path, store_.schema));
    return;
  }
  const auto& properties = store_folder_->properties;
  if (properties && properties->cluster_id != store_.snapshot->cluster_id())
    find(path, std::nullopt,
         fmt::format("of cluster {}, but {} says {}", store_.snapshot->cluster_id(), storage::kMetaPropertiesFileName,
                     properties->cluster_id));
}

OffsetMap Fsck::read_checkpoint(const DataFolder& folder, std::string_view name) {
  auto offsets = storage::read_offsets(files_, folder.in(name));
  if (offsets) return std::move(*offsets);
  find(folder.in(name), std::nullopt, "not in the format of an offset checkpoint");
  return {};
}

bool Fsck::compacted(const TopicPartition& partition) const {
  if (!store_.snapshot) return partition.topic.starts_with("__");
  const auto* const policy =
      store_.snapshot->config({.type = records::ResourceType::topic, .name = partition.topic}, "cleanup.policy");
  return policy != nullptr && policy->value.contains("compact");
}

void Fsck::check_folder(const DataFolder& folder) {
  const OffsetMap log_starts = read_checkpoint(folder, storage::kLogStartOffsetsFileName);
  const OffsetMap cleaned = read_checkpoint(folder, storage::kCleanerOffsetsFileName);
  for (const TopicPartition& partition : folder.partitions) {
    if (const auto [it, added] = logs_.try_emplace(partition); !added) {
      find(folder.folder_of(partition), std::nullopt, "also in " + it->second.folder->path);
      continue;
    }
    check_log(folder, partition, line_of(log_starts, partition).value_or(0),
              cleaned.contains(partition) || compacted(partition));
  }
  check_offsets(folder, storage::kLogStartOffsetsFileName, log_starts);
  for (const std::string_view name : {storage::kRecoveryPointsFileName, storage::kHighWatermarksFileName})
    check_offsets(folder, name, read_checkpoint(folder, name));
}

void Fsck::check_log(const DataFolder& folder, const TopicPartition& partition, std::int64_t log_start,
                     bool compacted) {
  CheckedLog& log = logs_[partition];
  log.folder = &folder;
  inspect::LogCheck check(files_, [this](Finding finding) { find(std::move(finding)); });
  auto report = check.run(folder.folder_of(partition), {.log_start_offset = log_start, .gaps_allowed = compacted});
  if (!report) return fail(report.error().message());
  log.report = std::move(*report);
  if (!log.report.topic_id && log.report.segments > 0 && !folder.of_kafka)
    find(folder.folder_of(partition) + '/' + std::string(storage::kPartitionMetadataFileName), std::nullopt,
         "missing: it says which topic the folder belongs to");
  if (arguments_.repair && !log.report.plan.empty()) repair(folder, partition, log_start, log);
}

void Fsck::repair(const DataFolder& folder, const TopicPartition& partition, std::int64_t log_start, CheckedLog& log) {
  auto repaired = storage::repair_log(
      files_, folder.folder_of(partition), partition, log.report.plan,
      {.log_start_offset = log_start, .log_end_offset = log.report.log_end_offset, .now_ms = clock_.wall_ms()});
  if (!repaired) return fail(repaired.error().message());
  for (const std::string& line : repaired->done) say_repaired(line);
  log.report.log_end_offset = repaired->log_end_offset;
}

// Whatever a checkpoint promises must be there.
void Fsck::check_offsets(const DataFolder& folder, std::string_view name, const OffsetMap& offsets) {
  bool lower = false;
  for (const auto& [partition, offset] : std::map(offsets.begin(), offsets.end())) {
    const auto log = logs_.find(partition);
    if (log == logs_.end()) {
      promised_[partition] = std::max(promised_[partition], offset);
      continue;
    }
    if (offset <= log->second.report.log_end_offset) continue;
    lower = true;
    find(folder.in(name), offset,
         fmt::format("{} is to have records up to here, but its log ends at {}", storage::folder_name(partition),
                     log->second.report.log_end_offset));
  }
  if (lower && arguments_.repair) lower_offsets(folder, name, offsets);
}

void Fsck::lower_offsets(const DataFolder& folder, std::string_view name, OffsetMap offsets) {
  for (auto& [partition, offset] : offsets)
    if (const auto log = logs_.find(partition); log != logs_.end())
      offset = std::min(offset, log->second.report.log_end_offset);
  if (const auto written = storage::write_offsets(files_, folder.in(name), offsets); !written)
    return fail(written.error().message());
  say_repaired(folder.in(name) + ": no line is behind the end of its log");
}

void Fsck::check_topic(const DataFolder& folder, const TopicPartition& partition, const CheckedLog& log) {
  const std::string path = folder.folder_of(partition);
  const metadata::Topic* const topic = store_.snapshot->topic(partition.topic);
  if (topic == nullptr) return find(path, std::nullopt, "the store has no topic of this name");
  if (log.report.topic_id && *log.report.topic_id != topic->id)
    return find(path, std::nullopt,
                fmt::format("{} says topic id {}, the store {}", storage::kPartitionMetadataFileName,
                            log.report.topic_id->str(), topic->id.str()));
  const metadata::Partition* const stored = topic->partition(partition.partition);
  if (stored == nullptr)
    return find(path, std::nullopt,
                fmt::format("the store has {} of the topic",
                            counted(static_cast<std::uint64_t>(topic->partitions.size()), "partition")));
  if (log.report.latest_epoch > store_.snapshot->leader_epoch(*stored))
    find(path, std::nullopt,
         fmt::format("a batch of leader epoch {}, but the store says that it is {}", log.report.latest_epoch,
                     store_.snapshot->leader_epoch(*stored)));
  if (folder.properties && stored->directory != folder.properties->directory_id)
    note(fmt::format("{}: the store says that the partition is in directory {}, this is {}", path,
                     stored->directory.str(), folder.properties->directory_id.str()));
}

// A partition gets its folder with its first record, so one without is a fault only where records were in it.
void Fsck::check_missing(const metadata::Topic& topic) {
  for (std::int32_t i = 0; i < topic.partitions.size(); ++i) {
    const TopicPartition partition{.topic = std::string(topic.name), .partition = i};
    if (logs_.contains(partition)) continue;
    const auto holds = [&](const DataFolder& folder) {
      return folder.properties && folder.properties->directory_id == topic.partitions[i].directory;
    };
    const auto folder = std::ranges::find_if(folders_, holds);
    if (folder == folders_.end()) {
      note(fmt::format("{} is in directory {}, which is not one of the folders given", storage::folder_name(partition),
                       topic.partitions[i].directory.str()));
      continue;
    }
    const auto promised = promised_.find(partition);
    if (promised == promised_.end() || promised->second == 0) {
      ++unwritten_;
      continue;
    }
    find(folder->folder_of(partition), promised->second, "the folder is missing; records were in it up to here");
  }
}

void Fsck::note_commits() {
  for (const records::OffsetCommitted& commit : commits_) {
    const auto log = logs_.find({.topic = commit.topic, .partition = commit.partition});
    const std::int64_t end = log == logs_.end() ? 0 : log->second.report.log_end_offset;
    if (commit.offset <= end) continue;
    // No fault: clients may commit any offset.
    note(fmt::format("group {} has committed offset {} of {}-{}, whose log ends at {}",
                     inspect::quoted(commit.group_id, 100), commit.offset, commit.topic, commit.partition, end));
  }
}

void Fsck::check_store() {
  if (!store_.snapshot) return;
  for (const auto& [partition, log] : logs_)
    if (log.folder != nullptr) check_topic(*log.folder, partition, log);
  for (const auto& [name, topic] : store_.snapshot->topics()) check_missing(*topic);
  note_commits();
}

void Fsck::repair_store() {
  const bool lost = store_folder_ == nullptr && std::ranges::none_of(folders_, &DataFolder::of_kafka);
  const bool unreadable = store_folder_ != nullptr && !store_.snapshot && !store_.faults.empty();
  if (!lost && !unreadable) {
    if (!store_.faults.empty()) note("the store can still be read; a backup of it is better than to make it anew");
    return;
  }
  const DataFolder& home = store_folder_ == nullptr ? folders_.front() : *store_folder_;
  if (!home.properties) return fail("the store cannot be made anew without meta.properties, which says whose it is");
  RebuildOptions options{.path = home.in(metadata::kSqliteFileName),
                         .cluster_id = home.properties->cluster_id,
                         .node_id = home.properties->node_id};
  for (const auto& [partition, log] : logs_) {
    options.largest_producer_id = std::max(options.largest_producer_id, log.report.largest_producer_id);
    if (log.folder == nullptr || !log.report.topic_id || !log.folder->properties) continue;
    options.partitions.push_back({.partition = partition,
                                  .topic_id = *log.report.topic_id,
                                  .directory = log.folder->properties->directory_id,
                                  .latest_epoch = log.report.latest_epoch});
  }
  for (const std::string_view suffix : {"", "-wal", "-shm"}) {
    const std::string name = metadata::kSqliteFileName + std::string(suffix);
    const auto there = files_.exists(home.in(name));
    if (!there || !*there) continue;
    const auto aside = storage::set_aside(files_, home.path, name);
    if (!aside) return fail(aside.error().message());
    say_repaired(fmt::format("{} is now {}", home.in(name), *aside));
  }
  const auto rebuilt = rebuild_store(options);
  if (!rebuilt) return fail(rebuilt.error());
  for (const std::string& line : rebuilt->left_out) note(line);
  say_repaired(fmt::format("{} is made anew from {}: {}", options.path, counted(options.partitions.size(), "folder"),
                           counted(rebuilt->topics, "topic")));
  note(
      "what only the store knew is lost: configs of topics and brokers, groups and committed offsets, ACLs, SCRAM "
      "users, delegation tokens, and partitions that nobody has written to");
}

void Fsck::summarize() const {
  std::uint64_t segments = 0;
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  for (const auto& [partition, log] : logs_) {
    segments += log.report.segments;
    batches += log.report.batches;
    records += log.report.records;
    bytes += log.report.bytes;
  }
  std::string line = fmt::format("{}, {}, {}, {}, {}", counted(logs_.size(), "partition"), counted(segments, "segment"),
                                 batches == 1 ? "1 batch" : fmt::format("{} batches", batches),
                                 counted(records, "record"), counted(bytes, "byte"));
  if (store_.snapshot)
    line += fmt::format("; store of {}, {}", counted(store_.snapshot->topic_count(), "topic"),
                        counted(commits_.size(), "committed offset"));
  if (unwritten_ > 0) line += fmt::format("; {} not written to yet", counted(unwritten_, "partition"));
  fmt::print("{}: {}\n", line, faults_ == 0 ? "no faults" : counted(faults_, "fault"));
}

}  // namespace

CLI::App* add_fsck(CLI::App& app, FsckArguments& arguments) {
  CLI::App* command = app.add_subcommand("fsck", "check the data folders of a broker that does not run");
  command->add_option("folder", arguments.folders, "what log.dirs names, all of one broker")->required();
  command->add_flag("--repair", arguments.repair,
                    "repair what can be; nothing is deleted, damaged files get new names");
  command->add_flag("--logs-only", arguments.logs_only, "logs without a metadata store");
  command->footer(std::string(kExamples));
  return command;
}

int fsck(const FsckArguments& arguments) {
  // What opening a log says of its own is told here in other words.
  base::configure_log(base::LogFormat::text, base::LogLevel::off);
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  auto folders = open_data_folders(*files, arguments.folders);
  if (!folders) return failed(folders.error());
  return Fsck(*files, arguments, std::move(*folders)).run();
}

}  // namespace thalweg::cli
