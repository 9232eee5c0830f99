// UTF-8, which clients may claim and not send.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace thalweg::telemetry {

// How many bytes the character at `text[at]` has where it is sound UTF-8; else 0.
std::size_t character_bytes(std::string_view text, std::size_t at);

// The text with a question mark for every byte that is not of a sound character.
std::string sound_utf8(std::string_view text);

}  // namespace thalweg::telemetry
