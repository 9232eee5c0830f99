#include "inspect/decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/endian.h"
#include "inspect/secrets.h"
#include "inspect/value_text.h"
#include "protocol/wire.h"

namespace thalweg::inspect {

using base::Bytes;

namespace {

// Size, API key and version: what tells a request.
constexpr std::size_t kRequestFront = 8;
// The same without the size.
constexpr std::size_t kHeaderFront = 4;

constexpr int kApiVersions = 18;

const Subject* find_api(const Catalog& catalog, int api_key) {
  for (const Subject& subject : catalog.subjects())
    if (subject.family == Family::api && subject.key == api_key) return &subject;
  return nullptr;
}

// What stands in front of the body, in bytes; more than there are where it cannot be read.
std::size_t front_size(const Envelope& envelope, const Bytes& bytes) {
  switch (envelope.framing) {
    case Framing::bare:
      return 0;
    case Framing::record_key:
    case Framing::record_value:
    case Framing::versioned:
      return sizeof(std::int16_t);
    case Framing::metadata_record: {
      protocol::Reader reader(bytes);
      for (int i = 0; i < 3; ++i) (void)reader.uvarint();
      return reader.ok() ? reader.position() : SIZE_MAX;
    }
    case Framing::framed:
    case Framing::headed: {
      const MessageJson header = header_json(envelope, bytes);
      return header.whole ? bytes.size() - header.rest : SIZE_MAX;
    }
  }
  return SIZE_MAX;
}

}  // namespace

base::Result<Envelope, std::string> api_envelope(const Catalog& catalog, int api_key, int version, Side side) {
  const Subject* api = find_api(catalog, api_key);
  if (api == nullptr) return std::unexpected(fmt::format("no API has the key {}", api_key));
  const MessageEntry& entry = side == Side::second ? *api->second : *api->first;
  if (auto fault = version_fault(entry, version)) return std::unexpected(std::move(*fault));
  return catalog.envelope(entry, version);
}

base::Result<Envelope, std::string> recognize_request(const Catalog& catalog, std::span<const std::uint8_t> frame) {
  if (frame.size() < kRequestFront)
    return std::unexpected(fmt::format("{}, too few for a request", counted(frame.size(), "byte")));
  return recognize_header(catalog, frame.subspan(sizeof(std::int32_t)));
}

base::Result<Envelope, std::string> recognize_header(const Catalog& catalog, std::span<const std::uint8_t> header) {
  if (header.size() < kHeaderFront)
    return std::unexpected(fmt::format("{}, too few for the header of a request", counted(header.size(), "byte")));
  const auto key = base::load_be<std::int16_t>(header.data());
  const auto version = base::load_be<std::int16_t>(header.data() + 2);
  return api_envelope(catalog, key, version, Side::first);
}

std::optional<std::size_t> frame_size(std::span<const std::uint8_t> bytes, std::size_t max_bytes) {
  if (bytes.size() < sizeof(std::int32_t)) return std::nullopt;
  const auto size = base::load_be<std::int32_t>(bytes.data());
  if (size < 0 || static_cast<std::size_t>(size) > max_bytes) return std::nullopt;
  return sizeof(std::int32_t) + static_cast<std::size_t>(size);
}

Decoded decode(const Catalog& catalog, const Envelope& envelope, const Bytes& bytes, const DecodeOptions& options) {
  EmbeddedOpener opener(catalog, options.walk, options.telemetry);
  WalkOptions walking = options.walk;
  walking.opener = &opener;
  Decoded result{.envelope = envelope};
  Walk read = walk(envelope, bytes, walking);
  const bool api_versions = envelope.message->api_key == kApiVersions && envelope.framing == Framing::framed &&
                            envelope.message->type == schema::MessageType::response;
  if (read.fault && api_versions && envelope.version > 0) {
    Envelope oldest = envelope;
    oldest.version = 0;
    Walk again = walk(oldest, bytes, walking);
    if (!again.fault && again.rest == 0) {
      read = std::move(again);
      result.envelope = oldest;
    }
  }
  result.tree = std::move(read.root);
  result.fault = std::move(read.fault);
  result.rest = read.rest;
  if (options.enveloped) opener.expect_in_envelope(*options.enveloped);
  opener.open_message(result.tree, *envelope.message, bytes.span());
  result.enveloped = opener.answer_in_envelope();
  result.secrets = mark_secrets(result.tree, envelope.message->name);
  result.hidden = !options.show_secrets;
  if (result.hidden) hide_secrets(result.tree);
  return result;
}

Decoded decode_records(const Catalog& catalog, const Bytes& bytes, const DecodeOptions& options) {
  EmbeddedOpener opener(catalog, options.walk, options.telemetry);
  Decoded result;
  result.tree.name = "Records";
  result.tree.part = Part::record_batch;
  result.tree.size = bytes.size();
  BatchReader reader(
      {.max_nodes = options.walk.max_nodes, .max_unpacked_bytes = options.walk.max_unpacked_bytes, .opener = &opener});
  reader.add(result.tree, bytes.data(), 0, bytes.size(), options.walk.topic);
  result.tree.about = counted(result.tree.children.size(), "batch");
  result.secrets = mark_secrets(result.tree, result.tree.name);
  result.hidden = !options.show_secrets;
  if (result.hidden) hide_secrets(result.tree);
  return result;
}

std::string fault_line(const Decoded& decoded) {
  if (!decoded.fault) return {};
  return fmt::format("{} at byte {}: {}", decoded.fault->path, decoded.fault->offset, decoded.fault->reason);
}

bool has_damage(const Node& node) {
  return node.name == "damaged" || std::ranges::any_of(node.children, has_damage) ||
         std::ranges::any_of(node.opened, has_damage);
}

bool may_show(const Decoded& decoded, const Node* leaf) {
  if (!decoded.hidden) return true;
  if (leaf != nullptr && leaf->secret) return false;
  // What nobody has read as something could be anything.
  const bool read = leaf != nullptr && leaf->name != "more" && leaf->name != "damaged" && leaf->name != "unknown";
  return read || decoded.envelope.message == nullptr || !may_hold_secrets(decoded.envelope.message->name);
}

MessageJson header_json(const Envelope& envelope, const Bytes& bytes) {
  if (envelope.framing != Framing::framed && envelope.framing != Framing::headed) return {};
  const std::size_t frame = envelope.framing == Framing::framed ? sizeof(std::int32_t) : 0;
  if (bytes.size() < frame) return {};
  return message_json(*envelope.header, envelope.header_version, bytes.slice(frame));
}

std::vector<OpenedField> opened_json(const Catalog& catalog, const Envelope& envelope, const Bytes& bytes,
                                     const DecodeOptions& options) {
  WalkOptions walking = options.walk;
  walking.open_batches = false;
  EmbeddedOpener opener(catalog, walking, options.telemetry);
  opener.collect();
  if (options.enveloped) opener.expect_in_envelope(*options.enveloped);
  Walk read = walk(envelope, bytes, walking);
  opener.open_message(read.root, *envelope.message, bytes.span());
  return opener.found();
}

MessageJson decode_json(const Envelope& envelope, const Bytes& bytes) {
  // What lies behind the size that a frame announces is not part of it.
  Bytes frame = bytes;
  if (envelope.framing == Framing::framed) {
    if (const auto size = frame_size(bytes.span())) frame = bytes.first(*size);
  }
  const std::size_t front = front_size(envelope, frame);
  if (front > frame.size()) return {};
  MessageJson result = message_json(*envelope.message, envelope.version, frame.slice(front));
  result.rest += bytes.size() - frame.size();
  return result;
}

}  // namespace thalweg::inspect
