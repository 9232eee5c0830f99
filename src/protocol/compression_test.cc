#include "protocol/compression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"

namespace thalweg::protocol {
namespace {

using Raw = std::vector<std::uint8_t>;

constexpr std::array kCodecs = {CompressionType::none, CompressionType::gzip, CompressionType::snappy,
                                CompressionType::lz4, CompressionType::zstd};
constexpr std::array kRealCodecs = {CompressionType::gzip, CompressionType::snappy, CompressionType::lz4,
                                    CompressionType::zstd};

Raw hex(std::string_view text) { return base::hex_decode(text).value(); }
Raw bytes(std::string_view text) { return {text.begin(), text.end()}; }
Raw operator+(Raw a, const Raw& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Neither constant nor random: words of which some come again.
Raw sample(std::size_t size) {
  std::mt19937 random(static_cast<std::uint32_t>(size));
  std::string words;
  while (words.size() < size) words += "word" + std::to_string(random() % 3000) + " ";
  words.resize(size);
  return bytes(words);
}

Raw packed(CompressionType codec, const Raw& data, std::optional<int> level = {}) {
  const base::Bytes bytes = compress(codec, level, data);
  return {bytes.begin(), bytes.end()};
}

// The whole output, or the fault as a code.
struct Outcome {
  ErrorCode code = ErrorCode::none;
  std::string text;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
Outcome unpack(CompressionType codec, const Raw& data, const DecompressOptions& options = {}) {
  Decompressor decompressor;
  const auto output = decompressor.decompress(codec, data, options);
  if (!output.has_value()) return {output.error().code, {}};
  return {ErrorCode::none, std::string(output->begin(), output->end())};
}
const Outcome kCorrupt{ErrorCode::corrupt_message, {}};
Outcome text(std::string_view value) { return {ErrorCode::none, std::string(value)}; }

TEST(Compression, EveryCodecGivesBackWhatItTook) {
  Decompressor decompressor;
  Compressor compressor;
  for (const std::size_t size : {0UL, 1UL, 17UL, 4096UL, 32768UL, 65536UL, 65537UL, 200000UL, 5000000UL}) {
    const Raw data = sample(size);
    for (const CompressionType codec : kCodecs) {
      SCOPED_TRACE(std::string(compression_name(codec)) + " " + std::to_string(size));
      const auto small = compressor.compress(codec, {}, data);
      const auto output = decompressor.decompress(codec, small);
      ASSERT_TRUE(output.has_value()) << output.error().detail;
      EXPECT_TRUE(std::ranges::equal(*output, data));
      EXPECT_EQ(decompressor.produced(), size);
      if (codec != CompressionType::none && size > 4000) EXPECT_LT(small.size(), size * 9 / 10);
    }
  }
}

TEST(Compression, DataThatDoesNotShrinkGrowsLittle) {
  std::mt19937_64 random(7);
  Raw data(300000);
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
  for (const CompressionType codec : kRealCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw small = packed(codec, data);
    EXPECT_LT(small.size(), data.size() + 2000);
    EXPECT_EQ(unpack(codec, small), text(std::string(data.begin(), data.end())));
  }
}

TEST(Compression, HigherLevelsAreSmaller) {
  const Raw data = sample(400000);
  const std::string words(data.begin(), data.end());
  EXPECT_LT(packed(CompressionType::gzip, data, 9).size(), packed(CompressionType::gzip, data, 1).size());
  EXPECT_LT(packed(CompressionType::lz4, data, 17).size(), packed(CompressionType::lz4, data).size());
  EXPECT_LT(packed(CompressionType::zstd, data, 19).size(), packed(CompressionType::zstd, data, -5).size());
  for (const CompressionType codec : kRealCodecs) {
    for (const int level : {-200000, -1, 0, 1, 5, 6, 9, 12, 17, 22, 1000}) {
      SCOPED_TRACE(std::string(compression_name(codec)) + " " + std::to_string(level));
      EXPECT_EQ(unpack(codec, packed(codec, data, level)), text(words));
    }
  }
}

TEST(Compression, OutputComesPieceByPieceInBoundedMemory) {
  const Raw data = sample(20 << 20);
  for (const CompressionType codec : kRealCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw small = packed(codec, data);
    Decompressor decompressor;
    ASSERT_TRUE(decompressor.begin(codec, small).has_value());
    std::size_t at = 0;
    for (;;) {
      const Result<bool> more = decompressor.fill();
      ASSERT_TRUE(more.has_value()) << more.error().detail;
      if (!*more) break;
      // Leave some behind each time: it must move along with what comes.
      const auto piece = decompressor.available();
      ASSERT_TRUE(std::equal(piece.begin(), piece.end(), data.begin() + static_cast<std::ptrdiff_t>(at)));
      const std::size_t taken = piece.size() - std::min<std::size_t>(piece.size(), 100);
      decompressor.consume(taken);
      at += taken;
      // zstd keeps a window of its own.
      ASSERT_LT(decompressor.memory_bytes(), codec == CompressionType::zstd ? 5U << 20 : 1U << 20);
    }
    EXPECT_EQ(at + decompressor.available().size(), data.size());
  }
}

TEST(Compression, OutputBeyondTheLimitIsRefused) {
  const Raw data = sample(1000);
  for (const CompressionType codec : kCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw small = packed(codec, data);
    EXPECT_EQ(unpack(codec, small, {.max_bytes = 1000}).code, ErrorCode::none);
    EXPECT_EQ(unpack(codec, small, {.max_bytes = 999}).code, ErrorCode::invalid_record);
    EXPECT_EQ(unpack(codec, small, {.max_bytes = 0}).code, ErrorCode::invalid_record);
  }
}

TEST(Compression, ABombStopsAtTheLimitAndLeavesNoMemoryBehind) {
  const Raw zeros(64 << 20);
  for (const CompressionType codec : kRealCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw bomb = packed(codec, zeros);
    Decompressor decompressor;
    const auto output = decompressor.decompress(codec, bomb, {.max_bytes = 3 << 20});
    ASSERT_FALSE(output.has_value());
    EXPECT_EQ(output.error().code, ErrorCode::invalid_record);
    EXPECT_LT(decompressor.memory_bytes(), 20U << 20);
    ASSERT_TRUE(decompressor.decompress(CompressionType::none, {}).has_value());
    EXPECT_LT(decompressor.memory_bytes(), 20U << 20);
  }
}

TEST(Compression, AClaimedSizeReservesNothing) {
  // A block of snappy that says it holds a gigabyte, bare and framed; an LZ4 frame that says so too.
  Decompressor decompressor;
  const Raw bare = hex("808080800400 61");
  EXPECT_FALSE(decompressor.decompress(CompressionType::snappy, bare).has_value());
  const Raw framed = hex("82534e4150505900 00000001 00000001 00000007 808080800400 61");
  EXPECT_FALSE(decompressor.decompress(CompressionType::snappy, framed).has_value());
  const Raw zstd = hex("28b52ffd e0 ffffffff00000000 010000");
  EXPECT_FALSE(decompressor.decompress(CompressionType::zstd, zstd).has_value());
  EXPECT_LT(decompressor.memory_bytes(), 2U << 20);
}

TEST(Compression, EveryTruncationIsRefused) {
  const Raw data = sample(70000);
  for (const CompressionType codec : kRealCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw small = packed(codec, data);
    Decompressor decompressor;
    for (std::size_t n = 1; n < small.size(); n += n < 300 || n + 300 > small.size() ? 1 : 97) {
      const Raw cut(small.begin(), small.begin() + static_cast<std::ptrdiff_t>(n));
      const auto output = decompressor.decompress(codec, cut);
      // snappy-java's framing has no end, so between two blocks a cut cannot be told.
      if (codec == CompressionType::snappy && output.has_value()) {
        EXPECT_LT(output->size(), data.size());
        continue;
      }
      ASSERT_FALSE(output.has_value()) << n;
      EXPECT_EQ(output.error().code, ErrorCode::corrupt_message);
    }
  }
}

TEST(Compression, DamageIsRefusedOrChangesNothingBeyondIt) {
  const Raw data = sample(5000);
  Decompressor decompressor;
  for (const CompressionType codec : kRealCodecs) {
    Raw small = packed(codec, data);
    for (std::size_t i = 0; i < small.size(); ++i) {
      for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
        small[i] ^= flip;
        const auto output = decompressor.decompress(codec, small, {.max_bytes = 1 << 20});
        if (output.has_value()) EXPECT_LE(output->size(), 1U << 20);
        small[i] ^= flip;
      }
    }
    EXPECT_TRUE(decompressor.decompress(codec, small).has_value()) << "an earlier fault must leave nothing behind";
  }
}

TEST(Compression, AnUnknownCodecIsRefused) {
  EXPECT_EQ(unpack(static_cast<CompressionType>(5), bytes("abc")).code, ErrorCode::unsupported_compression_type);
  EXPECT_EQ(compression_name(static_cast<CompressionType>(5)), "unknown");
}

TEST(Compression, NothingIsNoStreamButForZstd) {
  EXPECT_EQ(unpack(CompressionType::gzip, {}), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::snappy, {}), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::lz4, {}), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::zstd, {}), text(""));
}

