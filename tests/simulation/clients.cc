#include "simulation/clients.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "protocol/messages/create_topics_request.h"
#include "protocol/messages/create_topics_response.h"
#include "protocol/messages/delete_topics_request.h"
#include "protocol/messages/delete_topics_response.h"
#include "protocol/messages/fetch_request.h"
#include "protocol/messages/init_producer_id_request.h"
#include "protocol/messages/init_producer_id_response.h"
#include "protocol/messages/produce_request.h"

namespace thalweg::simulation {

using protocol::ErrorCode;

namespace {

constexpr std::size_t kMostPending = 5;
constexpr int kDynamicTopics = 3;

}  // namespace

// ---- every client ----

void Actor::act(bool winding_down) {
  if (!client_.connected()) return world_.connect(client_);
  if (!winding_down && chance(60)) return client_.hang_up();
  do_something(winding_down);
}

void Actor::allow_if_troubled(ErrorCode error, const std::string& what) {
  if (!world_.troubled()) throw Violation(fmt::format("{}: {}", what, protocol::error_name(error)));
}

std::optional<PartitionId> Actor::any_partition() {
  const auto& topics = world_.ledger().topics();
  if (topics.empty()) return std::nullopt;
  const Topic& topic = std::next(topics.begin(), static_cast<std::ptrdiff_t>(random_.below(topics.size())))->second;
  const auto count = static_cast<std::uint64_t>(topic.shape.partitions);
  return PartitionId{.topic = topic.id, .number = static_cast<std::int32_t>(random_.below(count))};
}

// ---- producers ----

SentBatch& Producer::make_batch(PartitionId where, std::int64_t producer_id, std::int32_t base_sequence) {
  std::vector<std::string> payloads;
  for (std::uint64_t i = 0; i <= random_.below(4); ++i)
    payloads.emplace_back(random_.below(chance(8) ? 300 : 60), static_cast<char>('a' + random_.below(26)));
  return world_.ledger().make_batch(where, std::move(payloads),
                                    world_.now_ms() - static_cast<std::int64_t>(random_.below(50)), producer_id,
                                    base_sequence);
}

void Producer::send(const SentBatch& batch, std::int16_t acks, std::function<void(const Answer*)> done) {
  const Topic& topic = world_.ledger().topics().at(batch.where.topic);
  const bool by_name = topic.name.starts_with(kStable);
  protocol::ProduceRequest request;
  request.acks = acks;
  request.timeout_ms = 30'000;
  auto& data = request.topic_data.emplace_back();
  data.name = topic.name;
  data.topic_id = topic.id;
  auto& partition = data.partition_data.emplace_back();
  partition.index = batch.where.number;
  partition.records = protocol::Records(batch.encode());
  const int version = by_name ? 3 + static_cast<int>(random_.below(11)) : 13;
  LOG_DEBUG("client", "batch {} of producer {}, sequence {}, goes to {} ({}) with acks={}", batch.number,
            batch.producer_id, batch.base_sequence, batch.where.str(), topic.name, acks);
  if (acks == 0) return client_.send_unanswered(request, version);
  client_.send(request, version, [done = std::move(done)](const protocol::ProduceResponse* response) {
    if (response == nullptr) return done(nullptr);
    if (response->responses.size() != 1 || response->responses[0].partition_responses.size() != 1)
      throw Violation("an answer to Produce has not the shape of its request");
    done(&response->responses[0].partition_responses[0]);
  });
}

void PlainProducer::do_something(bool winding_down) {
  const auto where = any_partition();
  if (winding_down || !where || client_.waiting() > 8) return;
  SentBatch& batch = make_batch(*where, -1, -1);
  const auto acks = static_cast<std::int16_t>(static_cast<int>(random_.below(3)) - 1);
  send(batch, acks, [this, &batch, acks](const Answer* answer) {
    if (answer == nullptr) return;
    if (answer->error_code == ErrorCode::none) {
      world_.ledger().acknowledged(batch, answer->base_offset,
                                   acks == -1 ? Ledger::Promise::for_ever : Ledger::Promise::until_power_loss);
    } else if (world_.ledger().has(batch.where.topic) && !world_.ledger().topics().at(batch.where.topic).deleting) {
      allow_if_troubled(answer->error_code, "produce to " + batch.where.str());
    }
  });
}

bool IdempotentProducer::Lane::in_flight() const { return std::ranges::any_of(pending, &Pending::in_flight); }

bool IdempotentProducer::settled() const {
  const auto& topics = world_.ledger().topics();
  return Actor::settled() && std::ranges::all_of(lanes_, [&](const auto& lane) {
           // What was sent to a topic whose deletion is under way may never be stored.
           const auto topic = topics.find(lane.first.topic);
           return lane.second.pending.empty() || topic == topics.end() || topic->second.deleting;
         });
}

std::string IdempotentProducer::state() const {
  std::string text = Actor::state();
  for (const auto& [where, lane] : lanes_) {
    for (const Pending& pending : lane.pending)
      text += fmt::format("; batch {} to {}{}", pending.batch->number, where.str(),
                          pending.in_flight ? " is under way" : " is to be sent again");
  }
  return text;
}

void IdempotentProducer::ask_for_id() {
  asked_ = true;
  protocol::InitProducerIdRequest request;
  request.transactional_id = std::nullopt;
  client_.send(request, 4, [this](const protocol::InitProducerIdResponse* response) {
    asked_ = false;
    if (response == nullptr) return;
    if (response->error_code != ErrorCode::none) return allow_if_troubled(response->error_code, "InitProducerId");
    id_ = response->producer_id.value();
  });
}

void IdempotentProducer::do_something(bool winding_down) {
  if (id_ < 0) {
    if (!asked_ && !winding_down) ask_for_id();
    return;
  }
  std::erase_if(
      lanes_, [this](const auto& lane) { return !world_.ledger().has(lane.first.topic) && !lane.second.in_flight(); });
  // Any of them: one whose topic is being deleted may have to wait for ever.
  std::vector<Lane*> waiting;
  for (auto& [where, lane] : lanes_)
    if (lane.must_resend && !lane.in_flight()) waiting.push_back(&lane);
  if (!waiting.empty()) return resend(*waiting[random_.below(waiting.size())]);
  const auto where = any_partition();
  if (winding_down || !where) return;
  Lane& lane = lanes_[*where];
  if (lane.must_resend || lane.pending.size() >= kMostPending) return;
  SentBatch& batch = make_batch(*where, id_, lane.next_sequence);
  lane.next_sequence += batch.records();
  send_pending(*where, lane.pending.emplace_back(Pending{.batch = &batch}));
}

void IdempotentProducer::resend(Lane& lane) {
  lane.must_resend = false;
  for (Pending& pending : lane.pending) send_pending(pending.batch->where, pending);
}

void IdempotentProducer::send_pending(PartitionId where, Pending& pending) {
  pending.in_flight = true;
  pending.sent_first = &pending == &lanes_[where].pending.front();
  send(*pending.batch, -1,
       [this, where, number = pending.batch->number](const Answer* answer) { answered(where, number, answer); });
}

void IdempotentProducer::answered(PartitionId where, std::uint64_t batch, const Answer* answer) {
  Lane& lane = lanes_.at(where);
  const auto at = std::ranges::find_if(lane.pending, [&](const Pending& one) { return one.batch->number == batch; });
  at->in_flight = false;
  if (answer == nullptr) {
    lane.must_resend = true;
    return;
  }
  if (answer->error_code == ErrorCode::none) {
    world_.ledger().acknowledged(*at->batch, answer->base_offset, Ledger::Promise::for_ever);
    lane.pending.erase(at);
    return;
  }
  lane.must_resend = true;
  LOG_DEBUG("client", "batch {} to {} was refused: {}", batch, where.str(), protocol::error_name(answer->error_code));
  const auto& topics = world_.ledger().topics();
  const auto topic = topics.find(where.topic);
  if (topic == topics.end() || topic->second.deleting) return;
  const std::string what = fmt::format("batch {} of producer {} to {}", batch, id_, where.str());
  // One whose forerunner has failed is out of order; the first one can be neither that nor a forgotten duplicate.
  if (answer->error_code == ErrorCode::out_of_order_sequence_number && !at->sent_first) return;
  if (answer->error_code == ErrorCode::out_of_order_sequence_number ||
      answer->error_code == ErrorCode::duplicate_sequence_number)
    throw Violation(what + ": the broker has forgotten the producer's state");
  allow_if_troubled(answer->error_code, what);
}

// ---- consumers ----

std::vector<base::Bytes> batches_of(PartitionId where, const base::Bytes& records, std::int64_t offset) {
  std::vector<base::Bytes> batches;
  std::int64_t next = -1;
  for (std::size_t at = 0; records.size() - at >= protocol::kBatchHeaderSize;) {
    const protocol::BatchView batch(records.data() + at);
    if (batch.batch_length() < 49) throw Violation(where.str() + ": a fetch gave what is no batch");
    if (batch.size_bytes() > records.size() - at) break;
    const bool follows =
        next < 0 ? batch.base_offset() <= offset && offset <= batch.last_offset() : batch.base_offset() == next;
    if (!follows)
      throw Violation(fmt::format("{}: a fetch at {} gave the batch {} to {}, {} was due", where.str(), offset,
                                  batch.base_offset(), batch.last_offset(), next < 0 ? offset : next));
    batches.push_back(records.slice(at, batch.size_bytes()));
    next = batch.next_offset();
    at += batch.size_bytes();
  }
  return batches;
}

void Consumer::do_something(bool winding_down) {
  if (winding_down || client_.waiting() > 0) return;
  std::erase_if(positions_, [this](const auto& position) { return !world_.ledger().has(position.first.topic); });
  const auto more = any_partition();
  if (!more) return;
  if (positions_.size() < 4) positions_.emplace(*more, 0);
  if (chance(10)) {
    auto& [where, position] =
        *std::next(positions_.begin(), static_cast<std::ptrdiff_t>(random_.below(positions_.size())));
    position =
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(world_.ledger().readable_end(where)) + 1));
  }
  protocol::FetchRequest request;
  request.max_wait_ms = chance(3) ? 200 : 0;
  request.min_bytes = chance(3) ? 400 : 1;
  request.max_bytes = chance(3) ? 500 : 1 << 20;
  request.isolation_level = chance(4) ? 1 : 0;
  std::map<PartitionId, std::int64_t> asked;
  for (const auto& [where, position] : positions_) {
    if (request.topics.empty() || request.topics.back().topic_id != where.topic)
      request.topics.emplace_back().topic_id = where.topic;
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partition = where.number;
    partition.fetch_offset = position;
    partition.partition_max_bytes = chance(3) ? 1 : 10'000;
    asked[where] = position;
  }
  const int version = 13 + static_cast<int>(random_.below(6));
  client_.send(request, version, [this, asked = std::move(asked)](const protocol::FetchResponse* response) {
    if (response == nullptr) return;
    if (response->error_code != ErrorCode::none) return allow_if_troubled(response->error_code, "fetch");
    for (const auto& topic : response->responses) {
      for (const auto& partition : topic.partitions) {
        const PartitionId where{.topic = topic.topic_id, .number = partition.partition_index};
        const auto position = asked.find(where);
        if (position == asked.end()) throw Violation("a fetch gave what it was not asked for");
        answered(where, position->second, partition);
      }
    }
  });
}

