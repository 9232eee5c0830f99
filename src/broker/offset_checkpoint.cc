#include "broker/offset_checkpoint.h"

#include <utility>

namespace thalweg::broker {

OffsetCheckpoint::OffsetCheckpoint(runtime::FileSystem& files, runtime::Executor& home, runtime::Executor& pool,
                                   std::string path)
    : files_(files), home_(home), pool_(pool), path_(std::move(path)) {}

void OffsetCheckpoint::load(storage::OffsetMap lines, const std::vector<storage::TopicPartition>& dead) {
  lines_ = std::move(lines);
  for (const storage::TopicPartition& partition : dead)
    if (lines_.erase(partition) > 0) changed_ = true;
}

std::int64_t OffsetCheckpoint::line(const storage::TopicPartition& partition) const {
  const auto found = lines_.find(partition);
  return found == lines_.end() ? 0 : found->second;
}

void OffsetCheckpoint::raise(const storage::OffsetMap& offsets, Done done) {
  for (const auto& [partition, offset] : offsets) {
    std::int64_t& line = lines_[partition];
    if (offset <= line) continue;
    line = offset;
    changed_ = true;
  }
  write_soon(std::move(done));
}

void OffsetCheckpoint::forget(const storage::TopicPartition& partition, Done done) {
  forgotten_[partition] = ++forgets_;
  if (lines_.erase(partition) > 0) changed_ = true;
  write_soon(std::move(done));
}

void OffsetCheckpoint::finish_round(std::uint64_t round, storage::OffsetMap offsets, Done done) {
  for (const auto& [partition, number] : std::exchange(forgotten_, {})) {
    if (number <= round) continue;
    offsets.erase(partition);
    forgotten_.emplace(partition, number);  // a round that began before may still end
  }
  raise(offsets, std::move(done));
}

void OffsetCheckpoint::write_soon(Done done) {
  waiting_.push_back(std::move(done));
  if (!writing_) write();
}

void OffsetCheckpoint::write() {
  writing_ = true;
  auto waiting = std::exchange(waiting_, {});
  const auto finish = [this](std::vector<Done> told, const runtime::IoResult<void>& written) {
    writing_ = false;
    if (!written) changed_ = true;
    for (Done& done : told) done(written);
    if (!waiting_.empty() && !writing_) write();
  };
  if (!std::exchange(changed_, false)) {
    home_.post([finish, waiting = std::move(waiting)]() mutable { finish(std::move(waiting), {}); });
    return;
  }
  pool_.post([this, finish, lines = lines_, waiting = std::move(waiting)]() mutable {
    auto written = storage::write_offsets(files_, path_, lines);
    home_.post([finish, written = std::move(written), waiting = std::move(waiting)]() mutable {
      finish(std::move(waiting), written);
    });
  });
}

}  // namespace thalweg::broker
