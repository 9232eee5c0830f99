// The logs that Kafka keeps for itself, read from front to back: the metadata
// log, and the topics of its coordinators.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "protocol/batch_view.h"
#include "runtime/file.h"

namespace thalweg::cli {

// Called with each batch; false where it makes no sense.
using KafkaBatchVisitor = std::function<bool(protocol::BatchView)>;

// Reads the segments of a partition's folder, in their order. Where the last
// one ends within a batch, as a broker that was killed may leave it, the log
// ends before: so it does for a Kafka that starts on it.
//   errors   one line: a file cannot be read, is damaged, or has a batch that
//   makes no sense
base::Result<void, std::string> read_kafka_log(runtime::FileSystem& files, const std::string& folder,
                                               const KafkaBatchVisitor& visit);

// Reads one file of batches, which must be whole.
//   errors   as above
base::Result<void, std::string> read_kafka_batches(runtime::FileSystem& files, const std::string& path,
                                                   const KafkaBatchVisitor& visit);

}  // namespace thalweg::cli
