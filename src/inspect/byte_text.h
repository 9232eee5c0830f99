// Bytes as people copy them: hexadecimal in the many forms that programs print it, or base64.
//
//   plain     digits with or without spaces, line ends, commas, colons, dashes, 0x or \x in front
//   dump      rows of an offset, bytes and perhaps the characters beside them, as xxd, hexdump -C, od -A x -t x1,
//   tcpdump
//             -X, Wireshark and `thalweg inspect --hex` print them; rows that hexdump leaves out with * are put in
//             again
//   base64    the usual or the URL-safe alphabet, with or without padding, in one line or many
//
// Lines that begin with # are passed over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thalweg::inspect {

enum class ByteForm : std::uint8_t { hex, base64, binary };

struct TextFault {
  std::size_t line = 0;    // from 1; 0: the text as a whole
  std::size_t column = 0;  // from 1
  std::string reason;

  // "line 3, column 7: x is no hexadecimal digit".
  [[nodiscard]] std::string str() const;
};

base::Result<base::Bytes, TextFault> read_hex(std::string_view text);
base::Result<base::Bytes, TextFault> read_base64(std::string_view text);

// What the content of a file most likely is: hex or base64 where it is text, else the bytes themselves.
ByteForm guess_form(std::string_view content);

}  // namespace thalweg::inspect
