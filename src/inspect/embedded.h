// What is inside bytes fields and records: messages that other messages carry.
//
//   consumer protocol   subscriptions and assignments in the messages and records of classic groups
//   SASL                the exchange in SaslAuthenticate
//   Envelope            the request, the response where it is known what it answers, the principal
//   records             of the coordinators' topics and of the metadata log, and control records
//   telemetry           by whoever knows OTLP: the opener that is handed in
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/batch_nodes.h"
#include "inspect/catalog.h"
#include "inspect/tree.h"
#include "inspect/walker.h"

namespace thalweg::inspect {

// Makes nodes of the metrics in PushTelemetry, decompressed: offsets count from their first byte. None where the bytes
// are something else.
using TelemetryOpener = std::function<std::vector<Node>(std::span<const std::uint8_t> metrics)>;

// Something that was found, for those who want it as JSON.
struct OpenedField {
  std::string path;      // of the field, such as protocols[0].metadata
  std::string json;      // "message":"ConsumerProtocolSubscription","version":3,"json":{...}: the inside of an object
  bool batches = false;  // the inside is "batches":[...]
};

// Which messages stand in key and value of a record.
struct RecordMessages {
  std::optional<Envelope> key;
  std::optional<Envelope> value;
};
RecordMessages find_record_messages(const Catalog& catalog, const RecordParts& record);
// The same with what they say, as JSON: "key":{...},"value":{...}; empty where nothing is found.
std::string record_messages_json(const Catalog& catalog, const RecordParts& record);

class EmbeddedOpener : public RecordOpener {
 public:
  // `options` limit what is opened altogether. `telemetry` may be empty.
  EmbeddedOpener(const Catalog& catalog, const WalkOptions& options, TelemetryOpener telemetry);

  // Opens the fields below `root`, the tree of `message`; `bytes` are what it was made of. Records in them are opened
  // while a tree is made, by open_record().
  void open_message(Node& root, const schema::Message& message, std::span<const std::uint8_t> bytes);
  void open_record(const RecordParts& record, Node& key, Node& value) override;

  // What the response data of Envelope hold; without it they stay closed.
  void expect_in_envelope(const Envelope& response) { in_envelope_ = response; }
  // What an answer to the Envelope that was opened has inside; nothing where none was.
  [[nodiscard]] const std::optional<Envelope>& answer_in_envelope() const { return answer_in_envelope_; }

  // From now on open_message() notes what it finds as JSON, record batches too.
  void collect() { collecting_ = true; }
  [[nodiscard]] const std::vector<OpenedField>& found() const { return found_; }

 private:
  // What holds for a field and those beside it.
  struct Context {
    std::string_view message;
    std::string path;
    std::optional<std::string_view> protocol_type;  // of a classic group, where the message says it
    int compression = 0;                            // of the metrics
  };

  void open_fields(Node& node, std::span<const std::uint8_t> bytes, const Context& context);
  void open_field(Node& node, std::span<const std::uint8_t> content, const Context& context);
  // A request or response in Envelope; one Envelope inside another stays closed.
  void open_enveloped(Node& node, std::span<const std::uint8_t> content, const Context& context);
  void open_metrics(Node& node, std::span<const std::uint8_t> content, const Context& context);
  // Reads `content` as `envelope` says and adds the tree to `into`. False, and nothing added, where `only_whole` is set
  // and the content is not all of it such a message.
  bool add_message(Node& into, const Envelope& envelope, std::span<const std::uint8_t> content, const Context& context,
                   bool only_whole);
  void note(const Context& context, std::string json, bool batches = false);

  const Catalog& catalog_;
  WalkOptions options_;
  TelemetryOpener telemetry_;
  std::vector<OpenedField> found_;
  std::string_view topic_;  // read last: records that follow are its
  std::size_t nodes_left_;
  std::optional<Envelope> in_envelope_;
  std::optional<Envelope> answer_in_envelope_;
  bool inside_envelope_ = false;
  bool collecting_ = false;
};

}  // namespace thalweg::inspect
