#include "runtime/simulated_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>

namespace thalweg::runtime {

namespace simulated {

using Data = std::vector<std::uint8_t>;
using NodePtr = std::shared_ptr<Node>;

// A change of a file that is not durable yet.
struct Change {
  std::uint64_t position = 0;
  Data bytes;
  std::optional<std::uint64_t> truncate;  // then nothing is written
};

// A change of a folder that is not durable yet: `node` stands at `to`, and no longer at `from`.
struct EntryChange {
  std::string from;
  std::string to;
  NodePtr node;
};

using Entries = std::map<std::string, NodePtr, std::less<>>;

struct Node {
  bool is_directory = false;
  // of a file
  Data data{};
  Data durable{};
  std::vector<Change> changes{};
  bool poisoned = false;           // a sync has failed
  std::uint32_t failed_syncs = 0;  // of the whole disk; each open file is told of them once
  bool cold = false;
  // of a folder
  Entries entries{};
  Entries durable_entries{};
  std::vector<EntryChange> entry_changes{};
};

namespace {

void make(Data& data, const Change& change) {
  if (change.truncate) {
    data.resize(*change.truncate);
    return;
  }
  const std::uint64_t end = change.position + change.bytes.size();
  if (data.size() < end) data.resize(end);
  if (!change.bytes.empty()) std::memcpy(data.data() + change.position, change.bytes.data(), change.bytes.size());
}

void make(Entries& entries, const EntryChange& change) {
  if (!change.from.empty()) entries.erase(change.from);
  if (!change.to.empty()) entries[change.to] = change.node;
}

void for_each(Node& node, const std::function<void(Node&)>& visit) {
  visit(node);
  for (auto& [name, child] : node.entries) for_each(*child, visit);
}

// The part of a change that reached the disk: some of its sectors.
std::vector<Change> torn(const Change& change, const std::function<std::uint64_t()>& random) {
  constexpr std::uint64_t kSector = 512;
  std::vector<Change> kept;
  for (std::uint64_t at = 0; at < change.bytes.size();) {
    const std::uint64_t size = std::min(kSector - (change.position + at) % kSector, change.bytes.size() - at);
    if (random() % 2 == 0) {
      const auto* from = change.bytes.data() + at;
      kept.push_back({.position = change.position + at, .bytes = Data(from, from + size), .truncate = std::nullopt});
    }
    at += size;
  }
  return kept;
}

void crash(Node& file, const std::function<std::uint64_t()>& random) {
  Data after = file.durable;
  const std::size_t count = file.changes.size();
  switch (random() % 4) {
    case 0:  // nothing reached the disk
      break;
    case 1:  // everything did
      for (const Change& change : file.changes) make(after, change);
      break;
    case 2:  // up to some point, which is torn
      if (count > 0) {
        const std::size_t last = random() % count;
        for (std::size_t i = 0; i < last; ++i) make(after, file.changes[i]);
        for (const Change& part : torn(file.changes[last], random)) make(after, part);
      }
      break;
    default:  // some of it, in pieces
      for (const Change& change : file.changes) {
        if (change.truncate) {
          if (random() % 2 == 0) make(after, change);
        } else {
          for (const Change& part : torn(change, random)) make(after, part);
        }
      }
  }
  file.data = file.durable = std::move(after);
  file.changes.clear();
  file.poisoned = file.cold = false;
}

void make_durable(Node& node) {
  if (node.is_directory) {
    node.durable_entries = node.entries;
    node.entry_changes.clear();
  } else if (!node.poisoned) {
    node.durable = node.data;
    node.changes.clear();
  }
}

std::unexpected<IoError> error(int number, std::string_view operation, std::string_view path) {
  return std::unexpected(IoError{number, std::string(operation) + ' ' + std::string(path)});
}

}  // namespace

class OpenFile final : public File {
 public:
  OpenFile(SimulatedFileSystem& files, NodePtr node, std::string path)
      : files_(files),
        node_(std::move(node)),
        path_(std::move(path)),
        generation_(files.generation_),
        failures_told_(node_->failed_syncs) {}

  IoResult<void> write_at(std::uint64_t position, std::span<const std::span<const std::uint8_t>> pieces) override {
    Change change{.position = position, .bytes = {}, .truncate = std::nullopt};
    for (const auto piece : pieces) change.bytes.insert(change.bytes.end(), piece.begin(), piece.end());
    const IoResult<void> called = call("write");
    if (!called && generation_ != files_.generation_) return called;
    std::uint64_t kept = change.bytes.size();
    if (!called) kept = files_.random(kept + 1);
    const std::uint64_t end = position + kept;
    const std::uint64_t grows = end > node_->data.size() ? end - node_->data.size() : 0;
    const std::uint64_t room =
        files_.capacity_ ? *files_.capacity_ - std::min(*files_.capacity_, files_.used_) : UINT64_MAX;
    const bool full = grows > room;
    if (full) kept -= std::min(kept, grows - room);
    change.bytes.resize(kept);
    change_by(std::move(change));
    if (!called) return called;
    if (full) return error(ENOSPC, "write", path_);
    return {};
  }

