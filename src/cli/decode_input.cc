#include "cli/decode_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "inspect/byte_text.h"

namespace thalweg::cli {

using base::Bytes;
using inspect::ByteForm;

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

base::Result<Bytes, std::string> convert(Bytes content, const std::string& form, const std::string& from) {
  ByteForm found = form == "hex" ? ByteForm::hex : form == "base64" ? ByteForm::base64 : ByteForm::binary;
  if (form == "auto") found = inspect::guess_form(content.view());
  if (found == ByteForm::binary) return content;
  auto bytes = found == ByteForm::hex ? inspect::read_hex(content.view()) : inspect::read_base64(content.view());
  if (!bytes) return std::unexpected(fmt::format("{}{}", from, bytes.error().str()));
  return std::move(*bytes);
}

}  // namespace

base::Result<Bytes, std::string> read_all(const std::string& path) {
  const bool standard = path == "-";
  const std::unique_ptr<std::FILE, CloseFile> file(standard ? stdin : std::fopen(path.c_str(), "rb"));
  const std::string name = standard ? "standard input" : path;
  if (file == nullptr) return std::unexpected(fmt::format("{}: {}", name, std::strerror(errno)));
  std::string content;
  constexpr std::size_t kChunk = 1 << 16;
  for (;;) {
    const std::size_t size = content.size();
    content.resize(size + kChunk);
    const std::size_t got = std::fread(content.data() + size, 1, kChunk, file.get());
    content.resize(size + got);
    if (content.size() > kInputMax) return std::unexpected(fmt::format("{}: more than {} bytes", name, kInputMax));
    if (got < kChunk) break;
  }
  if (std::ferror(file.get()) != 0) return std::unexpected(fmt::format("{}: {}", name, std::strerror(errno)));
  return Bytes::copy_of(content);
}

base::Result<Bytes, std::string> read_input(const std::vector<std::string>& words, const std::string& form) {
  std::error_code fault;
  const bool standard = words.empty() || (words.size() == 1 && words[0] == "-");
  if (standard || (words.size() == 1 && std::filesystem::exists(words[0], fault))) {
    const std::string path = standard ? "-" : words[0];
    ASSIGN_OR_RETURN(Bytes content, read_all(path));
    if (content.empty())
      return std::unexpected(fmt::format("{}: there are no bytes", standard ? "standard input" : path));
    return convert(std::move(content), form, standard ? "" : path + ": ");
  }
  if (form == "binary") return std::unexpected(fmt::format("{}: there is no such file", words[0]));
  const std::string text = fmt::format("{}", fmt::join(words, " "));
  auto bytes = convert(Bytes::copy_of(text), form, "");
  if (!bytes && words.size() > 1 && std::filesystem::exists(words[0], fault))
    return std::unexpected(fmt::format("{} is a file: one can be read at a time", words[0]));
  if (!bytes && words.size() == 1)
    return std::unexpected(fmt::format("{}: there is no such file, and as bytes: {}", words[0], bytes.error()));
  return bytes;
}

}  // namespace thalweg::cli
