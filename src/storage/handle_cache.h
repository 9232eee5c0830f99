// HandleCache: keeps the most recently used files of one core open, so that many thousand partitions share a bounded
// number of descriptors. A file that a response still sends stays open through its shared_ptr.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/file.h"

namespace thalweg::storage {

class HandleCache;

// The place of one file in the cache, held by what the file belongs to (a segment). Empty until the file is used.
class CachedFile {
 public:
  CachedFile() = default;
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;
  ~CachedFile() { close(); }

  // Gives the descriptor up, unless someone else still holds the file.
  void close();
  [[nodiscard]] bool is_open() const { return file_ != nullptr; }

 private:
  friend class HandleCache;
  std::shared_ptr<runtime::File> file_;
  HandleCache* cache_ = nullptr;
  CachedFile* newer_ = nullptr;
  CachedFile* older_ = nullptr;
};

class HandleCache {
 public:
  // `capacity`: files that may be open at once, at least one.
  HandleCache(runtime::FileSystem& files, std::size_t capacity);
  HandleCache(const HandleCache&) = delete;
  HandleCache& operator=(const HandleCache&) = delete;
  // Every CachedFile is closed first.
  ~HandleCache();

  // The file of `place`, opened with `path` where it is not open, as the most recently used one. Closes the least
  // recently used one where there are too many.
  runtime::IoResult<std::shared_ptr<runtime::File>> open(CachedFile& place, const std::string& path,
                                                         runtime::OpenMode mode = runtime::OpenMode::create);
  // The file where it is open, without a path being made; nullptr otherwise. Counts as a use.
  std::shared_ptr<runtime::File> find(CachedFile& place);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  friend class CachedFile;
  void link_newest(CachedFile& place);
  void unlink(CachedFile& place);

  runtime::FileSystem& files_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  CachedFile* newest_ = nullptr;
  CachedFile* oldest_ = nullptr;
};

}  // namespace thalweg::storage
