// One direction of a TCP connection, put together from its segments as a capture has them: out of order, sent again,
// overlapping, begun before the capture, with holes.
//
// What comes in order goes on at once, uncopied. What comes early waits, within bounds, for what is missing. A hole is
// given up, and named with its size, when
//   - the receiver has acknowledged bytes behind it, so it had what the capture lacks, and kPatience later segments or
//     kPatienceNs brought nothing: packets of a capture may be a little out of order themselves;
//   - it is kOldNs old, for captures that have one direction only;
//   - what waits behind it is more than the bounds allow;
//   - the capture ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "inspect/capture_packet.h"

namespace thalweg::inspect {

class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // The next bytes of the stream, valid during the call.
  virtual void bytes(std::span<const std::uint8_t> bytes) = 0;
  // So many bytes that the capture lacks.
  virtual void missing(std::uint64_t count) = 0;
  // What follows has nothing to do with what came before: unknown much is missing.
  virtual void restarted() = 0;
};

// What all streams hold in memory together, and may hold.
struct StreamBudget {
  std::size_t used = 0;
  std::size_t most = std::size_t{64} << 20U;
};

class TcpStream {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;  // that wait in one stream
  static constexpr int kPatience = 32;
  static constexpr std::int64_t kPatienceNs = 500'000'000;
  static constexpr std::int64_t kOldNs = 10'000'000'000;
  // A step forwards that no window allows is a jump to what is known to be missing; one backwards another connection.
  static constexpr std::int64_t kFarthest = std::int64_t{1} << 30U;

  explicit TcpStream(StreamBudget& budget) : budget_(&budget) {}
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;
  TcpStream(TcpStream&&) = delete;
  TcpStream& operator=(TcpStream&&) = delete;
  ~TcpStream() { clear(); }

  // A segment of this direction, at `time_ns`.
  void segment(const TcpSegment& segment, std::int64_t time_ns, StreamSink& sink);
  // The other direction says that it has everything before `acknowledged`.
  void acknowledge(std::uint32_t acknowledged, std::int64_t time_ns, StreamSink& sink);
  // Gives up the first hole, where there is one. Returns whether there was.
  bool give_up_hole(StreamSink& sink);
  // Gives up every hole: the capture or the connection has ended.
  void finish(StreamSink& sink);

  // Whether a segment has been seen at all, and whether that was the connection's start.
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool from_start() const { return from_start_; }
  [[nodiscard]] bool has_hole() const { return !waiting_.empty(); }
  // Everything up to the sender's FIN has gone on.
  [[nodiscard]] bool ended() const { return fin_at_ && next_ >= *fin_at_; }
  // The sequence number that a SYN gave, to tell one sent again from a new connection.
  [[nodiscard]] std::uint32_t initial_sequence() const { return first_sequence_ - 1; }

 private:
  struct Piece {
    std::vector<std::uint8_t> bytes;
    std::uint32_t cut = 0;  // bytes behind them that the capture left out
    // What it costs to keep, so that many small ones count too.
    [[nodiscard]] std::size_t cost() const { return bytes.size() + 128; }
  };

  [[nodiscard]] std::int64_t offset_of(std::uint32_t sequence) const;
  void pass_on(std::int64_t offset, std::span<const std::uint8_t> payload, std::uint32_t cut, StreamSink& sink);
  void keep(std::int64_t offset, std::span<const std::uint8_t> payload, std::uint32_t cut);
  void charge(const Piece& piece, int sign);
  void new_hole();
  void drain(StreamSink& sink);
  void check_hole(StreamSink& sink);
  void clear();

  StreamBudget* budget_;
  bool started_ = false;
  bool from_start_ = false;
  std::uint32_t first_sequence_ = 0;  // of offset 0
  std::int64_t next_ = 0;             // offset of the byte that comes next
  std::int64_t acknowledged_ = 0;
  std::optional<std::int64_t> fin_at_;
  std::map<std::int64_t, Piece> waiting_;  // by offset; some may overlap
  std::size_t waiting_cost_ = 0;
  std::int64_t now_ns_ = 0;
  std::int64_t hole_since_ns_ = 0;
  std::int64_t acknowledged_since_ns_ = -1;  // when the hole turned out to be one for us alone
  int patience_ = kPatience;
};

}  // namespace thalweg::inspect
