#include "simulation/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "protocol/messages/fetch_request.h"
#include "protocol/messages/list_offsets_request.h"
#include "protocol/messages/list_offsets_response.h"
#include "protocol/messages/metadata_request.h"
#include "protocol/messages/metadata_response.h"
#include "protocol/messages/offset_fetch_request.h"
#include "protocol/messages/offset_fetch_response.h"
#include "protocol/record_batch.h"
#include "simulation/committer.h"

namespace thalweg::simulation {

using protocol::ErrorCode;

namespace {

// Special timestamps of ListOffsets.
constexpr std::int64_t kLatest = -1;
constexpr std::int64_t kEarliest = -2;
constexpr std::int64_t kMaxTimestamp = -3;

struct Time {
  std::int64_t timestamp;
  std::int64_t offset;
};

std::vector<Time> times_of(const std::vector<base::Bytes>& batches) {
  std::vector<Time> times;
  protocol::Decompressor decompressor;
  for (const base::Bytes& bytes : batches)
    (void)protocol::for_each_record(protocol::BatchView(bytes.data()), decompressor,
                                    [&](const protocol::Record& record) {
                                      times.push_back({.timestamp = record.timestamp, .offset = record.offset});
                                    });
  return times;
}

}  // namespace

Audit::~Audit() { client_.hang_up(); }

template <class Request>
std::optional<typename Request::Response> Audit::ask(const Request& request, int version) {
  using Response = typename Request::Response;
  if (life_.dead()) return std::nullopt;
  if (!client_.connected()) life_.connect(client_);
  std::optional<Response> answer;
  bool over = false;
  client_.send(request, version, [&](const Response* response) {
    over = true;
    if (response == nullptr) return;
    answer = *response;
  });
  life_.host().run_until([&] {
    client_.poll();
    return over;
  });
  return answer;
}

bool Audit::run(bool nobody_connected) {
  if (!check_topics(nobody_connected) || !check_offsets(nobody_connected)) return false;
  const std::map<base::Uuid, Topic> topics = world_.ledger().topics();
  for (const auto& [id, topic] : topics)
    for (std::int32_t i = 0; i < topic.shape.partitions; ++i)
      if (!check_partition(topic, {.topic = id, .number = i})) return false;
  return true;
}

bool Audit::check_topics(bool nobody_connected) {
  protocol::MetadataRequest request;
  request.topics = std::nullopt;
  const auto response = ask(request, 12);
  if (!response) return false;
  std::vector<Ledger::Found> found;
  for (const auto& topic : response->topics) {
    if (topic.error_code != ErrorCode::none)
      throw Violation(fmt::format("metadata of a topic: {}", protocol::error_name(topic.error_code)));
    found.push_back({.id = topic.topic_id,
                     .name = topic.name ? topic.name->str() : std::string(),
                     .partitions = static_cast<std::int32_t>(topic.partitions.size())});
  }
  world_.ledger().found_topics(found, nobody_connected);
  return true;
}

bool Audit::check_offsets(bool nobody_connected) {
  protocol::OffsetFetchRequest request;
  auto& group = request.groups.emplace_back();
  group.group_id = protocol::GroupId(Committer::kGroup);
  group.topics = std::nullopt;
  const auto response = ask(request, 10);
  if (!response || life_.files().wounded()) return false;
  const auto& answer = response->groups.at(0);
  if (answer.error_code != ErrorCode::none)
    throw Violation(fmt::format("audit: offsets of the group: {}", protocol::error_name(answer.error_code)));
  std::map<PartitionId, std::int64_t> found;
  for (const auto& topic : answer.topics)
    for (const auto& partition : topic.partitions)
      found[{.topic = topic.topic_id, .number = partition.partition_index}] = partition.committed_offset;
  world_.ledger().found_offsets(found, nobody_connected);
  return true;
}

std::optional<Audit::Read> Audit::read(PartitionId where, std::int64_t offset, std::int32_t max_bytes) {
  protocol::FetchRequest request;
  request.min_bytes = 0;
  auto& topic = request.topics.emplace_back();
  topic.topic_id = where.topic;
  auto& partition = topic.partitions.emplace_back();
  partition.partition = where.number;
  partition.fetch_offset = offset;
  partition.partition_max_bytes = max_bytes;
  const auto response = ask(request, 13);
  if (!response || life_.files().wounded()) return std::nullopt;
  if (response->error_code != ErrorCode::none || response->responses.size() != 1)
    throw Violation("audit: " + where.str() + " cannot be fetched");
  const auto& answer = response->responses[0].partitions.at(0);
  if (answer.error_code != ErrorCode::none)
    throw Violation(
        fmt::format("audit: fetch of {} at {}: {}", where.str(), offset, protocol::error_name(answer.error_code)));
  if (answer.log_start_offset != 0) throw Violation("audit: " + where.str() + " does not begin at 0");
  Read result{.batches = {}, .high_watermark = answer.high_watermark};
  if (answer.records)
    for (const base::Bytes& batch : batches_of(where, answer.records->bytes(), offset))
      result.batches.push_back(batch.copy());
  return result;
}

bool Audit::check_partition(const Topic& topic, PartitionId where) {
  Read whole;
  std::int64_t next = 0;
  const auto max_bytes = static_cast<std::int32_t>(random_.below(3) == 0 ? 1 : 1000 + random_.below(100'000));
  do {
    auto part = read(where, next, max_bytes);
    if (!part) return false;
    whole.high_watermark = part->high_watermark;
    if (part->batches.empty()) break;
    next = protocol::BatchView(part->batches.back().data()).next_offset();
    for (base::Bytes& batch : part->batches) whole.batches.push_back(std::move(batch));
  } while (next < whole.high_watermark);
  world_.ledger().check_whole(where, whole.batches, whole.high_watermark);
  for (int i = 0; i < 3 && next > 0; ++i) {
    // Any offset leads to the batch that holds it, through the offset index.
    const auto offset = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(next)));
    const auto found = read(where, offset, 1);
    if (!found) return false;
    if (found->batches.empty()) throw Violation(fmt::format("audit: {} has nothing at {}", where.str(), offset));
  }
  return check_times(topic, where, whole);
}

bool Audit::check_times(const Topic& topic, PartitionId where, const Read& whole) {
  if (!check_time(topic, where, kEarliest, 0) || !check_time(topic, where, kLatest, whole.high_watermark)) return false;
  const std::vector<Time> times = times_of(whole.batches);
  if (times.empty()) return true;
  const auto newest = std::ranges::max_element(times, {}, &Time::timestamp);
  if (!check_time(topic, where, kMaxTimestamp, newest->offset)) return false;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t timestamp =
        times[random_.below(times.size())].timestamp + static_cast<std::int64_t>(random_.below(3));
    const auto first = std::ranges::find_if(times, [&](const Time& time) { return time.timestamp >= timestamp; });
    if (!check_time(topic, where, timestamp, first == times.end() ? -1 : first->offset)) return false;
  }
  return true;
}

bool Audit::check_time(const Topic& topic, PartitionId where, std::int64_t timestamp, std::int64_t expected_offset) {
  protocol::ListOffsetsRequest request;
  request.replica_id = protocol::kNoBroker;
  auto& asked = request.topics.emplace_back();
  asked.name = topic.name;
  auto& partition = asked.partitions.emplace_back();
  partition.partition_index = where.number;
  partition.timestamp = timestamp;
  const auto response = ask(request, 7);
  if (!response || life_.files().wounded()) return false;
  const auto& answer = response->topics.at(0).partitions.at(0);
  if (answer.error_code != ErrorCode::none || answer.offset != expected_offset)
    throw Violation(fmt::format("audit: {} has offset {} for timestamp {} ({}), {} was due", where.str(), answer.offset,
                                timestamp, protocol::error_name(answer.error_code), expected_offset));
  return true;
}

}  // namespace thalweg::simulation
