#include "inspect/capture_stream.h"

#include <algorithm>
#include <utility>

namespace thalweg::inspect {

// Sequence numbers wrap; which turn is meant follows from what is near.
std::int64_t TcpStream::offset_of(std::uint32_t sequence) const {
  const std::uint32_t expected = first_sequence_ + static_cast<std::uint32_t>(next_);
  return next_ + static_cast<std::int32_t>(sequence - expected);
}

void TcpStream::segment(const TcpSegment& segment, std::int64_t time_ns, StreamSink& sink) {
  now_ns_ = time_ns;
  // The SYN takes the place of a byte in front of the first.
  const std::uint32_t sequence = segment.sequence + (segment.syn ? 1 : 0);
  const bool empty = segment.payload.empty() && segment.cut == 0;
  if (!started_) {
    started_ = true;
    from_start_ = segment.syn;
    first_sequence_ = sequence;
  }
  std::int64_t offset = offset_of(sequence);
  const std::int64_t end = offset + static_cast<std::int64_t>(segment.payload.size()) + segment.cut;
  if (!empty && end < next_ - kFarthest) {
    clear();
    first_sequence_ = sequence - static_cast<std::uint32_t>(next_);
    fin_at_.reset();
    sink.restarted();
    offset = next_;
  }
  if (segment.fin) fin_at_ = offset + static_cast<std::int64_t>(segment.payload.size()) + segment.cut;
  if (empty) return;
  if (offset <= next_) {
    pass_on(offset, segment.payload, segment.cut, sink);
    drain(sink);
  } else {
    if (waiting_.empty()) new_hole();
    keep(offset, segment.payload, segment.cut);
  }
  check_hole(sink);
}

void TcpStream::new_hole() {
  hole_since_ns_ = now_ns_;
  acknowledged_since_ns_ = -1;
  patience_ = kPatience;
}

void TcpStream::pass_on(std::int64_t offset, std::span<const std::uint8_t> payload, std::uint32_t cut,
                        StreamSink& sink) {
  const auto old = static_cast<std::uint64_t>(next_ - offset);
  if (old < payload.size()) {
    const auto fresh = payload.subspan(old);
    next_ += static_cast<std::int64_t>(fresh.size());
    sink.bytes(fresh);
  }
  const std::int64_t end = offset + static_cast<std::int64_t>(payload.size()) + cut;
  if (cut > 0 && end > next_) {
    const auto lost = static_cast<std::uint64_t>(end - next_);
    next_ = end;
    sink.missing(lost);
  }
}

void TcpStream::keep(std::int64_t offset, std::span<const std::uint8_t> payload, std::uint32_t cut) {
  const auto [it, fresh] = waiting_.try_emplace(offset);
  Piece& piece = it->second;
  if (!fresh && piece.bytes.size() + piece.cut >= payload.size() + cut) return;
  if (!fresh) charge(piece, -1);
  // What came first stays, where two tell different things of the same bytes.
  if (piece.bytes.size() < payload.size()) {
    const auto more = payload.subspan(piece.bytes.size());
    piece.bytes.insert(piece.bytes.end(), more.begin(), more.end());
  }
  piece.cut = static_cast<std::uint32_t>(payload.size() + cut - piece.bytes.size());
  charge(piece, 1);
}

void TcpStream::charge(const Piece& piece, int sign) {
  const std::size_t cost = sign > 0 ? piece.cost() : 0 - piece.cost();
  budget_->used += cost;
  waiting_cost_ += cost;
}

// Passes on what no longer waits for anything.
void TcpStream::drain(StreamSink& sink) {
  while (!waiting_.empty() && waiting_.begin()->first <= next_) {
    const auto node = waiting_.extract(waiting_.begin());
    charge(node.mapped(), -1);
    pass_on(node.key(), node.mapped().bytes, node.mapped().cut, sink);
    // The next hole, if there is one, has its own time.
    new_hole();
  }
}

void TcpStream::acknowledge(std::uint32_t acknowledged, std::int64_t time_ns, StreamSink& sink) {
  if (!started_) return;
  now_ns_ = time_ns;
  acknowledged_ = std::max(acknowledged_, offset_of(acknowledged));
  if (!waiting_.empty()) check_hole(sink);
}

void TcpStream::check_hole(StreamSink& sink) {
  while (!waiting_.empty()) {
    bool over = waiting_cost_ > kMostBytes || budget_->used > budget_->most;
    over |= waiting_.rbegin()->first - next_ > kFarthest || now_ns_ - hole_since_ns_ > kOldNs;
    if (acknowledged_ >= waiting_.begin()->first) {
      if (acknowledged_since_ns_ < 0) acknowledged_since_ns_ = now_ns_;
      over |= --patience_ <= 0 || now_ns_ - acknowledged_since_ns_ > kPatienceNs;
    }
    if (!over) return;
    give_up_hole(sink);
  }
}

bool TcpStream::give_up_hole(StreamSink& sink) {
  if (waiting_.empty()) return false;
  const auto lost = static_cast<std::uint64_t>(waiting_.begin()->first - next_);
  next_ = waiting_.begin()->first;
  sink.missing(lost);
  drain(sink);
  return true;
}

void TcpStream::finish(StreamSink& sink) {
  while (give_up_hole(sink)) {
  }
}

void TcpStream::clear() {
  budget_->used -= waiting_cost_;
  waiting_.clear();
  waiting_cost_ = 0;
}

}  // namespace thalweg::inspect
