// What a client can send before it is logged in: the header of a request, and any tokens of each mechanism. Nobody logs
// in by chance, and what is read costs no more than it may. Also the lines that an administrator writes.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "security/jaas.h"
#include "security/sasl_plain.h"
#include "security/scram.h"
#include "security/scram_credential.h"
#include "security/scram_file.h"
#include "server/request_header.h"

using namespace thalweg;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  server::RequestHeader header;
  if (server::parse_header(base::Bytes::copy_of(text), header) == nullptr) CHECK(header.size <= size);

  static const security::PlainUsers* const users = [] {
    auto* made = new security::PlainUsers("key");
    made->add("user", "a password that is too long to be guessed");
    return made;
  }();
  CHECK(!security::plain_login(*users, text).has_value());

  // The first line is the first message, the rest the final one.
  const std::size_t end = text.find('\n');
  security::ScramServer scram(records::ScramMechanism::sha_256, "nonce");
  if (const auto claim = scram.begin(text.substr(0, end))) {
    CHECK(!claim->user.empty() && claim->user.size() <= size);
    scram.challenge(security::decoy_credential(records::ScramMechanism::sha_256, "secret", claim->user));
    if (end != std::string_view::npos) CHECK(!scram.finish(text.substr(end + 1)).has_value());
  }

  if (const auto bytes = security::base64_decode(text)) CHECK(security::base64_encode(*bytes) == text);
  (void)security::parse_jaas(text);
  (void)security::parse_scram_file(text);
  return 0;
}
