// A packet of a capture, taken apart down to TCP.
//
//   link      Ethernet with VLAN tags, Linux cooked (SLL, SLL2), loopback (NULL, LOOP), raw IP
//   network   IPv4, IPv6 with extension headers; fragments are named as such and not put together
//   transport TCP
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace thalweg::inspect {

enum class LinkType : std::uint8_t { ethernet, linux_sll, linux_sll2, loopback, raw_ip };

// An address with a port. IPv4 stands in the last four bytes.
struct Endpoint {
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  bool v6 = false;

  // 127.0.0.1, or fe80::1.
  [[nodiscard]] std::string host() const;
  // 127.0.0.1:9092, or [fe80::1]:9092.
  [[nodiscard]] std::string str() const;
  // The same behind what `text` holds.
  void append_to(std::string& text) const;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

struct TcpSegment {
  Endpoint from;
  Endpoint to;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;  // only with `ack`
  bool syn = false;
  bool ack = false;
  bool fin = false;
  bool rst = false;
  std::span<const std::uint8_t> payload;  // within the packet
  std::uint32_t cut = 0;                  // bytes of the payload that the capture left out behind it
};

enum class PacketKind : std::uint8_t { tcp, other, fragment, damaged };

// Takes a packet apart. `segment` is whole only with PacketKind::tcp.
//   packet   the captured bytes from the link header on, which the capture may have cut
//   returns  damaged: headers that contradict themselves or that the capture cut; fragment: a piece of an IP datagram;
//            other: no TCP
PacketKind parse_packet(LinkType link, std::span<const std::uint8_t> packet, TcpSegment& segment);

}  // namespace thalweg::inspect
