// LogScanner: walks what stands in a `.log` file, of any format version and in any state, from front to back.
//
// Unlike storage::BatchScanner, which serves a broker and stops at the first byte that is wrong, it is for people who
// want to see what is left: behind damage it goes on with the next batch that is sound. It holds a window of the file,
// not the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/file.h"

namespace thalweg::inspect {

struct LogItem {
  enum class Kind : std::uint8_t {
    batch,    // a record batch of format v2
    message,  // a message of magic 0 or 1, which may wrap others
    damage,   // bytes that are neither, up to the next one that is sound
  };
  Kind kind = Kind::damage;
  std::uint64_t position = 0;
  std::uint64_t size = 0;  // bytes
  // All bytes of a batch or message, until the next call; empty for damage.
  std::span<const std::uint8_t> bytes;
  // Whether the CRC of a batch or message is right, so that its records can be believed.
  bool sound = false;
  // What is wrong: with damage, with what is not sound, and with a sound batch that is not behind the one before it.
  std::string fault;
};

class LogScanner {
 public:
  struct Options {
    std::uint64_t begin = 0;        // where a batch begins
    std::uint64_t end = 0;          // bytes of the file to look at
    std::int64_t next_offset = 0;   // no batch may begin before it
    std::size_t window = 1U << 20;  // bytes that are read at once
  };
  LogScanner(std::shared_ptr<runtime::File> file, const Options& options);

  // The next thing in the file; nothing at its end.
  runtime::IoResult<std::optional<LogItem>> next();
  // The offset that no batch from here on may begin before.
  [[nodiscard]] std::int64_t next_offset() const { return next_offset_; }
  // Where the thing after that begins.
  [[nodiscard]] std::uint64_t position() const { return next_; }

 private:
  // The bytes from `position` on, `size` of them unless the file ends before.
  runtime::IoResult<std::span<const std::uint8_t>> view(std::uint64_t position, std::size_t size);
  // Whether a header that makes sense begins there: of format v2, or where `legacy` of an older one.
  runtime::IoResult<bool> plausible(std::uint64_t position, bool legacy);
  // Whether the CRC of the v2 batch there, `size` bytes long, is right. Reads a large one piece by piece.
  runtime::IoResult<bool> crc_matches(std::uint64_t position, std::uint64_t size);
  // Where, from `from` on, a sound batch of format v2 begins; the end of the file where none does.
  runtime::IoResult<std::uint64_t> search(std::uint64_t from);
  runtime::IoResult<LogItem> damage(std::string reason);
  runtime::IoResult<LogItem> batch();
  runtime::IoResult<LogItem> message();
  // Steps over the item, and sees whether a sound one is behind those before it.
  LogItem finish(LogItem item, std::int64_t first_offset, std::int64_t last_offset);

  std::shared_ptr<runtime::File> file_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::int64_t next_offset_;
  std::size_t window_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t buffer_position_ = 0;
  std::size_t buffer_size_ = 0;
};

}  // namespace thalweg::inspect
