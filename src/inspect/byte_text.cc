#include "inspect/byte_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "inspect/value_text.h"

namespace thalweg::inspect {

using base::Bytes;

namespace {

// What a * in a dump may stand for altogether, in bytes: a text must not cost much more memory than it has itself.
constexpr std::size_t kRepeatedMax = 1 << 20;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_hex(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return hex_value(c) >= 0; });
}

// One line of a text, with its number.
struct Line {
  std::size_t number = 0;
  std::string_view text;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++number;
    const std::string_view line = text.substr(0, end);
    const auto first = std::ranges::find_if_not(line, is_space);
    if (first != line.end() && *first != '#') lines.push_back({number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

TextFault fault_at(const Line& line, std::size_t position, std::string reason) {
  return {.line = line.number, .column = position + 1, .reason = std::move(reason)};
}

void append_digits(std::vector<std::uint8_t>& bytes, std::string_view digits) {
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(hex_value(digits[i]) << 4 | hex_value(digits[i + 1])));
}

// -- dumps --

// A row: the offset that it begins with, and what stands behind that.
struct Row {
  Line line;
  bool repeats = false;  // a * alone: as often the row before as the next offset tells
  bool colon = false;    // behind the offset
  std::uint64_t offset = 0;
  std::size_t behind = 0;  // where in the line the offset ends
  std::size_t word = 0;    // digits of the first word behind it
};

// Nothing where the line does not begin like a row of a dump.
std::optional<Row> parse_row(const Line& line) {
  Row row{.line = line};
  const std::string_view text = line.text;
  std::size_t at = 0;
  const auto skip_spaces = [&] {
    while (at < text.size() && is_space(text[at])) ++at;
  };
  const auto digits = [&] {
    std::size_t count = 0;
    while (at + count < text.size() && hex_value(text[at + count]) >= 0) ++count;
    return count;
  };
  skip_spaces();
  if (text[at] == '*') {
    row.repeats = true;
    return row;
  }
  if (text.substr(at).starts_with("0x")) at += 2;
  const std::size_t count = digits();
  if (count < 3 || count > 16) return std::nullopt;
  for (const char c : text.substr(at, count)) row.offset = row.offset << 4 | static_cast<unsigned>(hex_value(c));
  at += count;
  row.colon = at < text.size() && text[at] == ':';
  if (row.colon) ++at;
  if (at < text.size() && !is_space(text[at])) return std::nullopt;
  row.behind = at;
  skip_spaces();
  row.word = digits();
  return row;
}

// The bytes of a row, `at_most` so many: the characters beside them may look like digits too.
std::vector<std::uint8_t> row_bytes(const Row& row, std::size_t at_most) {
  std::vector<std::uint8_t> bytes;
  const std::string_view text = row.line.text;
  std::size_t at = row.behind;
  while (bytes.size() < at_most) {
    const std::size_t gap = at;
    while (at < text.size() && is_space(text[at])) ++at;
    // A row of single bytes has a gap of two in its middle; another one ends the bytes.
    const bool in_the_middle = at - gap == 2 && bytes.size() == 8 && row.word == 2;
    if (!bytes.empty() && at - gap > 1 && !in_the_middle) break;
    const std::string_view left = text.substr(at);
    const std::string_view word =
        left.substr(0, static_cast<std::size_t>(std::ranges::find_if(left, is_space) - left.begin()));
    if (!is_hex(word) || word.size() % 2 != 0 || word.size() / 2 > at_most - bytes.size()) break;
    append_digits(bytes, word);
    at += word.size();
  }
  return bytes;
}

// The rows of a dump; none where the text is something else, such as digits in groups.
std::vector<Row> dump_rows(const std::vector<Line>& lines) {
  std::vector<Row> rows;
  for (const Line& line : lines) {
    const auto row = parse_row(line);
    if (!row) return {};
    // The last row may be an offset alone, which tells the size.
    const bool is_end = !rows.empty() && &line == &lines.back() && row->word == 0;
    if (!row->repeats && !row->colon && row->word != 2 && !is_end) return {};
    rows.push_back(*row);
  }
  // One row of single bytes alone could begin with a number of its own.
  if (rows.front().repeats || (rows.size() == 1 && !rows.front().colon && rows.front().offset != 0)) return {};
  return rows;
}

// A dump may begin anywhere, but its offsets must count its bytes.
base::Result<Bytes, TextFault> read_dump(const std::vector<Row>& rows) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> last;
  std::size_t widest = SIZE_MAX;
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (row.repeats) continue;
    const std::uint64_t expected = rows[0].offset + bytes.size();
    if (row.offset != expected) {
      // Only a * explains a gap, and only by whole rows.
      const std::uint64_t gap = row.offset - expected;
      if (!rows[i - 1].repeats || row.offset < expected || last.empty() || gap % last.size() != 0)
        return std::unexpected(
            fault_at(row.line, 0, fmt::format("an offset of {:#x} after {:#x}", row.offset, expected)));
      if (gap > kRepeatedMax - repeated)
        return std::unexpected(fault_at(row.line, 0, "the rows left out with * stand for more than a mebibyte"));
      repeated += gap;
      for (std::uint64_t put = 0; put < gap; put += last.size()) bytes.insert(bytes.end(), last.begin(), last.end());
    }
    std::size_t at_most = widest;
    if (i + 1 < rows.size() && !rows[i + 1].repeats && rows[i + 1].offset > row.offset)
      at_most =
          static_cast<std::size_t>(std::min<std::uint64_t>(rows[i + 1].offset - row.offset, row.line.text.size()));
    last = row_bytes(row, at_most);
    if (i == 0) widest = last.size();
    bytes.insert(bytes.end(), last.begin(), last.end());
  }
  if (bytes.empty()) return std::unexpected(fault_at(rows[0].line, rows[0].behind, "a row of a dump without bytes"));
  return Bytes::copy_of(bytes);
}

