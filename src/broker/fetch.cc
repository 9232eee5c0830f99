#include "broker/fetch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/log.h"
#include "broker/gather.h"
#include "storage/batch_check.h"

namespace thalweg::broker {

namespace {

using protocol::ErrorCode;
using runtime::Awaitable;

// Below this a copy into memory is cheaper than a system call of its own for the range.
constexpr std::uint64_t kCopyAtMost = 16 * 1024;
// How often a lookup is tried again after warming what it missed, before it may wait for the disk.
constexpr int kColdRounds = 8;

struct ReadOptions {
  bool read_committed = false;
  std::int32_t max_bytes = INT32_MAX;
  std::shared_ptr<FetchWaiter> waiter;  // set: it is told what can be read, and what becomes readable later
};

// Bytes of a log, and what of them is not as it was written.
struct CheckedBytes {
  storage::ReadOutcome<base::Bytes> bytes;
  std::optional<storage::UnsoundBatch> unsound;
};

CheckedBytes read_and_check(const storage::FileRange& range, storage::Blocking blocking) {
  CheckedBytes checked{.bytes = storage::Log::read_bytes(range, blocking), .unsound = std::nullopt};
  if (checked.bytes) checked.unsound = storage::find_unsound_batch(checked.bytes->span());
  return checked;
}

// Leaves of the bytes what stands before the batch that is not sound.
base::Result<base::Bytes, ErrorCode> only_sound(Shard& shard, const storage::FileRange& range, CheckedBytes checked) {
  if (!checked.bytes) {
    LOG_ERROR("fetch", "{}", checked.bytes.error().io.message());
    return std::unexpected(ErrorCode::kafka_storage_error);
  }
  if (!checked.unsound) return std::move(*checked.bytes);
  const std::size_t position = checked.unsound->position;
  shard.metrics().unsound_reads.add();
  shard.report_unsound(fmt::format("{}: position {}, offset {}: {}", range.file->path(), range.position + position,
                                   checked.unsound->base_offset, checked.unsound->what));
  if (position == 0) return std::unexpected(ErrorCode::corrupt_message);
  return checked.bytes->first(position);
}

// Copies small ranges, links large ones; makes sure first that none is waited for on the event loop. What is copied is
// checked, and with thalweg.log.read.verify everything is copied.
Awaitable<base::Result<void, ErrorCode>> load(Shard& shard, const storage::ReadResult& read, FetchOutcome& outcome) {
  const storage::FileRange range = read.range;
  const bool is_large = range.size > kCopyAtMost;
  const bool verify = shard.broker().settings().verify_reads;
  if (is_large && !verify && range.file->descriptor() >= 0) {
    if (!read.recent && !storage::seems_cached(range)) {
      const auto warmed =
          co_await runtime::run_on(shard.broker().disk_pool(), [range] { return storage::warm(range); });
      if (!warmed) co_return std::unexpected(ErrorCode::kafka_storage_error);
    }
    outcome.records.append_external(range.file, range.position, range.size);
    co_return base::Result<void, ErrorCode>();
  }
  CheckedBytes checked{.bytes = std::unexpected(storage::ReadFault::wait_for(range)), .unsound = std::nullopt};
  // What takes long to check is no work for a loop.
  if (!is_large || !verify) checked = read_and_check(range, storage::Blocking::never);
  if (!checked.bytes && checked.bytes.error().kind == storage::ReadFault::Kind::cold) {
    checked = co_await runtime::run_on(shard.broker().disk_pool(),
                                       [range] { return read_and_check(range, storage::Blocking::allowed); });
  }
  auto sound = only_sound(shard, range, std::move(checked));
  if (!sound) co_return std::unexpected(sound.error());
  outcome.records.append(std::move(*sound));
  co_return base::Result<void, ErrorCode>();
}

void fill_offsets(FetchOutcome& outcome, Partition& partition) {
  outcome.high_watermark = partition.high_watermark();
  outcome.last_stable_offset = partition.last_stable_offset();
  outcome.log_start_offset = partition.log().log_start_offset();
}

ErrorCode check_epoch(const Partition& partition, std::int32_t claimed) {
  if (claimed < 0 || claimed == partition.leader_epoch()) return ErrorCode::none;
  return claimed < partition.leader_epoch() ? ErrorCode::fenced_leader_epoch : ErrorCode::unknown_leader_epoch;
}

// Whether the client's log parted from ours before its fetch offset (KIP-595).
bool diverges(Partition& partition, const FetchItem& item, FetchOutcome& outcome) {
  if (item.last_fetched_epoch < 0) return false;
  const storage::EpochEndOffset end = partition.log().offset_for_leader_epoch(item.last_fetched_epoch);
  if (end.epoch < 0 || end.end_offset < 0) {
    outcome.error = ErrorCode::offset_out_of_range;
    return true;
  }
  if (end.epoch == item.last_fetched_epoch && end.end_offset >= item.offset) return false;
  outcome.diverging = end;
  return true;
}

// Tells the fetch what there is; where that is too little, the partition tells it what comes. Nothing may be appended
// between the read and this.
void tell(const std::shared_ptr<FetchWaiter>& waiter, Partition& partition, Shard& shard, std::uint64_t found) {
  if (!waiter) return;
  if (found > 0) waiter->found(static_cast<std::int64_t>(found));
  if (!waiter->over()) partition.watch(waiter, shard.core().index());
}

Awaitable<FetchOutcome> read_one(Shard& shard, FetchItem item, ReadOptions options) {
  FetchOutcome outcome;
  outcome.slot = item.slot;
  const std::shared_ptr<Partition> partition = shard.find_partition(item.key);
  if (!partition) {
    outcome.error = ErrorCode::unknown_topic_or_partition;
    co_return outcome;
  }
  if (!partition->is_open()) {
    outcome.error = co_await shard.when_open(partition);
    if (outcome.error != ErrorCode::none) co_return outcome;
  }
  outcome.leader_epoch = partition->leader_epoch();
  outcome.error = check_epoch(*partition, item.current_leader_epoch);
  if (outcome.error != ErrorCode::none) co_return outcome;
  if (diverges(*partition, item, outcome)) {
    if (outcome.error == ErrorCode::none) fill_offsets(outcome, *partition);
    co_return outcome;
  }

  storage::ReadOptions read_options;
  read_options.max_bytes = std::max(0, std::min(item.max_bytes, options.max_bytes));
  read_options.at_least_one = true;
  storage::ReadResult read;
  for (int round = 0;; ++round) {
    read_options.upper_bound_offset =
        options.read_committed ? partition->last_stable_offset() : partition->high_watermark();
    read_options.blocking = round < kColdRounds ? storage::Blocking::never : storage::Blocking::allowed;
    read = partition->log().read(item.offset, read_options);
    if (read.status != storage::ReadResult::Status::cold) break;
    (void)co_await runtime::run_on(shard.broker().disk_pool(), [range = read.range] { return storage::warm(range); });
    if (!partition->is_open()) {
      outcome.error = partition->closed_error();
      co_return outcome;
    }
  }
  if (read.status == storage::ReadResult::Status::offset_out_of_range) {
    outcome.error = ErrorCode::offset_out_of_range;
    co_return outcome;
  }
  if (read.status == storage::ReadResult::Status::failed) {
    if (read.corrupt) {
      shard.metrics().unsound_reads.add();
      shard.report_unsound(read.detail);
      outcome.error = ErrorCode::corrupt_message;
    } else {
      LOG_ERROR("fetch", "{}-{} at {}: {}", partition->topic(), item.key.partition, item.offset, read.detail);
      outcome.error = ErrorCode::kafka_storage_error;
    }
    co_return outcome;
  }
  if (item.max_bytes < 0 && read.range.size > 0) {
    outcome.error = ErrorCode::unknown_server_error;
    co_return outcome;
  }
  fill_offsets(outcome, *partition);
  outcome.first_batch_size = read.first_batch_size;
  tell(options.waiter, *partition, shard, read.range.size);
  if (options.read_committed) {
    outcome.aborted.emplace();
    if (read.range.size > 0) {
      const auto upper = partition->log().upper_bound_of(read, storage::Blocking::allowed);
      if (upper) {
        auto aborted = partition->log().aborted_transactions(item.offset, *upper, storage::Blocking::allowed);
        if (aborted) *outcome.aborted = std::move(*aborted);
      }
    }
  }
  if (read.range.size > 0) {
    const auto loaded = co_await load(shard, read, outcome);
    if (!loaded) {
      outcome = FetchOutcome{.slot = item.slot};
      outcome.error = loaded.error();
    }
  }
  co_return outcome;
}

Awaitable<std::vector<FetchOutcome>> read_all(Shard& shard, std::vector<FetchItem> items, ReadOptions options) {
  std::vector<FetchOutcome> outcomes;
  outcomes.reserve(items.size());
  for (FetchItem& item : items) {
    FetchOutcome outcome = co_await read_one(shard, item, options);
    outcomes.push_back(std::move(outcome));
  }
  co_return outcomes;
}

struct ReadEverywhere {
  ReadOptions options;
  Awaitable<std::vector<FetchOutcome>> operator()(Shard& shard, std::vector<FetchItem> items) const {
    return read_all(shard, std::move(items), options);
  }
};

Awaitable<std::vector<FetchOutcome>> read_items(Shard& home, const std::vector<FetchItem>& items, ReadOptions options) {
  PerCore<FetchItem> per_core(home.broker());
  for (const FetchItem& item : items) per_core.add(item.owner, item);
  ReadEverywhere run{std::move(options)};
  auto outcomes = co_await gather<FetchOutcome>(home, std::move(per_core), run);
  std::ranges::sort(outcomes, {}, &FetchOutcome::slot);
  co_return outcomes;
}

// Reads again what lies on the cores where something was added since.
Awaitable<void> read_added(Shard& home, const std::vector<FetchItem>& items, const FetchWaiter& waiter,
                           ReadOptions options, std::vector<FetchOutcome>& outcomes) {
  std::vector<FetchItem> added;
  for (const FetchItem& item : items)
    if (waiter.added_on(item.owner)) added.push_back(item);
  if (added.empty()) co_return;
  auto fresh = co_await read_items(home, added, std::move(options));
  auto at = outcomes.begin();
  for (FetchOutcome& outcome : fresh) {  // both are in the order of the slots
    at = std::ranges::lower_bound(at, outcomes.end(), outcome.slot, {}, &FetchOutcome::slot);
    *at = std::move(outcome);
  }
}

struct Total {
  std::int64_t bytes = 0;
  bool answer_now = false;  // an error, or something that the client must hear
};

Total total_of(const std::vector<FetchOutcome>& outcomes) {
  Total total;
  for (const FetchOutcome& outcome : outcomes) {
    total.bytes += static_cast<std::int64_t>(outcome.records.size());
    if (outcome.error != ErrorCode::none || outcome.diverging) total.answer_now = true;
  }
  return total;
}

}  // namespace

void FetchOutcome::trim(std::uint64_t room, bool first_of_answer) {
  std::uint64_t keep = std::min<std::uint64_t>(records.size(), room);
  if (first_of_answer) {
    keep = std::max<std::uint64_t>(keep, std::min<std::uint64_t>(records.size(), first_batch_size));
  } else if (keep < first_batch_size) {
    keep = 0;
  }
  if (keep == records.size()) return;
  base::BufferChain cut;
  for (const auto& segment : records.segments()) {
    if (keep == 0) break;
    const std::uint64_t n = std::min(keep, segment.size);
    if (segment.source) {
      cut.append_external(segment.source, segment.position, n);
    } else {
      cut.append(segment.bytes.first(n));
    }
    keep -= n;
  }
  records = std::move(cut);
}

Awaitable<std::vector<FetchOutcome>> fetch(Shard& home, std::vector<FetchItem> items, FetchOptions options) {
  ReadOptions read_options;
  read_options.read_committed = options.read_committed;
  read_options.max_bytes = options.max_bytes;
  const bool may_wait = options.max_wait_ms > 0 && options.min_bytes > 0 && !items.empty();
  const auto new_waiter = [&] { return std::make_shared<FetchWaiter>(home.core(), options.min_bytes); };
  std::shared_ptr<FetchWaiter> waiter = may_wait ? new_waiter() : nullptr;
  read_options.waiter = waiter;
  std::vector<FetchOutcome> outcomes = co_await read_items(home, items, read_options);
  Total total = total_of(outcomes);
  const base::SteadyTime deadline = home.core().clock().steady() + std::chrono::milliseconds(options.max_wait_ms);
  while (may_wait && !home.stopping() && !total.answer_now && total.bytes < options.min_bytes) {
    home.metrics().fetches_parked.add();
    home.add_parked(*waiter);
    const bool woken = co_await waiter->wait(deadline);
    home.remove_parked(*waiter);
    read_options.waiter = nullptr;
    co_await read_added(home, items, *waiter, read_options, outcomes);
    total = total_of(outcomes);
    if (!woken) {
      home.metrics().fetches_expired.add();
      break;
    }
    if (total.answer_now || total.bytes >= options.min_bytes) break;
    // Less than was told, as after a deletion: begin anew.
    waiter = new_waiter();
    read_options.waiter = waiter;
    outcomes = co_await read_items(home, items, read_options);
    total = total_of(outcomes);
  }
  if (waiter) waiter->give_up();  // partitions drop it

  std::uint64_t room = static_cast<std::uint64_t>(std::max(0, options.max_bytes));
  bool first = true;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    FetchOutcome& outcome = outcomes[i];
    outcome.trim(std::min<std::uint64_t>(room, static_cast<std::uint64_t>(std::max(0, items[i].max_bytes))), first);
    if (outcome.records.empty()) continue;
    first = false;
    room -= std::min<std::uint64_t>(room, outcome.records.size());
  }
  co_return outcomes;
}

}  // namespace thalweg::broker
