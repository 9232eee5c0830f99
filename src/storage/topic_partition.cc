#include "storage/topic_partition.h"

#include <charconv>

#include "base/text.h"

namespace thalweg::storage {

namespace {

constexpr std::string_view kDeleteSuffix = "-delete";
constexpr std::size_t kIdDigits = 32;
// Kafka's limit for such a name.
constexpr std::size_t kMostNameBytes = 255;

}  // namespace

std::string folder_name(const TopicPartition& partition) {
  return partition.topic + '-' + std::to_string(partition.partition);
}

std::string deleted_folder_name(const TopicPartition& partition, const base::Uuid& id) {
  const std::string suffix =
      '-' + std::to_string(partition.partition) + '.' + base::hex_encode(id.bytes) + std::string(kDeleteSuffix);
  return partition.topic.substr(0, kMostNameBytes - suffix.size()) + suffix;
}

std::optional<TopicPartition> parse_folder_name(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == name.size()) return std::nullopt;
  const std::string_view number = name.substr(dash + 1);
  std::int32_t partition = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), partition);
  if (error != std::errc{} || end != number.data() + number.size() || partition < 0) return std::nullopt;
  if (number != std::to_string(partition)) return std::nullopt;  // "t-01" is not what folder_name() writes
  return TopicPartition{std::string(name.substr(0, dash)), partition};
}

bool is_deleted_folder_name(std::string_view name) {
  if (!name.ends_with(kDeleteSuffix)) return false;
  name.remove_suffix(kDeleteSuffix.size());
  if (name.size() <= kIdDigits + 1 || name[name.size() - kIdDigits - 1] != '.') return false;
  name.remove_suffix(kIdDigits + 1);
  return parse_folder_name(name).has_value();
}

}  // namespace thalweg::storage
