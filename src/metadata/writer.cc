#include "metadata/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "base/log.h"

namespace thalweg::metadata {

using base::Result;

namespace {

// A transaction that other processes keep winning against is given up after this many tries.
constexpr int kMaxConflicts = 16;

// The part of its portion that bulk work gets in a transaction with urgent work.
constexpr std::size_t kBulkShareBesideUrgent = 8;

struct Request {
  ChangeSet changes;
  runtime::Executor* executor = nullptr;
  CommitDone done;

  // The rows it writes, roughly; never 0.
  std::size_t weight = 1;
};

std::size_t rows_of(const records::Record& record) {
  return std::visit(
      []<class R>(const R& value) -> std::size_t {
        if constexpr (requires { value.partitions.size(); })
          return 1 + value.partitions.size();
        else
          return 1;
      },
      record);
}

std::size_t weight_of(const ChangeSet& changes) {
  std::size_t rows = 0;
  for (const records::Record& record : changes.records) rows += rows_of(record);
  return std::max<std::size_t>(1, rows);
}

std::unexpected<CommitFault> fault(CommitFault::Kind kind, std::size_t index, std::string detail) {
  return std::unexpected(CommitFault{.kind = kind, .index = index, .detail = std::move(detail)});
}

}  // namespace

class Subscription::Entry {
 public:
  Entry(runtime::Executor& executor, UpdateCallback callback) : executor(&executor), callback_(std::move(callback)) {}

  void call(const std::shared_ptr<const Snapshot>& snapshot, const std::vector<AppliedChange>& changes) {
    if (ended_) return;
    running_ = true;
    callback_(snapshot, changes);
    running_ = false;
    if (ended_) callback_ = nullptr;
  }
  // What the callback holds goes here, on its own executor, and not where the writer lets go of the entry.
  void end() {
    ended_ = true;
    if (!running_) callback_ = nullptr;
    forget();
  }

  runtime::Executor* const executor;
  std::move_only_function<void()> forget;  // takes the entry out of the writer's list

 private:
  UpdateCallback callback_;
  bool ended_ = false;
  bool running_ = false;
};

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    end();
    entry_ = std::move(other.entry_);
  }
  return *this;
}

void Subscription::end() {
  if (entry_ != nullptr) std::exchange(entry_, nullptr)->end();
}

class Writer::State : public std::enable_shared_from_this<Writer::State> {
 public:
  State(std::unique_ptr<Engine> engine, const StoreEnvironment& environment)
      : environment(environment), engine_(std::move(engine)) {}

  const StoreEnvironment environment;
  std::atomic<std::size_t> waiting_rows{0};

  Result<void, StoreError> load(const std::string& cluster_id);
  [[nodiscard]] std::shared_ptr<const Snapshot> current() const { return current_; }

  void enqueue(Request request, Urgency urgency);
  void subscribe(const std::shared_ptr<Subscription::Entry>& entry);
  void unsubscribe(const Subscription::Entry* entry) {
    std::erase_if(subscriptions_, [entry](const auto& held) { return held.get() == entry; });
  }
  void load_group_state(const GroupRange& range, runtime::Executor& executor, GroupsDone done);
  void stop(runtime::Executor& executor, std::move_only_function<void()> done);

 private:
  // What a transaction does to memory, kept until it is durable.
  struct Transaction {
    std::vector<CommitResult> results;  // one for each request
    Snapshot working;
    Revision newest;
    std::size_t change_sets = 0;
    std::size_t records = 0;
    bool snapshot_changed = false;
  };
  struct Answer {
    Request request;
    CommitResult result;
  };

