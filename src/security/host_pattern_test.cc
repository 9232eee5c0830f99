#include "security/host_pattern.h"

#include <gtest/gtest.h>

namespace thalweg::security {
namespace {

bool covers(std::string_view pattern, std::string_view host) { return HostPattern::parse(pattern).covers(host); }

TEST(HostPattern, AStarCoversEverything) {
  EXPECT_TRUE(covers("*", "10.0.0.1"));
  EXPECT_TRUE(covers("*", "::1"));
}

TEST(HostPattern, AnAddressCoversItself) {
  EXPECT_TRUE(covers("10.0.0.1", "10.0.0.1"));
  EXPECT_FALSE(covers("10.0.0.1", "10.0.0.10"));
  EXPECT_FALSE(covers("10.0.0.1", "::1"));
  EXPECT_FALSE(covers("broker.example", "10.0.0.1"));
}

TEST(HostPattern, AnIpv6AddressIsTheSameInEveryForm) {
  EXPECT_TRUE(covers("0:0:0:0:0:0:0:1", "::1"));
  EXPECT_TRUE(covers("2001:DB8::7", "2001:db8:0:0::7"));
  EXPECT_TRUE(covers("::ffff:10.0.0.1", "::ffff:a00:1"));
  EXPECT_FALSE(covers("::1", "::2"));
}

TEST(HostPattern, ARangeCoversItsNetwork) {
  EXPECT_TRUE(covers("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(covers("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(covers("192.168.1.77/30", "192.168.1.79"));
  EXPECT_FALSE(covers("192.168.1.77/30", "192.168.1.80"));
  EXPECT_TRUE(covers("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(covers("0.0.0.0/0", "::1"));
  EXPECT_TRUE(covers("1.2.3.4/32", "1.2.3.4"));
  EXPECT_FALSE(covers("1.2.3.4/32", "1.2.3.5"));
  EXPECT_TRUE(covers("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(covers("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_TRUE(covers("::/0", "fe80::1"));
}

TEST(HostPattern, WhatCannotBeReadIsRefusedWhereItLooksLikeARange) {
  for (const auto* good : {"*", "10.0.0.1", "::1", "some.name", "10.0.0.0/0", "10.0.0.0/32", "::/128"})
    EXPECT_TRUE(HostPattern::validate(good).has_value()) << good;
  for (const auto* bad : {"", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "/8", "10.0.0.0/-1", "10.0.0.256/8", "::/129",
                          "name/8", "10.0.0.0/8/8", "1:2:3/4"})
    EXPECT_FALSE(HostPattern::validate(bad).has_value()) << bad;
}

TEST(HostPattern, OnlyAddressesAreRead) {
  for (const auto* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", "1.2.3.-4", "1..2.3", ":", ":::", "1:2:3:4:5:6:7:8:9",
                          "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7:", "::1.2.3", "0000.0.0.0", "1:2:3:4:5:6:7:8::"})
    EXPECT_FALSE(parse_address(bad).has_value()) << bad;
  const auto address = parse_address("1:2::ff");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->bytes, (std::array<std::uint8_t, 16>{0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff}));
}

}  // namespace
}  // namespace thalweg::security
