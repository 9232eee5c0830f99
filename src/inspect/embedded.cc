#include "inspect/embedded.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/endian.h"
#include "inspect/control_records.h"
#include "inspect/decode.h"
#include "inspect/json_text.h"
#include "inspect/records_json.h"
#include "inspect/sasl_nodes.h"
#include "inspect/value_text.h"
#include "protocol/wire.h"

namespace thalweg::inspect {

using base::Bytes;
using schema::Kind;

namespace {

constexpr std::string_view kConsumer = "consumer";
constexpr std::string_view kSubscription = "ConsumerProtocolSubscription";
constexpr std::string_view kAssignment = "ConsumerProtocolAssignment";

// Which structure a bytes field holds where the group's protocol is that of consumers.
struct GroupField {
  std::string_view message;
  std::string_view field;
  std::string_view structure;
};
constexpr GroupField kGroupFields[] = {
    {"JoinGroupRequest", "Metadata", kSubscription},
    {"JoinGroupResponse", "Metadata", kSubscription},
    {"SyncGroupRequest", "Assignment", kAssignment},
    {"SyncGroupResponse", "Assignment", kAssignment},
    {"DescribeGroupsResponse", "MemberMetadata", kSubscription},
    {"DescribeGroupsResponse", "MemberAssignment", kAssignment},
    {"GroupMetadataValue", "subscription", kSubscription},
    {"GroupMetadataValue", "assignment", kAssignment},
    {"ConsumerGroupMemberMetadataValue", "Metadata", kSubscription},
};

// The last bytes of a node are its content.
std::size_t content_begin(const Node& node) { return node.offset + node.size - node.content_size; }

// The structure with the version in front of it: a newer version than any known here is read as the newest, as Kafka
// does. Nothing where the bytes are too few or the version is negative.
std::optional<Envelope> versioned(const Catalog& catalog, std::string_view name,
                                  std::span<const std::uint8_t> content) {
  if (content.size() < sizeof(std::int16_t)) return std::nullopt;
  const schema::Message& message = catalog.find(name)->message;
  const auto version = base::load_be<std::int16_t>(content.data());
  if (version < message.versions.lowest) return std::nullopt;
  return Envelope{
      .message = &message, .version = std::min<int>(version, message.versions.highest), .framing = Framing::versioned};
}

const Subject* find_record(const Catalog& catalog, Family family, std::string_view home, std::uint64_t type) {
  for (const Subject& subject : catalog.subjects())
    if (subject.family == family && subject.home == home && subject.key &&
        static_cast<std::uint64_t>(*subject.key) == type)
      return &subject;
  return nullptr;
}

RecordMessages find_control_messages(const Catalog& catalog, const RecordParts& record) {
  RecordMessages found;
  constexpr std::size_t kKeySize = 4;
  if (!record.key || record.key->size() < kKeySize) return found;
  found.key = versioned(catalog, "ControlRecordTypeSchema", *record.key);
  const ControlKind* kind = find_control(base::load_be<std::int16_t>(record.key->data() + 2));
  if (kind != nullptr && record.value && record.value->size() >= sizeof(std::int16_t))
    found.value = control_message(catalog, *kind, *record.value).envelope;
  return found;
}

RecordMessages find_coordinator_messages(const Catalog& catalog, const RecordParts& record) {
  RecordMessages found;
  if (!record.key || record.key->size() < sizeof(std::int16_t)) return found;
  const auto type = base::load_be<std::int16_t>(record.key->data());
  if (type < 0) return found;
  const Subject* subject =
      find_record(catalog, Family::coordinator_record, record.topic, static_cast<std::uint64_t>(type));
  if (subject == nullptr) return found;
  if (subject->first != nullptr) found.key = catalog.envelope(*subject->first, subject->first->newest_stable);
  if (subject->second != nullptr && record.value && record.value->size() >= sizeof(std::int16_t)) {
    const auto version = base::load_be<std::int16_t>(record.value->data());
    if (subject->second->message.versions.contains(version)) found.value = catalog.envelope(*subject->second, version);
  }
  return found;
}

RecordMessages find_metadata_messages(const Catalog& catalog, const RecordParts& record) {
  RecordMessages found;
  if (!record.value) return found;
  const Bytes value = Bytes::unowned(*record.value);
  protocol::Reader reader(value);
  (void)reader.uvarint();
  const std::uint32_t type = reader.uvarint();
  const std::uint32_t version = reader.uvarint();
  if (!reader.ok()) return found;
  const Subject* subject = find_record(catalog, Family::metadata_record, record.topic, type);
  if (subject != nullptr && version <= INT16_MAX &&
      subject->first->message.versions.contains(static_cast<int>(version)))
    found.value = catalog.envelope(*subject->first, static_cast<int>(version));
  return found;
}

// "message":"OffsetCommitKey","version":0,"json":{...}; empty where the bytes are no such message.
std::string message_members(const Envelope& envelope, std::span<const std::uint8_t> content) {
  const MessageJson read = decode_json(envelope, Bytes::unowned(content));
  if (!read.whole) return {};
  std::string json = fmt::format("\"message\":\"{}\",\"version\":{}", envelope.message->name, envelope.version);
  const MessageJson header = header_json(envelope, Bytes::unowned(content));
  if (header.whole) json += ",\"header\":" + header.json;
  json += ",\"json\":" + read.json;
  if (!read.unknown.empty()) json += ",\"unknown\":" + unknown_json(read.unknown);
  return json;
}

// What no schema describes: {"name":...,"type":...,"value":...,"children":[...]}.
void append_node_json(std::string& json, const Node& node) {
  json += "{\"name\":";
  append_json_string(json, node.name);
  json += ",\"type\":";
  append_json_string(json, node.type);
  if (!node.value.empty()) {
    json += ",\"value\":";
    append_json_string(json, node.value);
  }
  if (!node.children.empty()) json += ",\"children\":[";
  for (const Node& child : node.children) {
    if (&child != &node.children.front()) json += ',';
    append_node_json(json, child);
  }
  json += node.children.empty() ? "}" : "]}";
}

}  // namespace

RecordMessages find_record_messages(const Catalog& catalog, const RecordParts& record) {
  if (record.control) return find_control_messages(catalog, record);
  if (record.topic == "__consumer_offsets" || record.topic == "__transaction_state" ||
      record.topic == "__share_group_state")
    return find_coordinator_messages(catalog, record);
  if (record.topic == "__cluster_metadata" || record.topic == "__remote_log_metadata")
    return find_metadata_messages(catalog, record);
  return {};
}

std::string record_messages_json(const Catalog& catalog, const RecordParts& record) {
  const RecordMessages messages = find_record_messages(catalog, record);
  std::string json;
  const auto add = [&](std::string_view name, const std::optional<Envelope>& envelope,
                       const std::optional<std::span<const std::uint8_t>>& content) {
    const std::string members = envelope && content ? message_members(*envelope, *content) : "";
    if (!members.empty()) json += fmt::format("{}\"{}\":{{{}}}", json.empty() ? "" : ",", name, members);
  };
  add("key", messages.key, record.key);
  add("value", messages.value, record.value);
  return json;
}

EmbeddedOpener::EmbeddedOpener(const Catalog& catalog, const WalkOptions& options, TelemetryOpener telemetry)
    : catalog_(catalog),
      options_(options),
      telemetry_(std::move(telemetry)),
      topic_(options.topic),
      nodes_left_(options.max_nodes) {
  options_.opener = nullptr;
}

void EmbeddedOpener::open_message(Node& root, const schema::Message& message, std::span<const std::uint8_t> bytes) {
  open_fields(root, bytes, {.message = message.name});
}

void EmbeddedOpener::open_record(const RecordParts& record, Node& key, Node& value) {
  const RecordMessages messages = find_record_messages(catalog_, record);
  const bool collecting = std::exchange(collecting_, false);
  if (messages.key) add_message(key, *messages.key, *record.key, {}, false);
  if (messages.value) add_message(value, *messages.value, *record.value, {}, false);
  collecting_ = collecting;
}

void EmbeddedOpener::open_fields(Node& node, std::span<const std::uint8_t> bytes, const Context& context) {
  const auto content_of = [&](const Node& child) { return bytes.subspan(content_begin(child), child.content_size); };
  const auto text_of = [&](const Node& child) {
    const auto content = content_of(child);
    return std::string_view(reinterpret_cast<const char*>(content.data()), content.size());
  };
  Context inner = context;
  for (const Node& child : node.children) {
    if (child.field == nullptr || child.kind != NodeKind::scalar || child.null) continue;
    const std::string name = json_key(child.field->name);
    if (name == "protocolType") inner.protocol_type = text_of(child);
    if (name == "compressionType" && child.content_size == 1) inner.compression = content_of(child)[0];
  }
  for (Node& child : node.children) {
    Context here = inner;
    if (child.field != nullptr && child.kind != NodeKind::tagged_field) {
      if (node.kind == NodeKind::array) {
        const std::size_t bracket = child.name.rfind('[');
        if (bracket != std::string::npos) here.path += child.name.substr(bracket);
      } else {
        here.path += (here.path.empty() ? "" : ".") + json_key(child.field->name);
      }
    }
    const bool is_value = child.field != nullptr && child.kind == NodeKind::scalar && !child.null;
    if (is_value && child.field->type.kind == Kind::bytes && child.content_size > 0)
      open_field(child, content_of(child), here);
    if (is_value && child.field->type.kind == Kind::string && child.field->entity_type == "topicName")
      topic_ = text_of(child);
    if (is_value && child.field->type.kind == Kind::uuid && child.field->name == "TopicId")
      topic_ = topic_of_id(content_of(child), options_.topic);
    if (collecting_ && child.kind == NodeKind::records && child.content_size > 0) {
      protocol::Decompressor decompressor;
      const std::string batches =
          records_json(catalog_, content_of(child), decompressor, {.opened = true, .topic = topic_});
      note(here, batches.substr(1, batches.size() - 2), true);
    }
    // Record batches have been looked into while they were read.
    if (child.kind != NodeKind::records) open_fields(child, bytes, here);
  }
}

void EmbeddedOpener::note(const Context& context, std::string json, bool batches) {
  if (collecting_) found_.push_back({.path = context.path, .json = std::move(json), .batches = batches});
}

void EmbeddedOpener::open_field(Node& node, std::span<const std::uint8_t> content, const Context& context) {
  for (const GroupField& known : kGroupFields) {
    if (known.message != context.message || known.field != node.field->name) continue;
    // Older versions do not say of which protocol the group is; then the bytes must all fit.
    const bool said = context.protocol_type && !context.protocol_type->empty();
    if (said && *context.protocol_type != kConsumer) return;
    if (const auto envelope = versioned(catalog_, known.structure, content))
      add_message(node, *envelope, content, context, !said);
    return;
  }
  const bool request_in_envelope = context.message == "EnvelopeRequest" && node.field->name == "RequestData";
  if (request_in_envelope || (context.message == "EnvelopeResponse" && node.field->name == "ResponseData")) {
    open_enveloped(node, content, context);
  } else if (context.message == "EnvelopeRequest" && node.field->name == "RequestPrincipal") {
    if (const auto envelope = versioned(catalog_, "DefaultPrincipalData", content))
      add_message(node, *envelope, content, context, true);
  } else if (node.field->name == "AuthBytes") {
    for (Node& found : sasl_nodes(content, context.message == "SaslAuthenticateRequest")) {
      std::string json = fmt::format("\"message\":\"{}\",\"tree\":", found.name);
      if (collecting_) append_node_json(json, found);
      note(context, std::move(json));
      place_at(found, content_begin(node), node.unpacked);
      node.opened.push_back(std::move(found));
    }
  } else if (context.message == "PushTelemetryRequest" && node.field->name == "Metrics" && telemetry_) {
    open_metrics(node, content, context);
  }
}

void EmbeddedOpener::open_enveloped(Node& node, std::span<const std::uint8_t> content, const Context& context) {
  if (inside_envelope_) return;
  std::optional<Envelope> inner = in_envelope_;
  if (context.message == "EnvelopeRequest") {
    auto request = recognize_header(catalog_, content);
    if (!request) {
      node.about += "; " + request.error();
      return;
    }
    inner = *request;
    const auto answer = api_envelope(catalog_, *request->message->api_key, request->version, Side::second);
    if (answer) answer_in_envelope_ = *answer;
  }
  if (!inner) return;
  inner->framing = Framing::headed;
  inside_envelope_ = true;
  add_message(node, *inner, content, context, false);
  inside_envelope_ = false;
}

void EmbeddedOpener::open_metrics(Node& node, std::span<const std::uint8_t> content, const Context& context) {
  if (context.compression < 0 || context.compression > static_cast<int>(protocol::CompressionType::zstd)) return;
  const auto codec = static_cast<protocol::CompressionType>(context.compression);
  protocol::Decompressor decompressor;
  const auto metrics = decompressor.decompress(codec, content, {.max_bytes = options_.max_unpacked_bytes});
  if (!metrics) {
    node.about += "; cannot be unpacked: " + metrics.error().detail;
    return;
  }
  const bool packed = codec != protocol::CompressionType::none;
  if (packed)
    node.encoding +=
        fmt::format(", {}, {} unpacked", protocol::compression_name(codec), counted(metrics->size(), "byte"));
  std::string json;
  for (Node& found : telemetry_(*metrics)) {
    if (collecting_) {
      json += json.empty() ? "\"message\":\"telemetry\",\"trees\":[" : ",";
      append_node_json(json, found);
    }
    place_at(found, packed ? 0 : content_begin(node), packed || node.unpacked);
    node.opened.push_back(std::move(found));
  }
  if (!json.empty()) note(context, json + "]");
}

bool EmbeddedOpener::add_message(Node& into, const Envelope& envelope, std::span<const std::uint8_t> content,
                                 const Context& context, bool only_whole) {
  if (nodes_left_ == 0) return false;
  WalkOptions options = options_;
  options.max_nodes = nodes_left_;
  Walk read = walk(envelope, Bytes::unowned(content), options);
  if (only_whole && (read.fault || read.rest > 0)) return false;
  nodes_left_ -= std::min(nodes_left_, count_nodes(read.root));
  if (read.fault) {
    read.root.about = fmt::format("damaged: {} at {}: {}", read.fault->path, read.fault->offset, read.fault->reason);
  } else {
    if (read.rest > 0) read.root.about = fmt::format("{} behind it that nothing has read", counted(read.rest, "byte"));
    note(context, message_members(envelope, content));
    const bool collecting = std::exchange(collecting_, false);
    open_message(read.root, *envelope.message, content);
    collecting_ = collecting;
  }
  into.opened_whole = !read.fault && read.rest == 0;
  place_at(read.root, content_begin(into), into.unpacked);
  into.opened.push_back(std::move(read.root));
  return true;
}

}  // namespace thalweg::inspect
