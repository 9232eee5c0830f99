// LogContext: what the logs of one core share. It outlives them all.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/file.h"
#include "storage/handle_cache.h"
#include "storage/index_cache.h"

namespace thalweg::storage {

// Whether the bytes, which are as long as their header says, are a sound record batch. Called on recovery, on whatever
// thread opens the log, so it keeps no state.
using BatchValidator = bool (*)(std::span<const std::uint8_t> batch);

// The CRC32C of the batch matches. What LogContext uses unless told otherwise.
bool batch_crc_matches(std::span<const std::uint8_t> batch);

struct LogContext {
  runtime::FileSystem& files;  // safe from any thread
  HandleCache& handles;        // this core's only
  IndexCache& indexes;         // this core's only
  BatchValidator validate = &batch_crc_matches;
};

}  // namespace thalweg::storage
