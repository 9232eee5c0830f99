// A TCP connection of a capture that may be one between a Kafka client and a broker: finds the frames in both
// directions, pairs responses with requests, and skims what they say.
//
// Where a frame begins is known from the connection's start on. Where it is not (the capture began later, or lacks
// bytes), a request is looked for by its shape: a size, the key of an API, a version that its schema has, a client id
// of printable characters, and no fault in as much of its body as is there. A response is looked for by a size and the
// correlation id of a request that waits for one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inspect/capture_exchange.h"
#include "inspect/capture_packet.h"
#include "inspect/capture_stream.h"
#include "inspect/catalog.h"
#include "inspect/skim.h"

namespace thalweg::inspect {

// How many, of what was found besides exchanges.
struct CaptureCounts {
  std::uint64_t packets = 0;
  std::uint64_t segments = 0;
  std::uint64_t fragments = 0;
  std::uint64_t damaged_packets = 0;
  std::uint64_t connections = 0;  // TCP
  std::uint64_t kafka_connections = 0;
  std::uint64_t tls_connections = 0;  // of those that are not Kafka's as far as can be seen
  std::uint64_t gaps = 0;             // in Kafka connections
  std::uint64_t missing_bytes = 0;
  std::uint64_t resynchronised = 0;  // times that the next frame had to be looked for
  std::uint64_t orphans = 0;         // responses to requests that the capture lacks
};

// The messages of an API.
struct CaptureApi {
  const MessageEntry* request = nullptr;
  const MessageEntry* response = nullptr;
  std::string name;
  // By version; null until one is first asked for.
  std::vector<const SkimProgram*> request_programs;
  std::vector<const SkimProgram*> response_programs;
};

// What all connections of a capture share.
class CaptureContext {
 public:
  // Frames above this are no Kafka; those kept for -v are smaller.
  static constexpr std::uint32_t kMostFrame = std::uint32_t{512} << 20U;
  static constexpr std::size_t kMostKeptFrame = std::size_t{32} << 20U;
  static constexpr std::size_t kMostKept = std::size_t{256} << 20U;
  // Requests that wait for their answers, in one connection and in all.
  static constexpr std::size_t kMostPendingHere = 4096;
  static constexpr std::size_t kMostPending = 200'000;

  CaptureContext(const Catalog& catalog, bool keep_frames, ExchangeSink& sink);

  // Null where the schemas know no such API.
  [[nodiscard]] const CaptureApi* api(int key) const;
  // Null where they know the API, but not the version.
  const SkimProgram* request_program(int key, int version);
  const SkimProgram* response_program(int key, int version);

  bool by_shape = true;  // connections are told by their shape, not by port
  bool keep_frames;
  ExchangeSink& sink;
  StreamBudget budget;
  CaptureCounts counts;
  std::size_t pending = 0;
  std::size_t kept = 0;
  std::int64_t now_ns = 0;

 private:
  // `plain_header`: the header has no tagged fields, whatever the body has.
  const SkimProgram* program(std::vector<const SkimProgram*>& known, const schema::Message& message, int version,
                             bool plain_header);

  std::vector<CaptureApi> apis_;  // by key
  SkimPrograms programs_;
};

class CaptureConnection {
 public:
  // `server`: which of the two is the broker, where a port tells; -1 where that must be found out.
  CaptureConnection(CaptureContext& context, const Endpoint& first, const Endpoint& second, int server);
  CaptureConnection(const CaptureConnection&) = delete;
  CaptureConnection& operator=(const CaptureConnection&) = delete;
  CaptureConnection(CaptureConnection&&) = delete;
  CaptureConnection& operator=(CaptureConnection&&) = delete;
  ~CaptureConnection();

  // A segment that came at context.now_ns. `direction`: 0 from the first endpoint, 1 from the second.
  void segment(int direction, const TcpSegment& segment);
  // A SYN that can only be that of another connection between the same ports.
  [[nodiscard]] bool is_new_connection(int direction, const TcpSegment& segment) const;
  // Nothing more comes: gives up what is missing and reports what got no answer.
  void finish();
  // That this is no Kafka is certain: nothing of it is worth keeping.
  [[nodiscard]] bool is_other() const { return verdict_ == Verdict::other; }
  // Both sides have ended, or one has broken off; finish() may be called.
  [[nodiscard]] bool ended() const;