void Consumer::answered(PartitionId where, std::int64_t offset, const Answer& answer) {
  const auto& topics = world_.ledger().topics();
  const auto topic = topics.find(where.topic);
  if (topic == topics.end() || topic->second.deleting) return;
  const std::string what = fmt::format("fetch of {} at {}", where.str(), offset);
  if (answer.error_code == ErrorCode::offset_out_of_range)
    throw Violation(what + ": out of range, though it was readable before");
  if (answer.error_code != ErrorCode::none) return allow_if_troubled(answer.error_code, what);
  world_.ledger().told_high_watermark(where, answer.high_watermark);
  if (!answer.records) return;
  for (const base::Bytes& bytes : batches_of(where, answer.records->bytes(), offset)) {
    const protocol::BatchView batch(bytes.data());
    if (batch.last_offset() >= answer.high_watermark)
      throw Violation(fmt::format("{}: offset {} is above the high watermark {}", what, batch.last_offset(),
                                  answer.high_watermark));
    world_.ledger().read(where, batch);
    positions_[where] = batch.next_offset();
  }
}

// ---- the administrator ----

void Administrator::do_something(bool winding_down) {
  if (winding_down || client_.waiting() > 0) return;
  const auto& topics = world_.ledger().topics();
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(topics, [&](const auto& topic) { return topic.second.name == name; });
  };
  for (int i = 0; i < 2; ++i)
    if (const std::string name = fmt::format("{}-{}", kStable, i); !has(name)) return create(name);
  if (!chance(4)) return;
  const std::string name = fmt::format("dynamic-{}", random_.below(kDynamicTopics));
  if (!has(name)) return create(name);
  for (const auto& [id, topic] : topics)
    if (topic.name == name && !topic.deleting) return remove(id);
}

