#include "storage/flush_scheduler.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace thalweg::storage {

namespace {

template <class T>
void take_all(std::vector<T>& into, std::vector<T>&& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Steps that are made side by side.
struct Step {
  std::function<runtime::IoResult<void>()> run;
  // A small file that finds no room is written anew in a later round, and the one that it replaces is still whole.
  bool may_be_repeated = false;
};

// A topic that is deleted takes its folder away under a round; nobody waits for what was in it.
runtime::IoResult<void> unless_gone(runtime::IoResult<void> result) {
  if (!result && result.error().error_number == ENOENT) return {};
  return result;
}

runtime::IoResult<void> replace(runtime::FileSystem& files, const FileReplacement& replacement) {
  return unless_gone(files.replace_file(replacement.path, replacement.contents));
}

}  // namespace

// A round while it runs. The pool's threads share it; the last one to finish reports to the core.
struct FlushScheduler::Progress {
  Round round;
  base::SteadyTime started;
  std::size_t files_asked = 0;
  std::atomic<std::size_t> left{0};
  std::atomic<bool> failed{false};
  std::unique_ptr<runtime::IoError> error;  // written by the one that has set `failed`, read once nothing is left
  std::atomic<bool> out_of_space{false};
};

FlushScheduler::FlushScheduler(runtime::FileSystem& files, runtime::Executor& home, runtime::Executor& pool,
                               const base::Clock& clock, FlushOptions options)
    : files_(files), home_(home), pool_(pool), clock_(clock), options_(std::move(options)) {}

FlushScheduler::~FlushScheduler() = default;

void FlushScheduler::request(FlushTargets targets, Done done) {
  take_all(gathering_.files, std::move(targets.files));
  take_all(gathering_.folders, std::move(targets.folders));
  take_all(gathering_.replacements, std::move(targets.replacements));
  gathering_.waiters.push_back(std::move(done));
  if (running_ || scheduled_) return;
  scheduled_ = true;
  home_.post([this] {
    scheduled_ = false;
    start();
  });
}

void FlushScheduler::start() {
  auto progress = std::make_shared<Progress>();
  progress->round = std::exchange(gathering_, {});
  progress->started = clock_.steady();
  Round& round = progress->round;
  running_ = true;
  if (error_ != nullptr) {
    finish(progress);
    return;
  }
  std::ranges::sort(round.files);
  round.files.erase(std::ranges::unique(round.files).begin(), round.files.end());
  std::ranges::sort(round.folders);
  round.folders.erase(std::ranges::unique(round.folders).begin(), round.folders.end());
  progress->files_asked = round.files.size();

  std::vector<Step> steps;
  runtime::FileSystem& files = files_;
  if (round.files.size() + round.folders.size() > options_.most_single_syncs) {
    steps.push_back({[&files, directory = options_.directory] { return files.sync_filesystem(directory); }});
  } else {
    // By name rather than by address, so that a simulation repeats itself.
    std::ranges::sort(round.files, {}, [](const auto& file) { return std::string_view(file->path()); });
    for (const auto& file : round.files) steps.push_back({[file] { return file->sync(); }});
    for (const auto& folder : round.folders)
      steps.push_back({[&files, folder] { return unless_gone(files.sync_directory(folder)); }});
  }
  for (const FileReplacement& replacement : round.replacements)
    steps.push_back({[&files, &replacement] { return replace(files, replacement); }, true});
  progress->left = steps.size();
  if (steps.empty()) {
    finish(progress);
    return;
  }
  for (Step& step : steps) {
    pool_.post([this, progress, step = std::move(step)] {
      if (auto result = step.run(); !result) {
        if (step.may_be_repeated && result.error().out_of_space()) {
          progress->out_of_space = true;
        } else if (!progress->failed.exchange(true)) {
          progress->error = std::make_unique<runtime::IoError>(std::move(result).error());
        }
      }
      if (progress->left.fetch_sub(1) == 1) home_.post([this, progress] { finish(progress); });
    });
  }
}

void FlushScheduler::finish(const std::shared_ptr<Progress>& progress) {
  running_ = false;
  if (progress->error != nullptr && error_ == nullptr) {
    error_ = std::move(progress->error);
    LOG_ERROR("storage", "{} is offline: {}", options_.directory, error_->message());
  }
  if (observer_ && progress->files_asked > 0) {
    const auto took = clock_.steady() - progress->started;
    observer_(progress->files_asked, std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
  }
  // What gathered in between starts first: the disk works on while the waiters are told.
  std::vector<Done> waiters = std::move(progress->round.waiters);
  if (!gathering_.waiters.empty()) start();
  for (Done& done : waiters) {
    if (error_ != nullptr) {
      done(std::unexpected(*error_));
    } else if (progress->out_of_space) {
      done(std::unexpected(runtime::IoError{ENOSPC, "write in " + options_.directory}));
    } else {
      done({});
    }
  }
}

}  // namespace thalweg::storage
