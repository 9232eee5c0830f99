// Fetch (API 1), with and without a session (KIP-227).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/fetch.h"
#include "broker/fetch_session.h"
#include "broker/shard.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::FetchItem;
using broker::FetchOutcome;
using broker::FetchSession;
using broker::SessionPartition;
using protocol::ErrorCode;
using protocol::FetchRequest;
using protocol::FetchResponse;
using Wanted = std::vector<std::shared_ptr<SessionPartition>>;

constexpr std::int8_t kReadCommitted = 1;

FetchResponse error_answer(ErrorCode error) {
  FetchResponse response;
  response.error_code = error;
  return response;
}

// The answer to a request that could not be made sense of. Up to version 12 clients look for the error at each
// partition.
FetchResponse refuse_all(const RequestContext& context, const FetchRequest& request, ErrorCode error) {
  FetchResponse response = error_answer(error);
  response.session_id = request.session_id;
  if (context.version >= 13) return response;
  for (const auto& topic : request.topics) {
    auto& answer = response.responses.emplace_back();
    answer.topic = topic.topic;
    for (const auto& wanted : topic.partitions) {
      auto& partition = answer.partitions.emplace_back();
      partition.partition_index = wanted.partition;
      partition.error_code = error;
      partition.high_watermark = -1;
      partition.records = protocol::Records();
    }
  }
  return response;
}

// Followers ask with their id; there are none, since each partition has one replica.
bool is_follower(const FetchRequest& request) {
  return request.replica_id.value() >= 0 || request.replica_state.replica_id.value() >= 0;
}

// The partitions of a request that has no session, or opens one, in its order and each once.
Wanted named_partitions(const FetchRequest& request) {
  FetchSession once;
  once.want(request);
  return {once.partitions().begin(), once.partitions().end()};
}

// Finds the topic of a partition. What was once found by its id is looked for by its name when the id is gone, so that
// a client whose topic was deleted or made again during its session hears of that.
const metadata::Topic* find_topic(const metadata::Snapshot& snapshot, SessionPartition& partition) {
  if (!partition.topic_id.is_zero()) {
    if (const metadata::Topic* topic = snapshot.topic(partition.topic_id)) {
      if (partition.topic.empty()) partition.topic = topic->name.str();
      return topic;
    }
  }
  return partition.topic.empty() ? nullptr : snapshot.topic(partition.topic);
}

// `home` is where the fetch runs, which may be another core than the connection's.
ErrorCode refusal(const broker::Shard& home, const RequestContext& context, const SessionPartition& partition,
                  const metadata::Topic* topic) {
  if (context.version >= 13 && partition.topic.empty()) return ErrorCode::unknown_topic_id;
  if (!context.authorized_on(home, broker::AclOperation::read, broker::ResourceType::topic, partition.topic))
    return ErrorCode::topic_authorization_failed;
  if (topic == nullptr || topic->partition(partition.partition) == nullptr)
    return ErrorCode::unknown_topic_or_partition;
  return ErrorCode::none;
}

