// A capture: packets in, exchanges between Kafka clients and brokers out.
//
// Memory is bounded by what connections hold, not by the capture's size: see the limits in capture_stream.h,
// capture_connection.h and here.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inspect/capture_connection.h"
#include "inspect/capture_packet.h"

namespace thalweg::inspect {

struct CaptureOptions {
  // Where brokers listen. Empty: connections are told by the shape of what clients send.
  std::vector<std::uint16_t> ports;
  // Exchanges come with their frames.
  bool keep_frames = false;
};

class Capture {
 public:
  // Connections that are remembered; the one that was quiet for longest goes first.
  static constexpr std::size_t kMostConnections = 32'768;

  Capture(const Catalog& catalog, CaptureOptions options, ExchangeSink& sink);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  Capture(Capture&&) = delete;
  Capture& operator=(Capture&&) = delete;
  ~Capture();

  // The next packet.
  //   time_ns   when it was captured, since 1970
  //   packet    from the link header on, as much of it as was captured; read during the call only
  void packet(std::int64_t time_ns, LinkType link, std::span<const std::uint8_t> packet);
  // The capture has ended: reports what got no answer.
  void finish();

  [[nodiscard]] const CaptureCounts& counts() const { return context_.counts; }
  // Null where the schemas know no such API.
  [[nodiscard]] const CaptureApi* api(int key) const { return context_.api(key); }

 private:
  // The two ends, the lower one first.
  using Ends = std::pair<Endpoint, Endpoint>;
  struct EndsHash {
    std::size_t operator()(const Ends& ends) const;
  };
  struct Entry {
    Ends ends;
    std::unique_ptr<CaptureConnection> connection;  // null: it has ended, or is none of Kafka's
  };
  using Entries = std::list<Entry>;  // the latest used in front

  Entry& find(const Ends& ends, bool& fresh);
  [[nodiscard]] std::optional<int> server_of(const Ends& ends) const;

  CaptureContext context_;
  std::vector<std::uint16_t> ports_;  // sorted
  Entries entries_;
  std::unordered_map<Ends, Entries::iterator, EndsHash> index_;
};

}  // namespace thalweg::inspect
