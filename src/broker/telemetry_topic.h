// The topic __client_telemetry: what clients push, as they push it, for whoever would rather read a topic
// (thalweg.telemetry.topic.enable). A record is one push: its key is the client instance id, its value an encoded
// MetricsData that says whose it is among the attributes of its resources. Nobody waits for it to be stored.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/uuid.h"

namespace thalweg::broker {

class Broker;
class Shard;

inline constexpr std::string_view kTelemetryTopic = "__client_telemetry";

// Creates the topic where it is not there, with num.partitions partitions. Not on a core.
//   errors   one line: the store cannot be written
base::Result<void, std::string> create_telemetry_topic(Broker& broker);

// Appends to the partition of the instance, on whichever core has it. Where the topic was deleted or takes nothing, the
// push is counted as dropped on `shard`, the caller's.
void write_to_telemetry_topic(Shard& shard, const base::Uuid& instance_id, std::string metrics);

}  // namespace thalweg::broker
