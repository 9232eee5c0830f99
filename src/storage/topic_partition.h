// TopicPartition: a topic's name with a partition's number, and the names of the folders that hold partitions.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace thalweg::storage {

struct TopicPartition {
  std::string topic;
  std::int32_t partition = 0;

  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

// "orders-7", the name of the partition's folder.
std::string folder_name(const TopicPartition& partition);
// "orders-7.0123456789abcdef0123456789abcdef-delete", what the folder is called once its topic is deleted. A long topic
// name is cut so that the whole stays within the 255 bytes that file systems allow.
std::string deleted_folder_name(const TopicPartition& partition, const base::Uuid& id);
// The partition whose folder has this name; nothing for other folders, also not for deleted, stray or future ones.
std::optional<TopicPartition> parse_folder_name(std::string_view name);
// Whether a folder of this name waits for its removal.
bool is_deleted_folder_name(std::string_view name);

}  // namespace thalweg::storage

template <>
struct std::hash<thalweg::storage::TopicPartition> {
  std::size_t operator()(const thalweg::storage::TopicPartition& partition) const {
    return std::hash<std::string>{}(partition.topic) ^
           (static_cast<std::size_t>(static_cast<std::uint32_t>(partition.partition)) * 0x9e3779b97f4a7c15ULL);
  }
};