// -- gzip
// --------------------------------------------------------------------------------------------------------------

// "hello" as zlib writes it at level 9.
const Raw kGzipHello = hex("1f8b08000000000002ff cb48cdc9c907008 6a61036 05000000");

TEST(Gzip, ReadsAllMembers) {
  EXPECT_EQ(unpack(CompressionType::gzip, kGzipHello), text("hello"));
  EXPECT_EQ(unpack(CompressionType::gzip, kGzipHello + kGzipHello + kGzipHello), text("hellohellohello"));
  const Raw empty = packed(CompressionType::gzip, {});
  EXPECT_EQ(unpack(CompressionType::gzip, empty + kGzipHello + empty), text("hello"));
  const Raw big = sample(300000);
  const Raw both = packed(CompressionType::gzip, big) + packed(CompressionType::gzip, big);
  EXPECT_EQ(unpack(CompressionType::gzip, both).text.size(), 600000U);
}

TEST(Gzip, PassesOverWhatFollowsTheLastMember) {
  for (const Raw& tail : {bytes("x"), bytes("rubbish that is longer than a header"), Raw(50), hex("1f8b08")}) {
    EXPECT_EQ(unpack(CompressionType::gzip, kGzipHello + tail), text("hello"));
  }
}

TEST(Gzip, ReadsEveryKindOfHeader) {
  const auto with = [](std::uint8_t flags, const Raw& fields) {
    Raw header(kGzipHello.begin(), kGzipHello.begin() + 10);
    header[3] = flags;
    return header + fields + Raw(kGzipHello.begin() + 10, kGzipHello.end());
  };
  EXPECT_EQ(unpack(CompressionType::gzip, with(0x01, {})), text("hello"));
  EXPECT_EQ(unpack(CompressionType::gzip, with(0x04, hex("0300616263"))), text("hello"));
  EXPECT_EQ(unpack(CompressionType::gzip, with(0x08, hex("6e616d6500"))), text("hello"));
  EXPECT_EQ(unpack(CompressionType::gzip, with(0x10, hex("6e616d6500"))), text("hello"));
  EXPECT_EQ(unpack(CompressionType::gzip, with(0x18, hex("6e616d6500 6e616d6500"))), text("hello"));
}

