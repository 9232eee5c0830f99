#include "protocol/compression.h"

#include <isa-l/igzip_lib.h>
#include <lz4.h>
#include <lz4hc.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/endian.h"

namespace thalweg::protocol {

namespace {

// What one fill() of a byte-stream codec appears in.
constexpr std::size_t kChunkBytes = 64 << 10;
// Larger memory is given back when its input is done.
constexpr std::size_t kKeptScratchBytes = 4 << 20;
constexpr std::size_t kKeptContextBytes = 16 << 20;

// snappy-java: magic, version and the oldest version that can read it.
constexpr std::array<std::uint8_t, 16> kSnappyHeader = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr std::size_t kSnappyMagicSize = 8;
constexpr std::size_t kSnappyBlockBytes = 32 << 10;
// A copy of 64 bytes takes three, so no block grows more than 64/3 times.
constexpr std::size_t kSnappyGrowthMax = 22;

constexpr std::uint32_t kLz4Magic = 0x184d2204;
constexpr std::uint8_t kLz4Independent = 0x20;
constexpr std::uint8_t kLz4BlockChecksum = 0x10;
constexpr std::uint8_t kLz4ContentSize = 0x08;
constexpr std::uint8_t kLz4ContentChecksum = 0x04;
constexpr std::uint8_t kLz4ReservedFlags = 0x03;  // of these, one names a dictionary
constexpr std::uint32_t kLz4StoredBlock = 0x80000000;
constexpr std::size_t kLz4BlockBytes = 64 << 10;  // what code 4 stands for, the one Java writes
constexpr std::size_t kLz4GrowthMax = 255;

constexpr int kDefaultLz4Level = 9;  // stands for the fast compressor; any other level is a high compression one
constexpr int kDefaultZstdLevel = 3;
constexpr int kZstdWindowLogMax = 27;

std::uint32_t load_le32(const std::uint8_t* p) {
  return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
         static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}

void store_le32(std::uint8_t* p, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// xxHash32 with seed 0: the checksum of LZ4 frames, which liblz4 keeps to itself.
std::uint32_t xxh32(std::span<const std::uint8_t> data) {
  constexpr std::uint32_t kPrime1 = 2654435761U;
  constexpr std::uint32_t kPrime2 = 2246822519U;
  constexpr std::uint32_t kPrime3 = 3266489917U;
  constexpr std::uint32_t kPrime4 = 668265263U;
  constexpr std::uint32_t kPrime5 = 374761393U;
  const std::uint8_t* p = data.data();
  const std::uint8_t* const end = p + data.size();
  std::uint32_t hash = kPrime5;
  if (data.size() >= 16) {
    std::array<std::uint32_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; end - p >= 16; p += 16) {
      for (std::size_t i = 0; i < 4; ++i) {
        lanes[i] = std::rotl(lanes[i] + load_le32(p + 4 * i) * kPrime2, 13) * kPrime1;
      }
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  }
  hash += static_cast<std::uint32_t>(data.size());
  for (; end - p >= 4; p += 4) hash = std::rotl(hash + load_le32(p) * kPrime3, 17) * kPrime4;
  for (; p != end; ++p) hash = std::rotl(hash + *p * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 15) * kPrime2;
  hash = (hash ^ hash >> 13) * kPrime3;
  return hash ^ hash >> 16;
}

std::uint8_t lz4_header_checksum(std::span<const std::uint8_t> descriptor) {
  return static_cast<std::uint8_t>(xxh32(descriptor) >> 8);
}

std::unexpected<Error> corrupt(std::string detail) { return fail(ErrorCode::corrupt_message, std::move(detail)); }

bool starts_gzip_member(std::span<const std::uint8_t> input) {
  // Java takes what is shorter than a header and a trailer for rubbish behind the last member, and so do we.
  return input.size() > 18 && input[0] == 0x1f && input[1] == 0x8b;
}

const char* as_chars(const std::uint8_t* p) { return reinterpret_cast<const char*>(p); }
char* as_chars(std::uint8_t* p) { return reinterpret_cast<char*>(p); }

struct FreeZstdDecompress {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
struct FreeZstdCompress {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

std::string_view compression_name(CompressionType codec) {
  switch (codec) {
    case CompressionType::none:
      return "none";
    case CompressionType::gzip:
      return "gzip";
    case CompressionType::snappy:
      return "snappy";
    case CompressionType::lz4:
      return "lz4";
    case CompressionType::zstd:
      return "zstd";
  }
  return "unknown";
}

// -- reading ----------------------------------------------------------------------------------------------------------

struct Decompressor::Contexts {
  std::unique_ptr<inflate_state> gzip;
  std::unique_ptr<ZSTD_DCtx, FreeZstdDecompress> zstd;
};

Decompressor::Decompressor() : contexts_(std::make_unique<Contexts>()) {}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

std::size_t Decompressor::memory_bytes() const {
  return capacity_ + (contexts_->gzip == nullptr ? 0 : sizeof(inflate_state)) +
         (contexts_->zstd == nullptr ? 0 : ZSTD_sizeof_DCtx(contexts_->zstd.get()));
}

Result<std::span<const std::uint8_t>> Decompressor::decompress(CompressionType codec,
                                                               std::span<const std::uint8_t> input,
                                                               const DecompressOptions& options) {
  TRY(begin(codec, input, options));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, fill());
    if (!more) return available();
  }
}

Result<void> Decompressor::begin(CompressionType codec, std::span<const std::uint8_t> input,
                                 const DecompressOptions& options) {
  trim();
  options_ = options;
  input_ = input;
  produced_ = 0;
  between_frames_ = false;
  data_ = scratch_.get();
  size_ = 0;
  state_ = State::ended;
  switch (codec) {
    case CompressionType::none:
      state_ = State::plain;
      return {};
    case CompressionType::gzip:
      if (contexts_->gzip == nullptr) contexts_->gzip = std::make_unique<inflate_state>();
      isal_inflate_init(contexts_->gzip.get());
      contexts_->gzip->crc_flag = ISAL_GZIP;
      state_ = State::gzip;
      return {};
    case CompressionType::snappy:
      if (input.size() >= kSnappyHeader.size() &&
          std::equal(kSnappyHeader.begin(), kSnappyHeader.begin() + kSnappyMagicSize, input.begin())) {
        input_ = input.subspan(kSnappyHeader.size());
        state_ = State::snappy_framed;
      } else {
        state_ = State::snappy_raw;
      }
      return {};
    case CompressionType::lz4:
      return begin_lz4();
    case CompressionType::zstd:
      if (contexts_->zstd == nullptr) {
        contexts_->zstd.reset(ZSTD_createDCtx());
        CHECK(contexts_->zstd != nullptr, "out of memory");
        ZSTD_DCtx_setParameter(contexts_->zstd.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
      }
      ZSTD_DCtx_reset(contexts_->zstd.get(), ZSTD_reset_session_only);
      between_frames_ = true;
      state_ = State::zstd;
      return {};
  }
  return fail(ErrorCode::unsupported_compression_type, "codec " + std::to_string(static_cast<int>(codec)));
}

Result<bool> Decompressor::fill() {
  switch (state_) {
    case State::plain: {
      state_ = State::ended;
      if (input_.empty()) return false;
      TRY(count(input_.size()));
      data_ = input_.data();
      size_ = input_.size();
      return true;
    }
    case State::gzip:
      return fill_gzip();
    case State::snappy_raw:
      return fill_snappy_raw();
    case State::snappy_framed:
      return fill_snappy_framed();
    case State::lz4:
      return fill_lz4();
    case State::zstd:
      return fill_zstd();
    case State::ended:
      return false;
  }
  return false;
}

Result<bool> Decompressor::fill_gzip() {
  inflate_state& gzip = *contexts_->gzip;
  for (;;) {
    std::uint8_t* const out = room(kChunkBytes);
    const std::size_t space = allowed(static_cast<std::size_t>(scratch_.get() + capacity_ - out));
    const auto offered = static_cast<std::uint32_t>(std::min<std::size_t>(input_.size(), 1U << 30));
    gzip.next_in = const_cast<std::uint8_t*>(input_.data());
    gzip.avail_in = offered;
    gzip.next_out = out;
    gzip.avail_out = static_cast<std::uint32_t>(space);
    const int status = isal_inflate(&gzip);
    if (status != ISAL_DECOMP_OK) return corrupt("gzip: fault " + std::to_string(status));
    // Bytes that a member took too many of come back when it ends, so this may be fewer than last time.
    input_ = {gzip.next_in, input_.size() - offered + gzip.avail_in};
    const std::size_t appeared = space - gzip.avail_out;
    TRY(appended(appeared));
    if (gzip.block_state == ISAL_BLOCK_FINISH) {
      if (starts_gzip_member(input_)) {
        isal_inflate_reset(&gzip);
        gzip.crc_flag = ISAL_GZIP;
      } else {
        state_ = State::ended;
      }
    } else if (appeared == 0 && input_.empty()) {
      return corrupt("gzip: ends too early");
    }
    if (appeared > 0) return true;
    if (state_ == State::ended) return end();
  }
}

Result<void> Decompressor::snappy_block(std::span<const std::uint8_t> block) {
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(as_chars(block.data()), block.size(), &size)) return corrupt("snappy: no length");
  if (size > block.size() * kSnappyGrowthMax) return corrupt("snappy: claims more than it can hold");
  if (size > options_.max_bytes - produced_) return count(size);
  if (!snappy::RawUncompress(as_chars(block.data()), block.size(), as_chars(room(size))))
    return corrupt("snappy: damaged block");
  return appended(size);
}

Result<bool> Decompressor::fill_snappy_raw() {
  state_ = State::ended;
  TRY(snappy_block(input_));
  return size_ > 0 ? true : end();
}

Result<bool> Decompressor::fill_snappy_framed() {
  const std::uint64_t before = produced_;
  while (produced_ == before) {
    // Java's reader stops where no whole length is left.
    if (input_.size() < 4) return end();
    const auto length = base::load_be<std::int32_t>(input_.data());
    if (length == base::load_be<std::int32_t>(kSnappyHeader.data())) {
      // Streams may be put one behind the other; only the first four bytes of a header cannot be a length.
      if (input_.size() < kSnappyHeader.size() ||
          !std::equal(kSnappyHeader.begin(), kSnappyHeader.begin() + kSnappyMagicSize, input_.begin())) {
        return corrupt("snappy: damaged header");
      }
      input_ = input_.subspan(kSnappyHeader.size());
      continue;
    }
    input_ = input_.subspan(4);
    if (length <= 0 || static_cast<std::size_t>(length) > input_.size())
      return corrupt("snappy: impossible block length");
    TRY(snappy_block(input_.first(static_cast<std::size_t>(length))));
    input_ = input_.subspan(static_cast<std::size_t>(length));
  }
  return true;
}

// magic 4 | flags 1 | block size code 1 | content size 8, where flagged | header checksum 1
Result<void> Decompressor::begin_lz4() {
  if (input_.size() < 7 || load_le32(input_.data()) != kLz4Magic) return corrupt("lz4: no frame");
  lz4_flags_ = input_[4];
  const std::uint8_t block_size = input_[5];
  if (lz4_flags_ >> 6 != 1) return corrupt("lz4: unknown version");
  if ((lz4_flags_ & kLz4ReservedFlags) != 0 || (block_size & 0x8f) != 0) return corrupt("lz4: reserved bits are set");
  if ((lz4_flags_ & kLz4Independent) == 0) return corrupt("lz4: blocks that depend on each other");
  const int code = block_size >> 4;
  if (code < 4) return corrupt("lz4: unknown block size");
  lz4_block_max_ = std::size_t{1} << (8 + 2 * code);
  const std::size_t descriptor = 2 + ((lz4_flags_ & kLz4ContentSize) != 0 ? 8 : 0);
  if (input_.size() < 4 + descriptor + 1) return corrupt("lz4: ends too early");
  if (!options_.any_lz4_header_checksum &&
      lz4_header_checksum(input_.subspan(4, descriptor)) != input_[4 + descriptor]) {
    return corrupt("lz4: wrong header checksum");
  }
  input_ = input_.subspan(4 + descriptor + 1);
  state_ = State::lz4;
  return {};
}

Result<bool> Decompressor::fill_lz4() {
  const std::uint64_t before = produced_;
  while (produced_ == before) {
    if (input_.size() < 4) return corrupt("lz4: ends too early");
    const std::uint32_t head = load_le32(input_.data());
    input_ = input_.subspan(4);
    const std::size_t length = head & ~kLz4StoredBlock;
    if (length == 0) {
      if ((lz4_flags_ & kLz4ContentChecksum) != 0 && input_.size() < 4) return corrupt("lz4: ends too early");
      return end();
    }
    if (length > lz4_block_max_) return corrupt("lz4: block is too large");
    const std::size_t trailer = (lz4_flags_ & kLz4BlockChecksum) != 0 ? 4 : 0;
    if (length + trailer > input_.size()) return corrupt("lz4: ends too early");
    const std::span<const std::uint8_t> block = input_.first(length);
    if (trailer != 0 && xxh32(block) != load_le32(input_.data() + length)) return corrupt("lz4: wrong block checksum");
    input_ = input_.subspan(length + trailer);
    if ((head & kLz4StoredBlock) != 0) {
      std::memcpy(room(length), block.data(), length);
      TRY(appended(length));
      continue;
    }
    const std::size_t most = std::min(lz4_block_max_, length * kLz4GrowthMax);
    const int size = LZ4_decompress_safe(as_chars(block.data()), as_chars(room(most)), static_cast<int>(length),
                                         static_cast<int>(most));
    if (size < 0) return corrupt("lz4: damaged block");
    TRY(appended(static_cast<std::size_t>(size)));
  }
  return true;
}

Result<bool> Decompressor::fill_zstd() {
  for (;;) {
    if (between_frames_ && input_.empty()) return end();
    ZSTD_inBuffer in{input_.data(), input_.size(), 0};
    std::uint8_t* const out_at = room(kChunkBytes);
    const std::size_t space = allowed(static_cast<std::size_t>(scratch_.get() + capacity_ - out_at));
    ZSTD_outBuffer out{out_at, space, 0};
    const std::size_t status = ZSTD_decompressStream(contexts_->zstd.get(), &out, &in);
    if (ZSTD_isError(status) != 0) return corrupt(std::string("zstd: ") + ZSTD_getErrorName(status));
    input_ = input_.subspan(in.pos);
    between_frames_ = status == 0;
    TRY(appended(out.pos));
    if (out.pos > 0) return true;
    if (!between_frames_ && input_.empty()) return corrupt("zstd: ends too early");
  }
}

std::uint8_t* Decompressor::room(std::size_t count) {
  const auto begin = static_cast<std::size_t>(data_ - scratch_.get());
  if (capacity_ - begin - size_ >= count) return scratch_.get() + begin + size_;
  if (begin > 0 && capacity_ - size_ >= count) {
    std::memmove(scratch_.get(), data_, size_);
  } else {
    const std::size_t wanted = std::max({size_ + count, capacity_ * 2, 2 * kChunkBytes});
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(wanted);
    if (size_ > 0) std::memcpy(larger.get(), data_, size_);
    scratch_ = std::move(larger);
    capacity_ = wanted;
  }
  data_ = scratch_.get();
  return scratch_.get() + size_;
}

std::size_t Decompressor::allowed(std::size_t wanted) const {
  const std::uint64_t left = options_.max_bytes - produced_;
  return left < wanted ? static_cast<std::size_t>(left) + 1 : wanted;
}

Result<void> Decompressor::count(std::size_t bytes) {
  if (bytes > options_.max_bytes - produced_) {
    state_ = State::ended;
    return fail(ErrorCode::invalid_record,
                "decompresses to more than " + std::to_string(options_.max_bytes) + " bytes");
  }
  produced_ += bytes;
  return {};
}

Result<void> Decompressor::appended(std::size_t bytes) {
  TRY(count(bytes));
  size_ += bytes;
  return {};
}

bool Decompressor::end() {
  state_ = State::ended;
  return false;
}

void Decompressor::trim() {
  if (capacity_ > kKeptScratchBytes) {
    scratch_.reset();
    capacity_ = 0;
  }
  if (contexts_->zstd != nullptr && ZSTD_sizeof_DCtx(contexts_->zstd.get()) > kKeptContextBytes)
    contexts_->zstd.reset();
}

// -- writing ----------------------------------------------------------------------------------------------------------

struct Compressor::Contexts {
  std::unique_ptr<isal_zstream> gzip;
  std::vector<std::uint8_t> gzip_level;
  std::vector<std::uint8_t> lz4_high;
  std::unique_ptr<ZSTD_CCtx, FreeZstdCompress> zstd;
};

Compressor::Compressor() : contexts_(std::make_unique<Contexts>()) {}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

std::span<const std::uint8_t> Compressor::compress(CompressionType codec, std::optional<int> level,
                                                   std::span<const std::uint8_t> input) {
  out_.clear();
  switch (codec) {
    case CompressionType::none:
      return input;
    case CompressionType::gzip:
      gzip(level, input);
      break;
    case CompressionType::snappy:
      snappy(input);
      break;
    case CompressionType::lz4:
      lz4(level, input);
      break;
    case CompressionType::zstd:
      zstd(level, input);
      break;
  }
  return out_;
}

void Compressor::gzip(std::optional<int> level, std::span<const std::uint8_t> input) {
  const int kafka_level = level.value_or(-1);
  const std::uint32_t step = kafka_level < 0 ? 2 : kafka_level <= 1 ? 1 : kafka_level <= 5 ? 2 : 3;
  const std::size_t level_bytes = step == 1   ? ISAL_DEF_LVL1_DEFAULT
                                  : step == 2 ? ISAL_DEF_LVL2_DEFAULT
                                              : ISAL_DEF_LVL3_DEFAULT;
  if (contexts_->gzip == nullptr) contexts_->gzip = std::make_unique<isal_zstream>();
  if (contexts_->gzip_level.size() < level_bytes) contexts_->gzip_level.resize(level_bytes);
  isal_zstream& stream = *contexts_->gzip;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = step;
  stream.level_buf = contexts_->gzip_level.data();
  stream.level_buf_size = static_cast<std::uint32_t>(contexts_->gzip_level.size());
  do {
    if (stream.avail_in == 0) {
      const std::size_t piece = std::min<std::size_t>(input.size(), 1U << 30);
      stream.next_in = const_cast<std::uint8_t*>(input.data());
      stream.avail_in = static_cast<std::uint32_t>(piece);
      input = input.subspan(piece);
      stream.end_of_stream = input.empty() ? 1 : 0;
    }
    const std::size_t filled = out_.size();
    out_.resize(filled + std::max<std::size_t>(stream.avail_in / 2, 512));
    stream.next_out = out_.data() + filled;
    stream.avail_out = static_cast<std::uint32_t>(out_.size() - filled);
    const int status = isal_deflate(&stream);
    CHECK(status == COMP_OK, "deflate has no way to fail");
    out_.resize(out_.size() - stream.avail_out);
  } while (stream.internal_state.state != ZSTATE_END);
}

void Compressor::snappy(std::span<const std::uint8_t> input) {
  out_.assign(kSnappyHeader.begin(), kSnappyHeader.end());
  while (!input.empty()) {
    const std::span<const std::uint8_t> block = input.first(std::min(input.size(), kSnappyBlockBytes));
    input = input.subspan(block.size());
    const std::size_t at = out_.size();
    out_.resize(at + 4 + snappy::MaxCompressedLength(block.size()));
    std::size_t size = 0;
    snappy::RawCompress(as_chars(block.data()), block.size(), as_chars(out_.data() + at + 4), &size);
    base::store_be(out_.data() + at, static_cast<std::int32_t>(size));
    out_.resize(at + 4 + size);
  }
}

void Compressor::lz4(std::optional<int> level, std::span<const std::uint8_t> input) {
  const int kafka_level = level.value_or(kDefaultLz4Level);
  const bool high = kafka_level != kDefaultLz4Level;
  if (high && contexts_->lz4_high.empty()) contexts_->lz4_high.resize(static_cast<std::size_t>(LZ4_sizeofStateHC()));
  std::array<std::uint8_t, 7> header{};
  store_le32(header.data(), kLz4Magic);
  header[4] = 0x40 | kLz4Independent;
  header[5] = 4 << 4;
  header[6] = lz4_header_checksum(std::span(header).subspan(4, 2));
  out_.assign(header.begin(), header.end());
  while (!input.empty()) {
    const std::span<const std::uint8_t> block = input.first(std::min(input.size(), kLz4BlockBytes));
    input = input.subspan(block.size());
    const auto block_size = static_cast<int>(block.size());
    const std::size_t at = out_.size();
    // A block that does not shrink is stored, so one byte less than the block is all the room that is needed.
    out_.resize(at + 4 + block.size());
    const char* const from = as_chars(block.data());
    char* const to = as_chars(out_.data() + at + 4);
    const int size =
        high ? LZ4_compress_HC_extStateHC(contexts_->lz4_high.data(), from, to, block_size, block_size - 1, kafka_level)
             : LZ4_compress_default(from, to, block_size, block_size - 1);
    if (size > 0) {
      store_le32(out_.data() + at, static_cast<std::uint32_t>(size));
      out_.resize(at + 4 + static_cast<std::size_t>(size));
    } else {
      store_le32(out_.data() + at, static_cast<std::uint32_t>(block_size) | kLz4StoredBlock);
      std::memcpy(to, from, block.size());
    }
  }
  out_.insert(out_.end(), 4, 0);
}

void Compressor::zstd(std::optional<int> level, std::span<const std::uint8_t> input) {
  if (contexts_->zstd == nullptr) {
    contexts_->zstd.reset(ZSTD_createCCtx());
    CHECK(contexts_->zstd != nullptr, "out of memory");
  }
  ZSTD_CCtx* const context = contexts_->zstd.get();
  const int clamped = std::clamp(level.value_or(kDefaultZstdLevel), ZSTD_minCLevel(), ZSTD_maxCLevel());
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, clamped);
  out_.resize(ZSTD_compressBound(input.size()));
  const std::size_t size = ZSTD_compress2(context, out_.data(), out_.size(), input.data(), input.size());
  CHECK(ZSTD_isError(size) == 0, "the bound leaves room enough");
  out_.resize(size);
  if (ZSTD_sizeof_CCtx(context) > kKeptContextBytes) contexts_->zstd.reset();
}

base::Bytes compress(CompressionType codec, std::optional<int> level, std::span<const std::uint8_t> input) {
  return base::Bytes::copy_of(Compressor().compress(codec, level, input));
}

}  // namespace thalweg::protocol
