// What commits cost. The store runs on the benchmark's thread, so the CPU column is all it takes; SQLite's file is in
// the folder for temporary files, whose disk decides the time column.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "metadata/store_test_util.h"

namespace thalweg::metadata {
namespace {

using protocol::BrokerId;

struct Setup {
  TemporaryFolder folder;
  ManualExecutor executor;
  base::SystemClock clock;
  SeededUuids uuids{1};
  CountingObserver observer;
  std::shared_ptr<MemoryDatabase> database = std::make_shared<MemoryDatabase>();
  std::unique_ptr<Store> store;
  int topics = 0;

  explicit Setup(bool sqlite) { open(sqlite); }
  ~Setup() { close(); }
  void open(bool sqlite) {
    const StoreEnvironment environment{.writer = executor, .clock = clock, .uuids = uuids, .observer = &observer};
    store =
        sqlite
            ? open_sqlite_store({.path = folder.file("metadata.sqlite"), .node_id = BrokerId(1)}, environment).value()
            : open_memory_store(database, environment).value();
  }
  void close() {
    store->stop(executor, [] {});
    executor.run();
    store.reset();
  }
  void ask(std::vector<records::Record> records, Urgency urgency, std::int64_t* done_ns = nullptr) {
    store->commit({.records = std::move(records)}, urgency, executor, [this, done_ns](const CommitResult& result) {
      CHECK(result.has_value(), "a benchmark's commit failed");
      if (done_ns != nullptr) *done_ns = now();
    });
  }
  [[nodiscard]] std::int64_t now() const { return clock.steady().time_since_epoch().count(); }
  std::vector<records::Record> a_topic(int partitions) {
    ++topics;
    records::TopicCreated record = topic_created(0, "topic-" + std::to_string(topics), partitions);
    record.topic_id = uuids.next();
    return {std::move(record)};
  }
  void create_topics(int count) {
    for (int i = 0; i < count; ++i) ask(a_topic(1), Urgency::bulk);
    executor.run();
  }
};

// One topic, one transaction, one sync: what a CreateTopics waits for.
void BM_OneUrgentTopic(benchmark::State& state) {
  Setup setup(state.range(0) != 0);
  setup.create_topics(static_cast<int>(state.range(1)));
  std::vector<std::int64_t> took;
  for (auto _ : state) {
    const std::int64_t begin = setup.now();
    setup.ask(setup.a_topic(1), Urgency::urgent);
    setup.executor.run();
    took.push_back(setup.now() - begin);
  }
  state.SetItemsProcessed(state.iterations());
  std::ranges::sort(took);
  state.counters["p50_us"] = static_cast<double>(took[took.size() / 2]) / 1e3;
  state.counters["p99_us"] = static_cast<double>(took[took.size() * 99 / 100]) / 1e3;
  state.counters["max_us"] = static_cast<double>(took.back()) / 1e3;
}
BENCHMARK(BM_OneUrgentTopic)->ArgNames({"sqlite", "topics"})->Args({0, 100'000})->Args({1, 0})->Args({1, 100'000});

void BM_TopicOf5000Partitions(benchmark::State& state) {
  Setup setup(state.range(0) != 0);
  for (auto _ : state) {
    setup.ask(setup.a_topic(5000), Urgency::urgent);
    setup.executor.run();
  }
}
BENCHMARK(BM_TopicOf5000Partitions)->ArgName("sqlite")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// Ten thousand CreateTopics of one topic, a hundred of them waiting at a time.
void BM_TenThousandTopics(benchmark::State& state) {
  for (auto _ : state) {
    Setup setup(state.range(0) != 0);
    for (int i = 0; i < 100; ++i) setup.create_topics(100);
    CHECK(setup.topics == 10'000);
  }
}
BENCHMARK(BM_TenThousandTopics)->ArgName("sqlite")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// Offset commits of 8 partitions, `waiting` of them in a transaction; 1000 groups.
void BM_OffsetCommits(benchmark::State& state) {
  Setup setup(state.range(0) != 0);
  setup.ask({topic_created(1, "t1", 8)}, Urgency::urgent);
  setup.executor.run();
  std::int64_t offset = 0;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < state.range(1); ++i, ++offset) {
      std::vector<records::Record> records;
      for (std::int32_t p = 0; p < 8; ++p)
        records.emplace_back(offset_committed("group-" + std::to_string(offset % 1000), 1, p, offset));
      setup.ask(std::move(records), Urgency::bulk);
    }
    setup.executor.run();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
  std::int64_t sync_ns = 0;
  for (const TransactionStats& stats : setup.observer.transactions) sync_ns += stats.sync_ns;
  state.counters["sync_us"] =
      static_cast<double>(sync_ns) / static_cast<double>(setup.observer.transactions.size()) / 1e3;
  state.counters["checkpoints"] = static_cast<double>(setup.observer.checkpoints.size());
}
BENCHMARK(BM_OffsetCommits)
    ->ArgNames({"sqlite", "waiting"})
    ->Args({0, 500})
    ->Args({1, 1})
    ->Args({1, 50})
    ->Args({1, 500});

// How long an urgent change takes while bulk offsets keep 2000 commits waiting.
void BM_UrgentDuringAFlood(benchmark::State& state) {
  Setup setup(true);
  setup.ask({topic_created(1, "t1", 8)}, Urgency::urgent);
  setup.executor.run();
  std::int64_t offset = 0;
  std::vector<std::int64_t> took;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < 2000; ++i, ++offset) {
      std::vector<records::Record> records;
      for (std::int32_t p = 0; p < 8; ++p)
        records.emplace_back(offset_committed("group-" + std::to_string(offset % 1000), 1, p, offset));
      setup.ask(std::move(records), Urgency::bulk);
    }
    const std::int64_t begin = setup.now();
    std::int64_t done = 0;
    setup.ask(setup.a_topic(1), Urgency::urgent, &done);
    setup.executor.run();
    took.push_back(done - begin);
  }
  std::ranges::sort(took);
  state.counters["p50_us"] = static_cast<double>(took[took.size() / 2]) / 1e3;
  state.counters["max_us"] = static_cast<double>(took.back()) / 1e3;
}
BENCHMARK(BM_UrgentDuringAFlood)->Unit(benchmark::kMillisecond);

