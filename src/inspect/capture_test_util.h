// What a client and a broker say to each other, as the packets and files of a capture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.h"
#include "inspect/capture_packet.h"
#include "protocol/api_key.h"
#include "protocol/wire.h"

namespace thalweg::inspect::test {

using Octets = std::vector<std::uint8_t>;

inline void put(Octets& into, std::span<const std::uint8_t> bytes) {
  into.insert(into.end(), bytes.begin(), bytes.end());
}
template <class T>
void put_be(Octets& into, T value) {
  into.resize(into.size() + sizeof(T));
  base::store_be(into.data() + into.size() - sizeof(T), value);
}
template <class T>
void put_native(Octets& into, T value) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(&value);
  into.insert(into.end(), p, p + sizeof value);
}

// A request or response with its frame; `client_id` nothing: null.
template <class Request>
Octets request_frame(const Request& request, int version, std::int32_t correlation_id,
                     std::optional<std::string_view> client_id = "test") {
  protocol::Writer writer;
  writer.fixed(std::int32_t{0});
  writer.fixed(static_cast<std::int16_t>(Request::kApiKey));
  writer.fixed(static_cast<std::int16_t>(version));
  writer.fixed(correlation_id);
  client_id ? writer.string(*client_id, false) : writer.null_string(false);
  if (version >= Request::kFirstFlexibleVersion) writer.uvarint(0);
  request.encode(writer, version);
  writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
  const base::Bytes bytes = std::move(writer).finish().flatten();
  return {bytes.begin(), bytes.end()};
}
template <class Response>
Octets response_frame(const Response& response, int version, std::int32_t correlation_id) {
  protocol::Writer writer;
  writer.fixed(std::int32_t{0});
  writer.fixed(correlation_id);
  if (version >= Response::kFirstFlexibleVersion && Response::kApiKey != protocol::ApiKey::api_versions)
    writer.uvarint(0);
  response.encode(writer, version);
  writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
  const base::Bytes bytes = std::move(writer).finish().flatten();
  return {bytes.begin(), bytes.end()};
}

inline Endpoint endpoint(std::uint8_t last, std::uint16_t port) {
  return {.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, last}, .port = port};
}

struct Flags {
  bool syn = false;
  bool fin = false;
  bool rst = false;
  bool ack = true;
};

// An IPv4 packet without a link header.
inline Octets tcp_packet(const Endpoint& from, const Endpoint& to, std::uint32_t sequence, std::uint32_t acknowledged,
                         Flags flags, std::span<const std::uint8_t> payload) {
  Octets packet;
  put_be<std::uint16_t>(packet, 0x4500);
  put_be(packet, static_cast<std::uint16_t>(40 + payload.size()));
  put_be<std::uint32_t>(packet, 0);
  put_be<std::uint32_t>(packet, 0x40060000);  // time to live, TCP, no checksum
  put(packet, std::span(from.address).subspan(12));
  put(packet, std::span(to.address).subspan(12));
  put_be(packet, from.port);
  put_be(packet, to.port);
  put_be(packet, sequence);
  put_be(packet, acknowledged);
  const int bits = (flags.fin ? 0x01 : 0) | (flags.syn ? 0x02 : 0) | (flags.rst ? 0x04 : 0) | (flags.ack ? 0x10 : 0);
  put_be(packet, static_cast<std::uint16_t>(0x5000 | bits));
  put_be<std::uint16_t>(packet, 0xffff);
  put_be<std::uint32_t>(packet, 0);
  put(packet, payload);
  return packet;
}

struct TimedPacket {
  std::int64_t time_ns = 0;
  Octets bytes;
};

// A connection: what each side says becomes packets, cut where `most` says or at random.
class Conversation {
 public:
  Conversation(Endpoint client, Endpoint server, std::uint32_t client_sequence, std::uint32_t server_sequence)
      : ends_{client, server}, next_{client_sequence, server_sequence} {}

  std::int64_t now_ns = 1'700'000'000'000'000'000;
  std::int64_t step_ns = 1'000'000;
  std::vector<TimedPacket> packets;

  void open() {
    emit(0, {.syn = true, .ack = false}, {});
    ++next_[0];
    emit(1, {.syn = true}, {});
    ++next_[1];
    emit(0, {}, {});
  }
  // `side`: 0 the client, 1 the broker.
  void say(int side, std::span<const std::uint8_t> bytes, std::size_t most = 1460) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min(most, bytes.size()));
      emit(side, {}, piece);
      next_[side] += static_cast<std::uint32_t>(piece.size());
      bytes = bytes.subspan(piece.size());
    }
  }
  void close() {
    for (const int side : {0, 1}) {
      emit(side, {.fin = true}, {});
      ++next_[side];
    }
    emit(0, {}, {});
  }
  void reset(int side) { emit(side, {.rst = true}, {}); }
  // Bytes that the capture never saw.
  void skip(int side, std::size_t count) { next_[side] += static_cast<std::uint32_t>(count); }

 private:
  void emit(int side, Flags flags, std::span<const std::uint8_t> payload) {
    now_ns += step_ns;
    packets.push_back({now_ns, tcp_packet(ends_[side], ends_[1 - side], next_[side], next_[1 - side], flags, payload)});
  }
  Endpoint ends_[2];
  std::uint32_t next_[2];
};

// A pcap file with times in nanoseconds, in this machine's byte order. `link`: as files number it, 101 is raw IP.
inline Octets pcap_header(std::uint32_t link = 101, std::uint32_t snapshot = 262'144) {
  Octets file;
  put_native<std::uint32_t>(file, 0xa1b23c4d);
  put_native<std::uint16_t>(file, 2);
  put_native<std::uint16_t>(file, 4);
  put_native<std::uint64_t>(file, 0);
  put_native(file, snapshot);
  put_native(file, link);
  return file;
}
inline void put_pcap_packet(Octets& file, std::int64_t time_ns, std::span<const std::uint8_t> packet) {
  put_native(file, static_cast<std::uint32_t>(time_ns / 1'000'000'000));
  put_native(file, static_cast<std::uint32_t>(time_ns % 1'000'000'000));
  put_native(file, static_cast<std::uint32_t>(packet.size()));
  put_native(file, static_cast<std::uint32_t>(packet.size()));
  put(file, packet);
}

}  // namespace thalweg::inspect::test
