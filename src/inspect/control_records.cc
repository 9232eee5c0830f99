#include "inspect/control_records.h"

#include <algorithm>

#include "base/endian.h"

namespace thalweg::inspect {

namespace {

// By protocol::ControlType.
constexpr ControlKind kKinds[] = {
    {"ABORT", "EndTxnMarker", true},
    {"COMMIT", "EndTxnMarker", true},
    {"LEADER_CHANGE", "LeaderChangeMessage", false},
    {"SNAPSHOT_HEADER", "SnapshotHeaderRecord", false},
    {"SNAPSHOT_FOOTER", "SnapshotFooterRecord", false},
    {"KRAFT_VERSION", "KRaftVersionRecord", false},
    {"KRAFT_VOTERS", "VotersRecord", false},
};

}  // namespace

const ControlKind* find_control(std::int16_t type) {
  const auto index = static_cast<std::size_t>(type);
  return type >= 0 && index < std::size(kKinds) ? &kKinds[index] : nullptr;
}

ControlMessage control_message(const Catalog& catalog, const ControlKind& kind, std::span<const std::uint8_t> value) {
  const schema::Message& message = catalog.find(kind.message)->message;
  // A version of the future is read as the newest that is known, as Kafka does.
  const int version =
      std::clamp<int>(base::load_be<std::int16_t>(value.data()), message.versions.lowest, message.versions.highest);
  return {.envelope = {.message = &message,
                       .version = version,
                       .framing = kind.versioned ? Framing::versioned : Framing::bare},
          .body = kind.versioned ? sizeof(std::int16_t) : 0};
}

}  // namespace thalweg::inspect
