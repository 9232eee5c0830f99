// What stands in the bytes of a SASL exchange, as far as the bytes themselves say which mechanism they are of.
//
//   PLAIN        [authzid] NUL user NUL password                    RFC 4616
//   SCRAM        attributes a=..., parted by commas                 RFC 5802
//   OAUTHBEARER  n,a=authzid, then key=value parted by 0x01         RFC 7628
//   GSSAPI       tokens of Kerberos and wrapped data, see gss_nodes.h   RFC 4752
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inspect/tree.h"

namespace thalweg::inspect {

// One node for the message, or none where it is of no mechanism known here. Offsets count from the first byte.
// Passwords, proofs and tokens are marked as secrets. `from_client`: which half of the exchange it is.
std::vector<Node> sasl_nodes(std::span<const std::uint8_t> bytes, bool from_client);

}  // namespace thalweg::inspect
