// Any bytes as compressed ones: no fault leaves anything behind, the limit holds, and what comes out can be compressed
// and decompressed again. The first byte chooses: the codec, the LZ4 quirk of magic 0, and how much is consumed at a
// time.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "protocol/compression.h"

namespace {

using namespace thalweg::protocol;

constexpr std::uint64_t kOutputMax = 1 << 20;

// The output in pieces, some of which stays unconsumed each time.
Result<std::vector<std::uint8_t>> in_pieces(CompressionType codec, std::span<const std::uint8_t> input,
                                            const DecompressOptions& options, std::size_t kept,
                                            Decompressor& decompressor) {
  TRY(decompressor.begin(codec, input, options));
  std::vector<std::uint8_t> output;
  for (;;) {
    const auto available = decompressor.available();
    const std::size_t taken = available.size() - std::min(available.size(), kept);
    output.insert(output.end(), available.begin(), available.begin() + static_cast<std::ptrdiff_t>(taken));
    decompressor.consume(taken);
    const std::size_t before = decompressor.available().size();
    ASSIGN_OR_RETURN(const bool more, decompressor.fill());
    CHECK(more == (decompressor.available().size() > before));
    if (!more) break;
  }
  const auto rest = decompressor.available();
  output.insert(output.end(), rest.begin(), rest.end());
  CHECK(output.size() == decompressor.produced());
  return output;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto codec = static_cast<CompressionType>(data[0] & 7);
  const DecompressOptions options{.max_bytes = kOutputMax, .any_lz4_header_checksum = (data[0] & 8) != 0};
  const std::size_t kept = static_cast<std::size_t>(data[0] >> 4) * 7;
  const std::vector<std::uint8_t> input(data + 1, data + size);

  static Decompressor decompressor;
  static Decompressor other;
  static Compressor compressor;
  const auto whole = decompressor.decompress(codec, input, options);
  const auto pieces = in_pieces(codec, input, options, kept, other);
  CHECK(whole.has_value() == pieces.has_value());
  if (!whole.has_value()) {
    // The words may differ: zstd says more of a frame whose end it has room for.
    CHECK(whole.error().code == pieces.error().code);
    return 0;
  }
  CHECK(whole->size() <= kOutputMax && std::ranges::equal(*whole, *pieces));
  const int level = static_cast<int>(size % 12);
  const auto again = other.decompress(codec, compressor.compress(codec, level, *pieces), options);
  CHECK(again.has_value() && std::ranges::equal(*again, *pieces));
  return 0;
}
