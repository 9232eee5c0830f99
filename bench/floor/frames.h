// The few frames that the load generator exchanges with a broker, answered without a broker: each answer is made once,
// and only its correlation id (and, for Fetch, the length of the records) is written into a copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace thalweg::floor {

using Frame = std::span<const std::uint8_t>;  // a request, behind its length
using Bytes = std::vector<std::uint8_t>;

inline constexpr std::int16_t kProduce = 0;
inline constexpr std::int16_t kFetch = 1;
inline constexpr std::int16_t kMetadata = 3;
inline constexpr std::int16_t kOffsetCommit = 8;
inline constexpr std::int16_t kFindCoordinator = 10;
inline constexpr std::int16_t kApiVersions = 18;

inline constexpr int kPartitions = 8;  // as the benchmark's topics have
inline constexpr std::size_t kLengthBytes = 4;
// Frames above this are refused: the load generator's largest is 64 records of 1 KiB.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{4} << 20;

// The API key of a request of at least 8 bytes.
std::int16_t api_key(Frame frame);

// Where a Fetch request (version 12, one partition) wants to read.
struct FetchPlace {
  int partition = 0;
  std::int64_t offset = 0;
  std::int32_t max_bytes = 0;
};
// Returns false where the frame is no such request.
bool parse_fetch(Frame frame, FetchPlace& place);

// What an OffsetCommit request (version 9, one topic with all partitions in order) commits. The texts lie in the frame.
struct OffsetCommit {
  std::string_view group;
  std::string_view topic;
  std::array<std::int64_t, kPartitions> offsets{};
};
// Returns false where the frame is no such request.
bool parse_offset_commit(Frame frame, OffsetCommit& commit);

// The canned answers.
class Answers {
 public:
  Answers();
  // Appends the answer to `frame` to `out`, its length in front. Returns false for a request that has no canned answer.
  bool append(Frame frame, Bytes& out) const;
  // Appends what stands before the records of a Fetch answer.
  //   high_watermark  the partition's end
  //   records_bytes   how many bytes of records follow, then the `kFetchTailBytes` zeros
  void append_fetch_head(Frame frame, const FetchPlace& place, std::int64_t high_watermark, std::size_t records_bytes,
                         Bytes& out) const;

 private:
  Bytes api_versions_;
  Bytes metadata_;
  Bytes produce_;
  Bytes offset_commit_;
  Bytes find_coordinator_;
};

// The empty tagged fields of the partition, the topic and the answer, behind the records.
inline constexpr std::size_t kFetchTailBytes = 3;

// One record batch, as the load generator writes them, at offset 0: `records` records with values of `value_bytes`
// bytes.
Bytes record_batch(int records, int value_bytes);

}  // namespace thalweg::floor
