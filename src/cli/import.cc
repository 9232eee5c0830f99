#include "cli/import.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "broker/backup.h"
#include "cli/data_folder.h"
#include "cli/kafka_coordinators.h"
#include "cli/kafka_metadata.h"
#include "cli/output.h"
#include "config/table.h"
#include "inspect/log_check.h"
#include "inspect/value_text.h"
#include "metadata/offline_store.h"
#include "protocol/record_batch_builder.h"
#include "runtime/io_message.h"
#include "runtime/random.h"
#include "storage/copy_files.h"
#include "storage/leader_epochs.h"
#include "storage/log.h"
#include "storage/segment_files.h"

namespace thalweg::cli {

namespace {

using inspect::counted;
using records::ResourceType;
using runtime::with_message;
using storage::TopicPartition;

// What a broker of ours keeps in its store, or will.
constexpr std::string_view kShareStateTopic = "__share_group_state";
constexpr std::string_view kInternalTopics[] = {kKafkaMetadataTopic, kKafkaOffsetsTopic, kKafkaTransactionsTopic,
                                                kShareStateTopic};
// Where their logs stay, for what this release does not read out of them. No broker takes it for a partition.
constexpr std::string_view kKeptFolder = "imported-from-kafka";
constexpr std::size_t kRecordsPerChangeSet = 2000;

constexpr std::string_view kExamples = R"(examples:
  thalweg import /var/lib/kafka                          say what would be taken over, change nothing
  thalweg import /var/lib/kafka --to thalweg-data        copy it
  thalweg import /var/lib/kafka --to thalweg-data --move take the logs over, where both are on one file system)";

bool is_internal(std::string_view topic) {
  return std::ranges::find(kInternalTopics, topic) != std::end(kInternalTopics);
}

// What is worth knowing and no fault.
void note(const std::string& line) { fmt::print("note: {}\n", line); }

struct FoundLog {
  const DataFolder* folder = nullptr;
  std::int64_t log_start = 0;
  std::int64_t clean_end = 0;  // compacted up to here
  inspect::LogCheckReport report;
};

// Whether a torn end is all that is wrong with the log. Kafka cuts such an end when it starts.
bool only_end_is_torn(const inspect::LogCheckReport& report) {
  return report.findings == 1 && report.plan.segments.size() == 1 && report.plan.bad_files.empty() &&
         storage::only_end_is_torn(report.plan.segments.front());
}

bool is_known(const records::ConfigResource& resource, std::string_view key) {
  switch (resource.type) {
    case ResourceType::topic:
      return config::topic_table().find(key) != nullptr;
    case ResourceType::broker:
      return config::find_broker_key(key) != nullptr;
    case ResourceType::client_metrics:
    case ResourceType::group:
      return true;
  }
  return false;
}

std::optional<dev_t> file_system_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_dev;
}

// Writes change sets of a bounded size.
class StoreWriter {
 public:
  explicit StoreWriter(metadata::OfflineStore& store) : store_(store) {}

  base::Result<void, std::string> add(records::Record record) {
    changes_.records.push_back(std::move(record));
    if (changes_.records.size() < kRecordsPerChangeSet) return {};
    return flush();
  }
  base::Result<void, std::string> flush() {
    if (changes_.records.empty()) return {};
    if (auto done = store_.commit(std::exchange(changes_, {})); !done) return std::unexpected(done.error().message);
    return {};
  }

 private:
  metadata::OfflineStore& store_;
  metadata::ChangeSet changes_;
};

class Import {
 public:
  Import(runtime::FileSystem& files, const ImportArguments& arguments, std::vector<DataFolder> folders)
      : files_(files), arguments_(arguments), folders_(std::move(folders)) {}

  base::Result<void, std::string> run() {
    TRY(refuse_other_kinds());
    TRY(read());
    TRY(check_logs());
    report();
    if (arguments_.target.empty()) return {};
    if (faults_ > 0)
      return std::unexpected("the logs have faults, so nothing is taken over; see thalweg fsck --repair --logs-only");
    TRY(prepare_target());
    TRY(take_over());
    TRY(write_store());
    TRY(finish());
    fmt::print("{}: done; start a broker with log.dirs={} and node.id={}\n", arguments_.target, arguments_.target,
               properties_.node_id);
    return {};
  }
  [[nodiscard]] bool sound() const { return faults_ == 0; }

