// Any bytes as the pushes of a client: none leaves more than the limits allow, what is kept can be printed, every line
// is one, and when its time is over nothing is left. The first byte is the codec; what follows comes twice, as a
// client's pushes do.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/check.h"
#include "telemetry/client_metrics.h"
#include "telemetry/exposition.h"
#include "telemetry/otlp.h"
#include "telemetry/samples.h"

namespace {

using namespace thalweg::telemetry;

constexpr std::uint64_t kMostBytes = 64 << 10;
constexpr std::int64_t kLater = 1'000'000;

void check_page(const std::string& page) {
  CHECK(page.empty() || page.back() == '\n');
  for (const char c : page) CHECK(c == '\n' || static_cast<unsigned char>(c) >= ' ');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span payload(data + 1, size - 1);
  ClientMetrics metrics({.max_clients = 1, .max_series = 50, .max_series_per_client = 40, .max_bytes = 20'000});
  ClientFacts client;
  client.client_id = std::string(reinterpret_cast<const char*>(data), size);
  for (int push = 0; push < 2; ++push) {
    const auto decoded = decode_metrics(static_cast<std::int8_t>(data[0] % 5), payload, {.max_bytes = kMostBytes});
    if (!decoded) return 0;
    metrics.take(client, 1000, flatten(*decoded, {.max_samples = 100}), push);
    CHECK(metrics.series_count() <= 40 && metrics.bytes() <= 20'000);
    check_page(print_clients(metrics.reports()));
    const auto passed_on = encode_with(client, *decoded);
    CHECK(!passed_on || passed_on->size() >= decoded->ByteSizeLong());
  }
  metrics.expire(kLater);
  CHECK(metrics.series_count() == 0 && metrics.bytes() == 0);
  return 0;
}
