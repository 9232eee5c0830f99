// What stands in a token of GSS-API, as the mechanism GSSAPI of SASL exchanges them.
//
//   framed    0x60, length, OID of the mechanism, then its token            RFC 2743
//   Kerberos  AP-REQ, AP-REP or KRB-ERROR behind two bytes that name it     RFC 4121
//   wrapped   a header of 16 bytes, then data and checksum, or sealed data  RFC 4121
//   layers    in wrapped data: what each side can do, and who logs in       RFC 4752
//
// Nothing is deciphered. Tickets, sealed data and checksums are marked as secrets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inspect/tree.h"

namespace thalweg::inspect {

// The parts of the token, from its first byte on and without a gap; none where it is no such token. `from_client`:
// which half of the exchange it is.
std::vector<Node> gss_nodes(std::span<const std::uint8_t> token, bool from_client);

}  // namespace thalweg::inspect