void BM_Open(benchmark::State& state) {
  Setup setup(true);
  setup.create_topics(static_cast<int>(state.range(0)));
  setup.close();
  for (auto _ : state) {
    setup.open(true);
    state.PauseTiming();
    CHECK(setup.store->opened_snapshot()->topic_count() == static_cast<std::size_t>(state.range(0)));
    setup.close();
    state.ResumeTiming();
  }
  setup.open(true);
}
BENCHMARK(BM_Open)->ArgName("topics")->Arg(0)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void BM_OpenANewFile(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto setup = std::make_unique<Setup>(false);
    setup->close();
    state.ResumeTiming();
    setup->open(true);
    state.PauseTiming();
    setup.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_OpenANewFile)->Unit(benchmark::kMillisecond);

// What a reader pays: a topic by its id, and by its name, among 100,000.
void BM_FindTopic(benchmark::State& state) {
  Snapshot snapshot;
  SeededUuids uuids(1);
  std::vector<base::Uuid> ids;
  std::vector<std::string> names;
  for (int i = 0; i < 100'000; ++i) {
    records::TopicCreated record = topic_created(0, "some-topic-" + std::to_string(i));
    record.topic_id = uuids.next();
    ids.push_back(record.topic_id);
    names.push_back(record.name);
    CHECK(snapshot.apply(Revision(i + 1), record).has_value());
  }
  std::size_t at = 0;
  for (auto _ : state) {
    at = (at + 7919) % ids.size();
    benchmark::DoNotOptimize(state.range(0) != 0 ? snapshot.topic(std::string_view(names[at]))
                                                 : snapshot.topic(ids[at]));
  }
}
BENCHMARK(BM_FindTopic)->ArgName("by_name")->Arg(0)->Arg(1);

}  // namespace
}  // namespace thalweg::metadata