void Administrator::create(const std::string& name) {
  // The same name always has the same shape, so that a topic whose creation was not heard of is known when it is found.
  const std::size_t hash = std::hash<std::string>{}(name);
  const TopicShape shape{.partitions = 1 + static_cast<std::int32_t>(hash % 3),
                         .segment_bytes = 1500 + static_cast<std::int32_t>(hash / 3 % 4) * 700,
                         .index_interval_bytes = 50 + static_cast<std::int32_t>(hash / 12 % 5) * 80};
  world_.ledger().creating(name, shape);
  protocol::CreateTopicsRequest request;
  auto& topic = request.topics.emplace_back();
  topic.name = name;
  topic.num_partitions = shape.partitions;
  topic.replication_factor = 1;
  const auto configure = [&](std::string_view key, std::int32_t value) {
    auto& config = topic.configs.emplace_back();
    config.name = key;
    config.value = protocol::String(std::to_string(value));
  };
  configure("internal.segment.bytes", shape.segment_bytes);
  configure("index.interval.bytes", shape.index_interval_bytes);
  client_.send(request, 7, [this, name](const protocol::CreateTopicsResponse* response) {
    if (response == nullptr) return;
    const auto& result = response->topics.at(0);
    if (result.error_code == ErrorCode::none) return world_.ledger().created(result.topic_id, name);
    // Of an earlier request whose answer was lost.
    if (result.error_code == ErrorCode::topic_already_exists) return;
    allow_if_troubled(result.error_code, "creation of " + name);
  });
}

void Administrator::remove(const base::Uuid& id) {
  world_.ledger().deleting(id);
  protocol::DeleteTopicsRequest request;
  auto& topic = request.topics.emplace_back();
  topic.name = std::nullopt;
  topic.topic_id = id;
  request.timeout_ms = 1000;
  client_.send(request, 6, [this, id](const protocol::DeleteTopicsResponse* response) {
    if (response == nullptr) return;
    const ErrorCode error = response->responses.at(0).error_code;
    if (error == ErrorCode::none) return world_.ledger().deleted(id);
    allow_if_troubled(error, "deletion of " + id.str());
  });
}

}  // namespace thalweg::simulation
