// Hostile lengths, counts and tags must not make a decoder allocate in proportion to what they claim. Every allocation
// of this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "vectors/vector_file.h"

namespace {

std::atomic<std::size_t> g_allocated{0};

}  // namespace

void* operator new(std::size_t size) {
  g_allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace thalweg::protocol {
namespace {

template <class Work>
std::size_t allocated_by(const Work& work) {
  const std::size_t before = g_allocated;
  work();
  return g_allocated - before;
}

// Puts a hostile number over every position of a sample, in each of the forms that lengths have on the wire.
TEST(Allocation, NoClaimCostsMoreThanTheMessageIsLarge) {
  static const std::vector<std::vector<std::uint8_t>> kClaims = {
      {0x7f, 0xff, 0xff, 0xff},        // int32, 2 GiB
      {0x00, 0x0f, 0x42, 0x40},        // int32, the million that arrays may have
      {0xff, 0xff, 0xff, 0xff, 0x07},  // varint, 2 GiB
      {0xc1, 0x84, 0x3d},              // varint, a million
      {0x90, 0x4e},                    // varint, ten thousand tagged fields
      {0x7f, 0xff},                    // int16
      {0xff, 0xff, 0xff, 0xff, 0x0f},  // varint, negative once it is an int
  };
  int messages = 0;
  for (const char* file : {"requests.jsonl.gz", "responses.jsonl.gz"}) {
    for_each_line(file, [&](const Json& line) {
      if (line["kind"] != "min") return;
      const MessageEntry* entry = find_message(line["message"].get<std::string>());
      const int version = line["version"].get<int>();
      if (version != entry->highest_version && version != entry->lowest_version) return;
      ++messages;
      const Bytes wire = from_hex(line["hex"].get<std::string>());
      for (std::size_t at = 0; at < wire.size(); ++at) {
        for (const auto& claim : kClaims) {
          std::vector<std::uint8_t> spoilt(wire.begin(), wire.end());
          for (std::size_t i = 0; i < claim.size() && at + i < spoilt.size(); ++i) spoilt[at + i] = claim[i];
          const Bytes bytes = Bytes::copy_of(spoilt);
          const std::size_t cost = allocated_by([&] { (void)entry->decode_only(bytes, version); });
          // What a message of this size may hold: a structure in memory for each few bytes on the wire.
          EXPECT_LE(cost, 256 * wire.size() + 4096) << entry->name << " v" << version << " at " << at;
        }
      }
    });
  }
  EXPECT_GT(messages, 300);
}

}  // namespace
}  // namespace thalweg::protocol
