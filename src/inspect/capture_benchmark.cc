// A capture in list mode, from its file to the lines of the list: bytes of the file in a second, and the most memory
// that is held. What clients and brokers say is produce and fetch with `record_bytes` of records, in packets of an
// Ethernet's size, on 32 connections, and a heartbeat now and then. The file lies in the folder for temporary files,
// which needs room for it.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inspect/capture.h"
#include "inspect/capture_file.h"
#include "inspect/capture_report.h"
#include "inspect/capture_test_util.h"
#include "protocol/messages/fetch_request.h"
#include "protocol/messages/fetch_response.h"
#include "protocol/messages/heartbeat_request.h"
#include "protocol/messages/heartbeat_response.h"
#include "protocol/messages/produce_request.h"
#include "protocol/messages/produce_response.h"

namespace thalweg::inspect {
namespace {

using test::Octets;

constexpr int kProduceVersion = 12;
constexpr int kFetchVersion = 13;
constexpr int kHeartbeatVersion = 4;

// One file for each pair of arguments, made when it is first asked for and removed at the end.
class Files {
 public:
  ~Files() {
    for (const auto& [key, path] : paths_) std::remove(path.c_str());
  }
  const std::string& get(std::size_t mib, std::size_t record_bytes) {
    std::string& path = paths_[{mib, record_bytes}];
    if (path.empty()) {
      const char* folder = std::getenv("TMPDIR");
      path = std::string(folder == nullptr ? "/tmp" : folder) + "/thalweg-capture-" + std::to_string(mib) + "-" +
             std::to_string(record_bytes) + ".pcap";
      write(path, mib << 20U, record_bytes);
    }
    return path;
  }

 private:
  static void write(const std::string& path, std::size_t size, std::size_t record_bytes) {
    constexpr std::uint16_t kConnections = 32;
    std::ofstream out(path, std::ios::binary);
    const auto put_out = [&](const Octets& bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    put_out(test::pcap_header());
    std::vector<test::Conversation> conversations;
    for (std::uint16_t i = 0; i < kConnections; ++i) {
      const auto port = static_cast<std::uint16_t>(40'000 + i);
      conversations.emplace_back(test::endpoint(1, port), test::endpoint(2, 9092), 1000U * i, 2000U * i);
      conversations.back().open();
    }
    const Octets records(record_bytes, 0x5a);
    std::size_t written = 0;
    Octets piece;
    for (std::int32_t id = 0; written < size; ++id) {
      for (test::Conversation& c : conversations) {
        talk(c, id, records);
        for (const test::TimedPacket& packet : c.packets) test::put_pcap_packet(piece, packet.time_ns, packet.bytes);
        c.packets.clear();
      }
      put_out(piece);
      written += piece.size();
      piece.clear();
    }
  }

  static void talk(test::Conversation& c, std::int32_t id, const Octets& records) {
    const std::string client = "producer-and-consumer-1";
    protocol::Records value(base::Bytes::unowned(records));
    if (id % 2 == 0) {
      protocol::ProduceRequest request;
      request.acks = -1;
      auto& topic = request.topic_data.emplace_back();
      topic.name = "orders";
      topic.partition_data.emplace_back().records = value;
      c.say(0, test::request_frame(request, kProduceVersion, id, client));
      protocol::ProduceResponse response;
      response.responses.emplace_back().partition_responses.emplace_back();
      c.say(1, test::response_frame(response, kProduceVersion, id));
    } else {
      c.say(0, test::request_frame(protocol::FetchRequest{}, kFetchVersion, id, client));
      protocol::FetchResponse response;
      response.responses.emplace_back().partitions.emplace_back().records = value;
      c.say(1, test::response_frame(response, kFetchVersion, id));
    }
    if (id % 16 != 0) return;
    c.say(0, test::request_frame(protocol::HeartbeatRequest{}, kHeartbeatVersion, id, client));
    c.say(1, test::response_frame(protocol::HeartbeatResponse{}, kHeartbeatVersion, id));
  }

  std::map<std::pair<std::size_t, std::size_t>, std::string> paths_;
};

struct Listed final : ExchangeSink {
  CaptureReport* report = nullptr;
  std::size_t exchanges = 0;
  std::size_t text_bytes = 0;
  void exchange(Exchange& exchange) override {
    ++exchanges;
    text_bytes += report->line(exchange).size();
  }
};

// The most memory that the process has held since the last reset, in MiB.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

void BM_ListCapture(benchmark::State& state) {
  static Files files;
  const std::string& path =
      files.get(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  std::uint64_t bytes = 0;
  Listed listed;
  reset_peak();
  for (auto _ : state) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return state.SkipWithError("the file cannot be opened");
    auto packets = CaptureFile::open(file);
    if (!packets) return state.SkipWithError(packets.error().c_str());
    Capture capture(Catalog::built_in(), {}, listed);
    CaptureReport report(capture);
    listed = {};
    listed.report = &report;
    for (;;) {
      const auto packet = packets->next();
      if (!packet) return state.SkipWithError(packet.error().c_str());
      if (!*packet) break;
      capture.packet((*packet)->time_ns, packets->link(), (*packet)->packet);
    }
    bytes += std::filesystem::file_size(path);
    capture.finish();
    benchmark::DoNotOptimize(report.summary());
    if (listed.exchanges == 0 || capture.counts().gaps > 0) return state.SkipWithError("not read whole");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["exchanges"] = static_cast<double>(listed.exchanges);
  state.counters["peak_MiB"] = peak_mib();
}
BENCHMARK(BM_ListCapture)
    ->ArgNames({"MiB", "record_bytes"})
    ->Args({64, 16'384})
    ->Args({1024, 16'384})
    ->Args({64, 100})
    ->Args({256, 100})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace thalweg::inspect
