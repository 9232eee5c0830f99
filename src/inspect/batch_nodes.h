// Record batches and the older message sets as nodes of a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "inspect/tree.h"
#include "protocol/compression.h"

namespace thalweg::inspect {

// A record whose key and value may have something inside.
struct RecordParts {
  std::string_view topic;  // empty where it is not known
  bool control = false;
  std::optional<std::span<const std::uint8_t>> key;
  std::optional<std::span<const std::uint8_t>> value;
};

// Knows what is inside keys and values of records.
class RecordOpener {
 public:
  virtual ~RecordOpener() = default;
  // Adds what it finds to `opened` of the two nodes, which stand for key and value of `record`.
  virtual void open_record(const RecordParts& record, Node& key, Node& value) = 0;
};

struct BatchOptions {
  // From so many nodes on, further records of a batch stand together in one node.
  std::size_t max_nodes = 250'000;
  // What all batches together may hold once they are decompressed, in bytes; beyond it they stay closed.
  std::uint64_t max_unpacked_bytes = 64 << 20;
  // Null: nobody looks inside records. Must outlive the reader.
  RecordOpener* opener = nullptr;
};

// Makes the nodes, and counts what they cost over all calls.
class BatchReader {
 public:
  explicit BatchReader(const BatchOptions& options = {});
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  // How many more nodes may be made, where others count along.
  void set_nodes_left(std::size_t nodes) { nodes_left_ = nodes; }
  // Adds a node to `into` for each record batch, or message of magic 0 or 1, in [begin, end) of the bytes at `data`:
  // the fields of its header, then its records, decompressed where they have to be. Bytes that are no whole batch
  // become one node that says why. `topic`: where the batches are from, as far as it is known. Returns how many nodes
  // were made.
  std::size_t add(Node& into, const std::uint8_t* data, std::size_t begin, std::size_t end,
                  std::string_view topic = {});

 private:
  friend class BatchNodes;
  BatchOptions options_;
  std::size_t nodes_left_;
  std::uint64_t unpacked_left_;
  std::unique_ptr<protocol::Decompressor> decompressor_;  // made when it is first needed
};

}  // namespace thalweg::inspect
