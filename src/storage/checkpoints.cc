#include "storage/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace thalweg::storage {

namespace {

std::unexpected<runtime::IoError> malformed(const std::string& path) {
  return std::unexpected(runtime::IoError{EBADMSG, "read " + path});
}

// The file's text; nothing where there is no file.
runtime::IoResult<std::optional<std::string>> read_if_exists(runtime::FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (!exists) return std::nullopt;
  ASSIGN_OR_RETURN(std::string text, files.read_file(path));
  return text;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> split_fields(std::string_view line) {
  constexpr std::string_view kSpace = " \t";
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t from = line.find_first_not_of(kSpace);
    if (from == std::string_view::npos) return fields;
    line.remove_prefix(from);
    const std::size_t size = std::min(line.find_first_of(kSpace), line.size());
    fields.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of a whole number in a flat JSON object.
std::optional<std::int64_t> json_number(std::string_view json, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\"", key);
  const std::size_t at = json.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = trim(json.substr(at + quoted.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  rest = trim(rest.substr(1));
  return parse_number<std::int64_t>(rest.substr(0, rest.find_first_of(",} \t\r\n")));
}

}  // namespace

std::string in_directory(std::string_view directory, std::string_view name) {
  return fmt::format("{}/{}", directory, name);
}

std::optional<std::vector<std::vector<std::string_view>>> parse_checkpoint_lines(std::string_view text,
                                                                                 std::size_t fields) {
  std::vector<std::vector<std::string_view>> lines;
  // A file that a crash left empty says nothing; so do those that end early.
  if (text.empty()) return lines;
  if (parse_number<std::int32_t>(take_line(text)) != 0) return std::nullopt;
  if (text.empty()) return lines;
  const auto count = parse_number<std::int32_t>(take_line(text));
  if (!count || *count < 0) return std::nullopt;
  while (!text.empty()) {
    lines.push_back(split_fields(take_line(text)));
    if (lines.back().size() != fields) return std::nullopt;
  }
  if (lines.size() != static_cast<std::size_t>(*count)) return std::nullopt;
  return lines;
}

runtime::IoResult<OffsetMap> read_offsets(runtime::FileSystem& files, const std::string& path) {
  OffsetMap offsets;
  ASSIGN_OR_RETURN(const std::optional<std::string> text, read_if_exists(files, path));
  if (!text) return offsets;
  const auto lines = parse_checkpoint_lines(*text, 3);
  if (!lines) return malformed(path);
  for (const auto& fields : *lines) {
    const auto partition = parse_number<std::int32_t>(fields[1]);
    const auto offset = parse_number<std::int64_t>(fields[2]);
    if (!partition || !offset) return malformed(path);
    offsets[{std::string(fields[0]), *partition}] = *offset;
  }
  return offsets;
}

runtime::IoResult<void> write_offsets(runtime::FileSystem& files, const std::string& path, const OffsetMap& offsets) {
  std::vector<const OffsetMap::value_type*> ordered;
  ordered.reserve(offsets.size());
  for (const auto& entry : offsets) ordered.push_back(&entry);
  std::ranges::sort(ordered, {}, [](const auto* entry) -> const TopicPartition& { return entry->first; });
  std::string text = fmt::format("0\n{}\n", ordered.size());
  for (const auto* entry : ordered)
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", entry->first.topic, entry->first.partition, entry->second);
  return files.replace_file(path, text);
}

runtime::IoResult<void> write_clean_shutdown(runtime::FileSystem& files, const std::string& directory,
                                             const CleanShutdown& mark) {
  return files.replace_file(in_directory(directory, kCleanShutdownFileName),
                            fmt::format(R"({{"version":0,"brokerEpoch":{}}})", mark.broker_epoch));
}

runtime::IoResult<std::optional<CleanShutdown>> take_clean_shutdown(runtime::FileSystem& files,
                                                                    const std::string& directory) {
  const std::string path = in_directory(directory, kCleanShutdownFileName);
  ASSIGN_OR_RETURN(const std::optional<std::string> text, read_if_exists(files, path));
  if (!text) return std::nullopt;
  TRY(files.remove(path));
  TRY(files.sync_directory(directory));
  return CleanShutdown{.broker_epoch = json_number(*text, "brokerEpoch").value_or(-1)};
}

runtime::IoResult<std::optional<MetaProperties>> read_meta_properties(runtime::FileSystem& files,
                                                                      const std::string& directory) {
  const std::string path = in_directory(directory, kMetaPropertiesFileName);
  ASSIGN_OR_RETURN(const std::optional<std::string> text, read_if_exists(files, path));
  if (!text) return std::nullopt;
  MetaProperties properties;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = trim(take_line(rest));
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const std::size_t separator = line.find_first_of("=:");
    if (separator == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, separator));
    const std::string_view value = trim(line.substr(separator + 1));
    if (key == "version" && value != "0" && value != "1") return malformed(path);
    if (key == "cluster.id") properties.cluster_id = value;
    if (key == "node.id" || key == "broker.id") {
      const auto id = parse_number<std::int32_t>(value);
      if (!id) return malformed(path);
      properties.node_id = *id;
    }
    if (key == "directory.id") {
      const auto id = base::Uuid::parse(value);
      if (!id) return malformed(path);
      properties.directory_id = *id;
    }
  }
  return properties;
}

runtime::IoResult<void> write_meta_properties(runtime::FileSystem& files, const std::string& directory,
                                              const MetaProperties& properties) {
  return files.replace_file(in_directory(directory, kMetaPropertiesFileName),
                            fmt::format("#\nversion=1\ncluster.id={}\nnode.id={}\ndirectory.id={}\n",
                                        properties.cluster_id, properties.node_id, properties.directory_id.str()));
}

runtime::IoResult<std::optional<base::Uuid>> read_partition_metadata(runtime::FileSystem& files,
                                                                     const std::string& folder) {
  const std::string path = in_directory(folder, kPartitionMetadataFileName);
  ASSIGN_OR_RETURN(const std::optional<std::string> text, read_if_exists(files, path));
  if (!text || text->find_first_not_of('\0') == std::string::npos) return std::nullopt;
  constexpr std::string_view kVersion = "version:";
  constexpr std::string_view kTopicId = "topic_id:";
  std::string_view rest = *text;
  const std::string_view version = take_line(rest);
  const std::string_view topic_id = take_line(rest);
  if (!version.starts_with(kVersion) || !topic_id.starts_with(kTopicId)) return malformed(path);
  const auto number = parse_number<std::int32_t>(trim(version.substr(kVersion.size())));
  const auto id = base::Uuid::parse(trim(topic_id.substr(kTopicId.size())));
  if (!number || *number < 0 || !id || id->is_zero()) return malformed(path);
  return *id;
}

runtime::IoResult<void> write_partition_metadata(runtime::FileSystem& files, const std::string& folder,
                                                 const base::Uuid& topic_id) {
  return files.replace_file(in_directory(folder, kPartitionMetadataFileName),
                            fmt::format("version: 0\ntopic_id: {}", topic_id.str()), false);
}

}  // namespace thalweg::storage
