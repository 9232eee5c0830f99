// Segments in any order, against a model: every byte of a stream follows from its offset, so whatever comes out must be
// what stands there, in order, with gaps named by their size.
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/endian.h"
#include "inspect/capture_stream.h"

namespace inspect = thalweg::inspect;

namespace {

constexpr std::size_t kStream = 1 << 17;

std::uint8_t byte_at(std::size_t offset) { return static_cast<std::uint8_t>(offset * 31 + offset / 251); }

struct Checked final : inspect::StreamSink {
  std::size_t at = 0;
  void bytes(std::span<const std::uint8_t> bytes) override {
    for (const std::uint8_t byte : bytes) CHECK(byte == byte_at(at++));
  }
  void missing(std::uint64_t count) override {
    CHECK(count > 0);
    at += count;
  }
  void restarted() override { CHECK(false, "the segments are near one another"); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::uint8_t> stream = [] {
    std::vector<std::uint8_t> bytes(2 * kStream);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(i);
    return bytes;
  }();
  if (size < 4) return 0;
  const auto initial = thalweg::base::load_be<std::uint32_t>(data);
  inspect::StreamBudget budget{.most = 1 << 16};
  {
    inspect::TcpStream tcp(budget);
    Checked checked;
    tcp.segment({.sequence = initial, .syn = true}, 0, checked);
    // Each six bytes: where, how long, how much of it is cut off, whether it is acknowledged, and the time.
    for (data += 4, size -= 4; size >= 6; data += 6, size -= 6) {
      const std::size_t offset =
          thalweg::base::load_be<std::uint16_t>(data) + std::size_t{data[2] & 1U} * (kStream / 2);
      const std::size_t length = std::size_t{data[3]} * 4;
      const std::size_t cut = length == 0 ? 0 : data[4] % length / 2;
      const std::int64_t time_ns = std::int64_t{data[5]} * 100'000'000;
      const auto sequence = initial + 1 + static_cast<std::uint32_t>(offset);
      if ((data[2] & 2) != 0) tcp.acknowledge(sequence, time_ns, checked);
      tcp.segment({.sequence = sequence,
                   .fin = (data[2] & 4) != 0,
                   .payload = std::span(stream).subspan(offset, length - cut),
                   .cut = static_cast<std::uint32_t>(cut)},
                  time_ns, checked);
      CHECK(budget.used <= (1 << 16) + 2048);
    }
    tcp.finish(checked);
    CHECK(!tcp.has_hole());
  }
  CHECK(budget.used == 0);
  return 0;
}