 private:
  base::Result<void, std::string> refuse_other_kinds();
  base::Result<void, std::string> read();
  base::Result<void, std::string> refuse_tiered() const;
  [[nodiscard]] std::vector<std::string> folders_of(std::string_view topic) const;
  base::Result<void, std::string> check_logs();
  base::Result<void, std::string> check_log(const TopicPartition& partition, FoundLog log);
  void report() const;
  void report_kept() const;
  base::Result<void, std::string> prepare_target();
  base::Result<void, std::string> take_over();
  base::Result<void, std::string> copy_logs();
  base::Result<void, std::string> move_logs();
  base::Result<void, std::string> keep_internal_logs();
  base::Result<void, std::string> settle(const TopicPartition& partition, const FoundLog& log);
  base::Result<void, std::string> end_transactions(storage::Log& log, const FoundLog& found) const;
  base::Result<void, std::string> write_store();
  base::Result<void, std::string> write_topic(StoreWriter& writer, const base::Uuid& id, const KafkaTopic& topic) const;
  base::Result<void, std::string> write_configs(StoreWriter& writer) const;
  base::Result<void, std::string> write_security(StoreWriter& writer) const;
  base::Result<void, std::string> write_groups(StoreWriter& writer) const;
  base::Result<void, std::string> finish();
  [[nodiscard]] std::string in_target(std::string_view name) const {
    return storage::in_directory(arguments_.target, name);
  }

  runtime::FileSystem& files_;
  const ImportArguments& arguments_;
  std::vector<DataFolder> folders_;
  const std::int64_t now_ms_ = base::SystemClock().wall_ms();
  storage::MetaProperties properties_;
  KafkaMetadata metadata_;
  KafkaCommitting committing_;
  KafkaGroups groups_;
  std::map<TopicPartition, FoundLog> logs_;
  std::map<std::string, base::Uuid, std::less<>> ids_;  // of topics, by name
  base::Uuid directory_id_;
  std::int64_t largest_producer_id_ = -1;
  std::uint64_t faults_ = 0;
  storage::OffsetMap ends_, log_starts_, clean_ends_;
};

// ---- Reading ----

base::Result<void, std::string> Import::refuse_other_kinds() {
  for (const DataFolder& folder : folders_) {
    if (folder.has_store) return std::unexpected(folder.path + " is a folder of Thalweg's already");
    const std::string path = folder.in(storage::kMetaPropertiesFileName);
    if (!folder.properties_fault.empty()) return std::unexpected(folder.properties_fault);
    if (!folder.properties) return std::unexpected(path + " is missing, so this is no folder of a Kafka broker");
    ASSIGN_OR_RETURN(const std::string text, with_message(files_.read_file(path)));
    if (text.contains("version=0"))
      return std::unexpected(folder.path + " is of a broker in ZooKeeper mode; migrate it to KRaft first");
  }
  properties_ = *folders_.front().properties;
  for (const DataFolder& folder : folders_)
    if (folder.properties->cluster_id != properties_.cluster_id || folder.properties->node_id != properties_.node_id)
      return std::unexpected(fmt::format("{} and {} are of different brokers", folders_.front().path, folder.path));
  return {};
}

std::vector<std::string> Import::folders_of(std::string_view topic) const {
  std::vector<std::string> found;
  for (const DataFolder& folder : folders_)
    for (const TopicPartition& partition : folder.partitions)
      if (partition.topic == topic) found.push_back(folder.folder_of(partition));
  return found;
}

base::Result<void, std::string> Import::refuse_tiered() const {
  for (const auto& [key, value] : metadata_.configs)
    if (key.first.type == ResourceType::topic && key.second == "remote.storage.enable" && value == "true")
      return std::unexpected(
          fmt::format("topic {} is tiered; segments that are not in the folder cannot be taken over", key.first.name));
  return {};
}

base::Result<void, std::string> Import::read() {
  const std::vector<std::string> homes = folders_of(kKafkaMetadataTopic);
  if (homes.empty())
    return std::unexpected(
        fmt::format("none of the folders holds {}; name that of metadata.log.dir too", kKafkaMetadataFolder));
  ASSIGN_OR_RETURN(metadata_, read_kafka_metadata(files_, homes.front()));
  TRY(refuse_tiered());
  for (const auto& [id, topic] : metadata_.topics) ids_[topic.name] = id;
  ASSIGN_OR_RETURN(committing_, read_kafka_transactions(files_, folders_of(kKafkaTransactionsTopic)));
  ASSIGN_OR_RETURN(groups_, read_kafka_groups(files_, folders_of(kKafkaOffsetsTopic), committing_));
  return {};
}