// Reads everything that is wanted. Behind what was read comes what cannot be read for want of a topic or a permission,
// in its order.
Awaitable<std::vector<FetchOutcome>> read(broker::Shard& home, const RequestContext& context,
                                          const FetchRequest& request, const Wanted& wanted) {
  const metadata::Snapshot& snapshot = *home.snapshot();
  std::vector<FetchItem> items;
  std::vector<FetchOutcome> failed;
  std::vector<FetchOutcome> refused;
  items.reserve(wanted.size());
  // Followers are brokers; they read whatever they replicate.
  const bool follower_refused =
      is_follower(request) && !context.authorized_on(home, broker::AclOperation::cluster_action,
                                                     broker::ResourceType::cluster, broker::kClusterResource);
  for (std::size_t slot = 0; slot < wanted.size(); ++slot) {
    SessionPartition& partition = *wanted[slot];
    const metadata::Topic* topic = find_topic(snapshot, partition);
    if (const ErrorCode error =
            follower_refused ? ErrorCode::topic_authorization_failed : refusal(home, context, partition, topic);
        error != ErrorCode::none) {
      refused.push_back({.slot = slot, .error = error, .aborted = std::vector<storage::AbortedTransaction>()});
      continue;
    }
    const bool replaced = !partition.topic_id.is_zero() && partition.topic_id != topic->id;
    if (replaced || is_follower(request)) {
      failed.push_back({.slot = slot,
                        .error = replaced ? ErrorCode::inconsistent_topic_id : ErrorCode::not_leader_or_follower,
                        .leader_epoch = snapshot.leader_epoch(*topic->partition(partition.partition))});
      continue;
    }
    items.push_back({.key = {.topic_id = topic->id, .partition = partition.partition},
                     .owner = home.broker().owner_of(topic->name, partition.partition),
                     .slot = slot,
                     .offset = partition.fetch_offset,
                     .max_bytes = partition.max_bytes,
                     .current_leader_epoch = partition.leader_epoch,
                     .last_fetched_epoch = partition.last_fetched_epoch});
  }
  broker::FetchOptions options;
  options.max_bytes = std::min(request.max_bytes, home.broker().settings().fetch_max_bytes);
  options.min_bytes = std::min(request.min_bytes, options.max_bytes);
  // A failed read is news that the client should not wait for; a refusal is not, and it will hear it again.
  options.max_wait_ms = failed.empty() ? request.max_wait_ms : 0;
  options.read_committed = request.isolation_level == kReadCommitted;
  // A limit that makes no sense hits the first partition; what follows is read as if no room were left.
  if (request.max_bytes < 0 && !items.empty()) items.front().max_bytes = request.max_bytes;
  std::vector<FetchOutcome> outcomes = co_await broker::fetch(home, std::move(items), options);
  for (FetchOutcome& outcome : failed) outcomes.push_back(std::move(outcome));
  std::ranges::sort(outcomes, {}, &FetchOutcome::slot);
  for (FetchOutcome& outcome : refused) outcomes.push_back(std::move(outcome));
  co_return outcomes;
}

void add_partition(FetchResponse& response, const RequestContext& context, const SessionPartition& partition,
                   FetchOutcome outcome) {
  const bool by_id = context.version >= 13;
  const bool same_topic =
      !response.responses.empty() && (by_id ? response.responses.back().topic_id == partition.topic_id
                                            : response.responses.back().topic == std::string_view(partition.topic));
  if (!same_topic) {
    auto& topic = response.responses.emplace_back();
    if (!by_id) topic.topic = protocol::TopicName(partition.topic);
    topic.topic_id = partition.topic_id;
  }
  auto& answer = response.responses.back().partitions.emplace_back();
  answer.partition_index = partition.partition;
  answer.error_code = outcome.error;
  answer.high_watermark = outcome.high_watermark;
  answer.last_stable_offset = outcome.last_stable_offset;
  answer.log_start_offset = outcome.log_start_offset;
  if (outcome.diverging) {
    answer.diverging_epoch.epoch = outcome.diverging->epoch;
    answer.diverging_epoch.end_offset = outcome.diverging->end_offset;
  }
  const bool wrong_leader =
      outcome.error == ErrorCode::not_leader_or_follower || outcome.error == ErrorCode::fenced_leader_epoch;
  if (context.version >= 16 && wrong_leader && outcome.leader_epoch >= 0) {
    answer.current_leader.leader_id = context.broker.node_id();
    answer.current_leader.leader_epoch = outcome.leader_epoch;
  }
  answer.aborted_transactions.reset();
  if (outcome.aborted) {
    auto& aborted = answer.aborted_transactions.emplace();
    for (const auto& transaction : *outcome.aborted) {
      auto& out = aborted.emplace_back();
      out.producer_id = protocol::ProducerId(transaction.producer_id);
      out.first_offset = transaction.first_offset;
    }
  }
  answer.records = protocol::Records(std::move(outcome.records));
}

// Whether an incremental answer has to mention the partition; remembers what is told.
bool is_news(SessionPartition& partition, const FetchOutcome& outcome) {
  bool news = !outcome.records.empty() || outcome.diverging.has_value();
  if (partition.high_watermark != outcome.high_watermark) {
    news = true;
    partition.high_watermark = outcome.high_watermark;
  }
  if (partition.log_start_offset != outcome.log_start_offset) {
    news = true;
    partition.log_start_offset = outcome.log_start_offset;
  }
  if (outcome.error != ErrorCode::none) {
    // Told again with the next answer that has none.
    news = true;
    partition.high_watermark = -1;
  }
  return news;
}

