// Compression: the codecs of record batches, read as a stream and written in one go.
//
//   gzip    RFC 1952; all members of a file are read, and what follows the last one is passed over
//   snappy  two framings: the one of snappy-java (a header of 16 bytes, then blocks with a length of four bytes, big
//           endian) and a bare block, as some clients write. Written: the first
//   lz4     one LZ4 frame of independent blocks. Its content checksum is not looked at, nor is what follows the frame
//   zstd    frames of RFC 8878 with windows of up to 128 MiB
//
// What passes and what is refused is what Kafka's own reader passes and refuses, so that whatever we store can be read
// by every consumer. A size that the input claims is never reserved before the input has paid for it: memory grows as
// output appears.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "protocol/batch_view.h"
#include "protocol/error.h"

namespace thalweg::protocol {

// "none", "gzip", "snappy", "lz4", "zstd": as in the `compression.type` of a topic.
std::string_view compression_name(CompressionType codec);

struct DecompressOptions {
  // Output beyond this many bytes is refused.
  std::uint64_t max_bytes = 2147483639;
  // Messages of magic 0 carry LZ4 frames whose header checksum covers the wrong bytes.
  bool any_lz4_header_checksum = false;
};

// Reads compressed bytes, one input after the other, with contexts and memory that are used again. For one thread at a
// time. Errors: corrupt_message where the input is not what the codec demands or ends too early; invalid_record where
// the output passes the limit; unsupported_compression_type where the codec is unknown.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // The whole output, in memory that the next call uses again (for `none`: the input itself).
  Result<std::span<const std::uint8_t>> decompress(CompressionType codec, std::span<const std::uint8_t> input,
                                                   const DecompressOptions& options = {});

  // The same piece by piece. `input` must live until the last fill().
  Result<void> begin(CompressionType codec, std::span<const std::uint8_t> input, const DecompressOptions& options = {});
  // The output that has appeared and is not consumed yet.
  [[nodiscard]] std::span<const std::uint8_t> available() const { return {data_, size_}; }
  // Gives up the first `count` bytes of available().
  void consume(std::size_t count) {
    data_ += count;
    size_ -= count;
  }
  // Appends at least one byte to available(), which may move; false: the output has ended.
  Result<bool> fill();
  // All output so far, consumed or not.
  [[nodiscard]] std::uint64_t produced() const { return produced_; }
  // The memory held, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct Contexts;
  enum class State : std::uint8_t { plain, gzip, snappy_raw, snappy_framed, lz4, zstd, ended };

  Result<void> begin_lz4();
  Result<bool> fill_gzip();
  Result<bool> fill_snappy_raw();
  Result<bool> fill_snappy_framed();
  Result<bool> fill_lz4();
  Result<bool> fill_zstd();
  Result<void> snappy_block(std::span<const std::uint8_t> block);
  // Makes room for `count` more bytes behind available() and says where.
  std::uint8_t* room(std::size_t count);
  // How much of `wanted` may still be produced, and one byte more, so that the limit is seen to be passed.
  [[nodiscard]] std::size_t allowed(std::size_t wanted) const;
  // Adds to produced(), unless that passes the limit.
  Result<void> count(std::size_t bytes);
  // The same for bytes that stand behind available() and now belong to it.
  Result<void> appended(std::size_t bytes);
  bool end();
  void trim();

  std::unique_ptr<Contexts> contexts_;
  std::unique_ptr<std::uint8_t[]> scratch_;
  std::size_t capacity_ = 0;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::span<const std::uint8_t> input_;
  std::uint64_t produced_ = 0;
  DecompressOptions options_;
  State state_ = State::ended;
  bool between_frames_ = false;
  std::size_t lz4_block_max_ = 0;
  std::uint8_t lz4_flags_ = 0;
};

// Writes compressed bytes, with contexts and memory that are used again. For one thread at a time.
class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  // `input` compressed, in memory that the next call uses again (for `none`: the input itself). Without a level:
  // Kafka's default for the codec. Levels are Kafka's, 1..9 for gzip, 1..17 for lz4, -131072..22 for zstd, and are
  // clamped; gzip has three steps behind its nine levels (1, 2..5, 6..9), which is what ISA-L offers.
  std::span<const std::uint8_t> compress(CompressionType codec, std::optional<int> level,
                                         std::span<const std::uint8_t> input);

 private:
  struct Contexts;
  void gzip(std::optional<int> level, std::span<const std::uint8_t> input);
  void snappy(std::span<const std::uint8_t> input);
  void lz4(std::optional<int> level, std::span<const std::uint8_t> input);
  void zstd(std::optional<int> level, std::span<const std::uint8_t> input);

  std::unique_ptr<Contexts> contexts_;
  std::vector<std::uint8_t> out_;
};

// For callers that compress once.
base::Bytes compress(CompressionType codec, std::optional<int> level, std::span<const std::uint8_t> input);

}  // namespace thalweg::protocol