 private:
  enum class Verdict : std::uint8_t { undecided, kafka, other };
  enum class State : std::uint8_t { search, head, body };

  // One direction.
  struct Lane final : StreamSink {
    Lane(CaptureConnection& connection, StreamBudget& budget) : owner(connection), stream(budget) {}
    void bytes(std::span<const std::uint8_t> bytes) override { owner.consume(*this, bytes); }
    void missing(std::uint64_t count) override { owner.lose(*this, count); }
    void restarted() override { owner.restart(); }

    CaptureConnection& owner;
    TcpStream stream;
    State state = State::search;
    bool begun = false;
    bool confirmed = false;          // that the frames are where they are believed to be
    bool disturbed = false;          // at some time it was not known where they are
    std::vector<std::uint8_t> head;  // of a frame, or of the bytes that are searched
    std::uint64_t searched = 0;
    std::uint64_t left = 0;  // bytes of the frame that are to come
    bool skimming = false;
    Skim skim;
    Exchange* exchange = nullptr;  // which the frame belongs to, where it does to one
    std::int64_t began_ns = 0;
  };
  [[nodiscard]] bool is_client(const Lane& lane) const { return client_ >= 0 && &lane == &lanes_[client()]; }
  [[nodiscard]] std::size_t client() const { return static_cast<std::size_t>(client_); }
  Lane& client_lane() { return lanes_[client()]; }
  Lane& server_lane() { return lanes_[1 - client()]; }

  void begin(Lane& lane, bool syn);
  void consume(Lane& lane, std::span<const std::uint8_t> bytes);
  void lose(Lane& lane, std::uint64_t count);
  void restart();
  void become_other();

  static std::size_t head_at_once(std::span<const std::uint8_t> bytes, bool request);
  std::size_t consume_head(Lane& lane, std::span<const std::uint8_t> bytes);
  std::size_t consume_body(Lane& lane, std::span<const std::uint8_t> bytes);
  void refuse_head(Lane& lane);
  bool request_head(Lane& lane);
  bool response_head(Lane& lane);
  void begin_request(Lane& lane, std::uint32_t size, std::size_t id_size);
  void begin_response(Lane& lane, std::uint32_t size);
  void begin_body(Lane& lane, std::uint64_t left, const SkimProgram* program);
  [[nodiscard]] bool only_looked_like_a_frame(const Lane& lane) const;
  void drop_frame(Lane& lane);
  void end_frame(Lane& lane);
  void end_request(Lane& lane, Exchange& exchange);
  void end_response(Lane& lane);

  void lose_sync(Lane& lane);
  void search(Lane& lane, std::span<const std::uint8_t> bytes);
  void search_requests(Lane& lane);
  void search_responses(Lane& lane);
  void forget(Lane& lane, std::size_t count);
  void found(Lane& lane, std::size_t at);
  void take_back_response();
  enum class Shape : std::uint8_t { no, more, yes };
  Shape request_shape(std::span<const std::uint8_t> bytes);
  Shape response_shape(std::span<const std::uint8_t> bytes, std::int32_t lowest, std::int32_t highest);
  static bool fits(const SkimProgram* program, std::uint64_t body_size, std::span<const std::uint8_t> begin);

  void keep(CapturedMessage& message, std::span<const std::uint8_t> bytes);
  void drop(CapturedMessage& message);
  [[nodiscard]] std::size_t pending_index(std::int32_t correlation_id) const;
  void report(std::unique_ptr<Exchange> exchange);
  void report_unanswered(std::size_t count);

  CaptureContext& context_;
  std::array<Endpoint, 2> endpoints_;
  std::array<Lane, 2> lanes_;
  Verdict verdict_ = Verdict::undecided;
  std::int8_t client_ = -1;
  bool reset_ = false;
  // After SaslHandshake v0 bare tokens follow, each with a size in front, until a request comes again.
  bool sasl_tokens_ = false;
  std::deque<std::unique_ptr<Exchange>> pending_;  // requests whose responses are to come
  std::unique_ptr<Exchange> answering_;            // whose response is being read
  std::shared_ptr<const std::string> client_id_;   // the last one
};

}  // namespace thalweg::inspect
