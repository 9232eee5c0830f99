// What control records say: the message in the value, by the number in the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "inspect/catalog.h"

namespace thalweg::inspect {

struct ControlKind {
  std::string_view name;     // Kafka's, such as COMMIT
  std::string_view message;  // the schema of the value
  bool versioned;            // the version stands in front of the message; else it is the message's first field
};

// The kind of that number, or null.
const ControlKind* find_control(std::int16_t type);

// The message in a value of that kind, which has two bytes at least, and where in it the message's body begins.
struct ControlMessage {
  Envelope envelope;
  std::size_t body = 0;
};
ControlMessage control_message(const Catalog& catalog, const ControlKind& kind, std::span<const std::uint8_t> value);

}  // namespace thalweg::inspect
