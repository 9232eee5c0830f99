// Life: one run of the whole broker, from its start to its end, whichever that is, with the connections of its clients.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "runtime/simulated_host.h"
#include "server/connection.h"
#include "server/in_flight.h"
#include "simulation/client.h"
#include "simulation/life_files.h"

namespace thalweg::simulation {

struct LifeOptions {
  std::uint64_t seed = 0;
  Plant plant = Plant::none;
  std::vector<std::string> configuration;
};

class Life {
 public:
  Life(runtime::SimulatedHost& host, runtime::SimulatedFileSystem& disk, const LifeOptions& options);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  [[nodiscard]] LifeFiles& files() { return files_; }
  [[nodiscard]] runtime::SimulatedHost& host() { return host_; }
  // Dies before the turn after `turns` more.
  void die_at_turn(std::uint64_t turns, Death how) { death_ = {host_.turns() + turns, how}; }
  [[nodiscard]] bool dead() const { return files_.dead(); }
  // Starts the broker.
  //   errors   what it said; none is due where no fault was injected
  base::Result<void, std::string> start();
  // Connects a client to a core drawn at random.
  void connect(Client& client);
  // Ends the broker in order, as the server does; where it is dead, what is left of it goes the same way.
  void stop();

 private:
  static runtime::Awaitable<void> serve(std::shared_ptr<server::Connection> connection, std::int64_t* open);

  runtime::SimulatedHost& host_;
  runtime::Random random_;
  LifeFiles files_;
  std::optional<std::pair<std::uint64_t, Death>> death_;
  broker::ListenerInfo listener_{.name = "PLAINTEXT", .security_protocol = "PLAINTEXT"};
  std::vector<std::shared_ptr<runtime::SimulatedLink>> links_;
  std::int64_t open_connections_ = 0;
  // Connections give their bytes back when they go, which may be as late as the broker's end.
  std::vector<std::unique_ptr<server::InFlightBytes>> in_flight_;
  std::unique_ptr<broker::Broker> broker_;
  std::vector<std::shared_ptr<server::Connection>> connections_;
  bool started_ = false;
};

}  // namespace thalweg::simulation
