// PersistentMap: an ordered map whose copies are free and share what they have in common. A change copies the nodes on
// one path of a B+ tree (three of them at 100,000 entries), or none where this map alone holds them.
//
// Different maps that share nodes may be used on different threads; one map, by one thread that writes or many that
// read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace thalweg::metadata {

template <class Key, class Value, class Less = std::less<>>
class PersistentMap {
 public:
  using Entry = std::pair<Key, Value>;

 private:
  static constexpr std::size_t kMost = 32;  // entries of a leaf, children of an inner node

  struct Node;
  class Ref {
   public:
    Ref() = default;
    explicit Ref(Node* node) : node_(node) { node_->references.fetch_add(1, std::memory_order_relaxed); }
    Ref(const Ref& other) : node_(other.node_) {
      if (node_ != nullptr) node_->references.fetch_add(1, std::memory_order_relaxed);
    }
    Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Ref() {
      if (node_ != nullptr && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
    }
    // Acquire: what another holder read before it let go happened before what this one writes now.
    [[nodiscard]] bool unique() const { return node_->references.load(std::memory_order_acquire) == 1; }
    [[nodiscard]] Node* get() const { return node_; }
    Node* operator->() const { return node_; }
    explicit operator bool() const { return node_ != nullptr; }

   private:
    Node* node_ = nullptr;
  };
  struct Child {
    Key first;  // equal to the first key under `node`, and of the same origin: a key that is a view dangles nowhere
    Ref node;
  };
  struct Node {
    std::atomic<std::uint32_t> references{0};
    std::vector<Entry> entries;   // of a leaf
    std::vector<Child> children;  // of an inner node, never empty
    Node() = default;
    // Made only to be changed: with room for one more.
    Node(const Node& other) {
      if (!other.entries.empty()) entries.reserve(other.entries.size() + 1);
      if (!other.children.empty()) children.reserve(other.children.size() + 1);
      entries.insert(entries.end(), other.entries.begin(), other.entries.end());
      children.insert(children.end(), other.children.begin(), other.children.end());
    }
    [[nodiscard]] bool leaf() const { return children.empty(); }
    [[nodiscard]] std::size_t size() const { return leaf() ? entries.size() : children.size(); }
    [[nodiscard]] const Key& first() const { return leaf() ? entries.front().first : children.front().first; }
  };

 public:
  // Goes over the entries in the order of their keys. Valid while the map lives and is not changed.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;
    Iterator() = default;
    const Entry& operator*() const { return path_.back().node->entries[path_.back().index]; }
    const Entry* operator->() const { return &**this; }
    Iterator& operator++() {
      ++path_.back().index;
      settle();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.path_ == b.path_; }