  IoResult<std::size_t> read_at(std::uint64_t position, std::span<std::uint8_t> into) override {
    TRY(call("read"));
    node_->cold = false;
    return copy(position, into);
  }

  IoResult<ssize_t> read_cached_at(std::uint64_t position, std::span<std::uint8_t> into) override {
    if (generation_ != files_.generation_) return error(EIO, "read", path_);
    if (node_->cold && position < node_->data.size() && !into.empty()) return -1;
    return static_cast<ssize_t>(copy(position, into));
  }

  IoResult<std::uint64_t> size() override {
    TRY(call("stat"));
    return node_->data.size();
  }

  IoResult<void> truncate(std::uint64_t size) override {
    TRY(call("truncate"));
    if (size != node_->data.size()) change_by({.position = 0, .bytes = {}, .truncate = size});
    return {};
  }

  IoResult<void> sync() override {
    ++files_.syncs_;
    if (auto called = call("fdatasync"); !called) {
      node_->poisoned = true;
      return called;
    }
    if (std::exchange(failures_told_, node_->failed_syncs) != node_->failed_syncs)
      return error(EIO, "fdatasync", path_);
    if (!files_.syncs_ignored_) make_durable(*node_);
    return {};
  }

  [[nodiscard]] int descriptor() const override { return -1; }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  IoResult<void> call(std::string_view operation) {
    if (generation_ != files_.generation_) return error(EIO, operation, path_);
    return files_.call(operation, path_);
  }
  [[nodiscard]] std::size_t copy(std::uint64_t position, std::span<std::uint8_t> into) const {
    if (position >= node_->data.size()) return 0;
    const std::size_t size = std::min<std::size_t>(into.size(), node_->data.size() - position);
    std::copy_n(node_->data.begin() + static_cast<std::ptrdiff_t>(position), size, into.begin());
    return size;
  }
  void change_by(Change change) {
    const std::uint64_t before = node_->data.size();
    make(node_->data, change);
    files_.used_ += node_->data.size() - before;
    node_->changes.push_back(std::move(change));
  }

