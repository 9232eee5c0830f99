// What an append costs beyond the write itself, in a real folder: BM_Append less BM_WriteOnly. And reads at the tail.
//
//   storage_benchmark [--benchmark_filter=...]     in $TMPDIR, or else /tmp

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "storage/log.h"
#include "storage/test_batch.h"

namespace thalweg::storage {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;

struct Place {
  Place() {
    const char* base = std::getenv("TMPDIR");
    folder = std::string(base == nullptr ? "/tmp" : base) + "/storage_benchmark/t-0";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~Place() { std::filesystem::remove_all(folder); }
  std::string folder;
};

struct OpenLog {
  Place place;
  std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  HandleCache handles{*files, 64};
  IndexCache indexes{8 << 20};
  LogContext context{.files = *files, .handles = handles, .indexes = indexes};
  std::unique_ptr<Log> log;

  OpenLog() {
    auto config = std::make_shared<LogConfig>();
    config->segment_bytes = 64 << 20;
    log = std::move(*Log::open(context, place.folder, {"t", 0}, config, {.now_ms = kNow}));
  }
  // Keeps what is on disk small: the log is cut once it is large.
  void trim() {
    if (log->size_bytes() > (256 << 20) && !log->truncate_fully(log->log_end_offset(), kNow)) std::abort();
  }
};

// Batches of 16 records of 1 KiB.
std::vector<std::uint8_t> batch(std::int64_t producer_id, std::int32_t sequence) {
  return test::make_batch({.records = 16,
                           .value_bytes = 1024,
                           .timestamp = kNow,
                           .producer_id = producer_id,
                           .producer_epoch = static_cast<std::int16_t>(producer_id < 0 ? -1 : 0),
                           .base_sequence = sequence});
}

void BM_WriteOnly(benchmark::State& state) {
  const Place place;
  const auto files = runtime::make_system_file_system();
  const auto file = *files->open(place.folder + "/f", runtime::OpenMode::create);
  const auto bytes = batch(-1, -1);
  std::uint64_t position = 0;
  for (auto _ : state) {
    if (!file->write_at(position, std::span<const std::uint8_t>(bytes))) state.SkipWithError("write");
    position += bytes.size();
    if (position > (64 << 20)) {  // new pages all the time, as for a log
      state.PauseTiming();
      if (!file->truncate(0)) std::abort();
      position = 0;
      state.ResumeTiming();
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(BM_WriteOnly);

void BM_Append(benchmark::State& state) {
  OpenLog open;
  const bool idempotent = state.range(0) != 0;
  auto bytes = batch(idempotent ? 7 : -1, idempotent ? 0 : -1);
  std::int32_t sequence = 0;
  for (auto _ : state) {
    if (idempotent) {
      base::store_be(bytes.data() + 53, sequence);
      sequence += 16;
    }
    const MutableBatch batches[] = {bytes};
    const AppendResult result = open.log->append(batches, {.leader_epoch = 1, .now_ms = kNow});
    if (!result.ok()) state.SkipWithError(result.detail.c_str());
    if (result.rolled) {
      state.PauseTiming();
      open.trim();
      if (idempotent) sequence = open.log->producers().size() == 0 ? 0 : sequence;
      state.ResumeTiming();
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(BM_Append)->ArgName("idempotent")->Arg(0)->Arg(1);

void BM_ReadTail(benchmark::State& state) {
  OpenLog open;
  auto bytes = batch(-1, -1);
  const MutableBatch batches[] = {bytes};
  for (int i = 0; i < 1000; ++i)
    if (!open.log->append(batches, {.leader_epoch = 1, .now_ms = kNow}).ok()) state.SkipWithError("append");
  const std::int64_t offset = open.log->log_end_offset() - state.range(0);
  for (auto _ : state) {
    ReadResult result = open.log->read(offset, {.at_least_one = true});
    if (result.range.size == 0) state.SkipWithError("nothing read");
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(BM_ReadTail)->ArgName("behind")->Arg(16)->Arg(8000);

// One partition of many, after a clean shutdown: what a start with 10,000 partitions does 10,000 times.
void BM_OpenClean(benchmark::State& state) {
  const Place place;
  const auto files = runtime::make_system_file_system();
  HandleCache handles(*files, 64);
  IndexCache indexes(8 << 20);
  LogContext context{.files = *files, .handles = handles, .indexes = indexes};
  const auto config = std::make_shared<LogConfig>();
  constexpr std::int32_t kPartitions = 1000;
  const auto open = [&](std::int32_t i, bool clean) {
    return std::move(*Log::open(context, place.folder + std::to_string(i), {"t", i}, config,
                                {.clean_shutdown = clean, .now_ms = kNow}));
  };
  for (std::int32_t i = 0; i < kPartitions; ++i) {
    const auto log = open(i, false);
    auto bytes = batch(7, 0);
    const MutableBatch batches[] = {bytes};
    if (!log->append(batches, {.leader_epoch = 1, .now_ms = kNow}).ok() || !log->close({})) std::abort();
  }
  std::int32_t next = 0;
  for (auto _ : state) {
    auto log = open(next++ % kPartitions, true);
    benchmark::DoNotOptimize(log);
  }
  for (std::int32_t i = 0; i < kPartitions; ++i) std::filesystem::remove_all(place.folder + std::to_string(i));
}
BENCHMARK(BM_OpenClean)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace thalweg::storage