   private:
    friend class PersistentMap;
    struct Step {
      const Node* node;
      std::size_t index;
      friend bool operator==(const Step&, const Step&) = default;
    };
    // Goes up out of nodes that are done, and down to the leaf.
    void settle() {
      while (!path_.empty() && path_.back().index == path_.back().node->size()) {
        path_.pop_back();
        if (!path_.empty()) ++path_.back().index;
      }
      while (!path_.empty() && !path_.back().node->leaf())
        path_.push_back({path_.back().node->children[path_.back().index].node.get(), 0});
    }
    std::vector<Step> path_;
  };

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] Iterator begin() const {
    Iterator at;
    if (root_) at.path_.push_back({root_.get(), 0});
    at.settle();
    return at;
  }
  [[nodiscard]] Iterator end() const { return {}; }

  // The value of `key`, or null. Valid while the map, or a copy from before its next change, lives.
  template <class Like>
  [[nodiscard]] const Value* find(const Like& key) const {
    const Node* node = root_.get();
    if (node == nullptr) return nullptr;
    while (!node->leaf()) node = node->children[child_of(*node, key)].node.get();
    const std::size_t at = position_of(*node, key);
    if (at == node->entries.size() || Less{}(key, node->entries[at].first)) return nullptr;
    return &node->entries[at].second;
  }

  // The first entry whose key is not less than `key`.
  template <class Like>
  [[nodiscard]] Iterator lower_bound(const Like& key) const {
    Iterator at;
    const Node* node = root_.get();
    if (node == nullptr) return at;
    for (; !node->leaf(); node = node->children[at.path_.back().index].node.get())
      at.path_.push_back({node, child_of(*node, key)});
    at.path_.push_back({node, position_of(*node, key)});
    at.settle();
    return at;
  }

  // Puts the entry in; one with an equal key is replaced, key and all.
  void set(Key key, Value value) {
    if (!root_) root_ = Ref(new Node);
    std::optional<Child> sibling = insert(root_, std::move(key), std::move(value));
    if (!sibling) return;
    Ref above(new Node);
    above->children.push_back({root_->first(), std::move(root_)});
    above->children.push_back(std::move(*sibling));
    root_ = std::move(above);
  }

  // Takes the entry out; false where there is none.
  template <class Like>
  bool erase(const Like& key) {
    if (find(key) == nullptr) return false;
    remove(root_, key);
    --size_;
    while (root_ && !root_->leaf() && root_->children.size() == 1) root_ = Ref(root_->children.front().node);
    if (root_->size() == 0) root_ = Ref();
    return true;
  }

 private:
  template <class Like>
  static std::size_t child_of(const Node& node, const Like& key) {
    const auto after = std::upper_bound(node.children.begin() + 1, node.children.end(), key,
                                        [](const Like& k, const Child& child) { return Less{}(k, child.first); });
    return static_cast<std::size_t>(after - node.children.begin()) - 1;
  }
  template <class Like>
  static std::size_t position_of(const Node& leaf, const Like& key) {
    const auto at = std::lower_bound(leaf.entries.begin(), leaf.entries.end(), key,
                                     [](const Entry& entry, const Like& k) { return Less{}(entry.first, k); });
    return static_cast<std::size_t>(at - leaf.entries.begin());
  }
  // The node, made this map's own. A copy counts itself among the holders of the children, so what is shared above is
  // never unique below.
  static Node& own(Ref& ref) {
    if (!ref.unique()) ref = Ref(new Node(*ref.get()));
    return *ref.get();
  }

  // Returns the new right sibling where the node had to be split.
  std::optional<Child> insert(Ref& ref, Key key, Value value) {
    Node& node = own(ref);
    if (node.leaf()) {
      const std::size_t at = position_of(node, key);
      if (at < node.entries.size() && !Less{}(key, node.entries[at].first)) {
        node.entries[at] = Entry(std::move(key), std::move(value));
        return std::nullopt;
      }
      ++size_;
      node.entries.emplace(node.entries.begin() + static_cast<std::ptrdiff_t>(at), std::move(key), std::move(value));
      return split(node.entries, at);
    }
    const std::size_t at = child_of(node, key);
    std::optional<Child> sibling = insert(node.children[at].node, std::move(key), std::move(value));
    node.children[at].first = node.children[at].node->first();
    if (!sibling) return std::nullopt;
    node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(*sibling));
    return split(node.children, at + 1);
  }

  template <class Items>
  static std::optional<Child> split(Items& items, std::size_t changed) {
    if (items.size() <= kMost) return std::nullopt;
    // Keys that only grow leave full nodes behind.
    const std::size_t keep = changed + 1 == items.size() ? items.size() - 1 : items.size() / 2;
    Ref sibling(new Node);
    Items& moved = [&]() -> Items& {
      if constexpr (std::is_same_v<Items, std::vector<Entry>>)
        return sibling->entries;
      else
        return sibling->children;
    }();
    const auto from = items.begin() + static_cast<std::ptrdiff_t>(keep);
    moved.assign(std::make_move_iterator(from), std::make_move_iterator(items.end()));
    items.erase(from, items.end());
    return Child{sibling->first(), std::move(sibling)};
  }

  template <class Like>
  static void remove(Ref& ref, const Like& key) {
    Node& node = own(ref);
    if (node.leaf()) {
      node.entries.erase(node.entries.begin() + static_cast<std::ptrdiff_t>(position_of(node, key)));
      return;
    }
    const std::size_t at = child_of(node, key);
    remove(node.children[at].node, key);
    if (node.children[at].node->size() == 0) {
      // An inner node that loses its last child looks like an empty leaf, which the level above takes out in turn.
      node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
    node.children[at].first = node.children[at].node->first();
    if (at + 1 < node.children.size())
      merge(node, at);
    else if (at > 0)
      merge(node, at - 1);
  }

  // Joins a child with the one behind it where both together fill no more than half a node.
  static void merge(Node& node, std::size_t at) {
    const Ref right = node.children[at + 1].node;
    if (node.children[at].node->size() + right->size() > kMost / 2) return;
    Node& left = own(node.children[at].node);
    left.entries.insert(left.entries.end(), right->entries.begin(), right->entries.end());
    left.children.insert(left.children.end(), right->children.begin(), right->children.end());
    node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }

  Ref root_;
  std::size_t size_ = 0;
};

}  // namespace thalweg::metadata
