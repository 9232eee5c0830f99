#include "vectors/message_json.h"

#include <algorithm>

#include "base/text.h"

namespace thalweg::protocol {

std::string base64_encode(std::span<const std::uint8_t> bytes) {
  std::string text = base::base64url_encode(bytes);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return text;
}

Bytes base64_decode(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '+', '-');
  std::ranges::replace(plain, '/', '_');
  while (plain.ends_with('=')) plain.pop_back();
  return Bytes::copy_of(base::base64url_decode(plain).value());
}

std::string java_text(std::string_view bytes) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    std::size_t good = length == 0 ? 0 : 1;
    for (; good < length && i + good < bytes.size(); ++good) {
      const auto c = static_cast<unsigned char>(bytes[i + good]);
      unsigned low = 0x80;
      unsigned high = 0xbf;
      if (good == 1) {
        if (lead == 0xe0) low = 0xa0;
        if (lead == 0xed) high = 0x9f;
        if (lead == 0xf0) low = 0x90;
        if (lead == 0xf4) high = 0x8f;
      }
      if (c < low || c > high) break;
    }
    if (length != 0 && good == length) {
      out += bytes.substr(i, length);
      i += length;
    } else {
      out += kReplacement;
      i += std::max<std::size_t>(good, 1);
    }
  }
  return out;
}

void JsonContext::note(const UnknownTaggedFields& fields) {
  std::string path;
  for (const std::string& step : steps_) path += (path.empty() ? "" : ".") + step;
  for (const RawTaggedField& field : fields)
    unknown_.push_back(Json{{"path", path}, {"tag", field.tag}, {"hex", base::hex_encode(field.data.span())}});
}

const MessageEntry* find_message(std::string_view name) {
  const auto& entries = message_entries();
  const auto it = std::ranges::find(entries, name, &MessageEntry::name);
  return it == entries.end() ? nullptr : &*it;
}

}  // namespace thalweg::protocol
