// DueQueue: which things have work that comes due, and when, so that a sweep over many looks only at those that may
// have some. A thing is looked at when its time has come, or when it was touched: when something has changed that may
// bring its time forward.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace thalweg::broker {

// A thing's place in a queue; belongs to the thing.
struct DuePlace {
  bool touched = false;
  std::optional<std::pair<std::int64_t, std::uint64_t>> queued;  // time, number
};

template <class Item, DuePlace Item::* kPlace>
class DueQueue {
 public:
  // The item is given by the next take(), whatever its time.
  void touch(const std::shared_ptr<Item>& item) {
    if (std::exchange((item.get()->*kPlace).touched, true)) return;
    touched_.push_back(item);
  }

  // The item is given by the first take() at or after `due_ms`. A time that was set before and is earlier stays: the
  // item is then looked at once more than it need be, which is cheaper than to move it with every touch.
  void set(const std::shared_ptr<Item>& item, std::int64_t due_ms) {
    DuePlace& place = item.get()->*kPlace;
    if (place.queued) {
      if (place.queued->first <= due_ms) return;
      queue_.erase(*place.queued);
    }
    place.queued = {due_ms, next_number_++};
    queue_.emplace(*place.queued, item);
  }

  // What was touched and what is due at `now_ms`, each once; the queue forgets them. Items that are gone are left out.
  std::vector<std::shared_ptr<Item>> take(std::int64_t now_ms) {
    std::vector<std::shared_ptr<Item>> taken;
    while (!queue_.empty() && queue_.begin()->first.first <= now_ms) {
      if (auto item = queue_.begin()->second.lock()) {
        DuePlace& place = item.get()->*kPlace;
        place.queued.reset();
        if (!place.touched) taken.push_back(std::move(item));
      }
      queue_.erase(queue_.begin());
    }
    for (const std::weak_ptr<Item>& touched : std::exchange(touched_, {})) {
      auto item = touched.lock();
      if (!item) continue;
      (item.get()->*kPlace).touched = false;
      taken.push_back(std::move(item));
    }
    return taken;
  }

  // Items with a time, those that are gone included.
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }

 private:
  std::map<std::pair<std::int64_t, std::uint64_t>, std::weak_ptr<Item>> queue_;
  std::vector<std::weak_ptr<Item>> touched_;
  std::uint64_t next_number_ = 0;
};

}  // namespace thalweg::broker
