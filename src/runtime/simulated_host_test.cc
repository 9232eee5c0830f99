#include "runtime/simulated_host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "runtime/simulated_stream.h"

namespace thalweg::runtime {
namespace {

using namespace std::chrono_literals;

// What two loops and a pool do, in the order in which it happens.
std::string order_of(std::uint64_t seed) {
  SimulatedHost host(seed);
  Core first(0, host.clock());
  Core second(1, host.clock());
  host.start(first, "first");
  host.start(second, "second");
  const auto pool = host.make_pool("pool", 2);
  std::string order;
  for (const char c : std::string("abc")) {
    first.post([&order, c] { order += c; });
    second.post([&order, c] { order += static_cast<char>(c - 'a' + 'A'); });
    pool->post([&order, c] { order += static_cast<char>(c - 'a' + '0'); });
  }
  host.run_until([&] { return order.size() == 9; });
  return order;
}

TEST(SimulatedHost, ASeedIsOneOrderOfEvents) {
  bool differs = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string order = order_of(seed);
    EXPECT_EQ(order, order_of(seed));
    differs = differs || order != order_of(seed + 100);
    std::string loop;
    for (const char c : order)
      if (c >= 'a' && c <= 'c') loop += c;
    EXPECT_EQ(loop, "abc") << "a loop keeps the order of its tasks";
  }
  EXPECT_TRUE(differs);
}

TEST(SimulatedHost, TimeMovesWhenNothingElseDoes) {
  SimulatedHost host(1);
  Core core(0, host.clock());
  host.start(core, "core");
  const base::SteadyTime begin = host.clock().steady();
  std::vector<int> rung;
  core.at(begin + 1h, [&] { rung.push_back(2); });
  core.at(begin + 1min, [&] { rung.push_back(1); });
  const auto cancelled = core.at(begin + 2min, [&] { rung.push_back(3); });
  core.cancel(cancelled);
  host.run_until([&] { return rung.size() == 2; });
  EXPECT_EQ(rung, (std::vector<int>{1, 2}));
  EXPECT_GE(host.clock().steady() - begin, 1h);
  EXPECT_LT(host.clock().steady() - begin, 2h);
}

TEST(SimulatedHost, WaitingForEverIsAnError) {
  SimulatedHost host(1);
  Core core(0, host.clock());
  host.start(core, "core");
  EXPECT_THROW(host.run_until([] { return false; }), Deadlock);
}

TEST(SimulatedHost, OnlyTheLoopWhoseTurnItIsIsCurrent) {
  SimulatedHost host(1);
  Core first(0, host.clock());
  Core second(1, host.clock());
  host.start(first, "first");
  host.start(second, "second");
  bool done = false;
  first.post([&] {
    EXPECT_TRUE(first.is_current());
    EXPECT_FALSE(second.is_current());
    done = true;
  });
  host.run_until([&] { return done; });
  EXPECT_FALSE(first.is_current());
}

TEST(SimulatedHost, APoolThatStopsRunsWhatItHasAndNoMore) {
  SimulatedHost host(1);
  const auto pool = host.make_pool("pool", 1);
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i) pool->post([&ran, i] { ran.push_back(i); });
  EXPECT_EQ(pool->queued(), 3U);
  pool->stop();
  pool->post([&ran] { ran.push_back(9); });
  EXPECT_FALSE(host.run_one());
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
}

TEST(SimulatedHost, StoppingALoopRunsWhatWaitsThere) {
  SimulatedHost host(1);
  Core core(0, host.clock());
  host.start(core, "core");
  int ran = 0;
  core.post([&] { ++ran; });
  host.stop(core);
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(host.run_one());
}

Awaitable<void> echo(Stream& stream, std::string& seen, bool& over) {
  std::vector<std::uint8_t> buffer(100);
  while (co_await stream.readable()) {
    const auto n = stream.read_now(buffer);
    if (!n) break;
    seen.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*n));
    const base::BufferChain answer(base::Bytes::copy_of(std::span<const std::uint8_t>(buffer).first(*n)));
    std::uint64_t sent = 0;
    while (sent < answer.size()) {
      const auto more = stream.write_now(answer, sent);
      if (!more) break;
      sent += *more;
      if (sent < answer.size()) (void)co_await stream.writable();
    }
  }
  stream.close();
  over = true;
}

TEST(SimulatedStream, BytesArriveInOrderHoweverTheyAreCut) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedHost host(seed);
    Core core(0, host.clock());
    host.start(core, "core");
    auto link = std::make_shared<SimulatedLink>(seed, "peer");
    SimulatedStream stream(link);
    std::string seen;
    std::string back;
    bool over = false;
    core.spawn(echo(stream, seen, over));
    std::string sent;
    for (int i = 0; i < 50; ++i) {
      const std::string piece = std::to_string(i) + ' ';
      sent += piece;
      link->send(piece);
    }
    host.run_until([&] {
      back += link->receive();
      return back.size() == sent.size();
    });
    EXPECT_EQ(back, sent);
    EXPECT_EQ(seen, sent);
    link->hang_up();
    host.run_until([&] { return over; });
    EXPECT_TRUE(link->over());
  }
}

TEST(SimulatedStream, ACutWirePassesNothingMore) {
  SimulatedHost host(1);
  Core core(0, host.clock());
  host.start(core, "core");
  auto link = std::make_shared<SimulatedLink>(1, "peer");
  SimulatedStream stream(link);
  std::string seen;
  bool over = false;
  core.spawn(echo(stream, seen, over));
  link->send("lost");
  link->cut();
  host.run_until([&] { return over; });
  EXPECT_EQ(seen, "");
  EXPECT_EQ(link->receive(), "");
}

}  // namespace
}  // namespace thalweg::runtime