void count_bytes(broker::Shard& home, const std::vector<FetchOutcome>& outcomes) {
  std::int64_t bytes = 0;
  for (const FetchOutcome& outcome : outcomes) bytes += static_cast<std::int64_t>(outcome.records.size());
  home.metrics().records_bytes_out.add(bytes);
}

Awaitable<FetchResponse> full_fetch(broker::Shard& home, RequestContext& context, const FetchRequest& request,
                                    bool open_session) {
  const Wanted wanted = named_partitions(request);
  std::vector<FetchOutcome> outcomes = co_await read(home, context, request, wanted);
  count_bytes(home, outcomes);
  FetchResponse response;
  if (open_session) {
    auto session = home.fetch_sessions().create(wanted.size(), home.now_ms(), home.random());
    if (session) {
      session->uses_topic_ids = context.version >= 13;
      session->adopt(wanted);
      response.session_id = session->id;
    }
  }
  for (FetchOutcome& outcome : outcomes) {
    SessionPartition& partition = *wanted[outcome.slot];
    if (response.session_id != broker::kNoSession) (void)is_news(partition, outcome);
    add_partition(response, context, partition, std::move(outcome));
  }
  co_return response;
}

Awaitable<FetchResponse> incremental_fetch(broker::Shard& home, RequestContext& context, const FetchRequest& request) {
  const std::shared_ptr<FetchSession> session = home.fetch_sessions().find(request.session_id);
  if (!session) co_return error_answer(ErrorCode::fetch_session_id_not_found);
  if (session->epoch != request.session_epoch) co_return error_answer(ErrorCode::invalid_fetch_session_epoch);
  if (session->uses_topic_ids != (context.version >= 13))
    co_return error_answer(ErrorCode::fetch_session_topic_id_error);
  session->want(request);
  session->forget(request);
  if (session->partitions().empty()) {
    home.fetch_sessions().remove(session->id);
    co_return FetchResponse();
  }
  home.fetch_sessions().touch(*session, home.now_ms());
  session->epoch = broker::next_session_epoch(session->epoch);

  const Wanted wanted(session->partitions().begin(), session->partitions().end());
  std::vector<FetchOutcome> outcomes = co_await read(home, context, request, wanted);
  count_bytes(home, outcomes);
  FetchResponse response;
  response.session_id = session->id;
  for (FetchOutcome& outcome : outcomes) {
    SessionPartition& partition = *wanted[outcome.slot];
    const bool has_records = !outcome.records.empty();
    if (is_news(partition, outcome)) add_partition(response, context, partition, std::move(outcome));
    if (has_records) session->move_to_end(partition);
  }
  co_return response;
}

}  // namespace

Awaitable<FetchResponse> fetch(RequestContext& context, FetchRequest request) {
  broker::Shard& here = context.shard;
  if (request.isolation_level < 0 || request.isolation_level > kReadCommitted)
    co_return refuse_all(context, request, ErrorCode::unknown_server_error);
  // Before sessions every request is whole.
  const std::int32_t epoch = context.version >= 7 ? request.session_epoch : broker::kFinalEpoch;
  const std::int32_t id = context.version >= 7 ? request.session_id : broker::kNoSession;
  broker::Broker& broker = context.broker;
  broker::Shard& there =
      id > broker::kNoSession ? broker.shard(broker::FetchSessionCache::core_of(id, broker.core_count())) : here;
  if (epoch == broker::kInitialEpoch || epoch == broker::kFinalEpoch) {
    if (id != broker::kNoSession) {
      // A whole request ends the session that it names.
      if (&there == &here) {
        here.fetch_sessions().remove(id);
      } else {
        there.core().post([&there, id] { there.fetch_sessions().remove(id); });
      }
    }
    FetchResponse response = co_await full_fetch(here, context, request, epoch == broker::kInitialEpoch);
    co_return response;
  }
  if (&there == &here) {
    FetchResponse response = co_await incremental_fetch(here, context, request);
    co_return response;
  }
  // The session lives on another core: a client that came back on another connection. The fetch runs there.
  FetchResponse response = co_await boost::asio::co_spawn(
      there.core().context(), incremental_fetch(there, context, request), boost::asio::use_awaitable);
  co_return response;
}

}  // namespace thalweg::server::handlers
