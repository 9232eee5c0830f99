// IndexCache: the index files that lookups in older parts of the logs have loaded, the least recently used ones dropped
// beyond a number of bytes. One per core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "storage/read_fault.h"

namespace thalweg::storage {

class IndexCache {
 public:
  using Contents = std::shared_ptr<const std::vector<std::uint8_t>>;

  // `capacity_bytes`: what all loaded files together may take; one larger than that is still loaded, alone.
  explicit IndexCache(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // An id that no other index file has; its owner passes it to the calls below.
  std::uint64_t new_id() { return ++last_id_; }
  // The first `size` bytes of the index file, from memory or, with `open`, from the file. `open` is called only where
  // the file must be read: () -> IoResult<std::shared_ptr<File>>.
  template <class Open>
  ReadOutcome<Contents> load(std::uint64_t id, std::uint64_t size, Blocking blocking, Open&& open) {
    if (Contents found = find(id, size)) return found;
    auto file = open();
    if (!file) return std::unexpected(ReadFault::of(std::move(file).error()));
    return read(id, size, blocking, std::move(*file));
  }
  // Drops what is loaded of the file, because it was cut or removed.
  void forget(std::uint64_t id);

  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  struct Entry {
    std::uint64_t id;
    Contents contents;
  };
  Contents find(std::uint64_t id, std::uint64_t size);
  ReadOutcome<Contents> read(std::uint64_t id, std::uint64_t size, Blocking blocking,
                             std::shared_ptr<runtime::File> file);

  std::size_t capacity_bytes_;
  std::size_t size_bytes_ = 0;
  std::uint64_t last_id_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_id_;
};

}  // namespace thalweg::storage
