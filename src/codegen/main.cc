// thalweg_codegen OUT SCHEMA...: writes the C++ of every message below OUT. Files whose text did not change keep their
// time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/names.h"
#include "codegen/print_catalog.h"
#include "codegen/print_message.h"

namespace {

namespace fs = std::filesystem;
using thalweg::schema::Message;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read(path) == text) return true;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: thalweg_codegen OUT SCHEMA...\n");
    return 2;
  }
  const fs::path out = argv[1];
  std::vector<Message> messages;
  for (int i = 2; i < argc; ++i) {
    auto message = thalweg::schema::parse_message(read(argv[i]));
    if (!message) {
      fmt::print(stderr, "{}: {}\n", argv[i], message.error());
      return 1;
    }
    messages.push_back(std::move(*message));
  }
  std::ranges::sort(messages, {}, &Message::name);
  bool good = write(out / "protocol/api_key.h", thalweg::codegen::print_api_keys(messages));
  good = good && write(out / "vectors/registry.cc", thalweg::codegen::print_registry(messages));
  for (const Message& message : messages) {
    if (message.versions.empty()) continue;
    const thalweg::codegen::MessageModel model(message);
    const std::string file = thalweg::codegen::snake_case(message.name);
    good = good && write(out / "protocol/messages" / (file + ".h"), print_header(model));
    good = good && write(out / "protocol/messages" / (file + ".cc"), print_codec(model));
    good = good && write(out / "vectors" / (file + "_json.cc"), print_json(model));
  }
  if (!good) fmt::print(stderr, "cannot write below {}\n", out.string());
  return good ? 0 : 1;
}
