#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "protocol/produced_batch.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::protocol {
namespace {

constexpr std::int64_t kNow = 1700000000000;

// Records of `value_bytes` that shrink to about a third.
base::Bytes batch_of(CompressionType codec, std::int64_t records, std::int64_t value_bytes) {
  std::mt19937 random(1);
  BatchOptions options;
  options.compression = codec;
  RecordBatchBuilder builder(options);
  for (std::int64_t i = 0; i < records; ++i) {
    std::string value;
    while (value.size() < static_cast<std::size_t>(value_bytes))
      value += "field" + std::to_string(random() % 10000) + ",";
    value.resize(static_cast<std::size_t>(value_bytes));
    RecordInput record;
    record.timestamp = kNow + i;
    record.value = std::span(reinterpret_cast<const std::uint8_t*>(value.data()), value.size());
    builder.append(record);
  }
  return builder.build();
}

void BM_ValidateProducedBatch(benchmark::State& state) {
  const auto codec = static_cast<CompressionType>(state.range(0));
  const base::Bytes batch = batch_of(codec, state.range(1), state.range(2));
  Decompressor decompressor;
  const ProduceRules rules{.now_ms = kNow};
  for (auto _ : state) {
    auto summary = validate_produced_batch(BatchView(batch.data()), rules, decompressor);
    if (!summary.has_value()) state.SkipWithError("refused");
    benchmark::DoNotOptimize(summary);
  }
  state.SetBytesProcessed(state.iterations() * state.range(1) * state.range(2));
  state.counters["batch_bytes"] = static_cast<double>(batch.size());
}
BENCHMARK(BM_ValidateProducedBatch)
    ->ArgNames({"codec", "records", "value"})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {1}, {100}})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {64}, {1024}})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {1000}, {100}});

void BM_ReadRecords(benchmark::State& state) {
  const base::Bytes batch = batch_of(CompressionType::none, state.range(0), state.range(1));
  Decompressor decompressor;
  for (auto _ : state) {
    std::size_t bytes = 0;
    auto result = for_each_record(BatchView(batch.data()), decompressor,
                                  [&](const Record& record) { bytes += record.value->size(); });
    benchmark::DoNotOptimize(result);
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadRecords)->ArgNames({"records", "value"})->Args({1, 100})->Args({1000, 100});

void BM_Compress(benchmark::State& state) {
  const base::Bytes batch = batch_of(CompressionType::none, 64, 1024);
  Compressor compressor;
  std::size_t small = 0;
  for (auto _ : state) {
    small =
        compressor.compress(static_cast<CompressionType>(state.range(0)), {}, BatchView(batch.data()).records()).size();
    benchmark::DoNotOptimize(small);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(batch.size()));
  state.counters["compressed_bytes"] = static_cast<double>(small);
}
BENCHMARK(BM_Compress)->ArgName("codec")->DenseRange(1, 4);

}  // namespace
}  // namespace thalweg::protocol
