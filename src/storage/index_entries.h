// IndexEntries: the entries of one index file. Those that are in the file stay there and are loaded through the
// IndexCache when a lookup wants them; new ones wait in memory until they are written, a few hundred at a time.
//
// Entry is a small struct with kSize (bytes in the file), encode(uint8_t*) and decode(const uint8_t*).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/log_context.h"

namespace thalweg::storage {

template <class Entry>
class IndexEntries {
 public:
  // Beyond this many, waiting entries are written to the file.
  static constexpr std::size_t kMostWaiting = 512;

  [[nodiscard]] std::uint32_t count() const { return in_file_ + static_cast<std::uint32_t>(waiting_.size()); }
  [[nodiscard]] bool empty() const { return count() == 0; }
  // The last entry; the index must not be empty.
  [[nodiscard]] const Entry& last() const { return last_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  void push_back(const Entry& entry) {
    waiting_.push_back(entry);
    last_ = entry;
  }
  // What a listing and a look at its end have told about the file.
  void set_file(std::uint32_t entries, const Entry& last) {
    in_file_ = entries;
    last_ = last;
  }

  // Writes the waiting entries behind those in the file and gives their memory back. After an error they still wait,
  // and the next call writes over what this one may have left.
  runtime::IoResult<void> write(runtime::FileSystem& files, const std::string& path) {
    if (waiting_.empty() && in_file_ > 0) return {};
    ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file, files.open(path, runtime::OpenMode::create));
    if (in_file_ == 0) TRY(file->truncate(0));
    if (waiting_.empty()) return {};
    std::vector<std::uint8_t> bytes(waiting_.size() * Entry::kSize);
    for (std::size_t i = 0; i < waiting_.size(); ++i) waiting_[i].encode(bytes.data() + i * Entry::kSize);
    TRY(file->write_at(std::uint64_t{in_file_} * Entry::kSize, bytes));
    in_file_ += static_cast<std::uint32_t>(waiting_.size());
    waiting_ = {};
    return {};
  }

  // How many entries, from the first on, `holds` is true for; it must be false for all entries after one it is false
  // for. `path` makes the file's path.
  template <class Holds>
  ReadOutcome<std::uint32_t> count_where(LogContext& context, Blocking blocking, const Holds& holds, const auto& path) {
    if (empty()) return 0;
    if (holds(last_)) return count();
    if (!waiting_.empty() && holds(waiting_.front()))
      return in_file_ + first_where_not(waiting_.size(), [&](std::size_t i) { return holds(waiting_[i]); });
    if (in_file_ == 0) return 0;
    ASSIGN_OR_RETURN(const IndexCache::Contents contents, load(context, blocking, path));
    const std::uint8_t* bytes = contents->data();
    return first_where_not(in_file_, [&](std::size_t i) { return holds(Entry::decode(bytes + i * Entry::kSize)); });
  }
  // The n-th entry, counted from 0.
  ReadOutcome<Entry> at(std::uint32_t n, LogContext& context, Blocking blocking, const auto& path) {
    if (n + 1 == count()) return last_;
    if (n >= in_file_) return waiting_[n - in_file_];
    ASSIGN_OR_RETURN(const IndexCache::Contents contents, load(context, blocking, path));
    return Entry::decode(contents->data() + std::size_t{n} * Entry::kSize);
  }

  // Drops every entry; those in the file go with the next write().
  void clear(LogContext& context) {
    forget_loaded(context);
    waiting_ = {};
    in_file_ = 0;
    last_ = {};
  }
  // Drops what the cache has loaded of the file.
  void forget_loaded(LogContext& context) {
    if (cache_id_ != 0) context.indexes.forget(cache_id_);
    cache_id_ = 0;
  }

 private:
  ReadOutcome<IndexCache::Contents> load(LogContext& context, Blocking blocking, const auto& path) {
    if (cache_id_ == 0) cache_id_ = context.indexes.new_id();
    const auto open = [&] { return context.files.open(path(), runtime::OpenMode::read); };
    return context.indexes.load(cache_id_, std::uint64_t{in_file_} * Entry::kSize, blocking, open);
  }

  // The first i in [0, count] for which `holds(i)` is false.
  template <class Holds>
  static std::uint32_t first_where_not(std::size_t count, const Holds& holds) {
    std::size_t low = 0;
    for (std::size_t high = count; low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (holds(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return static_cast<std::uint32_t>(low);
  }

  std::vector<Entry> waiting_;
  Entry last_{};
  std::uint32_t in_file_ = 0;
  std::uint64_t cache_id_ = 0;
};

}  // namespace thalweg::storage
