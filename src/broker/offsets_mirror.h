// OffsetsMirror: a copy of what group coordinators store, in the topic __consumer_offsets and in Kafka's record format,
// for tools that read that topic (thalweg.offsets.mirror.enable). Nothing is ever read back from it, and nobody waits
// for it: after a crash it may lack the last commits, which the store has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coordinator/group_offsets.h"
#include "records/record.h"

namespace thalweg::broker {

class Broker;
class Shard;

inline constexpr std::string_view kOffsetsTopic = "__consumer_offsets";

// One record of the topic; no value: a tombstone.
struct MirrorRecord {
  base::Bytes key;
  base::Bytes value;
  bool tombstone = false;
};

MirrorRecord mirror_record(const records::OffsetCommitted& record);
MirrorRecord mirror_tombstone(std::string_view group_id, std::string_view topic, std::int32_t partition);
MirrorRecord mirror_record(const records::GroupChanged& record);
MirrorRecord mirror_tombstone(std::string_view group_id);
// Tombstones for all that a group has committed.
void mirror_tombstones(std::string_view group_id, const coordinator::GroupOffsets& offsets,
                       std::vector<MirrorRecord>& records);

// Creates the topic where it is not there, with a partition for each slot, and tells whether it did. Not on a core.
//   errors   one line: the store cannot be written
base::Result<bool, std::string> create_offsets_topic(Broker& broker);

// Appends to the partition of the slot, on whichever core has it. A failure is logged.
void write_to_mirror(Shard& shard, int slot, const std::vector<MirrorRecord>& records);

}  // namespace thalweg::broker
