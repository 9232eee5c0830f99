// Any text as hexadecimal and base64: reading it costs no more than it may, and any bytes that are printed in one of
// the forms read back as themselves.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "inspect/byte_text.h"
#include "inspect/page.h"

using namespace thalweg;
using namespace thalweg::inspect;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)guess_form(text);
  // A row that is left out may stand for more than its text, within a mebibyte.
  if (const auto bytes = read_hex(text)) CHECK(!bytes->empty() && bytes->size() <= size + (1 << 20));
  if (const auto bytes = read_base64(text)) CHECK(bytes->size() <= size);
  if (size == 0) return 0;
  const base::Bytes bytes = base::Bytes::copy_of(text);
  const std::string digits = base::hex_encode(bytes.span());
  for (const std::string& printed : {digits, hex_rows(bytes)}) {
    const auto again = read_hex(printed);
    // Sixteen digits or fewer in front of nothing else are still digits.
    CHECK(again.has_value() && *again == bytes);
  }
  const auto again = read_base64(base::base64url_encode(bytes.span()));
  CHECK(again.has_value() && *again == bytes);
  return 0;
}