  SimulatedFileSystem& files_;
  NodePtr node_;
  std::string path_;
  std::uint64_t generation_;
  std::uint32_t failures_told_;
};

}  // namespace simulated

using simulated::error;
using simulated::for_each;
using simulated::make;
using simulated::make_durable;
using simulated::Node;

SimulatedFileSystem::SimulatedFileSystem(std::uint64_t seed)
    : root_(std::make_shared<Node>(Node{.is_directory = true})), random_state_(seed) {}

SimulatedFileSystem::~SimulatedFileSystem() = default;

std::uint64_t SimulatedFileSystem::random() {
  // splitmix64
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t SimulatedFileSystem::random(std::uint64_t bound) { return random() % bound; }

IoResult<void> SimulatedFileSystem::call(std::string_view operation, std::string_view path) {
  const std::uint64_t number = calls_++;
  if (failure_ && failure_->first == number) {
    const int error_number = failure_->second;
    failure_.reset();
    return error(error_number, operation, path);
  }
  return {};
}

void SimulatedFileSystem::fail_call(std::uint64_t skip, int error_number) { failure_ = {calls_ + skip, error_number}; }

std::uint64_t SimulatedFileSystem::used_bytes() const {
  std::uint64_t used = 0;
  for_each(*root_, [&](Node& node) { used += node.data.size(); });
  return used;
}

void SimulatedFileSystem::crash() {
  ++generation_;
  failure_.reset();
  const auto next = [this] { return random(); };
  const std::function<void(Node&)> visit = [&](Node& node) {
    if (!node.is_directory) {
      simulated::crash(node, next);
      return;
    }
    // A journal keeps the order: changes are lost from some point on.
    const std::size_t kept = random(node.entry_changes.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) make(node.durable_entries, node.entry_changes[i]);
    node.entries = node.durable_entries;
    node.entry_changes.clear();
    for (auto& [name, child] : node.entries) visit(*child);
  };
  visit(*root_);
  used_ = used_bytes();
}

void SimulatedFileSystem::chill() {
  for_each(*root_, [](Node& node) { node.cold = true; });
}

void SimulatedFileSystem::damage(const std::string& path, std::uint64_t position, std::uint8_t mask) {
  const NodePtr node = find(path);
  if (node == nullptr || position >= node->data.size()) return;
  node->data[position] ^= mask;
  if (position < node->durable.size()) node->durable[position] ^= mask;
}

SimulatedFileSystem::NodePtr SimulatedFileSystem::find(std::string_view path) {
  NodePtr node = root_;
  while (!path.empty() && node != nullptr) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (name.empty()) continue;
    const auto found = node->entries.find(name);
    node = found == node->entries.end() ? nullptr : found->second;
  }
  return node;
}

std::pair<SimulatedFileSystem::NodePtr, std::string> SimulatedFileSystem::parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {root_, std::string(path)};
  return {find(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

IoResult<std::shared_ptr<File>> SimulatedFileSystem::open(const std::string& path, OpenMode mode) {
  TRY(call("open", path));
  NodePtr node = find(path);
  if (node == nullptr) {
    const auto [parent, name] = parent_of(path);
    if (mode != OpenMode::create || parent == nullptr || !parent->is_directory) return error(ENOENT, "open", path);
    node = std::make_shared<Node>();
    parent->entry_changes.push_back({.from = "", .to = name, .node = node});
    make(parent->entries, parent->entry_changes.back());
  }
  if (node->is_directory) return error(EISDIR, "open", path);
  return std::make_shared<simulated::OpenFile>(*this, std::move(node), path);
}

IoResult<std::vector<DirectoryEntry>> SimulatedFileSystem::list(const std::string& directory) {
  TRY(call("list", directory));
  const NodePtr node = find(directory);
  if (node == nullptr || !node->is_directory) return error(ENOENT, "list", directory);
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, child] : node->entries)
    entries.push_back({.name = name, .is_directory = child->is_directory, .size = child->data.size()});
  return entries;
}

IoResult<bool> SimulatedFileSystem::exists(const std::string& path) {
  TRY(call("stat", path));
  return find(path) != nullptr;
}

IoResult<void> SimulatedFileSystem::create_directories(const std::string& directory) {
  TRY(call("create folder", directory));
  for (std::size_t end = directory.find('/', 1);; end = directory.find('/', end + 1)) {
    const std::string_view path = std::string_view(directory).substr(0, end);
    if (find(path) == nullptr) {
      const auto [parent, name] = parent_of(path);
      parent->entry_changes.push_back(
          {.from = "", .to = name, .node = std::make_shared<Node>(Node{.is_directory = true})});
      make(parent->entries, parent->entry_changes.back());
    }
    if (end == std::string::npos) return {};
  }
}

IoResult<void> SimulatedFileSystem::rename(const std::string& from, const std::string& to) {
  TRY(call("rename", from));
  const NodePtr node = find(from);
  const auto [source, old_name] = parent_of(from);
  const auto [target, new_name] = parent_of(to);
  if (node == nullptr || target == nullptr) return error(ENOENT, "rename", from);
  if (source == target) {
    source->entry_changes.push_back({.from = old_name, .to = new_name, .node = node});
    make(source->entries, source->entry_changes.back());
  } else {
    target->entry_changes.push_back({.from = "", .to = new_name, .node = node});
    make(target->entries, target->entry_changes.back());
    source->entry_changes.push_back({.from = old_name, .to = "", .node = nullptr});
    make(source->entries, source->entry_changes.back());
  }
  used_ = used_bytes();
  return {};
}

IoResult<void> SimulatedFileSystem::remove(const std::string& path) {
  TRY(call("remove", path));
  const NodePtr node = find(path);
  if (node == nullptr) return {};
  const auto [parent, name] = parent_of(path);
  parent->entry_changes.push_back({.from = name, .to = "", .node = nullptr});
  make(parent->entries, parent->entry_changes.back());
  used_ -= node->data.size();
  return {};
}

IoResult<void> SimulatedFileSystem::remove_all(const std::string& directory) {
  TRY(remove(directory));
  used_ = used_bytes();
  return {};
}

IoResult<void> SimulatedFileSystem::sync_directory(const std::string& directory) {
  TRY(call("fsync", directory));
  const NodePtr node = find(directory);
  if (node == nullptr || !node->is_directory) return error(ENOENT, "fsync", directory);
  if (!syncs_ignored_) make_durable(*node);
  return {};
}

IoResult<void> SimulatedFileSystem::sync_filesystem(const std::string& directory) {
  ++syncs_;
  if (auto called = call("syncfs", directory); !called) {
    for_each(*root_, [](Node& node) {
      if (node.changes.empty()) return;
      node.poisoned = true;
      ++node.failed_syncs;
    });
    return called;
  }
  if (!syncs_ignored_) for_each(*root_, [](Node& node) { make_durable(node); });
  return {};
}

IoResult<DirectoryLock> SimulatedFileSystem::lock(const std::string& directory) {
  TRY(call("lock", directory));
  return DirectoryLock();
}

IoResult<std::uint64_t> SimulatedFileSystem::free_bytes(const std::string&) {
  if (!capacity_) return std::numeric_limits<std::int64_t>::max();
  return *capacity_ - std::min(*capacity_, used_);
}

}  // namespace thalweg::runtime