base::Result<void, std::string> Import::check_logs() {
  for (const DataFolder& folder : folders_) {
    ASSIGN_OR_RETURN(const storage::OffsetMap starts,
                     with_message(storage::read_offsets(files_, folder.in(storage::kLogStartOffsetsFileName))));
    ASSIGN_OR_RETURN(const storage::OffsetMap cleaned,
                     with_message(storage::read_offsets(files_, folder.in(storage::kCleanerOffsetsFileName))));
    const auto line = [](const storage::OffsetMap& offsets, const TopicPartition& partition) {
      const auto found = offsets.find(partition);
      return found == offsets.end() ? 0 : found->second;
    };
    for (const TopicPartition& partition : folder.partitions)
      if (!is_internal(partition.topic))
        TRY(check_log(
            partition,
            {.folder = &folder, .log_start = line(starts, partition), .clean_end = line(cleaned, partition)}));
  }
  return {};
}

base::Result<void, std::string> Import::check_log(const TopicPartition& partition, FoundLog log) {
  const std::string path = log.folder->folder_of(partition);
  std::vector<std::string> lines;
  inspect::LogCheck check(files_, [&](const inspect::Finding& finding) { lines.push_back(finding_line(finding)); });
  ASSIGN_OR_RETURN(log.report,
                   with_message(check.run(path, {.log_start_offset = log.log_start, .gaps_allowed = true})));
  const auto id = ids_.find(partition.topic);
  if (id == ids_.end() || (log.report.topic_id && *log.report.topic_id != id->second)) {
    note(path + " is of no topic that the cluster has, and left out");
    return {};
  }
  largest_producer_id_ = std::max(largest_producer_id_, log.report.largest_producer_id);
  if (only_end_is_torn(log.report)) {
    note(fmt::format("{}; the log ends at offset {}", lines.front(), log.report.log_end_offset));
  } else {
    faults_ += log.report.findings;
    for (const std::string& line : lines) fmt::print("{}\n", line);
  }
  logs_.insert_or_assign(partition, std::move(log));
  return {};
}

void Import::report() const {
  std::size_t topics = 0;
  for (const auto& [id, topic] : metadata_.topics) {
    if (is_internal(topic.name)) continue;
    ++topics;
    for (const auto& [number, epoch] : topic.partitions)
      if (!logs_.contains({.topic = topic.name, .partition = number}))
        note(fmt::format("{}-{} has no folder here, and will be empty", topic.name, number));
  }
  std::uint64_t records = 0;
  for (const auto& [partition, log] : logs_) {
    records += log.report.records;
    if (log.report.open_transactions > 0)
      note(fmt::format("{}: {}, to be ended", storage::folder_name(partition),
                       counted(log.report.open_transactions, "open transaction")));
  }
  report_kept();
  fmt::print("cluster {}, node {}: {}, {}, {}, {}, {}, {}, {}, {}, {}; {}\n", properties_.cluster_id,
             properties_.node_id, counted(topics, "topic"), counted(logs_.size(), "partition"),
             counted(records, "record"), counted(metadata_.configs.size(), "config"),
             counted(metadata_.acls.size(), "ACL"), counted(metadata_.scram_credentials.size(), "SCRAM credential"),
             counted(metadata_.tokens.size(), "delegation token"), counted(groups_.classic.size(), "classic group"),
             counted(groups_.offsets.size(), "committed offset"),
             faults_ == 0 ? "no faults" : counted(faults_, "fault"));
}

void Import::report_kept() const {
  const auto kept = [](std::size_t count, std::string_view noun, std::string_view what) {
    if (count > 0)
      note(fmt::format("{} {}; this release does not serve that, and the logs that hold it are kept in {}",
                       counted(count, noun), what, kKeptFolder));
  };
  kept(metadata_.quotas.size(), "client quota", "of users, clients or addresses");
  kept(groups_.newer.size(), "group", "of the newer protocols, whose offsets are taken over");
  kept(folders_of(kShareStateTopic).size(), "partition", "of the state of share groups");
}

