// HostPattern: from where an ACL holds: anywhere, one address, or a range of addresses in CIDR form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace thalweg::security {

// An IP address: 4 or 16 bytes in network order.
struct Address {
  std::array<std::uint8_t, 16> bytes{};
  bool is_v6 = false;
  friend bool operator==(const Address&, const Address&) = default;
};

// Reads an address as people write it: 10.0.0.1, ::1, 2001:db8::7. Nothing where it is none.
std::optional<Address> parse_address(std::string_view text);

class HostPattern {
 public:
  // Reads `*`, a range such as 10.0.0.0/8 or 2001:db8::/32, or anything else as the text of one address.
  static HostPattern parse(std::string_view text);
  // Why an ACL must not have the host, as Kafka judges it: it is empty, or a range that cannot be read.
  static base::Result<void, std::string> validate(std::string_view text);

  // Whether `host`, the text of a client's address, is covered. An IPv6 address is the same in any of its forms.
  [[nodiscard]] bool covers(std::string_view host) const;

 private:
  enum class Kind { any, text, address, range };
  Kind kind_ = Kind::text;
  std::string text_;
  Address address_;
  int bits_ = 0;
};

}  // namespace thalweg::security