  void schedule();
  void drain();
  void rest();
  void run_transaction();
  std::vector<Request> take_batch();
  void take_up_to(std::deque<Request>& queue, std::size_t rows, std::vector<Request>& batch);
  EngineResult<Transaction> attempt(std::vector<Request>& batch, TransactionStats& stats);
  EngineResult<void> catch_up(Revision newest);
  EngineResult<CommitResult> perform(const Request& request, Transaction& transaction);
  EngineResult<CommitResult> holds(const Precondition& precondition, std::size_t index, const Snapshot& snapshot);
  EngineResult<void> trim(const Transaction& transaction);
  void finish(std::vector<Request> batch, Transaction transaction);
  void give_up(std::vector<Request> batch, const EngineFault& why);
  void publish(std::vector<Answer> answers);
  void maintain(bool idle);

  std::unique_ptr<Engine> engine_;
  std::deque<Request> urgent_;
  std::deque<Request> bulk_;
  std::vector<std::shared_ptr<Subscription::Entry>> subscriptions_;
  std::shared_ptr<const Snapshot> current_ = std::make_shared<const Snapshot>();
  Revision newest_;                         // committed and seen, of any kind of change
  std::vector<AppliedChange> unpublished_;  // in current_, not yet told
  std::int64_t changes_since_trim_ = 0;
  std::optional<std::string> broken_;  // why nothing more is written
  base::LogLimiter checkpoint_faults_{10'000};
  bool scheduled_ = false;
  bool stopped_ = false;
};

Result<void, StoreError> Writer::State::load(const std::string& cluster_id) {
  auto loaded = engine_->load();
  if (!loaded.has_value()) return std::unexpected(StoreError{std::move(loaded).error().message});
  current_ = std::make_shared<const Snapshot>(std::move(loaded->snapshot));
  newest_ = loaded->newest;
  if (!current_->cluster_id().empty()) return {};

  const std::string id = cluster_id.empty() ? environment.uuids.next().str() : cluster_id;
  // The answer is taken here and now: nothing else runs before the store is open.
  std::vector<Request> batch;
  batch.push_back({.changes = {.preconditions = {}, .records = {records::ClusterCreated{.cluster_id = id}}},
                   .executor = nullptr,
                   .done = nullptr});
  TransactionStats stats;
  auto transaction = attempt(batch, stats);
  if (!transaction.has_value()) return std::unexpected(StoreError{std::move(transaction).error().message});
  // Where another process was faster, its id is the cluster's.
  if (transaction->change_sets != 0) {
    current_ = std::make_shared<const Snapshot>(std::move(transaction->working));
    newest_ = transaction->newest;
  }
  unpublished_.clear();
  return {};
}

void Writer::State::enqueue(Request request, Urgency urgency) {
  if (stopped_) {
    waiting_rows.fetch_sub(request.weight, std::memory_order_relaxed);
    request.executor->post([done = std::move(request.done)]() mutable {
      done(fault(CommitFault::Kind::stopped, 0, "the store has stopped"));
    });
    return;
  }
  (urgency == Urgency::urgent ? urgent_ : bulk_).push_back(std::move(request));
  schedule();
}

void Writer::State::subscribe(const std::shared_ptr<Subscription::Entry>& entry) {
  subscriptions_.push_back(entry);
  entry->executor->post([entry, snapshot = current_] { entry->call(snapshot, {}); });
}

void Writer::State::load_group_state(const GroupRange& range, runtime::Executor& executor, GroupsDone done) {
  while (!urgent_.empty() || !bulk_.empty()) run_transaction();
  auto page = stopped_ ? EngineResult<GroupPage>(std::unexpected(EngineFault{.message = "the store has stopped"}))
                       : engine_->load_groups(range);
  auto result = page.has_value() ? Result<GroupPage, StoreError>(std::move(*page))
                                 : std::unexpected(StoreError{std::move(page).error().message});
  executor.post([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

void Writer::State::stop(runtime::Executor& executor, std::move_only_function<void()> done) {
  if (!stopped_) {
    while (!urgent_.empty() || !bulk_.empty()) run_transaction();
    stopped_ = true;
    engine_->close();
  }
  executor.post(std::move(done));
}

// The task goes behind everything that cores have posted by now, so that the transaction takes all of it.
void Writer::State::schedule() {
  if (std::exchange(scheduled_, true)) return;
  environment.writer.post([self = shared_from_this()] { self->drain(); });
}

void Writer::State::drain() {
  scheduled_ = false;
  if (stopped_ || (urgent_.empty() && bulk_.empty())) return;
  run_transaction();
  maintain(false);
  if (!urgent_.empty() || !bulk_.empty()) return schedule();
  // Whether there is time for more shows when what cores have posted in the meantime has arrived.
  environment.writer.post([self = shared_from_this()] { self->rest(); });
}

void Writer::State::rest() {
  if (!stopped_ && urgent_.empty() && bulk_.empty()) maintain(true);
}

void Writer::State::take_up_to(std::deque<Request>& queue, std::size_t rows, std::vector<Request>& batch) {
  std::size_t taken = 0;
  while (!queue.empty() && (taken == 0 || taken + queue.front().weight <= rows)) {
    taken += queue.front().weight;
    batch.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  waiting_rows.fetch_sub(taken, std::memory_order_relaxed);
}

// Beside urgent change sets bulk ones take a small part, which keeps those quick and these from starving.
std::vector<Request> Writer::State::take_batch() {
  std::vector<Request> batch;
  take_up_to(urgent_, environment.limits.urgent_rows_per_transaction, batch);
  const std::size_t bulk_rows = environment.limits.bulk_rows_per_transaction;
  take_up_to(bulk_, batch.empty() ? bulk_rows : bulk_rows / kBulkShareBesideUrgent, batch);
  return batch;
}

void Writer::State::run_transaction() {
  std::vector<Request> batch = take_batch();
  if (broken_) return give_up(std::move(batch), {.kind = EngineFault::Kind::broken, .message = *broken_});
  TransactionStats stats;
  const base::SteadyTime begin = environment.clock.steady();
  auto transaction = attempt(batch, stats);
  for (int i = 1; i < kMaxConflicts && !transaction.has_value(); ++i) {
    if (transaction.error().kind != EngineFault::Kind::conflict) break;
    transaction = attempt(batch, stats);
  }
  stats.transaction_ns = (environment.clock.steady() - begin).count();
  stats.failed = !transaction.has_value();
  if (transaction.has_value()) {
    stats.change_sets = transaction->change_sets;
    stats.records = transaction->records;
    for (const CommitResult& result : transaction->results) stats.refused += result.has_value() ? 0 : 1;
    finish(std::move(batch), std::move(*transaction));
  } else {
    give_up(std::move(batch), transaction.error());
  }
  if (environment.observer != nullptr) environment.observer->transaction_done(stats);
}

// One try at committing the batch. Nothing of it is in memory when this returns.
EngineResult<Writer::State::Transaction> Writer::State::attempt(std::vector<Request>& batch, TransactionStats& stats) {
  ASSIGN_OR_RETURN(const Revision newest, engine_->begin());
  const auto body = [&]() -> EngineResult<Transaction> {
    TRY(catch_up(newest));
    Transaction transaction{.results = {}, .working = *current_, .newest = newest_};
    for (const Request& request : batch) {
      ASSIGN_OR_RETURN(CommitResult result, perform(request, transaction));
      transaction.results.push_back(std::move(result));
    }
    if (transaction.change_sets != 0) TRY(trim(transaction));
    return transaction;
  };
  EngineResult<Transaction> transaction = body();
  if (!transaction.has_value() || transaction->change_sets == 0) {
    engine_->rollback();
    return transaction;
  }
  const base::SteadyTime begin = environment.clock.steady();
  TRY(engine_->commit(transaction->newest));
  stats.sync_ns = (environment.clock.steady() - begin).count();
  return transaction;
}

// Applies what other processes committed. It is committed whatever becomes of this transaction, so memory has it at
// once.
EngineResult<void> Writer::State::catch_up(Revision newest) {
  if (newest == newest_) return {};
  ASSIGN_OR_RETURN(std::optional<std::vector<AppliedChange>> changes, engine_->changes_since(newest_));
  Snapshot next = *current_;
  bool whole = changes.has_value() && newest > newest_;
  for (std::size_t i = 0; whole && i < changes->size(); ++i)
    for (const records::Record& record : (*changes)[i].records)
      whole = whole && next.apply((*changes)[i].revision, record).has_value();
  if (!whole) {
    ASSIGN_OR_RETURN(Engine::Loaded loaded, engine_->load());
    next = std::move(loaded.snapshot);
    changes.emplace().push_back({.revision = next.revision(), .records = difference(*current_, next)});
    LOG_INFO("metadata", "read everything again: revision {} is too far behind {}", newest_.value(), newest.value());
  }
  next.advance_to(newest);
  newest_ = newest;
  if (changes->empty()) return {};
  current_ = std::make_shared<const Snapshot>(std::move(next));
  std::ranges::move(*changes, std::back_inserter(unpublished_));
  return {};
}

// Checks one change set and writes it, as the next revision.
EngineResult<CommitResult> Writer::State::perform(const Request& request, Transaction& transaction) {
  const auto& [preconditions, records] = request.changes;
  for (std::size_t i = 0; i < preconditions.size(); ++i) {
    ASSIGN_OR_RETURN(CommitResult held, holds(preconditions[i], i, transaction.working));
    if (!held.has_value()) return held;
  }
  if (records.empty()) return CommitResult(transaction.newest);

  const Revision revision = next(transaction.newest);
  const bool of_coordinator = std::ranges::all_of(records, records::of_coordinator);
  if (of_coordinator) {
    TRY(engine_->write(
        {.revision = revision, .records = records, .before = transaction.working, .after = transaction.working}));
  } else {
    Snapshot candidate = transaction.working;
    for (std::size_t i = 0; i < records.size(); ++i)
      if (auto applied = candidate.apply(revision, records[i]); !applied.has_value())
        return CommitResult(fault(CommitFault::Kind::invalid, i, std::move(applied).error().what));
    TRY(engine_->write({.revision = revision, .records = records, .before = transaction.working, .after = candidate}));
    transaction.working = std::move(candidate);
    transaction.snapshot_changed = true;
  }
  transaction.newest = revision;
  transaction.change_sets += 1;
  transaction.records += records.size();
  return CommitResult(revision);
}

EngineResult<CommitResult> Writer::State::holds(const Precondition& precondition, std::size_t index,
                                                const Snapshot& snapshot) {
  const auto verdict = [index](bool holds, auto&& says) -> CommitResult {
    if (holds) return Revision();
    return fault(CommitFault::Kind::precondition, index, says());
  };
  return std::visit(
      records::Overloaded{
          [&](const TopicNameFree& p) -> EngineResult<CommitResult> {
            return verdict(snapshot.topic(std::string_view(p.name)) == nullptr,
                           [&] { return fmt::format("there is a topic {}", p.name); });
          },
          [&](const TopicAtVersion& p) -> EngineResult<CommitResult> {
            const Topic* const topic = snapshot.topic(p.topic_id);
            return verdict(topic != nullptr && topic->version == p.version, [&] {
              return topic == nullptr ? fmt::format("there is no topic with the id {}", p.topic_id.str())
                                      : fmt::format("topic {} is at version {}, not {}", topic->name.view(),
                                                    topic->version.value(), p.version.value());
            });
          },
          [&](const TopicExists& p) -> EngineResult<CommitResult> {
            return verdict(snapshot.topic(p.topic_id) != nullptr,
                           [&] { return fmt::format("there is no topic with the id {}", p.topic_id.str()); });
          },
          [&](const ConfigAtVersion& p) -> EngineResult<CommitResult> {
            const ConfigValue* const config = snapshot.config(p.resource, p.key);
            const Revision version = config == nullptr ? kNothing : config->version;
            return verdict(version == p.version, [&] {
              return fmt::format("config {} of {} is at version {}, not {}", p.key, p.resource.name, version.value(),
                                 p.version.value());
            });
          },
          [&](const ProducerIdBlockAt& p) -> EngineResult<CommitResult> {
            return verdict(snapshot.next_producer_id() == p.next_producer_id, [&] {
              return fmt::format("the next producer id is {}, not {}", snapshot.next_producer_id(), p.next_producer_id);
            });
          },
          [&](const LeaseHeld& p) -> EngineResult<CommitResult> {
            const Lease* const found = snapshot.lease(p.name);
            const Lease lease = found == nullptr ? Lease{} : *found;
            return verdict(lease.owner == p.owner && lease.epoch == p.epoch, [&] {
              return fmt::format("lease {} is held by {} at epoch {}, not by {} at {}", p.name, lease.owner.value(),
                                 lease.epoch, p.owner.value(), p.epoch);
            });
          },
          [&](const GroupAtVersion& p) -> EngineResult<CommitResult> {
            ASSIGN_OR_RETURN(const Revision version, engine_->group_version(p.group_id));
            return verdict(version == p.version, [&] {
              return fmt::format("group {} is at version {}, not {}", p.group_id, version.value(), p.version.value());
            });
          },
      },
      precondition);
}

// Keeps the list of changes short, a tenth of it at a time.
EngineResult<void> Writer::State::trim(const Transaction& transaction) {
  if (!transaction.snapshot_changed) return {};
  const std::int64_t kept = environment.limits.changes_kept;
  changes_since_trim_ += static_cast<std::int64_t>(transaction.change_sets);
  if (changes_since_trim_ <= kept / 10) return {};
  TRY(engine_->trim_changes(kept));
  changes_since_trim_ = 0;
  return {};
}

void Writer::State::finish(std::vector<Request> batch, Transaction transaction) {
  newest_ = transaction.newest;
  std::vector<Answer> answers;
  answers.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const CommitResult& result = transaction.results[i];
    if (result.has_value()) {
      AppliedChange change{.revision = *result, .records = {}};
      for (records::Record& record : batch[i].changes.records)
        if (!records::of_coordinator(record)) change.records.push_back(std::move(record));
      if (!change.records.empty()) unpublished_.push_back(std::move(change));
    }
    answers.push_back({.request = std::move(batch[i]), .result = result});
  }
  if (transaction.snapshot_changed) {
    transaction.working.advance_to(newest_);
    current_ = std::make_shared<const Snapshot>(std::move(transaction.working));
  }
  publish(std::move(answers));
}

void Writer::State::give_up(std::vector<Request> batch, const EngineFault& why) {
  if (why.kind == EngineFault::Kind::broken && !broken_) {
    broken_ = why.message;
    LOG_ERROR("metadata", "{}: the metadata store takes no more changes until it is opened again", why.message);
  }
  std::vector<Answer> answers;
  answers.reserve(batch.size());
  for (Request& request : batch)
    answers.push_back({.request = std::move(request), .result = fault(CommitFault::Kind::storage, 0, why.message)});
  publish(std::move(answers));
}

// One task for each executor: first its subscriptions hear what is new, then its commits are answered.
void Writer::State::publish(std::vector<Answer> answers) {
  struct Delivery {
    runtime::Executor* executor;
    std::vector<std::shared_ptr<Subscription::Entry>> entries;
    std::vector<Answer> answers;
  };
  std::vector<Delivery> deliveries;
  const auto delivery_to = [&deliveries](runtime::Executor* executor) -> Delivery& {
    const auto found = std::ranges::find(deliveries, executor, &Delivery::executor);
    if (found != deliveries.end()) return *found;
    return deliveries.emplace_back(Delivery{.executor = executor, .entries = {}, .answers = {}});
  };
  auto changes = std::make_shared<const std::vector<AppliedChange>>(std::exchange(unpublished_, {}));
  if (!changes->empty())
    for (const auto& entry : subscriptions_) delivery_to(entry->executor).entries.push_back(entry);
  for (Answer& answer : answers) delivery_to(answer.request.executor).answers.push_back(std::move(answer));

  for (Delivery& delivery : deliveries) {
    runtime::Executor* const executor = delivery.executor;
    executor->post([delivery = std::move(delivery), changes, snapshot = current_]() mutable {
      for (const auto& entry : delivery.entries) entry->call(snapshot, *changes);
      for (Answer& answer : delivery.answers) answer.request.done(std::move(answer.result));
    });
  }
}

void Writer::State::maintain(bool idle) {
  const base::SteadyTime begin = environment.clock.steady();
  const auto moved = engine_->maintain(idle);
  if (!moved.has_value()) {
    std::uint64_t suppressed = 0;
    if (moved.error().kind == EngineFault::Kind::broken)
      give_up({}, moved.error());
    else if (checkpoint_faults_.allow(environment.clock.wall_ms(), suppressed))
      LOG_WARN("metadata", "{}{}", moved.error().message,
               suppressed == 0 ? std::string() : fmt::format(" ({} lines like this held back)", suppressed));
    return;
  }
  if (*moved && environment.observer != nullptr)
    environment.observer->checkpoint_done(**moved, (environment.clock.steady() - begin).count());
}

Result<std::unique_ptr<Store>, StoreError> Writer::open(std::unique_ptr<Engine> engine,
                                                        const StoreEnvironment& environment,
                                                        const std::string& cluster_id) {
  auto state = std::make_shared<State>(std::move(engine), environment);
  TRY(state->load(cluster_id));
  auto opened = state->current();
  return std::unique_ptr<Store>(new Writer(std::move(state), std::move(opened)));
}

void Writer::commit(ChangeSet changes, Urgency urgency, runtime::Executor& executor, CommitDone done) {
  const std::size_t weight = weight_of(changes);
  Request request{.changes = std::move(changes), .executor = &executor, .done = std::move(done), .weight = weight};
  const std::size_t limit = state_->environment.limits.queued_rows;
  // A change set bigger than the limit goes where nothing else waits.
  const std::size_t before = state_->waiting_rows.fetch_add(weight, std::memory_order_relaxed);
  if (before != 0 && before + weight > limit) {
    state_->waiting_rows.fetch_sub(weight, std::memory_order_relaxed);
    executor.post([done = std::move(request.done), before]() mutable {
      done(fault(CommitFault::Kind::overloaded, 0, fmt::format("{} rows wait to be committed", before)));
    });
    return;
  }
  state_->environment.writer.post([state = state_, request = std::move(request), urgency]() mutable {
    state->enqueue(std::move(request), urgency);
  });
}

Subscription Writer::subscribe(runtime::Executor& executor, UpdateCallback callback) {
  auto entry = std::make_shared<Subscription::Entry>(executor, std::move(callback));
  entry->forget = [weak = std::weak_ptr(state_), raw = entry.get()] {
    // A writer that is gone has let go of its list.
    if (const auto state = weak.lock()) state->environment.writer.post([state, raw] { state->unsubscribe(raw); });
  };
  state_->environment.writer.post([state = state_, entry] { state->subscribe(entry); });
  return Subscription(std::move(entry));
}

void Writer::load_group_state(GroupRange range, runtime::Executor& executor, GroupsDone done) {
  state_->environment.writer.post(
      [state = state_, range = std::move(range), &executor, done = std::move(done)]() mutable {
        state->load_group_state(range, executor, std::move(done));
      });
}

void Writer::refresh(runtime::Executor& executor, CommitDone done) {
  commit({}, Urgency::urgent, executor, std::move(done));
}

void Writer::stop(runtime::Executor& executor, std::move_only_function<void()> done) {
  state_->environment.writer.post(
      [state = state_, &executor, done = std::move(done)]() mutable { state->stop(executor, std::move(done)); });
}

}  // namespace thalweg::metadata
