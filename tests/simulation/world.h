// World: one seed of the simulation. A broker lives a few lives on one disk, each with its own clients' doings and its
// own end, and after each the ledger is held against what the next one has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random.h"
#include "runtime/simulated_file.h"
#include "runtime/simulated_host.h"
#include "simulation/clients.h"
#include "simulation/ledger.h"
#include "simulation/life.h"

namespace thalweg::simulation {

struct WorldOptions {
  std::uint64_t seed = 1;
  Plant plant = Plant::none;
  std::vector<std::string> configuration;  // besides what the world sets
};

// What has happened, to see that seeds are worth their time.
struct WorldReport {
  std::uint64_t lives = 0;
  std::uint64_t turns = 0;
  std::uint64_t io_calls = 0;
  std::uint64_t batches = 0;
  std::uint64_t promises = 0;
  std::uint64_t deaths = 0;
  std::uint64_t audits = 0;
  // Differs where the order of events differs.
  std::uint64_t fingerprint = 0;
};

class World final : public Surroundings {
 public:
  explicit World(const WorldOptions& options);
  ~World() override;

  // Throws a Violation, or what else went wrong.
  WorldReport run();

  Ledger& ledger() override { return ledger_; }
  void connect(Client& client) override { life_->connect(client); }
  [[nodiscard]] std::int64_t now_ms() override { return host_.clock().wall_ms(); }
  [[nodiscard]] bool troubled() override { return life_->files().wounded() || disk_was_full_; }

 private:
  enum class Fault : std::uint8_t { none, dies_at_turn, dies_at_call, call_fails, sync_fails, disk_fills };

  // A life with a fault drawn at random, to its end.
  void live();
  void wind_down();
  // The last lives: everybody finishes what he has begun, and everything is checked.
  void finish();
  void begin_life();
  // Injects the fault; those of the disk that is full come and go while the clients act.
  void inject(Fault fault);
  bool start();
  void act(std::uint64_t turns, Fault fault);
  void step(bool winding_down);
  void disconnect();
  bool audit(bool nobody_connected);
  void end_life(bool in_order);
  void check_all_indexes();
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }

  const WorldOptions options_;
  runtime::Random random_;
  runtime::SimulatedHost host_;
  runtime::SimulatedFileSystem disk_;
  Ledger ledger_;
  std::vector<std::string> directories_;
  std::vector<std::string> configuration_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::unique_ptr<Life> life_;
  bool disk_was_full_ = false;
  std::size_t orderly_stops_ = 0;
  WorldReport report_;
};

}  // namespace thalweg::simulation