TEST(Gzip, RefusesAWrongTrailer) {
  for (std::size_t from_end = 1; from_end <= 8; ++from_end) {
    Raw spoilt = kGzipHello;
    spoilt[spoilt.size() - from_end] ^= 1;
    EXPECT_EQ(unpack(CompressionType::gzip, spoilt), kCorrupt) << from_end;
  }
  EXPECT_EQ(unpack(CompressionType::gzip, hex("789ccb48cdc9c907000 62c0215")), kCorrupt) << "zlib instead";
}

// -- snappy
// ------------------------------------------------------------------------------------------------------------

const Raw kSnappyHeader = hex("82534e4150505900 00000001 00000001");
const Raw kSnappyHello = hex("05 10 68656c6c6f");

TEST(Snappy, ReadsABareBlock) {
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHello), text("hello"));
  EXPECT_EQ(unpack(CompressionType::snappy, hex("00")), text(""));
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHello + bytes("a")), kCorrupt);
}

TEST(Snappy, ReadsTheFramingOfJava) {
  const Raw block = hex("00000007") + kSnappyHello;
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + block), text("hello"));
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + block + block), text("hellohello"));
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader), text(""));
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + hex("00000001 00") + block), text("hello"))
      << "empty block";
  EXPECT_EQ(unpack(CompressionType::snappy, hex("82534e4150505900 00000002 00000002") + block), text("hello"));
}

TEST(Snappy, ReadsStreamsOneBehindTheOther) {
  const Raw stream = kSnappyHeader + hex("00000007") + kSnappyHello;
  EXPECT_EQ(unpack(CompressionType::snappy, stream + stream), text("hellohello"));
  EXPECT_EQ(unpack(CompressionType::snappy, stream + kSnappyHeader), text("hello"));
  EXPECT_EQ(unpack(CompressionType::snappy, stream + hex("82534e41505059")), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::snappy, stream + hex("82534e4150505901 00000001 00000001")), kCorrupt);
}