// ---- Writing ----

base::Result<void, std::string> Import::prepare_target() {
  const std::string& target = arguments_.target;
  ASSIGN_OR_RETURN(const bool free, with_message(storage::is_free(files_, target)));
  if (!free) return std::unexpected(target + " is not empty");
  TRY(with_message(files_.create_directories(target)));
  if (arguments_.move) {
    for (const DataFolder& folder : folders_)
      if (file_system_of(folder.path) != file_system_of(target))
        return std::unexpected(
            fmt::format("{} and {} are on different file systems; leave --move out", folder.path, target));
  } else {
    std::uint64_t bytes = 0;
    for (const auto& [partition, log] : logs_) bytes += log.report.bytes;
    ASSIGN_OR_RETURN(const std::uint64_t free_bytes, with_message(files_.free_bytes(target)));
    if (bytes > free_bytes)
      return std::unexpected(
          fmt::format("{} bytes are to be copied, and {} has room for {}", bytes, target, free_bytes));
  }
  TRY(with_message(files_.replace_file(in_target(broker::kIncompleteCopyFileName), "")));
  directory_id_ = runtime::Random::from_machine().next();
  return {};
}

base::Result<void, std::string> Import::take_over() {
  TRY(keep_internal_logs());
  TRY(arguments_.move ? move_logs() : copy_logs());
  for (const auto& [partition, log] : logs_) TRY(settle(partition, log));
  return {};
}

base::Result<void, std::string> Import::keep_internal_logs() {
  const std::string kept = in_target(kKeptFolder);
  TRY(with_message(files_.create_directories(kept)));
  for (const std::string_view topic : kInternalTopics)
    for (const std::string& folder : folders_of(topic))
      TRY(with_message(
          storage::copy_folder(files_, folder, storage::in_directory(kept, folder.substr(folder.rfind('/') + 1)))));
  return {};
}

// Whether a file of a partition's folder belongs to its log. The indexes of the last segment are made anew when the log
// is opened; in the folder of a Kafka that was killed they have 10 MiB each, nearly all of it room for more.
bool is_of_log(const runtime::DirectoryEntry& entry, std::int64_t last_segment) {
  if (entry.is_directory) return false;
  if (entry.name == storage::kLeaderEpochsFileName) return true;
  const auto name = storage::parse_segment_file_name(entry.name);
  if (!name || !name->suffix.empty()) return false;
  const bool is_index =
      name->file == storage::SegmentFile::offset_index || name->file == storage::SegmentFile::time_index;
  return !(is_index && name->offset >= last_segment);
}

base::Result<void, std::string> Import::copy_logs() {
  for (const auto& [partition, log] : logs_) {
    const std::string from = log.folder->folder_of(partition);
    const std::string to = in_target(storage::folder_name(partition));
    TRY(with_message(files_.create_directories(to)));
    ASSIGN_OR_RETURN(const auto entries, with_message(files_.list(from)));
    std::int64_t last_segment = 0;
    for (const runtime::DirectoryEntry& entry : entries)
      if (const auto name = storage::parse_segment_file_name(entry.name);
          name && name->file == storage::SegmentFile::log && name->suffix.empty())
        last_segment = std::max(last_segment, name->offset);
    for (const runtime::DirectoryEntry& entry : entries)
      if (is_of_log(entry, last_segment))
        TRY(with_message(storage::copy_file(files_, storage::in_directory(from, entry.name),
                                            storage::in_directory(to, entry.name))));
  }
  return {};
}

// All or none.
base::Result<void, std::string> Import::move_logs() {
  std::vector<std::pair<std::string, std::string>> moved;
  for (const auto& [partition, log] : logs_) {
    std::pair move{log.folder->folder_of(partition), in_target(storage::folder_name(partition))};
    if (const auto renamed = files_.rename(move.first, move.second); !renamed) {
      for (const auto& [from, to] : moved) (void)files_.rename(to, from);
      return std::unexpected(renamed.error().message());
    }
    moved.push_back(std::move(move));
  }
  return {};
}

