#include "simulation/life.h"

#include <chrono>
#include <map>

#include "config/load.h"
#include "simulation/ledger.h"
#include "simulation/sqlite_files.h"

namespace thalweg::simulation {

namespace {

// Small, so that requests wait for each other now and then.
constexpr std::int64_t kInFlightBytes = 64 * 1024;

struct Configured {
  config::Config config;
  broker::Settings settings;
};

// Reading the configuration takes longer than a life; few differ.
const Configured& configured(const std::vector<std::string>& overrides) {
  static std::map<std::vector<std::string>, Configured> known;
  const auto found = known.find(overrides);
  if (found != known.end()) return found->second;
  auto config = config::load_broker_config({.file = std::nullopt, .overrides = overrides});
  if (!config) throw std::logic_error(config.error());
  auto settings = broker::Settings::read(*config);
  if (!settings) throw std::logic_error(settings.error());
  return known.emplace(overrides, Configured{std::move(*config), std::move(*settings)}).first->second;
}

}  // namespace

Life::Life(runtime::SimulatedHost& host, runtime::SimulatedFileSystem& disk, const LifeOptions& options)
    : host_(host), random_(options.seed), files_(disk, random_.next_u64(), options.plant) {
  files_.on_death([this] {
    for (const auto& link : links_) link->cut();
  });
  host_.set_observer([this] {
    if (death_ && host_.turns() >= death_->first) files_.die(death_->second);
  });
  const Configured& is = configured(options.configuration);
  broker_ = std::make_unique<broker::Broker>(broker::Broker::Environment{.clock = host_.clock(),
                                                                         .files = files_,
                                                                         .host = host_,
                                                                         .seed = random_.next_u64(),
                                                                         .sqlite_vfs = use_sqlite_files(files_)},
                                             is.settings, is.config);
}

Life::~Life() {
  try {
    if (started_) stop();
    connections_.clear();
    broker_.reset();
  } catch (const std::exception&) {
    // It hangs, which somebody is being told already; what it holds is left where it is.
    (void)broker_.release();
    for (auto& bytes : in_flight_) (void)bytes.release();
  }
  host_.set_observer(nullptr);
}

base::Result<void, std::string> Life::start() {
  const auto begun = broker_->start();
  if (!begun) return begun;
  started_ = true;
  broker_->set_advertised({{.listener = "PLAINTEXT", .host = "simulated", .port = 9092}});
  for (int i = 0; i < broker_->core_count(); ++i)
    in_flight_.push_back(
        std::make_unique<server::InFlightBytes>(kInFlightBytes, broker_->core(i), broker_->shard(i).metrics()));
  broker_->set_ready(true);
  return {};
}

runtime::Awaitable<void> Life::serve(std::shared_ptr<server::Connection> connection, std::int64_t* open) {
  ++*open;
  co_await connection->serve();
  --*open;
}

void Life::connect(Client& client) {
  auto link =
      std::make_shared<runtime::SimulatedLink>(random_.next_u64(), "simulated:" + std::to_string(links_.size()));
  const auto core = static_cast<int>(random_.below(static_cast<std::uint64_t>(broker_->core_count())));
  auto connection = std::make_shared<server::Connection>(
      broker_->shard(core), *in_flight_[static_cast<std::size_t>(core)], server::Connection::Limits{}, listener_,
      std::make_unique<runtime::SimulatedStream>(link));
  connections_.push_back(connection);
  links_.push_back(link);
  broker_->core(core).spawn(serve(std::move(connection), &open_connections_));
  client.connect(std::move(link));
}

void Life::stop() {
  started_ = false;
  broker_->set_ready(false);
  for (int i = 0; i < broker_->core_count(); ++i) {
    broker::Shard& shard = broker_->shard(i);
    shard.core().post([&shard] { shard.stop_waiting(); });
  }
  for (const auto& connection : connections_) connection->close();
  // A graceful stop waits so long for requests under way.
  constexpr std::chrono::seconds kGrace{5};
  const auto deadline = host_.clock().steady() + kGrace;
  host_.run_until([&] { return open_connections_ == 0 || host_.clock().steady() >= deadline; });
  connections_.clear();
  broker_->stop();
}

}  // namespace thalweg::simulation
