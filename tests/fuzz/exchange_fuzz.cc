// What two sides of a connection say, in pieces, with gaps: frames are found, paired and skimmed.
#include <algorithm>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "inspect/capture_connection.h"

namespace inspect = thalweg::inspect;

namespace {

struct Counted final : inspect::ExchangeSink {
  std::size_t exchanges = 0;
  void exchange(inspect::Exchange& exchange) override {
    ++exchanges;
    CHECK(exchange.request.size > 0);
    CHECK(exchange.request.frame.empty() || exchange.request.frame.size() == exchange.request.size);
    CHECK(exchange.response.frame.empty() || exchange.response.frame.size() == exchange.response.size);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t kind = data[0];
  Counted counted;
  inspect::CaptureContext context(inspect::Catalog::built_in(), (kind & 1) != 0, counted);
  context.by_shape = (kind & 2) != 0;
  {
    inspect::CaptureConnection connection(context, {.port = 40'000}, {.port = 9092}, context.by_shape ? -1 : 1);
    std::uint32_t next[2] = {100, 200};
    if ((kind & 4) != 0) {
      for (const int side : {0, 1}) {
        connection.segment(side, {.sequence = next[side], .syn = true, .ack = side == 1});
        ++next[side];
      }
    }
    // Each piece: a byte with its direction and what happens to it, its length, its bytes.
    std::size_t at = 1;
    while (at + 2 <= size) {
      const std::uint8_t what = data[at];
      const std::size_t length = std::min<std::size_t>(data[at + 1], size - at - 2);
      const int side = what & 1;
      context.now_ns += std::int64_t{1} << (what >> 3);
      // A gap in front.
      if ((what & 2) != 0) next[side] += 1U + (what >> 3);
      connection.segment(side, {.sequence = next[side],
                                .acknowledged = next[1 - side],
                                .ack = (what & 4) != 0,
                                .payload = {data + at + 2, length}});
      next[side] += static_cast<std::uint32_t>(length);
      at += 2 + length;
    }
    connection.finish();
    CHECK(context.pending == 0);
    CHECK(context.kept == 0);
  }
  CHECK(context.budget.used == 0);
  return 0;
}
