// oracle_compare JAR COUNT SEED: asks the Java reference, live, what the bytes of COUNT random messages are, and holds
// the generated code to them: our encoding of the same JSON gives the same bytes, our decoding of the reference's bytes
// gives the same JSON, with unknown tagged fields in some, and writing that again gives the same bytes.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"
#include "oracle/random_message.h"
#include "schema/message.h"
#include "vectors/message_json.h"

namespace {

using thalweg::oracle::RandomMessage;
using thalweg::protocol::Json;
namespace protocol = thalweg::protocol;
namespace schema = thalweg::schema;

// The reference as a child process: a line of JSON in, a line out.
class Oracle {
 public:
  explicit Oracle(const std::string& jar) {
    int to[2];
    int from[2];
    if (pipe(to) != 0 || pipe(from) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      for (const int fd : {to[0], to[1], from[0], from[1]}) close(fd);
      execlp("java", "java", "-Xmx256m", "-jar", jar.c_str(), "encode", nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    in_ = fdopen(to[1], "w");
    out_ = fdopen(from[0], "r");
  }
  ~Oracle() {
    std::fclose(in_);
    std::fclose(out_);
    waitpid(pid_, nullptr, 0);
    std::free(line_);
  }
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;
  void ask(const Json& question) {
    const std::string line = question.dump() + "\n";
    std::fwrite(line.data(), 1, line.size(), in_);
  }
  void flush() { std::fflush(in_); }
  // Null at the end of the stream.
  Json answer() {
    const ssize_t n = getline(&line_, &capacity_, out_);
    return n <= 0 ? Json() : Json::parse(line_, line_ + n);
  }

 private:
  pid_t pid_;
  FILE* in_;
  FILE* out_;
  char* line_ = nullptr;
  std::size_t capacity_ = 0;
};

std::vector<schema::Message> known_messages() {
  std::vector<schema::Message> messages;
  const std::filesystem::path root = std::filesystem::path(std::getenv("THALWEG_SOURCE_DIR")) / "schemas";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    auto message = schema::parse_message(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!message || message->versions.empty()) continue;
    // The release that the reference is of ends there.
    if (message->name == "MetadataRequest" || message->name == "MetadataResponse") message->versions.highest = 13;
    messages.push_back(std::move(*message));
  }
  std::ranges::sort(messages, {}, &schema::Message::name);
  return messages;
}

struct Asked {
  const schema::Message* message;
  int version;
  Json json;
  Json unknown;
};

// What is wrong, or nothing.
std::string judge(const Asked& asked, const Json& answer) {
  const protocol::MessageEntry* entry = protocol::find_message(asked.message->name);
  if (answer.contains("error")) return "the reference refuses: " + answer["error"].get<std::string>();
  const std::string hex = answer["hex"].get<std::string>();
  const auto wire = protocol::Bytes::copy_of(thalweg::base::hex_decode(hex).value());
  const protocol::Decoded decoded = entry->decode(wire, asked.version);
  if (decoded.fault) return "cannot read the reference's bytes: " + *decoded.fault;
  if (decoded.rest != 0) return fmt::format("{} bytes left", decoded.rest);
  if (decoded.unknown != asked.unknown) return "unknown fields: " + decoded.unknown.dump();
  if (decoded.encode_fault) return "cannot write it again: " + *decoded.encode_fault;
  if (thalweg::base::hex_encode(decoded.encoded.span()) != hex) return "written again it differs";
  if (!decoded.size_agrees) return "encoded_size is wrong";
  if (!asked.unknown.empty()) return {};
  std::string fault;
  const auto encoded = entry->encode(asked.json, asked.version, fault);
  if (!encoded) return "cannot write the JSON: " + fault;
  if (thalweg::base::hex_encode(encoded->span()) != hex) return "the JSON leads to other bytes";
  // Tagged fields at their default are left out of what decoding gives, so compare through our own reading of both.
  if (decoded.json != entry->to_json(asked.json, asked.version)) return "read as " + decoded.json.dump();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: oracle_compare JAR COUNT SEED\n");
    return 2;
  }
  const long count = std::atol(argv[2]);
  const auto seed = static_cast<std::uint64_t>(std::strtoull(argv[3], nullptr, 10));
  fmt::print("seed {}\n", seed);
  RandomMessage random(seed);
  const std::vector<schema::Message> messages = known_messages();
  Oracle oracle(argv[1]);
  long passed = 0;
  long failed = 0;
  constexpr std::size_t kInFlight = 64;
  std::deque<Asked> waiting;
  for (long i = 0; i < count || !waiting.empty();) {
    while (i < count && waiting.size() < kInFlight) {
      const schema::Message& message = messages[random.below(messages.size())];
      const int span = message.versions.highest - message.versions.lowest + 1;
      const int version = message.versions.lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(span)));
      Asked asked{&message, version, random.make(message, version), random.unknown_fields(message, version)};
      Json question{{"message", message.name}, {"version", version}, {"json", asked.json}};
      if (!asked.unknown.empty()) question["unknown"] = asked.unknown;
      oracle.ask(question);
      waiting.push_back(std::move(asked));
      ++i;
    }
    oracle.flush();
    const Json answer = oracle.answer();
    if (answer.is_null()) {
      fmt::print("the reference ended before it had answered\n");
      ++failed;
      break;
    }
    const Asked& asked = waiting.front();
    const std::string wrong = judge(asked, answer);
    if (wrong.empty()) {
      ++passed;
    } else if (++failed <= 20) {
      fmt::print("FAIL {} v{}: {}\n  {}\n  {}\n", asked.message->name, asked.version, wrong, asked.json.dump(),
                 answer.dump());
    }
    waiting.pop_front();
  }
  fmt::print("{} passed, {} failed, 0 skipped\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
