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

FetchResponse error_answer(ErrorCode error) {
  FetchResponse response;
  response.error_code = error;
  return response;
}

// The partitions of a request that has no session, or opens one, in its order and each once.
Wanted named_partitions(const FetchRequest& request) {
  FetchSession once;
  once.update(request);
  return {once.partitions().begin(), once.partitions().end()};
}

// Reads everything that is wanted; what cannot be read for want of a topic or a permission is answered at once.
Awaitable<std::vector<FetchOutcome>> read(broker::Shard& home, const RequestContext& context, const FetchRequest& request,
                                          const Wanted& wanted) {
  const metadata::Snapshot& snapshot = *home.snapshot();
  std::vector<FetchItem> items;
  std::vector<FetchOutcome> refused;
  items.reserve(wanted.size());
  for (std::size_t slot = 0; slot < wanted.size(); ++slot) {
    const SessionPartition& partition = *wanted[slot];
    const metadata::Topic* topic =
        context.version >= 13 ? snapshot.topic(partition.topic_id) : snapshot.topic(partition.topic);
    ErrorCode error = ErrorCode::none;
    if (topic == nullptr) {
      error = context.version >= 13 ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition;
    } else if (!context.authorized(broker::AclOperation::read, broker::ResourceType::topic, topic->name)) {
      error = ErrorCode::topic_authorization_failed;
    } else if (topic->partition(partition.partition) == nullptr) {
      error = ErrorCode::unknown_topic_or_partition;
    }
    if (error != ErrorCode::none) {
      FetchOutcome& outcome = refused.emplace_back();
      outcome.slot = slot;
      outcome.error = error;
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
  // An error is news that the client should not wait for.
  options.max_wait_ms = refused.empty() ? request.max_wait_ms : 0;
  options.read_committed = request.isolation_level == 1;
  std::vector<FetchOutcome> outcomes = co_await broker::fetch(home, std::move(items), options);
  for (FetchOutcome& outcome : refused) outcomes.push_back(std::move(outcome));
  std::ranges::sort(outcomes, {}, &FetchOutcome::slot);
  co_return outcomes;
}

void add_partition(FetchResponse& response, const RequestContext& context, const SessionPartition& partition,
                   FetchOutcome outcome) {
  const bool by_id = context.version >= 13;
  const bool same_topic = !response.responses.empty() &&
                          (by_id ? response.responses.back().topic_id == partition.topic_id
                                 : response.responses.back().topic == std::string_view(partition.topic));
  if (!same_topic) {
    auto& topic = response.responses.emplace_back();
    topic.topic = protocol::TopicName(partition.topic);
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

Awaitable<FetchResponse> full_fetch(broker::Shard& home, RequestContext& context, const FetchRequest& request, bool open_session) {
  const Wanted wanted = named_partitions(request);
  std::vector<FetchOutcome> outcomes = co_await read(home, context, request, wanted);
  count_bytes(home, outcomes);
  FetchResponse response;
  if (open_session && !wanted.empty()) {
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
  if (session->uses_topic_ids != (context.version >= 13)) co_return error_answer(ErrorCode::fetch_session_topic_id_error);
  session->update(request);
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
