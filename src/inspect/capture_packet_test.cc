#include "inspect/capture_packet.h"

#include <gtest/gtest.h>

#include "inspect/capture_test_util.h"

namespace thalweg::inspect {
namespace {

using test::Octets;
using test::put;
using test::put_be;

const Endpoint kClient = test::endpoint(1, 40'000);
const Endpoint kBroker = test::endpoint(2, 9092);
const Octets kPayload = {1, 2, 3, 4, 5};

Octets ip_packet() { return test::tcp_packet(kClient, kBroker, 7, 9, {.fin = true}, kPayload); }

Octets behind(Octets header, const Octets& packet) {
  put(header, packet);
  return header;
}

void expect_whole(LinkType link, const Octets& packet) {
  TcpSegment segment;
  ASSERT_EQ(parse_packet(link, packet, segment), PacketKind::tcp);
  EXPECT_EQ(segment.from, kClient);
  EXPECT_EQ(segment.to, kBroker);
  EXPECT_EQ(segment.sequence, 7U);
  EXPECT_EQ(segment.acknowledged, 9U);
  EXPECT_TRUE(segment.fin && segment.ack && !segment.syn && !segment.rst);
  EXPECT_EQ(Octets(segment.payload.begin(), segment.payload.end()), kPayload);
  EXPECT_EQ(segment.cut, 0U);
}

TEST(CapturePacket, EveryLinkTypeIsTakenOff) {
  const Octets ip = ip_packet();
  const Octets macs(12, 0xaa);
  expect_whole(LinkType::raw_ip, ip);
  expect_whole(LinkType::ethernet, behind(behind(macs, {0x08, 0x00}), ip));
  expect_whole(LinkType::ethernet, behind(behind(macs, {0x81, 0x00, 0x00, 0x05, 0x08, 0x00}), ip));
  expect_whole(LinkType::ethernet, behind(behind(macs, {0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00}), ip));
  Octets cooked(14, 0);
  expect_whole(LinkType::linux_sll, behind(behind(cooked, {0x08, 0x00}), ip));
  expect_whole(LinkType::linux_sll2, behind(behind({0x08, 0x00}, Octets(18, 0)), ip));
  expect_whole(LinkType::loopback, behind({2, 0, 0, 0}, ip));
  expect_whole(LinkType::loopback, behind({0, 0, 0, 2}, ip));
}

TEST(CapturePacket, PaddingBehindTheDatagramIsNoPayload) {
  Octets packet = ip_packet();
  packet.resize(packet.size() + 6);
  expect_whole(LinkType::raw_ip, packet);
}

TEST(CapturePacket, AZeroLengthIsWhatTheCardWasToCut) {
  Octets packet = ip_packet();
  packet[2] = packet[3] = 0;
  expect_whole(LinkType::raw_ip, packet);
}

Octets ipv6_packet(std::uint8_t next, const Octets& extension) {
  Octets packet(40, 0);
  packet[0] = 0x60;
  packet[6] = next;
  packet[23] = 1;
  packet[8] = 0xfe;
  packet[9] = 0x80;
  packet[39] = 2;
  put(packet, extension);
  const Octets ip = ip_packet();
  put(packet, std::span(ip).subspan(20));
  base::store_be(packet.data() + 4, static_cast<std::uint16_t>(packet.size() - 40));
  return packet;
}

TEST(CapturePacket, Ipv6IsReadWithItsExtensions) {
  const Octets options = {6, 0, 1, 4, 0, 0, 0, 0};
  const Octets whole_fragment = {6, 0, 0, 0, 0, 0, 0, 1};
  for (const Octets& packet :
       {ipv6_packet(6, {}), ipv6_packet(0, options), ipv6_packet(60, options), ipv6_packet(44, whole_fragment)}) {
    TcpSegment segment;
    ASSERT_EQ(parse_packet(LinkType::raw_ip, packet, segment), PacketKind::tcp);
    EXPECT_EQ(segment.from.str(), "[fe80::1]:40000");
    EXPECT_EQ(segment.to.str(), "[::2]:9092");
    EXPECT_EQ(segment.payload.size(), kPayload.size());
  }
  TcpSegment segment;
  EXPECT_EQ(parse_packet(LinkType::raw_ip, ipv6_packet(44, {6, 0, 0, 1, 0, 0, 0, 1}), segment), PacketKind::fragment);
  EXPECT_EQ(parse_packet(LinkType::raw_ip, ipv6_packet(58, {}), segment), PacketKind::other);
}

TEST(CapturePacket, FragmentsAndOtherProtocolsAreNamed) {
  TcpSegment segment;
  Octets packet = ip_packet();
  packet[6] = 0x20;
  EXPECT_EQ(parse_packet(LinkType::raw_ip, packet, segment), PacketKind::fragment);
  packet = ip_packet();
  packet[9] = 17;
  EXPECT_EQ(parse_packet(LinkType::raw_ip, packet, segment), PacketKind::other);
  packet = ip_packet();
  packet[32] = 0xf0;  // a TCP header beyond the datagram
  EXPECT_EQ(parse_packet(LinkType::raw_ip, packet, segment), PacketKind::damaged);
}

TEST(CapturePacket, WhatTheCaptureCutOffIsCounted) {
  const Octets packet = ip_packet();
  for (std::size_t size = 0; size < packet.size(); ++size) {
    SCOPED_TRACE(size);
    TcpSegment segment;
    const PacketKind kind = parse_packet(LinkType::raw_ip, std::span(packet).first(size), segment);
    if (size < 40) {
      EXPECT_NE(kind, PacketKind::tcp);
    } else {
      ASSERT_EQ(kind, PacketKind::tcp);
      EXPECT_EQ(segment.payload.size(), size - 40);
      EXPECT_EQ(segment.payload.size() + segment.cut, kPayload.size());
    }
  }
}

TEST(Endpoint, Ipv6IsWrittenShort) {
  Endpoint endpoint{.v6 = true};
  EXPECT_EQ(endpoint.host(), "::");
  endpoint.address[0] = 0x20;
  endpoint.address[1] = 0x01;
  endpoint.address[7] = 5;
  endpoint.address[15] = 1;
  EXPECT_EQ(endpoint.host(), "2001:0:0:5::1");
  for (std::uint8_t& byte : endpoint.address) byte = 0x11;
  EXPECT_EQ(endpoint.host(), "1111:1111:1111:1111:1111:1111:1111:1111");
}

}  // namespace
}  // namespace thalweg::inspect
