// Seeds of the whole-broker simulation.
//
//   simulation_test                      some hundreds of seeds, and that planted faults are found
//   simulation_test --seeds=N            N seeds
//   simulation_test --seed=N             one seed, with the broker's log and every call to the disk
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "simulation/world.h"

namespace thalweg::simulation {
namespace {

constexpr std::uint64_t kSeedsOfMakeTest = 300;
// Within so many a planted fault must show.
constexpr std::uint64_t kSeedsForPlants = 1000;

std::uint64_t first_seed = 1;            // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::uint64_t seeds = kSeedsOfMakeTest;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// The seed that runs, for the line that is written where the process falls over.
char running[64];  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void on_fall(int signal) {
  (void)!::write(2, running, std::char_traits<char>::length(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// What went wrong with the seed; nothing where all is well.
std::optional<std::string> run(const WorldOptions& options, WorldReport* report = nullptr) {
  const auto end = fmt::format_to_n(running, sizeof running - 1, "replay: simulation_test --seed={}\n", options.seed);
  *end.out = '\0';
  try {
    const WorldReport done = World(options).run();
    if (report != nullptr) *report = done;
    return std::nullopt;
  } catch (const std::exception& violation) {
    return violation.what();
  }
}

TEST(Simulation, NoSeedBreaksAPromise) {
  WorldReport sum;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    WorldReport report;
    const auto fault = run({.seed = seed, .plant = Plant::none, .configuration = {}}, &report);
    ASSERT_FALSE(fault) << *fault << "\nreplay: simulation_test --seed=" << seed;
    sum.lives += report.lives;
    sum.turns += report.turns;
    sum.io_calls += report.io_calls;
    sum.batches += report.batches;
    sum.promises += report.promises;
    sum.deaths += report.deaths;
    sum.audits += report.audits;
  }
  fmt::print(
      "{} seeds: {} lives, {} of them cut short; {} turns, {} calls to the disk, {} batches, {} promises, {} audits\n",
      seeds, sum.lives, sum.deaths, sum.turns, sum.io_calls, sum.batches, sum.promises, sum.audits);
  if (seeds < kSeedsOfMakeTest) return;
  // A simulation in which nothing happens proves nothing.
  EXPECT_GT(sum.promises, seeds);
  EXPECT_GT(sum.audits, seeds);
}

TEST(Simulation, ASeedIsAlwaysTheSame) {
  for (std::uint64_t seed = first_seed; seed < first_seed + 5; ++seed) {
    WorldReport once;
    WorldReport again;
    const WorldOptions options{.seed = seed, .plant = Plant::none, .configuration = {}};
    ASSERT_EQ(run(options, &once), run(options, &again));
    ASSERT_EQ(once.fingerprint, again.fingerprint) << "seed " << seed;
  }
}

// The simulation itself is tested by what it must find.
class PlantedFault : public testing::Test {
 protected:
  static void find(const WorldOptions& planted) {
    WorldOptions options = planted;
    for (options.seed = 1; options.seed <= kSeedsForPlants; ++options.seed) {
      if (const auto fault = run(options)) {
        fmt::print("found by seed {}: {}\n", options.seed, *fault);
        return;
      }
    }
    FAIL() << "not found within " << kSeedsForPlants << " seeds";
  }
};

TEST_F(PlantedFault, ASkippedSyncIsFound) { find({.seed = 1, .plant = Plant::skipped_sync, .configuration = {}}); }

TEST_F(PlantedFault, ALostIndexEntryIsFound) {
  find({.seed = 1, .plant = Plant::lost_index_entry, .configuration = {}});
}

TEST_F(PlantedFault, AnEarlyAckIsFound) { find({.seed = 1, .plant = Plant::early_ack, .configuration = {}}); }

// Durable is what the setting makes it: the clients of this world believe in log.flush.acks=all.
TEST_F(PlantedFault, AcksThatWaitForNoSyncAreFound) {
  find({.seed = 1, .plant = Plant::none, .configuration = {"log.flush.acks=none"}});
}

bool parse(std::string_view argument, std::string_view name, std::uint64_t& value) {
  if (!argument.starts_with(name)) return false;
  const std::string_view text = argument.substr(name.size());
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
}

}  // namespace

int run_tests(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  auto level = base::LogLevel::off;
  for (int i = 1; i < count; ++i) {
    if (parse(arguments[i], "--seed=", first_seed)) {
      seeds = 1;
      level = base::LogLevel::trace;
      testing::GTEST_FLAG(filter) = "Simulation.NoSeedBreaksAPromise";
    } else if (!parse(arguments[i], "--seeds=", seeds) && !parse(arguments[i], "--first=", first_seed)) {
      fmt::print(stderr, "usage: simulation_test [--seed=N | --seeds=N [--first=N]]\n");
      return 2;
    }
  }
  base::configure_log(base::LogFormat::text, level);
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, on_fall);
  return RUN_ALL_TESTS();
}

}  // namespace thalweg::simulation

int main(int count, char** arguments) { return thalweg::simulation::run_tests(count, arguments); }
