#include "config/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thalweg::config {
namespace {

std::string integer_range(const ConfigKey& key) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (key.type == Type::int_) {
    least = std::numeric_limits<std::int32_t>::min();
    most = std::numeric_limits<std::int32_t>::max();
  } else if (key.type == Type::short_) {
    least = std::numeric_limits<std::int16_t>::min();
    most = std::numeric_limits<std::int16_t>::max();
  }
  const Validator& valid = key.valid;
  if (valid.rule == Rule::range) {
    least = std::max(least, valid.min);
    most = std::min(most, valid.max);
  }
  const std::string text = fmt::format("{} to {}", least, most);
  return valid.also ? fmt::format("{} or {}", *valid.also, text) : text;
}

// "a,b" as "a, b"; the empty entry as `empty`.
std::string spelled_out(std::string_view allowed) {
  std::string text;
  while (true) {
    const std::size_t comma = allowed.find(',');
    const std::string_view entry = allowed.substr(0, comma);
    if (!text.empty()) text += ", ";
    text += entry.empty() ? "empty" : entry;
    if (comma == std::string_view::npos) return text;
    allowed.remove_prefix(comma + 1);
  }
}

std::string list_text(const Validator& valid) {
  std::string text = valid.empty_list_allowed ? "a list" : "a list that is not empty";
  if (!valid.repetition_allowed) text += " of different entries";
  if (!valid.allowed.empty()) text += " out of " + spelled_out(valid.allowed);
  return text;
}

}  // namespace

std::string_view type_name(Type type) {
  switch (type) {
    case Type::unknown:
      return "UNKNOWN";
    case Type::boolean:
      return "BOOLEAN";
    case Type::string:
      return "STRING";
    case Type::int_:
      return "INT";
    case Type::short_:
      return "SHORT";
    case Type::long_:
      return "LONG";
    case Type::double_:
      return "DOUBLE";
    case Type::list:
      return "LIST";
    case Type::class_:
      return "CLASS";
    case Type::password:
      return "PASSWORD";
  }
  std::unreachable();
}

std::string_view importance_name(Importance importance) {
  switch (importance) {
    case Importance::high:
      return "HIGH";
    case Importance::medium:
      return "MEDIUM";
    case Importance::low:
      return "LOW";
  }
  std::unreachable();
}

std::string_view dynamic_name(DynamicMode mode) {
  switch (mode) {
    case DynamicMode::read_only:
      return "read-only";
    case DynamicMode::cluster_wide:
      return "cluster-wide";
    case DynamicMode::per_broker:
      return "per-broker";
    case DynamicMode::per_listener:
      return "per-listener";
    case DynamicMode::per_resource:
      return "per-resource";
  }
  std::unreachable();
}

std::string_view class_name(KeyClass cls) {
  switch (cls) {
    case KeyClass::used:
      return "used";
    case KeyClass::accepted:
      return "accepted";
    case KeyClass::refused:
      return "refused";
  }
  std::unreachable();
}

std::string allowed_text(const ConfigKey& key) {
  const Validator& valid = key.valid;
  switch (valid.rule) {
    case Rule::range:
      return integer_range(key);
    case Rule::real_range:
      return fmt::format("{} to {}", valid.real_min, valid.real_max);
    case Rule::one_of:
      return spelled_out(valid.allowed);
    case Rule::list:
      return list_text(valid);
    case Rule::non_empty:
      return "a string that is not empty";
    case Rule::replicas:
      return "* or a list of partition:broker";
    case Rule::offset_reset:
      return "earliest, latest or by_duration:PnDTnHnMn.nS, not negative";
    case Rule::voters:
      return "a list of id@host:port";
    case Rule::host_ports:
      return "a list of host:port";
    case Rule::address_counts:
      return "a list of address:count";
    case Rule::client_match:
      return "a list of attribute=regular expression, the attributes being client_id, client_instance_id, "
             "client_software_name, client_software_version, client_source_address, client_source_port";
    case Rule::any:
      break;
  }
  switch (key.type) {
    case Type::boolean:
      return "true or false";
    case Type::int_:
    case Type::short_:
    case Type::long_:
      return integer_range(key);
    case Type::double_:
      return "a number";
    case Type::list:
      return "a list";
    case Type::unknown:
    case Type::string:
    case Type::class_:
    case Type::password:
      return "a string";
  }
  std::unreachable();
}

}  // namespace thalweg::config
