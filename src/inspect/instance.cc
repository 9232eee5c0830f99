#include "inspect/instance.h"

#include "base/crc32c.h"
#include "base/endian.h"
#include "protocol/batch_view.h"
#include "protocol/wire.h"

namespace thalweg::inspect {

using base::Bytes;
using protocol::Writer;
using schema::Field;
using schema::Kind;
using schema::Message;
using schema::Struct;

namespace {

// A batch without records, as a producer that is not idempotent would begin one.
Bytes empty_batch() {
  std::uint8_t batch[protocol::kBatchHeaderSize] = {};
  base::store_be<std::int32_t>(batch + 8, protocol::kBatchHeaderSize - protocol::kLogOverhead);
  batch[protocol::kMagicPosition] = 2;
  base::store_be<std::int64_t>(batch + 43, -1);
  base::store_be<std::int16_t>(batch + 51, protocol::kNoProducerEpoch);
  base::store_be<std::int32_t>(batch + 53, protocol::kNoSequence);
  const std::span<const std::uint8_t> covered = std::span(batch).subspan(protocol::kAttributesPosition);
  base::store_be<std::uint32_t>(batch + protocol::kCrcPosition, base::crc32c(covered));
  return Bytes::copy_of(batch);
}

void write_struct(Writer& writer, const Message& message, const Struct& structure, int version);

void write_value(Writer& writer, const Message& message, const Field& field, int version, bool flexible) {
  switch (field.type.kind) {
    case Kind::boolean:
      return writer.boolean(false);
    case Kind::int8:
      return writer.fixed<std::int8_t>(0);
    case Kind::int16:
    case Kind::uint16:
      return writer.fixed<std::int16_t>(0);
    case Kind::int32:
    case Kind::uint32:
      return writer.fixed<std::int32_t>(0);
    case Kind::int64:
      return writer.fixed<std::int64_t>(0);
    case Kind::float64:
      return writer.float64(0);
    case Kind::uuid:
      return writer.uuid({});
    case Kind::string:
      return writer.string("", flexible);
    case Kind::bytes:
      return writer.bytes({}, flexible);
    case Kind::records:
      return writer.bytes(empty_batch(), flexible);
    case Kind::structure:
      return write_struct(writer, message, *message.find_struct(field.type.name), version);
  }
}

void write_field(Writer& writer, const Message& message, const Field& field, int version) {
  const bool flexible = (field.flexible ? *field.flexible : message.flexible).contains(version);
  if (field.type.array) {
    writer.array_length(1, flexible);
  } else if (field.type.kind == Kind::structure && field.nullable.contains(version)) {
    writer.fixed<std::int8_t>(1);
  }
  write_value(writer, message, field, version, flexible);
}

void write_struct(Writer& writer, const Message& message, const Struct& structure, int version) {
  for (const Field& field : structure.fields)
    if (!field.is_tagged() && field.versions.contains(version)) write_field(writer, message, field, version);
  if (message.flexible.contains(version)) writer.uvarint(0);
}

// The header's fields say what the frame holds; all else is zero.
void write_header(Writer& writer, const Envelope& envelope) {
  for (const Field& field : envelope.header->root.fields) {
    if (!field.versions.contains(envelope.header_version)) continue;
    if (field.name == "RequestApiKey") {
      writer.fixed(static_cast<std::int16_t>(envelope.message->api_key.value_or(0)));
    } else if (field.name == "RequestApiVersion") {
      writer.fixed(static_cast<std::int16_t>(envelope.version));
    } else {
      write_field(writer, *envelope.header, field, envelope.header_version);
    }
  }
  if (envelope.header->flexible.contains(envelope.header_version)) writer.uvarint(0);
}

}  // namespace

Bytes smallest_instance(const Envelope& envelope) {
  Writer writer;
  const auto number = envelope.message->api_key.value_or(0);
  switch (envelope.framing) {
    case Framing::bare:
      break;
    case Framing::framed:
      writer.fixed<std::int32_t>(0);
      write_header(writer, envelope);
      break;
    case Framing::headed:
      write_header(writer, envelope);
      break;
    case Framing::record_key:
      writer.fixed(static_cast<std::int16_t>(number));
      break;
    case Framing::record_value:
    case Framing::versioned:
      writer.fixed(static_cast<std::int16_t>(envelope.version));
      break;
    case Framing::metadata_record:
      writer.uvarint(kMetadataFrameVersion);
      writer.uvarint(static_cast<std::uint64_t>(number));
      writer.uvarint(static_cast<std::uint64_t>(envelope.version));
      break;
  }
  write_struct(writer, *envelope.message, envelope.message->root, envelope.version);
  if (envelope.framing == Framing::framed)
    writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - sizeof(std::int32_t)));
  return std::move(writer).finish().flatten();
}

}  // namespace thalweg::inspect
