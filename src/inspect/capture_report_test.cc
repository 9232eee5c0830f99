#include "inspect/capture_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "inspect/capture_file.h"
#include "inspect/capture_test_util.h"

namespace thalweg::inspect {
namespace {

using test::Octets;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kMs = 1'000'000;

struct Ignored : ExchangeSink {
  void exchange(Exchange&) override {}
};

Exchange exchange_of(int api_key, int version, std::string client_id, std::int64_t latency_ns) {
  Exchange exchange;
  exchange.client = test::endpoint(1, 40'000);
  exchange.api_key = static_cast<std::int16_t>(api_key);
  exchange.version = static_cast<std::int16_t>(version);
  exchange.client_id = std::make_shared<const std::string>(std::move(client_id));
  exchange.outcome = Exchange::Outcome::answered;
  exchange.request = {.begin_ns = 1'700'000'000 * std::int64_t{1000} * kMs, .size = 100};
  exchange.request.end_ns = exchange.request.begin_ns;
  exchange.response = {.begin_ns = exchange.request.end_ns, .end_ns = exchange.request.end_ns + latency_ns, .size = 30};
  return exchange;
}

TEST(CaptureReport, ALineSaysWhatTheExchangeWas) {
  Ignored sink;
  const Capture capture(Catalog::built_in(), {}, sink);
  CaptureReport report(capture);
  Exchange exchange = exchange_of(1, 17, "reader", 1'234'567);
  exchange.errors = {{.code = 70, .top_level = true, .count = 1},
                     {.code = 6, .top_level = false, .count = 3},
                     {.code = 999, .top_level = false, .count = 1}};
  const std::string line = report.line(exchange);
  EXPECT_THAT(line, StartsWith("2023-11-14T22:13:20.000000Z  10.0.0.1:40000"));
  EXPECT_THAT(line, HasSubstr("reader"));
  EXPECT_THAT(line, HasSubstr("Fetch v17"));
  EXPECT_THAT(line, HasSubstr("1.234ms  FETCH_SESSION_ID_NOT_FOUND [NOT_LEADER_OR_FOLLOWER x3, error 999]\n"));
  EXPECT_THAT(report.line(exchange_of(1, 99, "reader", kMs)), EndsWith("unknown version\n"));
  EXPECT_THAT(report.line(exchange_of(500, 0, "reader", kMs)), HasSubstr("API 500 v0"));
  exchange = exchange_of(0, 9, "writer", kMs);
  exchange.outcome = Exchange::Outcome::unwanted;
  exchange.response = {};
  EXPECT_THAT(report.line(exchange), EndsWith("        -            -  no answer wanted\n"));
  EXPECT_FALSE(report.found_faults());
  exchange = exchange_of(0, 9, "writer", kMs);
  exchange.response.fault = "cut off";
  exchange.request.missing = 1;
  EXPECT_THAT(report.line(exchange),
              EndsWith("the capture lacks 1 byte of the request; response breaks its schema: cut off\n"));
  EXPECT_TRUE(report.found_faults());
}

TEST(CaptureReport, TheSummaryAddsUpEachClientAndApi) {
  Ignored sink;
  const Capture capture(Catalog::built_in(), {}, sink);
  CaptureReport report(capture);
  for (int i = 1; i <= 100; ++i) report.line(exchange_of(1, 17, "reader", i * kMs));
  Exchange failed = exchange_of(3, 12, "reader", 5 * kMs);
  failed.errors = {{.code = 3, .top_level = false, .count = 1}};
  report.line(failed);
  const std::string summary = report.summary();
  EXPECT_THAT(summary,
              testing::ContainsRegex("reader +10\\.0\\.0\\.1 +Fetch +100 +0 +0 +10000 +3000 .* 100\\.000ms\n"));
  EXPECT_THAT(summary,
              testing::ContainsRegex("reader +10\\.0\\.0\\.1 +Metadata +1 +1 +0 +100 +30 +5\\.000ms +5\\.000ms"));
  EXPECT_THAT(summary, HasSubstr("101 exchanges: 10100 bytes of requests, 3030 bytes of responses; 1 with errors"));
}

TEST(LatencyHistogram, PercentilesAreNearTheTrueOnes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    LatencyHistogram histogram;
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < 1 + seed * 100; ++i) {
      all.push_back(static_cast<std::int64_t>(random() >> (random() % 58 + 4)));
      histogram.add(all.back());
    }
    std::ranges::sort(all);
    for (const double share : {0.0, 0.5, 0.9, 0.99, 1.0}) {
      const auto at = static_cast<std::size_t>(std::max(0.0, std::ceil(share * static_cast<double>(all.size())) - 1));
      const std::int64_t got = histogram.percentile(share);
      EXPECT_GE(got, all[at]);
      EXPECT_LE(got, all[at] + all[at] / 32);
    }
    EXPECT_EQ(histogram.largest(), all.back());
  }
  EXPECT_EQ(LatencyHistogram().percentile(0.5), -1);
}

TEST(CaptureFilter, EachPartMustPass) {
  Exchange exchange = exchange_of(1, 17, "reader-1", 10 * kMs);
  EXPECT_TRUE(CaptureFilter{}.passes(exchange));
  EXPECT_TRUE((CaptureFilter{.api_keys = {0, 1}}.passes(exchange)));
  EXPECT_FALSE((CaptureFilter{.api_keys = {0}}.passes(exchange)));
  EXPECT_TRUE((CaptureFilter{.client_ids = {"x", "reader-*"}}.passes(exchange)));
  EXPECT_FALSE((CaptureFilter{.client_ids = {"reader"}}.passes(exchange)));
  EXPECT_FALSE((CaptureFilter{.errors = true}.passes(exchange)));
  EXPECT_TRUE((CaptureFilter{.slower_than_ns = 9 * kMs}.passes(exchange)));
  EXPECT_FALSE((CaptureFilter{.slower_than_ns = 10 * kMs}.passes(exchange)));
  exchange.errors.push_back({.code = 1, .top_level = true, .count = 1});
  EXPECT_TRUE((CaptureFilter{.api_keys = {1}, .errors = true}.passes(exchange)));
  // What was never answered took no time that anybody knows.
  exchange.response.end_ns = 0;
  EXPECT_FALSE((CaptureFilter{.slower_than_ns = 0}.passes(exchange)));
}

TEST(Duration, IsReadWithItsUnit) {
  EXPECT_EQ(parse_duration_ns("250"), 250 * kMs);
  EXPECT_EQ(parse_duration_ns("250ms"), 250 * kMs);
  EXPECT_EQ(parse_duration_ns("1.5s"), 1500 * kMs);
  EXPECT_EQ(parse_duration_ns("80us"), kMs * 80 / 1000);
  for (const char* wrong : {"", "ms", "-1ms", "1h", "nan", "1e300s", "1 ms"})
    EXPECT_EQ(parse_duration_ns(wrong), std::nullopt) << wrong;
}

std::FILE* file_of(const Octets& bytes) {
  std::FILE* file = std::tmpfile();
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::rewind(file);
  return file;
}

TEST(CaptureFile, PcapIsReadPacketAfterPacket) {
  const Octets packet = test::tcp_packet(test::endpoint(1, 1), test::endpoint(2, 2), 1, 1, {}, Octets{1, 2, 3});
  Octets file = test::pcap_header();
  test::put_pcap_packet(file, 1'700'000'000'123'456'789, packet);
  test::put_pcap_packet(file, 1'700'000'001'000'000'000, Octets{});
  EXPECT_TRUE(is_capture(file));
  auto capture = CaptureFile::open(file_of(file));
  ASSERT_TRUE(capture.has_value()) << capture.error();
  EXPECT_EQ(capture->link(), LinkType::raw_ip);
  auto first = capture->next();
  ASSERT_TRUE(first.has_value() && first->has_value());
  EXPECT_EQ((*first)->time_ns, 1'700'000'000'123'456'789);
  EXPECT_EQ(Octets((*first)->packet.begin(), (*first)->packet.end()), packet);
  ASSERT_TRUE(capture->next()->has_value());
  EXPECT_EQ(capture->next(), std::nullopt);
}

TEST(CaptureFile, ATruncatedFileIsAnErrorBehindItsLastWholePacket) {
  Octets file = test::pcap_header();
  test::put_pcap_packet(file, 1, Octets(10, 1));
  test::put_pcap_packet(file, 2, Octets(10, 1));
  file.resize(file.size() - 3);
  auto capture = CaptureFile::open(file_of(file));
  ASSERT_TRUE(capture.has_value());
  EXPECT_TRUE(capture->next().has_value());
  EXPECT_FALSE(capture->next().has_value());
}

TEST(CaptureFile, OtherFilesAndLinksAreRefused) {
  EXPECT_FALSE(is_capture(Octets{0xa1, 0xb2}));
  EXPECT_FALSE(is_capture(Octets{0, 0, 0, 12}));
  EXPECT_FALSE(CaptureFile::open(file_of(Octets(100, 7))).has_value());
  const auto bluetooth = CaptureFile::open(file_of(test::pcap_header(187)));
  ASSERT_FALSE(bluetooth.has_value());
  EXPECT_THAT(bluetooth.error(), HasSubstr("link type"));
}

}  // namespace
}  // namespace thalweg::inspect
