#include "inspect/capture_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "inspect/capture_test_util.h"

namespace thalweg::inspect {
namespace {

using test::Octets;

// What came out: the bytes, and where some are missing.
struct Collected : StreamSink {
  struct Gap {
    std::size_t at;
    std::uint64_t size;
  };
  Octets out;
  std::vector<Gap> gaps;
  int restarts = 0;
  void bytes(std::span<const std::uint8_t> bytes) override { out.insert(out.end(), bytes.begin(), bytes.end()); }
  void missing(std::uint64_t count) override {
    gaps.push_back({out.size(), count});
    out.resize(out.size() + count, 0xee);
  }
  void restarted() override { ++restarts; }
};

TcpSegment segment(std::uint32_t sequence, std::span<const std::uint8_t> payload, std::uint32_t cut = 0) {
  return {.sequence = sequence, .ack = true, .payload = payload, .cut = cut};
}
TcpSegment syn(std::uint32_t sequence) { return {.sequence = sequence, .syn = true}; }

Octets random_bytes(std::mt19937& random, std::size_t size) {
  Octets bytes(size);
  // Below the mark that stands for what is missing.
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 0xe0);
  return bytes;
}

struct Sent {
  std::size_t offset;
  std::size_t size;
};

// The stream cut into segments, some of them sent again with other borders, put out of order within a distance.
std::vector<Sent> disordered(std::mt19937& random, std::size_t size, std::size_t distance) {
  std::multimap<std::size_t, Sent> order;
  std::size_t at = 0;
  for (std::size_t place = 0; at < size; ++place) {
    const std::size_t n = std::min<std::size_t>(1 + random() % 200, size - at);
    order.insert({place + random() % distance, {at, n}});
    if (random() % 4 == 0) {
      const std::size_t from = at - std::min<std::size_t>(at, random() % 100);
      order.insert({place + random() % distance, {from, std::min<std::size_t>(1 + random() % 300, size - from)}});
    }
    at += n;
  }
  std::vector<Sent> sent;
  for (const auto& [place, one] : order) sent.push_back(one);
  return sent;
}

TEST(TcpStream, WhatIsSentComesOutWhateverTheOrder) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Octets data = random_bytes(random, 1 + random() % 20'000);
    // Some wrap around.
    const auto initial = static_cast<std::uint32_t>(seed % 3 == 0 ? 0U - random() % 10'000 : random());
    StreamBudget budget;
    TcpStream stream(budget);
    Collected collected;
    stream.segment(syn(initial), 0, collected);
    for (const Sent& one : disordered(random, data.size(), 1 + random() % 12))
      stream.segment(
          segment(initial + 1 + static_cast<std::uint32_t>(one.offset), std::span(data).subspan(one.offset, one.size)),
          0, collected);
    EXPECT_EQ(collected.out, data);
    EXPECT_TRUE(collected.gaps.empty());
    EXPECT_FALSE(stream.has_hole());
    EXPECT_EQ(budget.used, 0U);
  }
}

TEST(TcpStream, WhatIsLostIsNamedAndTheRestComesOut) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Octets data = random_bytes(random, 1 + random() % 20'000);
    std::vector<bool> there(data.size(), false);
    StreamBudget budget;
    TcpStream stream(budget);
    Collected collected;
    const auto initial = static_cast<std::uint32_t>(random());
    stream.segment(syn(initial), 0, collected);
    for (const Sent& one : disordered(random, data.size(), 4)) {
      if (random() % 10 == 0) continue;
      // Of some the capture has only the beginning.
      const std::size_t captured = random() % 10 == 0 ? random() % one.size : one.size;
      std::fill_n(there.begin() + static_cast<std::ptrdiff_t>(one.offset), captured, true);
      stream.segment(
          segment(initial + 1 + static_cast<std::uint32_t>(one.offset), std::span(data).subspan(one.offset, captured),
                  static_cast<std::uint32_t>(one.size - captured)),
          0, collected);
    }
    stream.finish(collected);
    ASSERT_LE(collected.out.size(), data.size());
    std::size_t named = 0;
    for (const auto& gap : collected.gaps) named += gap.size;
    std::size_t lacking = 0;
    for (std::size_t i = 0; i < collected.out.size(); ++i) {
      // A byte is right or it is missing; what is cut off is given up at once, though it may come again.
      if (collected.out[i] == 0xee) {
        ++lacking;
      } else {
        ASSERT_EQ(collected.out[i], data[i]) << i;
        ASSERT_TRUE(there[i]) << i;
      }
    }
    EXPECT_EQ(lacking, named);
    EXPECT_EQ(budget.used, 0U);
  }
}

