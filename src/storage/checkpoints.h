// The small files of a log directory: offset checkpoints, the mark of an orderly shutdown, meta.properties; and
// partition.metadata in each partition's folder. All are text, written whole by FileSystem::replace_file.
//
// An offset checkpoint (recovery-point-offset-checkpoint and the others):
//   0                    version
//   1                    count of lines to come
//   orders 7 1742        topic, partition, offset
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/uuid.h"
#include "runtime/file.h"
#include "storage/topic_partition.h"

namespace thalweg::storage {

// Everything before the offset is on stable storage.
inline constexpr std::string_view kRecoveryPointsFileName = "recovery-point-offset-checkpoint";
// Records before the offset have been deleted; lines only for partitions where no segment's name says so.
inline constexpr std::string_view kLogStartOffsetsFileName = "log-start-offset-checkpoint";
// Everything before the offset has been compacted.
inline constexpr std::string_view kCleanerOffsetsFileName = "cleaner-offset-checkpoint";
// High watermarks.
inline constexpr std::string_view kHighWatermarksFileName = "replication-offset-checkpoint";
inline constexpr std::string_view kCleanShutdownFileName = ".kafka_cleanshutdown";
inline constexpr std::string_view kMetaPropertiesFileName = "meta.properties";
inline constexpr std::string_view kPartitionMetadataFileName = "partition.metadata";

using OffsetMap = std::unordered_map<TopicPartition, std::int64_t>;

// DIRECTORY/NAME.
std::string in_directory(std::string_view directory, std::string_view name);

// Reads an offset checkpoint; empty where there is no file. One that breaks the format is an error, as in Kafka.
runtime::IoResult<OffsetMap> read_offsets(runtime::FileSystem& files, const std::string& path);
// Writes one, in the order of topic and partition.
runtime::IoResult<void> write_offsets(runtime::FileSystem& files, const std::string& path, const OffsetMap& offsets);

// The mark that the log directory was closed in order. Whoever opens the directory takes it: reads, removes and syncs
// the folder, before anything is appended.
struct CleanShutdown {
  std::int64_t broker_epoch = -1;  // -1 where the mark says nothing (it was empty before Kafka 3.7)
};
runtime::IoResult<void> write_clean_shutdown(runtime::FileSystem& files, const std::string& directory,
                                             const CleanShutdown& mark);
runtime::IoResult<std::optional<CleanShutdown>> take_clean_shutdown(runtime::FileSystem& files,
                                                                    const std::string& directory);

// meta.properties, version 1: whose directory this is.
struct MetaProperties {
  std::string cluster_id;
  std::int32_t node_id = -1;
  base::Uuid directory_id;

  friend bool operator==(const MetaProperties&, const MetaProperties&) = default;
};
// Nothing where there is no file. Keys that are not known are passed over, `broker.id` of version 0 is read as node.id,
// and a missing directory.id gives a zero id, to be filled in.
runtime::IoResult<std::optional<MetaProperties>> read_meta_properties(runtime::FileSystem& files,
                                                                      const std::string& directory);
runtime::IoResult<void> write_meta_properties(runtime::FileSystem& files, const std::string& directory,
                                              const MetaProperties& properties);

// partition.metadata: the id of the topic that the folder belongs to. Nothing where there is no file, or one that a
// crash has left without its contents: it is durable with the first records, so the folder has none that were promised.
runtime::IoResult<std::optional<base::Uuid>> read_partition_metadata(runtime::FileSystem& files,
                                                                     const std::string& folder);
// Writes it, not synced: the log's first flush does that (Log::flush_targets). One sync a partition, one after the
// other, would take seconds for a topic of thousands.
runtime::IoResult<void> write_partition_metadata(runtime::FileSystem& files, const std::string& folder,
                                                 const base::Uuid& topic_id);

// The lines of a checkpoint file behind version and count, each split at white space into `fields` fields; nothing
// where the version is not 0, the count is wrong or a line has another number of fields.
std::optional<std::vector<std::vector<std::string_view>>> parse_checkpoint_lines(std::string_view text,
                                                                                 std::size_t fields);
// The whole text as a number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace thalweg::storage
