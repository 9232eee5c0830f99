// When to sync the file system rather than file by file: each round writes 4 KiB to N files and makes them durable, in
// one way or the other, on a pool of eight threads.
//
//   flush_scheduler_benchmark     in $TMPDIR, or else /tmp, which must be on the disk in question

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "runtime/file.h"

namespace thalweg::storage {
namespace {

constexpr std::size_t kThreads = 8;

struct Files {
  explicit Files(std::int64_t count) {
    const char* base = std::getenv("TMPDIR");
    folder = std::string(base == nullptr ? "/tmp" : base) + "/flush_benchmark";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (std::int64_t i = 0; i < count; ++i)
      files.push_back(*system->open(folder + "/" + std::to_string(i), runtime::OpenMode::create));
  }
  ~Files() { std::filesystem::remove_all(folder); }
  void write() {
    for (const auto& file : files)
      if (!file->write_at(position, std::span<const std::uint8_t>(block))) std::abort();
    position += block.size();
  }
  std::string folder;
  std::unique_ptr<runtime::FileSystem> system = runtime::make_system_file_system();
  std::vector<std::shared_ptr<runtime::File>> files;
  std::vector<std::uint8_t> block = std::vector<std::uint8_t>(4096, 7);
  std::uint64_t position = 0;
};

void BM_SyncSideBySide(benchmark::State& state) {
  Files files(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    files.write();
    state.ResumeTiming();
    std::vector<std::future<void>> parts;
    for (std::size_t t = 0; t < std::min(kThreads, files.files.size()); ++t)
      parts.push_back(std::async(std::launch::async, [&files, t] {
        for (std::size_t i = t; i < files.files.size(); i += kThreads)
          if (!files.files[i]->sync()) std::abort();
      }));
    for (auto& part : parts) part.get();
  }
}
BENCHMARK(BM_SyncSideBySide)
    ->ArgName("files")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Arg(64)
    ->Arg(256)
    ->UseRealTime()
    ->Iterations(50)
    ->Unit(benchmark::kMicrosecond);

void BM_SyncFileSystem(benchmark::State& state) {
  Files files(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    files.write();
    state.ResumeTiming();
    if (!files.system->sync_filesystem(files.folder)) std::abort();
  }
}
BENCHMARK(BM_SyncFileSystem)
    ->ArgName("files")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Arg(64)
    ->Arg(256)
    ->UseRealTime()
    ->Iterations(50)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace thalweg::storage