TEST(Snappy, RefusesImpossibleBlocks) {
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + hex("00000000") + kSnappyHello), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + hex("ffffffff") + kSnappyHello), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + hex("00000008") + kSnappyHello), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::snappy, Raw(kSnappyHeader.begin(), kSnappyHeader.begin() + 12)), kCorrupt);
  // Java stops where no whole length is left.
  EXPECT_EQ(unpack(CompressionType::snappy, kSnappyHeader + hex("00000007") + kSnappyHello + hex("000000")),
            text("hello"));
}

// -- lz4
// ---------------------------------------------------------------------------------------------------------------

// A frame of one stored block "hello", with this descriptor and what must be its checksum.
Raw lz4_frame(const Raw& descriptor, std::uint8_t checksum, const Raw& tail = {}) {
  return hex("04224d18") + descriptor + Raw{checksum} + hex("05000080 68656c6c6f") + tail + hex("00000000");
}

TEST(Lz4, ReadsFramesWithAndWithoutTheirOptions) {
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6040"), 0x82)), text("hello"));
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6070"), 0x73)), text("hello")) << "blocks of 4 MiB";
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6840 0500000000000000"), 0x61)), text("hello")) << "size";
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6440"), 0xa7) + hex("01020304")), text("hello")) << "content";
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("7040"), 0xad, hex("f97700fb"))), text("hello")) << "block";
}

TEST(Lz4, RefusesAWrongChecksum) {
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6040"), 0x83)), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("7040"), 0xad, hex("f97700fa"))), kCorrupt);
}

TEST(Lz4, ReadsTheWrongHeaderChecksumOfMagicZeroWhenAskedTo) {
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6040"), 0x1a), {.any_lz4_header_checksum = true}),
            text("hello"));
}

TEST(Lz4, RefusesWhatJavaCannotRead) {
  const DecompressOptions any{.any_lz4_header_checksum = true};
  for (const std::string_view descriptor : {"4040", "2040", "a040", "6240", "6140", "6030", "6000", "60c0", "6041"}) {
    EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex(descriptor), 0), any), kCorrupt) << descriptor;
  }
  const Raw frame = lz4_frame(hex("6040"), 0x82);
  EXPECT_EQ(unpack(CompressionType::lz4, hex("502a4d1804000000 61626364") + frame), kCorrupt) << "skippable frame";
  // One byte more than a block of 64 KiB may have.
  EXPECT_EQ(unpack(CompressionType::lz4, hex("04224d18604082 01000180") + Raw(65537) + hex("00000000")), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::lz4, lz4_frame(hex("6440"), 0xa7)), kCorrupt) << "no content checksum";
}

TEST(Lz4, PassesOverWhatFollowsTheFrame) {
  const Raw frame = lz4_frame(hex("6040"), 0x82);
  EXPECT_EQ(unpack(CompressionType::lz4, frame + frame), text("hello"));
  EXPECT_EQ(unpack(CompressionType::lz4, frame + bytes("rubbish")), text("hello"));
}

// -- zstd
// --------------------------------------------------------------------------------------------------------------

TEST(Zstd, ReadsFramesOneBehindTheOtherAndSkipsSkippableOnes) {
  const Raw frame = packed(CompressionType::zstd, bytes("hello"));
  const Raw skippable = hex("502a4d1804000000 61626364");
  EXPECT_EQ(unpack(CompressionType::zstd, frame + frame), text("hellohello"));
  EXPECT_EQ(unpack(CompressionType::zstd, skippable + frame + skippable), text("hello"));
  EXPECT_EQ(unpack(CompressionType::zstd, frame + bytes("rubbish")), kCorrupt);
}

TEST(Zstd, RefusesWindowsBeyond128MiB) {
  // A frame with this window descriptor and one stored block "hello".
  const auto frame = [](std::uint8_t window) { return hex("28b52ffd 00") + Raw{window} + hex("290000 68656c6c6f"); };
  EXPECT_EQ(unpack(CompressionType::zstd, frame((27 - 10) << 3)), text("hello"));
  EXPECT_EQ(unpack(CompressionType::zstd, frame((27 - 10) << 3 | 1)), kCorrupt);
  EXPECT_EQ(unpack(CompressionType::zstd, frame((31 - 10) << 3)), kCorrupt);
}

}  // namespace
}  // namespace thalweg::protocol
