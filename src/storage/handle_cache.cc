#include "storage/handle_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace thalweg::storage {

void CachedFile::close() {
  if (cache_ != nullptr) cache_->unlink(*this);
  file_ = nullptr;
}

HandleCache::HandleCache(runtime::FileSystem& files, std::size_t capacity)
    : files_(files), capacity_(std::max<std::size_t>(capacity, 1)) {}

HandleCache::~HandleCache() { CHECK(size_ == 0, "the logs are closed before their cache"); }

runtime::IoResult<std::shared_ptr<runtime::File>> HandleCache::open(CachedFile& place, const std::string& path,
                                                                    runtime::OpenMode mode) {
  if (auto found = find(place)) return found;
  ASSIGN_OR_RETURN(place.file_, files_.open(path, mode));
  if (size_ >= capacity_) oldest_->close();
  link_newest(place);
  return place.file_;
}

std::shared_ptr<runtime::File> HandleCache::find(CachedFile& place) {
  if (place.file_ != nullptr && newest_ != &place) {
    unlink(place);
    link_newest(place);
  }
  return place.file_;
}

void HandleCache::link_newest(CachedFile& place) {
  place.cache_ = this;
  place.newer_ = nullptr;
  place.older_ = newest_;
  (newest_ != nullptr ? newest_->newer_ : oldest_) = &place;
  newest_ = &place;
  ++size_;
}

void HandleCache::unlink(CachedFile& place) {
  (place.newer_ != nullptr ? place.newer_->older_ : newest_) = place.older_;
  (place.older_ != nullptr ? place.older_->newer_ : oldest_) = place.newer_;
  place.newer_ = place.older_ = nullptr;
  place.cache_ = nullptr;
  --size_;
}

}  // namespace thalweg::storage