// Opens the log as after an unclean stop that lost nothing, which cuts a torn end and makes anew what is not in order,
// ends what is open in it, and closes it.
base::Result<void, std::string> Import::settle(const TopicPartition& partition, const FoundLog& found) {
  const std::string folder = in_target(storage::folder_name(partition));
  TRY(with_message(storage::write_partition_metadata(files_, folder, ids_.find(partition.topic)->second)));
  storage::HandleCache handles(files_, 16);
  storage::IndexCache indexes(std::size_t{1} << 20);
  storage::LogContext context{.files = files_, .handles = handles, .indexes = indexes};
  ASSIGN_OR_RETURN(
      const std::unique_ptr<storage::Log> log,
      with_message(storage::Log::open(context, folder, partition, std::make_shared<const storage::LogConfig>(),
                                      {.clean_shutdown = false,
                                       .recovery_point = found.report.log_end_offset,
                                       .log_start_offset = found.log_start,
                                       .now_ms = now_ms_})));
  TRY(end_transactions(*log, found));
  ends_[partition] = log->log_end_offset();
  if (log->log_start_offset() > 0) log_starts_[partition] = log->log_start_offset();
  if (found.clean_end > 0) clean_ends_[partition] = std::min(found.clean_end, log->log_end_offset());
  // All of them are synced at once in the end.
  return with_message(log->close({.sync = false}));
}

// What its coordinator has decided to commit is committed, as Kafka's next start would have done; the rest is aborted.
base::Result<void, std::string> Import::end_transactions(storage::Log& log, const FoundLog& found) const {
  for (const storage::ProducerEntry& producer : log.producers().entries()) {
    if (producer.current_txn_first_offset < 0) continue;
    const bool commit = committing_.contains(producer.producer_id);
    const base::Bytes marker =
        protocol::build_control_batch({.commit = commit,
                                       .timestamp = now_ms_,
                                       .producer_id = producer.producer_id,
                                       .producer_epoch = producer.epoch,
                                       .coordinator_epoch = std::max(producer.coordinator_epoch, 0)});
    std::vector<std::uint8_t> bytes(marker.begin(), marker.end());
    const storage::MutableBatch batches[] = {bytes};
    const auto appended = log.append(batches, {.origin = storage::AppendOrigin::coordinator,
                                               .leader_epoch = std::max(found.report.latest_epoch, 0),
                                               .now_ms = now_ms_});
    if (!appended.ok())
      return std::unexpected(fmt::format("{}: the transaction of producer {} cannot be ended: {}", log.folder(),
                                         producer.producer_id, appended.detail));
    note(fmt::format("{}: the transaction of producer {} from offset {} is {}", storage::folder_name(log.partition()),
                     producer.producer_id, producer.current_txn_first_offset, commit ? "committed" : "aborted"));
  }
  return {};
}

base::Result<void, std::string> Import::write_topic(StoreWriter& writer, const base::Uuid& id,
                                                    const KafkaTopic& topic) const {
  const protocol::BrokerId node(properties_.node_id);
  records::TopicCreated created{.name = topic.name, .topic_id = id, .created_ms = now_ms_};
  created.partitions.resize(static_cast<std::size_t>(topic.partitions.rbegin()->first) + 1,
                            {.leader = node, .directory = directory_id_});
  TRY(writer.add(std::move(created)));
  for (const auto& [number, epoch] : topic.partitions) {
    const auto log = logs_.find({.topic = topic.name, .partition = number});
    const std::int32_t latest = log == logs_.end() ? epoch : std::max(epoch, log->second.report.latest_epoch);
    TRY(writer.add(records::PartitionChanged{
        .topic_id = id, .partition = number, .leader = node, .leader_epoch = latest + 1, .directory = directory_id_}));
  }
  return {};
}

base::Result<void, std::string> Import::write_configs(StoreWriter& writer) const {
  for (const auto& [key, value] : metadata_.configs) {
    const auto& [resource, name] = key;
    if (resource.type == ResourceType::topic && is_internal(resource.name)) continue;
    if (!is_known(resource, name)) {
      note(fmt::format("config {} of {} is not known here, and left out", name, inspect::quoted(resource.name, 100)));
      continue;
    }
    TRY(writer.add(records::ConfigSet{.resource = resource, .key = name, .value = value}));
  }
  return {};
}

base::Result<void, std::string> Import::write_security(StoreWriter& writer) const {
  for (const auto& [id, acl] : metadata_.acls) TRY(writer.add(records::AclAdded{.acl = acl}));
  for (const auto& [key, credential] : metadata_.scram_credentials)
    TRY(writer.add(records::ScramCredentialSet{.key = key, .credential = credential}));
  for (const auto& [id, token] : metadata_.tokens) TRY(writer.add(records::DelegationTokenCreated{.token = token}));
  return {};
}

