#include "storage/index_cache.h"

#include "storage/batch_scanner.h"

namespace thalweg::storage {

void IndexCache::forget(std::uint64_t id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  size_bytes_ -= found->second->contents->size();
  entries_.erase(found->second);
  by_id_.erase(found);
}

IndexCache::Contents IndexCache::find(std::uint64_t id, std::uint64_t size) {
  const auto found = by_id_.find(id);
  // An index that has grown since is loaded anew.
  if (found == by_id_.end() || found->second->contents->size() < size) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->contents;
}

ReadOutcome<IndexCache::Contents> IndexCache::read(std::uint64_t id, std::uint64_t size, Blocking blocking,
                                                   std::shared_ptr<runtime::File> file) {
  auto contents = std::make_shared<std::vector<std::uint8_t>>(size);
  TRY(read_exactly(file, 0, *contents, blocking));
  forget(id);
  while (!entries_.empty() && size_bytes_ + size > capacity_bytes_) forget(entries_.back().id);
  entries_.push_front({id, contents});
  by_id_[id] = entries_.begin();
  size_bytes_ += size;
  return contents;
}

}  // namespace thalweg::storage
