#include "simulation/world.h"

#include <fmt/format.h>

#include <cerrno>

#include "simulation/audit.h"
#include "simulation/committer.h"
#include "simulation/index_check.h"

namespace thalweg::simulation {

namespace {

// More turns than it takes to finish what was begun, by far.
constexpr int kMostWindingDown = 200'000;

}  // namespace

World::World(const WorldOptions& options)
    : options_(options), random_(options.seed), host_(random_.next_u64()), disk_(random_.next_u64()) {
  for (std::uint64_t i = 0; i <= below(2); ++i) directories_.push_back(fmt::format("/disk/data-{}", i));
  // Nothing is kept free, so that a full disk is found out by the writes.
  configuration_ = {fmt::format("log.dirs={}", fmt::join(directories_, ",")), "thalweg.log.dirs.reserved.bytes=0",
                    fmt::format("thalweg.cores={}", 1 + below(3)),
                    fmt::format("log.flush.offset.checkpoint.interval.ms={}", below(2) == 0 ? 50 : 3000),
                    "auto.create.topics.enable=false"};
  configuration_.insert(configuration_.end(), options.configuration.begin(), options.configuration.end());
  actors_.push_back(std::make_unique<Administrator>(*this, random_.next_u64()));
  for (std::uint64_t i = 0; i <= below(2); ++i)
    actors_.push_back(std::make_unique<IdempotentProducer>(*this, random_.next_u64()));
  for (std::uint64_t i = 0; i <= below(2); ++i)
    actors_.push_back(std::make_unique<PlainProducer>(*this, random_.next_u64()));
  for (std::uint64_t i = 0; i <= below(2); ++i)
    actors_.push_back(std::make_unique<Consumer>(*this, random_.next_u64()));
  actors_.push_back(std::make_unique<Committer>(*this, random_.next_u64()));
}

World::~World() { disconnect(); }

WorldReport World::run() {
  const std::uint64_t lives = 2 + below(4);
  for (std::uint64_t i = 0; i < lives; ++i) live();
  finish();
  report_.turns = host_.turns();
  report_.batches = ledger_.batches_sent();
  report_.promises = ledger_.promises();
  report_.fingerprint = random_.next_u64() ^ (host_.turns() << 32) ^ static_cast<std::uint64_t>(now_ms()) ^
                        (disk_.calls() << 16) ^ ledger_.promises();
  return report_;
}

void World::disconnect() {
  for (const auto& actor : actors_) actor->client().hang_up();
}

void World::begin_life() {
  ++report_.lives;
  disk_was_full_ = false;
  disk_.set_capacity(std::nullopt);
  if (below(4) == 0) disk_.chill();
  life_ = std::make_unique<Life>(
      host_, disk_, LifeOptions{.seed = random_.next_u64(), .plant = options_.plant, .configuration = configuration_});
}

void World::inject(Fault fault) {
  const Death how = below(3) == 0 ? Death::killed : Death::power_lost;
  // Now and then early enough to hit the start.
  const bool early = below(4) == 0;
  switch (fault) {
    case Fault::none:
    case Fault::disk_fills:
      break;
    case Fault::dies_at_turn:
      life_->die_at_turn(below(early ? 100 : 3000), how);
      break;
    case Fault::dies_at_call:
      life_->files().die_at_call(below(early ? 150 : 1500), how);
      break;
    case Fault::call_fails:
      disk_.fail_call(below(early ? 150 : 1500), EIO);
      break;
    case Fault::sync_fails:
      life_->files().fail_sync(below(early ? 5 : 60));
      break;
  }
}

// False where the broker did not start, which it must where nothing was injected or nothing has come of it.
bool World::start() {
  const auto started = life_->start();
  if (started) return !life_->dead();
  if (!life_->dead() && !troubled()) throw Violation("the broker does not start: " + started.error());
  return false;
}

void World::step(bool winding_down) {
  if (below(10) < 3) {
    actors_[below(actors_.size())]->act(winding_down);
  } else if (!host_.run_one() && below(3) == 0) {
    host_.advance();
  }
  for (const auto& actor : actors_) actor->client().poll();
}

void World::act(std::uint64_t turns, Fault fault) {
  const std::uint64_t fills = below(turns);
  const std::uint64_t empties = fills + below(turns);
  for (std::uint64_t turn = 0; turn < turns && !life_->dead(); ++turn) {
    if (fault == Fault::disk_fills && turn == fills) {
      constexpr std::uint64_t kMuch = std::uint64_t{1} << 40;
      disk_.set_capacity(kMuch);
      const std::uint64_t used = kMuch - disk_.free_bytes("/disk").value_or(0);
      disk_.set_capacity(used + below(2000));
      disk_was_full_ = true;
    }
    if (turn == empties) disk_.set_capacity(std::nullopt);
    step(false);
  }
  disk_.set_capacity(std::nullopt);
}

bool World::audit(bool nobody_connected) {
  const bool whole = Audit(*life_, *this, random_.next_u64()).run(nobody_connected);
  if (whole) ++report_.audits;
  return whole;
}

void World::end_life(bool in_order) {
  if (!in_order && !life_->dead()) life_->files().die(below(3) == 0 ? Death::killed : Death::power_lost);
  disconnect();
  // Only one that is alive now may close its logs in order, whatever becomes of it.
  if (!life_->dead()) ++orderly_stops_;
  life_->stop();
  const bool wounded = life_->files().wounded();
  report_.io_calls += life_->files().calls();
  if (life_->dead()) ++report_.deaths;
  // After a failed write or sync nobody knows what the disk has of what was not synced.
  if (life_->files().power_lost() || wounded) ledger_.power_lost();
  life_ = nullptr;
  disk_.fail_call(UINT32_MAX, EIO);  // takes back one that did not come
  // What a failed sync has lost shows only once the machine's memory is gone.
  if (wounded) disk_.crash();
}

void World::live() {
  const auto fault = static_cast<Fault>(below(6));
  begin_life();
  inject(fault);
  if (start()) {
    if (audit(true) || !life_->dead()) act(200 + below(1500), fault);
    // With its disk only full for a while, the broker must go on as if nothing had been.
    if (fault == Fault::disk_fills && !life_->dead() && !life_->files().wounded()) wind_down();
    return end_life(fault == Fault::none || fault == Fault::disk_fills || below(2) == 0);
  }
  end_life(false);
}

// Everybody finishes what he has begun.
void World::wind_down() {
  const auto settled = [this] {
    return std::ranges::all_of(actors_, [](const auto& actor) { return actor->settled(); });
  };
  for (int i = 0; !settled(); ++i) {
    if (i == kMostWindingDown) {
      std::string who;
      for (const auto& actor : actors_)
        if (!actor->settled()) who += ": " + actor->state();
      throw Violation("a client is not done with what it has begun" + who);
    }
    step(true);
  }
}

void World::finish() {
  begin_life();
  if (!start()) throw Violation("the broker does not start");
  audit(true);
  wind_down();
  disconnect();
  host_.run_until([this, until = host_.turns() + 50] { return host_.turns() >= until; });
  audit(false);
  end_life(true);
  check_all_indexes();
  begin_life();
  if (!start()) throw Violation("the broker does not start");
  audit(true);
  end_life(true);
}

void World::check_all_indexes() {
  for (const auto& [id, topic] : ledger_.topics()) {
    for (std::int32_t i = 0; i < topic.shape.partitions; ++i) {
      for (const std::string& directory : directories_) {
        const std::string folder = fmt::format("{}/{}-{}", directory, topic.name, i);
        if (disk_.exists(folder).value_or(false))
          check_indexes(disk_, {.folder = folder,
                                .index_interval_bytes = topic.shape.index_interval_bytes,
                                .clean_restarts = orderly_stops_});
      }
    }
  }
}

}  // namespace thalweg::simulation