base::Result<void, std::string> Import::write_groups(StoreWriter& writer) const {
  for (const auto& [id, group] : groups_.classic) TRY(writer.add(group));
  for (const auto& [key, offset] : groups_.offsets) {
    const auto id = ids_.find(key.topic);
    // Kafka keeps offsets of a topic that is gone until they run out; no client can ask for them.
    if (id == ids_.end() || is_internal(key.topic)) continue;
    TRY(writer.add(records::OffsetCommitted{.group_id = key.group,
                                            .topic_id = id->second,
                                            .topic = key.topic,
                                            .partition = key.partition,
                                            .offset = offset.offset,
                                            .leader_epoch = offset.leader_epoch,
                                            .metadata = offset.metadata,
                                            .commit_ms = offset.commit_ms,
                                            .expire_ms = offset.expire_ms}));
  }
  return {};
}

base::Result<void, std::string> Import::write_store() {
  auto store = metadata::OfflineStore::open({.path = in_target(metadata::kSqliteFileName),
                                             .node_id = protocol::BrokerId(properties_.node_id),
                                             .cluster_id = properties_.cluster_id});
  if (!store) return std::unexpected(store.error().message);
  StoreWriter writer(**store);
  for (const auto& [id, topic] : metadata_.topics)
    if (!is_internal(topic.name) && !topic.partitions.empty()) TRY(write_topic(writer, id, topic));
  TRY(write_configs(writer));
  TRY(write_security(writer));
  if (const std::int64_t next = std::max(metadata_.next_producer_id, largest_producer_id_ + 1); next > 0)
    TRY(writer.add(records::ProducerIdBlockAllocated{.node_id = protocol::BrokerId(properties_.node_id),
                                                     .next_producer_id = next}));
  TRY(write_groups(writer));
  return writer.flush();
}

// The mark of an orderly stop is true: every log was closed, and is about to be on stable storage.
base::Result<void, std::string> Import::finish() {
  TRY(with_message(storage::write_offsets(files_, in_target(storage::kRecoveryPointsFileName), ends_)));
  TRY(with_message(storage::write_offsets(files_, in_target(storage::kHighWatermarksFileName), ends_)));
  TRY(with_message(storage::write_offsets(files_, in_target(storage::kLogStartOffsetsFileName), log_starts_)));
  TRY(with_message(storage::write_offsets(files_, in_target(storage::kCleanerOffsetsFileName), clean_ends_)));
  TRY(with_message(storage::write_meta_properties(
      files_, arguments_.target,
      {.cluster_id = properties_.cluster_id, .node_id = properties_.node_id, .directory_id = directory_id_})));
  TRY(with_message(storage::write_clean_shutdown(files_, arguments_.target, {})));
  TRY(with_message(files_.sync_filesystem(arguments_.target)));
  TRY(with_message(files_.remove(in_target(broker::kIncompleteCopyFileName))));
  return with_message(files_.sync_directory(arguments_.target));
}

}  // namespace

CLI::App* add_import(CLI::App& app, ImportArguments& arguments) {
  CLI::App* command = app.add_subcommand("import", "take over the data folders of a Kafka broker (KRaft)");
  command->add_option("folder", arguments.folders, "what its log.dirs and metadata.log.dir name")->required();
  CLI::Option* target =
      command->add_option("--to", arguments.target, "a folder that is missing or empty; without it nothing is written");
  command->add_flag("--move", arguments.move, "move the logs instead of copying them")->needs(target);
  command->footer(std::string(kExamples));
  return command;
}

int import_kafka(const ImportArguments& arguments) {
  // What opening a log says of its own is told here in other words.
  base::configure_log(base::LogFormat::text, base::LogLevel::off);
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  auto folders = open_data_folders(*files, arguments.folders);
  if (!folders) return failed(folders.error());
  Import task(*files, arguments, std::move(*folders));
  const auto done = task.run();
  if (std::fflush(stdout) != 0) return failed("the output could not be written");
  if (!done) return failed(done.error());
  return task.sound() ? 0 : 1;
}

}  // namespace thalweg::cli
