// Record batches as the oracle describes them in JSON: every batch with the fields of its header, its records with
// absolute offsets and timestamps, the messages of control records.
//
// Keys, values, header values and decompressed payloads are hexadecimal, null is null. What cannot be read is named by
// `error`: in a batch where reading it ended, beside `batches` where the next batch could not be found; `trailing`
// counts bytes too few for another batch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "inspect/catalog.h"
#include "protocol/compression.h"

namespace thalweg::inspect {

struct RecordsJsonOptions {
  // What one batch may hold once it is decompressed, in bytes; more is an error of that batch.
  std::uint64_t max_unpacked_bytes = 256 << 20;
  // Adds to each record, as `opened`, the messages in it; those of coordinators and of the metadata log are found by
  // the topic.
  bool opened = false;
  std::string_view topic;
};

// {"batches":[...]}, one line: the batches and message sets (of magic 0 and 1) in `bytes`, which may end in a part of
// one. `catalog` has the messages of control records; `decompressor` is used for one batch after the other.
std::string records_json(const Catalog& catalog, std::span<const std::uint8_t> bytes,
                         protocol::Decompressor& decompressor, const RecordsJsonOptions& options = {});

// The same for one batch or message, which `bytes` hold whole: {"position":...}. `position` is what that field says.
std::string batch_json(const Catalog& catalog, std::span<const std::uint8_t> bytes, std::uint64_t position,
                       protocol::Decompressor& decompressor, const RecordsJsonOptions& options = {});

}  // namespace thalweg::inspect
