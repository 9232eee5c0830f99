// The walker: reads the bytes of a message along its schema and makes the tree of them.
//
// It takes and refuses the same bytes as the generated codecs, which do what the reference does. It knows nothing of
// files and sockets and needs no exceptions. Bytes that break the schema give the tree up to the fault, and the fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "inspect/batch_nodes.h"
#include "inspect/envelope.h"
#include "inspect/tree.h"

namespace thalweg::inspect {

struct WalkOptions {
  // The bytes are an example made here, which some of the descriptions then say.
  bool sample = false;
  // Strings and bytes longer than this are cut in the tree.
  std::size_t text_limit = 1024;
  std::size_t bytes_limit = 64;
  // A node takes some hundred bytes, what it stands for perhaps one. From so many nodes on, further elements and
  // records are read, but stand together in one node.
  std::size_t max_nodes = 250'000;
  // What the record batches of a message may hold once they are decompressed, in bytes; beyond it they stay closed.
  std::uint64_t max_unpacked_bytes = 64 << 20;
  // False: a records field is one node, whatever stands in it.
  bool open_batches = true;
  // Knows what is inside records; null: nobody looks. Must outlive the walk.
  RecordOpener* opener = nullptr;
  // The topic that records are from, where the message does not say.
  std::string_view topic;
};

struct Fault {
  std::string path;  // of the field, such as MetadataRequest.Topics[0].Name
  std::string type;  // what was expected there
  std::size_t offset = 0;
  std::string reason;
};

struct Walk {
  Node root;
  std::optional<Fault> fault;
  std::size_t rest = 0;  // bytes behind the message that nothing has read
};

// The name of a topic that has this id in every cluster, or `other`.
std::string_view topic_of_id(std::span<const std::uint8_t> id, std::string_view other);

// Reads `bytes`, which begin with what stands in front of the message.
Walk walk(const Envelope& envelope, const base::Bytes& bytes, const WalkOptions& options = {});

}  // namespace thalweg::inspect
