#include "inspect/capture.h"

#include <algorithm>
#include <cstring>

namespace thalweg::inspect {

std::size_t Capture::EndsHash::operator()(const Ends& ends) const {
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t word) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> 29U;
  };
  for (const Endpoint* endpoint : {&ends.first, &ends.second}) {
    std::uint64_t words[2];
    std::memcpy(words, endpoint->address.data(), sizeof words);
    mix(words[0]);
    mix(words[1]);
    mix(endpoint->port);
  }
  return hash;
}

Capture::Capture(const Catalog& catalog, CaptureOptions options, ExchangeSink& sink)
    : context_(catalog, options.keep_frames, sink), ports_(std::move(options.ports)) {
  std::ranges::sort(ports_);
  context_.by_shape = ports_.empty();
}

Capture::~Capture() = default;

// Which of the two listens on one of our ports: 0 or 1, -1 where ports tell nothing; nothing where neither does.
std::optional<int> Capture::server_of(const Ends& ends) const {
  if (ports_.empty()) return -1;
  if (std::ranges::binary_search(ports_, ends.first.port)) return 0;
  if (std::ranges::binary_search(ports_, ends.second.port)) return 1;
  return std::nullopt;
}

Capture::Entry& Capture::find(const Ends& ends, bool& fresh) {
  // The same connection as last time, most often.
  if (!entries_.empty() && entries_.front().ends == ends) return entries_.front();
  const auto found = index_.find(ends);
  if (found != index_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  fresh = true;
  if (entries_.size() >= kMostConnections) {
    Entry& oldest = entries_.back();
    if (oldest.connection) oldest.connection->finish();
    index_.erase(oldest.ends);
    entries_.pop_back();
  }
  entries_.push_front({.ends = ends});
  index_.emplace(ends, entries_.begin());
  return entries_.front();
}

void Capture::packet(std::int64_t time_ns, LinkType link, std::span<const std::uint8_t> packet) {
  CaptureCounts& counts = context_.counts;
  ++counts.packets;
  TcpSegment segment;
  switch (parse_packet(link, packet, segment)) {
    case PacketKind::tcp:
      break;
    case PacketKind::fragment:
      ++counts.fragments;
      return;
    case PacketKind::damaged:
      ++counts.damaged_packets;
      return;
    case PacketKind::other:
      return;
  }
  ++counts.segments;
  const bool turned = segment.to < segment.from;
  const Ends ends = turned ? Ends{segment.to, segment.from} : Ends{segment.from, segment.to};
  const std::optional<int> server = server_of(ends);
  if (!server) return;
  context_.now_ns = time_ns;
  const int direction = turned ? 1 : 0;
  bool fresh = false;
  Entry& entry = find(ends, fresh);
  const bool opens = segment.syn && !segment.ack;
  if (entry.connection && entry.connection->is_new_connection(direction, segment)) {
    entry.connection->finish();
    entry.connection.reset();
    fresh = true;
  }
  // Of a connection that has ended only the SYN of the next one counts.
  fresh |= !entry.connection && opens;
  if (fresh) {
    ++counts.connections;
    entry.connection = std::make_unique<CaptureConnection>(context_, ends.first, ends.second, *server);
  }
  if (!entry.connection) return;
  entry.connection->segment(direction, segment);
  if (entry.connection->is_other()) {
    entry.connection.reset();
  } else if (entry.connection->ended()) {
    entry.connection->finish();
    entry.connection.reset();
  }
}

void Capture::finish() {
  // In the order in which they were last heard of.
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
    if (entry->connection) entry->connection->finish();
  entries_.clear();
  index_.clear();
}

}  // namespace thalweg::inspect
