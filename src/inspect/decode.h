// The decoder: bytes that stood on a wire or in a log, as a tree or as the reference's JSON.
//
// It stands on the walker and adds what a schema alone does not say: which message some bytes are, what is inside its
// bytes fields and records, and which values nobody should see. Bytes in, values out: no files, no sockets, no
// exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "inspect/catalog.h"
#include "inspect/embedded.h"
#include "inspect/message_json.h"
#include "inspect/tree.h"
#include "inspect/walker.h"

namespace thalweg::inspect {

// -- which message --

// The message of an API in a version, with its frame. `side` is Side::first for the request, Side::second for the
// response. The error is one line: no such API or version.
base::Result<Envelope, std::string> api_envelope(const Catalog& catalog, int api_key, int version, Side side);

// What the request at the start of `frame` is, by the key and the version in its header. `frame` begins with the size
// and need not be whole. The error is one line: why it is no request that is known here.
base::Result<Envelope, std::string> recognize_request(const Catalog& catalog, std::span<const std::uint8_t> frame);

// The same where `header` is what begins with the key: a request without its size.
base::Result<Envelope, std::string> recognize_header(const Catalog& catalog, std::span<const std::uint8_t> header);

// The size of the frame that `bytes` begin with, its four bytes of size included; nothing where there are fewer than
// four bytes, or the size is negative or above `max_bytes`.
std::optional<std::size_t> frame_size(std::span<const std::uint8_t> bytes, std::size_t max_bytes = INT32_MAX);

// -- as a tree --

struct DecodeOptions {
  // Limits, and the topic of records. Its `opener` is not looked at: the decoder brings its own.
  WalkOptions walk;
  // Opens the metrics in PushTelemetry; may be empty.
  TelemetryOpener telemetry;
  // Responses of Envelope: the response inside, which does not say what it is.
  std::optional<Envelope> enveloped;
  // False: values that are secrets are replaced by what they are and how long.
  bool show_secrets = false;
};

struct Decoded {
  Envelope envelope;
  // What was found inside a value is in Node::opened.
  Node tree;
  std::optional<Fault> fault;
  std::size_t rest = 0;  // bytes behind the message that nothing has read
  // Requests of Envelope: what will be inside the response, for DecodeOptions::enveloped.
  std::optional<Envelope> enveloped;
  bool secrets = false;  // whether there are values that are secrets, hidden or not
  bool hidden = true;    // whether such values are replaced in the tree
};

// "MetadataRequest.Topics[1].Name at byte 9: a length beyond the end"; empty where there is no fault.
std::string fault_line(const Decoded& decoded);
// Whether something in record batches could not be read.
bool has_damage(const Node& node);
// Whether bytes may be shown that lie in `leaf`, or, where that is null, in no node.
bool may_show(const Decoded& decoded, const Node* leaf);

// Reads `bytes`, which begin with what the envelope says stands in front. A response to ApiVersions that is not in
// the version that was asked for (the broker knew none so new) is read as the version 0 that it is in.
Decoded decode(const Catalog& catalog, const Envelope& envelope, const base::Bytes& bytes,
               const DecodeOptions& options = {});

// Record batches and message sets as they stand in a log or in a records field, under one node. `options.walk.topic`
// says where they are from.
Decoded decode_records(const Catalog& catalog, const base::Bytes& bytes, const DecodeOptions& options = {});

// -- as JSON --

// The header of a framed message, whole false for one that has none.
MessageJson header_json(const Envelope& envelope, const base::Bytes& bytes);

// The body of the message that `bytes` hold, past what the envelope says stands in front. Embedded structures stay
// bytes, and nothing is hidden. For record batches there is records_json().
MessageJson decode_json(const Envelope& envelope, const base::Bytes& bytes);

// What is inside bytes fields and records of the message, in the order of the bytes. Nothing is hidden.
std::vector<OpenedField> opened_json(const Catalog& catalog, const Envelope& envelope, const base::Bytes& bytes,
                                     const DecodeOptions& options = {});

}  // namespace thalweg::inspect