// -- plain digits --

// Whether the text looks like what od and hexdump print when they are asked for nothing: rows of seven digits and words
// of two bytes, in the order of the machine.
bool has_words_of_machine(const std::vector<Line>& lines) {
  return lines.size() > 1 && std::ranges::all_of(lines, [](const Line& line) {
           const std::size_t end = std::min(line.text.find(' '), line.text.size());
           return end == 7 && is_hex(line.text.substr(0, end));
         });
}

base::Result<Bytes, TextFault> read_digits(const std::vector<Line>& lines) {
  std::vector<std::uint8_t> bytes;
  int high = -1;
  Line high_line;
  std::size_t high_at = 0;
  for (const Line& line : lines) {
    const std::string_view text = line.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const char next = i + 1 < text.size() ? text[i + 1] : '\0';
      if ((c == '0' && (next == 'x' || next == 'X')) || (c == '\\' && next == 'x')) {
        if (high >= 0) return std::unexpected(fault_at(high_line, high_at, "a digit alone"));
        // A byte may have one digit here: 0x0.
        if (i + 2 < text.size() && hex_value(text[i + 2]) >= 0 &&
            (i + 3 == text.size() || hex_value(text[i + 3]) < 0)) {
          bytes.push_back(static_cast<std::uint8_t>(hex_value(text[i + 2])));
          ++i;
        }
        ++i;
        continue;
      }
      if (is_space(c) || c == ',' || c == ':' || c == '-' || c == ';') continue;
      const int value = hex_value(c);
      if (value < 0)
        return std::unexpected(fault_at(line, i, fmt::format("{} is no hexadecimal digit", quoted({&c, 1}, 1))));
      if (high < 0) {
        high = value;
        high_line = line;
        high_at = i;
      } else {
        bytes.push_back(static_cast<std::uint8_t>(high << 4 | value));
        high = -1;
      }
    }
  }
  if (high >= 0) return std::unexpected(fault_at(high_line, high_at, "the last byte has one digit only"));
  if (bytes.empty()) return std::unexpected(TextFault{.reason = "there are no bytes"});
  return Bytes::copy_of(bytes);
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

}  // namespace

std::string TextFault::str() const {
  return line == 0 ? reason : fmt::format("line {}, column {}: {}", line, column, reason);
}

base::Result<Bytes, TextFault> read_hex(std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  if (lines.empty()) return std::unexpected(TextFault{.reason = "there are no bytes"});
  if (const std::vector<Row> rows = dump_rows(lines); !rows.empty()) return read_dump(rows);
  if (has_words_of_machine(lines))
    return std::unexpected(TextFault{
        .reason =
            "this looks like hexdump or od without options, whose order of bytes is the machine's: use hexdump -C "
            "or xxd"});
  return read_digits(lines);
}

base::Result<Bytes, TextFault> read_base64(std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int count = 0;  // of the bits that no byte has taken
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.text.size(); ++i) {
      const char c = line.text[i];
      if (is_space(c)) continue;
      if (c == '=') {
        ++padding;
        continue;
      }
      const int value = base64_value(c);
      if (value < 0)
        return std::unexpected(fault_at(line, i, fmt::format("{} is no digit of base64", quoted({&c, 1}, 1))));
      if (padding > 0) return std::unexpected(fault_at(line, i, "a digit behind the padding"));
      ++digits;
      bits = bits << 6 | static_cast<std::uint32_t>(value);
      count += 6;
      if (count >= 8) {
        count -= 8;
        bytes.push_back(static_cast<std::uint8_t>(bits >> count));
      }
    }
  }
  if (digits == 0) return std::unexpected(TextFault{.reason = "there are no bytes"});
  if (digits % 4 == 1) return std::unexpected(TextFault{.reason = "the last digit of base64 stands alone"});
  if (padding > 0 && (padding > 2 || (digits + padding) % 4 != 0))
    return std::unexpected(TextFault{.reason = "the padding does not fit the digits of base64"});
  return Bytes::copy_of(bytes);
}

ByteForm guess_form(std::string_view content) {
  const auto is_text = [](char c) { return is_space(c) || c == '\n' || (c >= 0x20 && c < 0x7f); };
  if (!std::ranges::all_of(content, is_text)) return ByteForm::binary;
  if (read_hex(content)) return ByteForm::hex;
  // Nobody parts base64 within a line; digits with a slip among them must not be taken for it.
  const auto is_parted = [](const Line& line) {
    const std::size_t first = line.text.find_first_not_of(" \t\r");
    const std::size_t last = line.text.find_last_not_of(" \t\r");
    return line.text.substr(first, last - first).find_first_of(" \t") != std::string_view::npos;
  };
  return std::ranges::any_of(lines_of(content), is_parted) ? ByteForm::hex : ByteForm::base64;
}

}  // namespace thalweg::inspect
