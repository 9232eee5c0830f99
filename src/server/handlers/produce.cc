// Produce (API 0).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/produce.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "protocol/record_batch.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::ProduceItem;
using broker::ProduceOutcome;
using broker::ResourceType;
using protocol::ErrorCode;
using protocol::ProduceRequest;
using protocol::ProduceResponse;
using PartitionAnswer = ProduceResponse::PartitionProduceResponse;

// The answer with a place for each partition, and where each of them is.
struct Draft {
  ProduceResponse response;
  std::vector<PartitionAnswer*> slots;
  std::vector<std::vector<ProduceItem>> items;  // by core
};

ErrorCode refuse_topic(const RequestContext& context, const metadata::Topic* topic, std::string_view name) {
  // Of a name that the client must not use it does not hear whether it exists.
  if (topic == nullptr && context.version >= 13) return ErrorCode::unknown_topic_id;
  if (topic != nullptr) name = topic->name;
  if (!context.authorized(AclOperation::write, ResourceType::topic, name)) return ErrorCode::topic_authorization_failed;
  if (topic == nullptr) return ErrorCode::unknown_topic_or_partition;
  if (broker::is_internal_topic(name)) return ErrorCode::invalid_topic_exception;
  return ErrorCode::none;
}

// Whether what the records claim is allowed: transactional ones come with a transactional id that the client may use.
bool may_be_transactional(const RequestContext& context, const ProduceRequest& request) {
  const auto is_transactional = [](const auto& data) {
    if (!data.records) return false;
    const auto batch = protocol::parse_batch(data.records->bytes().span());
    return batch && batch->is_transactional();
  };
  const auto has_any = [&](const auto& topic) { return std::ranges::any_of(topic.partition_data, is_transactional); };
  if (!std::ranges::any_of(request.topic_data, has_any)) return true;
  return request.transactional_id &&
         context.authorized(AclOperation::write, ResourceType::transactional_id, request.transactional_id->view());
}

void draft_topic(Draft& draft, RequestContext& context, ProduceRequest::TopicProduceData& topic, ErrorCode refused) {
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  const metadata::Topic* known =
      context.version >= 13 ? snapshot.topic(topic.topic_id) : snapshot.topic(topic.name.view());
  if (refused == ErrorCode::none) refused = refuse_topic(context, known, topic.name);
  auto& answer = draft.response.responses.emplace_back();
  answer.name = std::move(topic.name);
  answer.topic_id = topic.topic_id;
  answer.partition_responses.resize(topic.partition_data.size());
  for (std::size_t i = 0; i < topic.partition_data.size(); ++i) {
    auto& data = topic.partition_data[i];
    PartitionAnswer& partition = answer.partition_responses[i];
    partition.index = data.index;
    partition.base_offset = -1;
    partition.error_message.reset();
    draft.slots.push_back(&partition);
    if (refused != ErrorCode::none) {
      partition.error_code = refused;
    } else if (known->partition(data.index) == nullptr) {
      partition.error_code = ErrorCode::unknown_topic_or_partition;
    } else {
      const int owner = context.broker.owner_of(known->name, data.index);
      draft.items[static_cast<std::size_t>(owner)].push_back(
          {.key = {.topic_id = known->id, .partition = data.index},
           .records = data.records ? data.records->bytes() : base::Bytes(),
           .slot = draft.slots.size() - 1});
    }
  }
}

void fill(PartitionAnswer& answer, ProduceOutcome outcome) {
  answer.error_code = outcome.error;
  answer.log_start_offset = outcome.log_start_offset;
  if (outcome.error == ErrorCode::none) {
    answer.base_offset = outcome.base_offset;
    answer.log_append_time_ms = outcome.log_append_time_ms;
    return;
  }
  if (outcome.message) answer.error_message = *outcome.message;
  for (protocol::RecordError& error : outcome.record_errors) {
    auto& out = answer.record_errors.emplace_back();
    out.batch_index = error.batch_index;
    out.batch_index_error_message = error.message;
  }
}

struct Outcomes {
  std::size_t left = 0;
  std::vector<ProduceOutcome> all;
  runtime::Resume<int> resume;

  void take(std::vector<ProduceOutcome> more) {
    for (ProduceOutcome& outcome : more) all.push_back(std::move(outcome));
    if (--left == 0 && resume) std::exchange(resume, nullptr)(0);
  }
};

// Starts the appends on every core before it waits for any, so that requests of one connection keep their order.
Awaitable<std::vector<ProduceOutcome>> append_everywhere(RequestContext& context,
                                                         std::vector<std::vector<ProduceItem>> items,
                                                         broker::ProduceOptions options) {
  auto outcomes = std::make_shared<Outcomes>();
  for (const auto& list : items) outcomes->left += list.empty() ? 0 : 1;
  if (outcomes->left == 0) co_return std::vector<ProduceOutcome>();
  runtime::Core& home = context.core;
  for (std::size_t core = 0; core < items.size(); ++core) {
    if (items[core].empty()) continue;
    broker::Shard& owner = context.broker.shard(static_cast<int>(core));
    if (&owner == &context.shard) {
      broker::produce(owner, std::move(items[core]), options,
                      [outcomes](std::vector<ProduceOutcome> results) { outcomes->take(std::move(results)); });
      continue;
    }
    owner.core().post([&owner, &home, outcomes, options, list = std::move(items[core])]() mutable {
      broker::produce(owner, std::move(list), options, [&home, outcomes](std::vector<ProduceOutcome> results) {
        home.post([outcomes, results = std::move(results)]() mutable { outcomes->take(std::move(results)); });
      });
    });
  }
  if (outcomes->left > 0)
    co_await runtime::suspend<int>([outcomes](runtime::Resume<int> resume) { outcomes->resume = std::move(resume); });
  co_return std::move(outcomes->all);
}

}  // namespace

Awaitable<ProduceAnswer> produce(RequestContext& context, ProduceRequest request) {
  Draft draft;
  draft.items.resize(static_cast<std::size_t>(context.broker.core_count()));
  ErrorCode refused = ErrorCode::none;
  if (!may_be_transactional(context, request)) refused = ErrorCode::transactional_id_authorization_failed;
  if (request.acks < -1 || request.acks > 1) refused = ErrorCode::invalid_required_acks;
  draft.response.responses.reserve(request.topic_data.size());
  for (auto& topic : request.topic_data)
    if (!topic.partition_data.empty()) draft_topic(draft, context, topic, refused);

  const broker::ProduceOptions options{.acks = request.acks, .api_version = static_cast<std::int16_t>(context.version)};
  std::vector<ProduceOutcome> outcomes = co_await append_everywhere(context, std::move(draft.items), options);
  for (ProduceOutcome& outcome : outcomes) fill(*draft.slots[outcome.slot], std::move(outcome));

  ProduceAnswer answer;
  if (request.acks != 0) {
    answer.response = std::move(draft.response);
    co_return answer;
  }
  for (const PartitionAnswer* partition : draft.slots) {
    if (partition->error_code == ErrorCode::none) continue;
    answer.close_because = fmt::format("produce with acks=0 failed: {}", protocol::error_name(partition->error_code));
    break;
  }
  co_return answer;
}

}  // namespace thalweg::server::handlers