TEST(TcpStream, AHoleThatTheReceiverDoesNotHaveIsGivenUpSoon) {
  const Octets data(1000, 7);
  StreamBudget budget;
  TcpStream stream(budget);
  Collected collected;
  stream.segment(segment(100, std::span(data).first(10)), 0, collected);
  stream.segment(segment(120, std::span(data).first(10)), 1, collected);
  EXPECT_TRUE(stream.has_hole());
  // Without an acknowledgement it may still come.
  for (int i = 0; i < 100; ++i) stream.segment(segment(120, std::span(data).first(10)), 2, collected);
  EXPECT_TRUE(stream.has_hole());
  stream.acknowledge(130, 3, collected);
  EXPECT_TRUE(stream.has_hole());
  stream.acknowledge(130, 4 + TcpStream::kPatienceNs, collected);
  EXPECT_FALSE(stream.has_hole());
  ASSERT_EQ(collected.gaps.size(), 1U);
  EXPECT_EQ(collected.gaps[0].at, 10U);
  EXPECT_EQ(collected.gaps[0].size, 10U);
  EXPECT_EQ(collected.out.size(), 30U);
}

TEST(TcpStream, AHoleWithoutAcknowledgementsIsGivenUpWithTime) {
  const Octets data(10, 7);
  StreamBudget budget;
  TcpStream stream(budget);
  Collected collected;
  stream.segment(segment(100, data), 0, collected);
  stream.segment(segment(120, data), 0, collected);
  stream.segment(segment(130, data), TcpStream::kOldNs + 1, collected);
  EXPECT_EQ(collected.out.size(), 40U);
}

TEST(TcpStream, WhatWaitsIsBounded) {
  const Octets data(10'000, 7);
  StreamBudget budget;
  TcpStream stream(budget);
  Collected collected;
  stream.segment(segment(0, std::span(data).first(1)), 0, collected);
  std::size_t most = 0;
  for (std::uint32_t at = 2; at < 40'000'000; at += 10'000) {
    stream.segment(segment(at, data), 0, collected);
    most = std::max(most, budget.used);
  }
  EXPECT_LE(most, TcpStream::kMostBytes + data.size() + 1000);
  EXPECT_EQ(collected.gaps.size(), 1U);
  // In all streams together as well.
  budget.most = 50'000;
  TcpStream second(budget);
  second.segment(segment(0, std::span(data).first(1)), 0, collected);
  for (std::uint32_t at = 2; at < 200'000; at += 10'000) second.segment(segment(at, data), 0, collected);
  EXPECT_FALSE(second.has_hole());
}

TEST(TcpStream, AnotherConnectionOnTheSamePortsIsToldApart) {
  const Octets data(10, 7);
  StreamBudget budget;
  TcpStream stream(budget);
  Collected collected;
  stream.segment(segment(3'000'000'000U, data), 0, collected);
  stream.segment(segment(1'500'000'000U, data), 0, collected);
  EXPECT_EQ(collected.restarts, 1);
  stream.segment(segment(1'500'000'010U, data), 0, collected);
  EXPECT_EQ(collected.out.size(), 30U);
}

TEST(TcpStream, AProbeOfAnIdleConnectionIsNothingNew) {
  const Octets data(10, 7);
  StreamBudget budget;
  TcpStream stream(budget);
  Collected collected;
  stream.segment(segment(100, data), 0, collected);
  stream.segment(segment(109, std::span(data).first(1)), 0, collected);
  stream.segment(segment(110, {}), 0, collected);
  EXPECT_EQ(collected.out.size(), 10U);
  EXPECT_FALSE(stream.ended());
  stream.segment({.sequence = 110, .fin = true}, 0, collected);
  EXPECT_TRUE(stream.ended());
}

}  // namespace
}  // namespace thalweg::inspect
