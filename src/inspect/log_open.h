// What is inside the records of a log: control records, and the records of Kafka's internal topics.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "inspect/catalog.h"
#include "inspect/tree.h"
#include "protocol/record_batch.h"

namespace thalweg::inspect {

// A message in a key or a value, and what stands in front of it there.
struct OpenedMessage {
  Envelope envelope;
  base::Bytes bytes;  // of the whole key or value; they point into the record
};

struct OpenedRecord {
  std::string_view control;  // the kind of a control record, such as COMMIT
  std::optional<OpenedMessage> key;
  std::optional<OpenedMessage> value;
};

// Finds out by the topic's name and by the numbers that keys and values begin with. What is not known stays closed.
// `control`: whether the batch is one of control records.
OpenedRecord open_record(const Catalog& catalog, std::string_view topic, bool control, const protocol::Record& record);

// The message as the oracle's JSON; nothing where the bytes are not such a message, or are more than it.
std::optional<std::string> opened_json(const OpenedMessage& message);
// The message on one line: OffsetCommitKey v0 {group: "g", topic: "t", partition: 0}. Values that are secrets are
// hidden unless `show_secrets`. Nothing, as above.
std::optional<std::string> opened_text(const Catalog& catalog, const OpenedMessage& message, bool show_secrets);
// Whether a text field of the message is exactly `text`.
bool holds_text(const OpenedMessage& message, std::string_view text);

// The values below a node on one line: {Group: "g", Topics: [{Name: "t"}]}.
std::string compact_text(const Node& node);

}  // namespace thalweg::inspect
