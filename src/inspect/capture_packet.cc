#include "inspect/capture_packet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/endian.h"

namespace thalweg::inspect {

namespace {

using base::load_be;
using Packet = std::span<const std::uint8_t>;

constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86dd;
constexpr std::uint8_t kTcp = 6;
constexpr std::size_t kTcpHeader = 20;

bool is_vlan_tag(std::uint16_t type) { return type == 0x8100 || type == 0x88a8 || type == 0x9100; }

// Cuts the link header off. Returns what follows as an Ethernet type, 0 where that is nothing for us.
std::uint16_t strip_ethernet(Packet& packet) {
  constexpr std::size_t kHeader = 14;
  constexpr std::size_t kTag = 4;
  if (packet.size() < kHeader) return 0;
  auto type = load_be<std::uint16_t>(packet.data() + 12);
  packet = packet.subspan(kHeader);
  while (is_vlan_tag(type)) {
    if (packet.size() < kTag) return 0;
    type = load_be<std::uint16_t>(packet.data() + 2);
    packet = packet.subspan(kTag);
  }
  return type;
}

std::uint16_t strip_cooked(Packet& packet, std::size_t header, std::size_t type_at) {
  if (packet.size() < header) return 0;
  auto type = load_be<std::uint16_t>(packet.data() + type_at);
  packet = packet.subspan(header);
  while (is_vlan_tag(type) && packet.size() >= 4) {
    type = load_be<std::uint16_t>(packet.data() + 2);
    packet = packet.subspan(4);
  }
  return type;
}

std::uint16_t strip_raw(const Packet& packet) {
  if (packet.empty()) return 0;
  if (packet[0] >> 4 == 4) return kIpv4;
  return packet[0] >> 4 == 6 ? kIpv6 : std::uint16_t{0};
}

// Four bytes of address family come first, in the byte order of whoever captured; what IP says of itself is surer.
std::uint16_t strip_loopback(Packet& packet) {
  if (packet.size() < 4) return 0;
  packet = packet.subspan(4);
  return strip_raw(packet);
}

PacketKind parse_tcp(Packet packet, std::size_t announced, TcpSegment& segment) {
  if (packet.size() < kTcpHeader) return PacketKind::damaged;
  const std::uint8_t* p = packet.data();
  const std::size_t header = static_cast<std::size_t>(p[12] >> 4) * 4;
  if (header < kTcpHeader || header > announced) return PacketKind::damaged;
  segment.from.port = load_be<std::uint16_t>(p);
  segment.to.port = load_be<std::uint16_t>(p + 2);
  segment.sequence = load_be<std::uint32_t>(p + 4);
  segment.acknowledged = load_be<std::uint32_t>(p + 8);
  segment.fin = (p[13] & 0x01) != 0;
  segment.syn = (p[13] & 0x02) != 0;
  segment.rst = (p[13] & 0x04) != 0;
  segment.ack = (p[13] & 0x10) != 0;
  segment.payload = packet.subspan(std::min(header, packet.size()));
  segment.cut = static_cast<std::uint32_t>(announced - std::max(header, packet.size()));
  return PacketKind::tcp;
}

// The packet without what the link layer has put behind it; `announced` becomes what IP says it holds. Zero stands
// for what the network card was to cut up, and for jumbograms: then it is all that is there.
Packet clip(Packet packet, std::size_t& announced) {
  if (announced == 0) announced = packet.size();
  return packet.first(std::min(packet.size(), announced));
}

PacketKind parse_ipv4(Packet packet, TcpSegment& segment) {
  constexpr std::size_t kHeader = 20;
  if (packet.size() < kHeader) return PacketKind::damaged;
  const std::uint8_t* p = packet.data();
  const std::size_t header = static_cast<std::size_t>(p[0] & 0x0f) * 4;
  if (p[0] >> 4 != 4 || header < kHeader) return PacketKind::damaged;
  if (p[9] != kTcp) return PacketKind::other;
  // More fragments follow, or this is not the first.
  if ((load_be<std::uint16_t>(p + 6) & 0x3fff) != 0) return PacketKind::fragment;
  std::size_t announced = load_be<std::uint16_t>(p + 2);
  packet = clip(packet, announced);
  if (announced < header || packet.size() < header) return PacketKind::damaged;
  for (Endpoint* endpoint : {&segment.from, &segment.to}) {
    *endpoint = {};
    std::copy_n(p + (endpoint == &segment.from ? 12 : 16), 4, endpoint->address.begin() + 12);
  }
  return parse_tcp(packet.subspan(header), announced - header, segment);
}

PacketKind parse_ipv6(Packet packet, TcpSegment& segment) {
  constexpr std::size_t kHeader = 40;
  constexpr std::size_t kMostExtensions = 8;
  if (packet.size() < kHeader || packet[0] >> 4 != 6) return PacketKind::damaged;
  for (Endpoint* endpoint : {&segment.from, &segment.to}) {
    *endpoint = {.v6 = true};
    std::copy_n(packet.data() + (endpoint == &segment.from ? 8 : 24), 16, endpoint->address.begin());
  }
  std::size_t announced = load_be<std::uint16_t>(packet.data() + 4);
  std::uint8_t next = packet[6];
  packet = clip(packet.subspan(kHeader), announced);
  for (std::size_t i = 0; i < kMostExtensions; ++i) {
    constexpr std::uint8_t kFragment = 44;
    // Hop-by-hop, routing and destination options; they begin with what follows and their size.
    const bool options = next == 0 || next == 43 || next == 60;
    if (next == kTcp) return parse_tcp(packet, announced, segment);
    if (!options && next != kFragment) return PacketKind::other;
    if (packet.size() < 8) return PacketKind::damaged;
    if (next == kFragment && (load_be<std::uint16_t>(packet.data() + 2) & 0xfff9) != 0) return PacketKind::fragment;
    const std::size_t size = options ? (packet[1] + std::size_t{1}) * 8 : 8;
    if (size > packet.size()) return PacketKind::damaged;
    next = packet[0];
    packet = packet.subspan(size);
    announced -= size;
  }
  return PacketKind::other;
}

void append_ipv4(std::string& text, const std::array<std::uint8_t, 16>& address) {
  for (std::size_t i = 12; i < address.size(); ++i) {
    const fmt::format_int digits(address[i]);
    if (i > 12) text += '.';
    text.append(digits.data(), digits.size());
  }
}

}  // namespace

std::string Endpoint::host() const {
  std::string text;
  if (!v6) {
    append_ipv4(text, address);
    return text;
  }
  // The longest run of two or more zero groups is left out, the first of equals.
  std::size_t run_at = 8;
  std::size_t run = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t n = 0;
    while (i + n < 8 && address[2 * (i + n)] == 0 && address[2 * (i + n) + 1] == 0) ++n;
    if (n > run) {
      run = n;
      run_at = i;
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == run_at) {
      text += "::";
      i += run - 1;
      continue;
    }
    if (i > 0 && !text.ends_with(':')) text += ':';
    text += fmt::format("{:x}", load_be<std::uint16_t>(address.data() + 2 * i));
  }
  return text;
}

std::string Endpoint::str() const {
  std::string text;
  append_to(text);
  return text;
}

void Endpoint::append_to(std::string& text) const {
  if (v6) {
    text += '[';
    text += host();
    text += ']';
  } else {
    append_ipv4(text, address);
  }
  text += ':';
  const fmt::format_int digits(port);
  text.append(digits.data(), digits.size());
}

PacketKind parse_packet(LinkType link, std::span<const std::uint8_t> packet, TcpSegment& segment) {
  std::uint16_t type = 0;
  switch (link) {
    case LinkType::ethernet:
      type = strip_ethernet(packet);
      break;
    case LinkType::linux_sll:
      type = strip_cooked(packet, 16, 14);
      break;
    case LinkType::linux_sll2:
      type = strip_cooked(packet, 20, 0);
      break;
    case LinkType::loopback:
      type = strip_loopback(packet);
      break;
    case LinkType::raw_ip:
      type = strip_raw(packet);
      break;
  }
  if (type == kIpv4) return parse_ipv4(packet, segment);
  if (type == kIpv6) return parse_ipv6(packet, segment);
  return PacketKind::other;
}

}  // namespace thalweg::inspect
