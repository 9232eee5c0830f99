// Decode and encode of the messages that matter, at typical sizes: time and allocations per message.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "protocol/messages/fetch_request.h"
#include "protocol/messages/fetch_response.h"
#include "protocol/messages/metadata_request.h"
#include "protocol/messages/metadata_response.h"
#include "protocol/messages/produce_request.h"
#include "protocol/messages/produce_response.h"

namespace {

std::atomic<std::size_t> g_allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace thalweg::protocol {
namespace {

template <class Message>
Bytes encoded(const Message& message, int version) {
  Writer writer;
  message.encode(writer, version);
  return std::move(writer).finish().flatten();
}

template <class Message>
void decode_loop(benchmark::State& state, const Message& message, int version) {
  const Bytes wire = encoded(message, version);
  const std::size_t before = g_allocations;
  for (auto _ : state) {
    Reader reader(wire);
    Message decoded;
    decoded.decode(reader, version);
    benchmark::DoNotOptimize(decoded);
  }
  state.counters["allocations"] =
      benchmark::Counter(static_cast<double>(g_allocations - before) / static_cast<double>(state.iterations()));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * wire.size()));
}

template <class Message>
void encode_loop(benchmark::State& state, const Message& message, int version) {
  const std::size_t before = g_allocations;
  for (auto _ : state) {
    Writer writer;
    message.encode(writer, version);
    benchmark::DoNotOptimize(std::move(writer).finish());
  }
  state.counters["allocations"] =
      benchmark::Counter(static_cast<double>(g_allocations - before) / static_cast<double>(state.iterations()));
}

ProduceRequest produce_request(std::int64_t partitions) {
  ProduceRequest request;
  request.acks = -1;
  request.timeout_ms = 30000;
  auto& topic = request.topic_data.emplace_back();
  topic.name = "orders";
  for (std::int64_t i = 0; i < partitions; ++i) {
    auto& partition = topic.partition_data.emplace_back();
    partition.index = static_cast<std::int32_t>(i);
    partition.records = Records(Bytes::copy_of(std::string(1024, 'r')));
  }
  return request;
}

FetchRequest fetch_request(std::int64_t partitions) {
  FetchRequest request;
  request.max_wait_ms = 500;
  auto& topic = request.topics.emplace_back();
  topic.topic_id.bytes[0] = 1;
  topic.partitions.resize(static_cast<std::size_t>(partitions));
  return request;
}

FetchResponse fetch_response(std::int64_t partitions) {
  FetchResponse response;
  auto& topic = response.responses.emplace_back();
  for (std::int64_t i = 0; i < partitions; ++i) {
    auto& partition = topic.partitions.emplace_back();
    partition.aborted_transactions.reset();
    partition.records = Records(Bytes::copy_of(std::string(16384, 'r')));
  }
  return response;
}

MetadataRequest metadata_request(std::int64_t topics) {
  MetadataRequest request;
  request.topics.emplace();
  for (std::int64_t i = 0; i < topics; ++i)
    request.topics->emplace_back().name = TopicName("orders-" + std::to_string(i));
  return request;
}

MetadataResponse metadata_response(std::int64_t topics) {
  MetadataResponse response;
  response.brokers.emplace_back().host = "127.0.0.1";
  for (std::int64_t i = 0; i < topics; ++i) {
    auto& topic = response.topics.emplace_back();
    topic.name = TopicName("orders-" + std::to_string(i));
    for (int p = 0; p < 6; ++p) {
      auto& partition = topic.partitions.emplace_back();
      partition.replica_nodes = {BrokerId(1)};
      partition.isr_nodes = {BrokerId(1)};
    }
  }
  return response;
}

void BM_DecodeProduceRequest(benchmark::State& state) { decode_loop(state, produce_request(state.range(0)), 12); }
BENCHMARK(BM_DecodeProduceRequest)->ArgName("partitions")->Arg(1)->Arg(6)->Arg(100);
void BM_DecodeFetchRequest(benchmark::State& state) { decode_loop(state, fetch_request(state.range(0)), 17); }
BENCHMARK(BM_DecodeFetchRequest)->ArgName("partitions")->Arg(1)->Arg(6)->Arg(100);
void BM_EncodeFetchResponse(benchmark::State& state) { encode_loop(state, fetch_response(state.range(0)), 17); }
BENCHMARK(BM_EncodeFetchResponse)->ArgName("partitions")->Arg(1)->Arg(6)->Arg(100);
void BM_DecodeMetadataRequest(benchmark::State& state) { decode_loop(state, metadata_request(state.range(0)), 12); }
BENCHMARK(BM_DecodeMetadataRequest)->ArgName("topics")->Arg(1)->Arg(100);
void BM_EncodeMetadataResponse(benchmark::State& state) { encode_loop(state, metadata_response(state.range(0)), 12); }
BENCHMARK(BM_EncodeMetadataResponse)->ArgName("topics")->Arg(1)->Arg(100);

}  // namespace
}  // namespace thalweg::protocol
