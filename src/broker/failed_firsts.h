// FailedFirsts: what producers that a log does not know have begun with, where that could not be stored.
//
// A log lets a producer that it does not know begin with any sequence, as Kafka does: its records may have been
// deleted. Clients have several batches under way, so where the first one fails (a disk that is full, a log that cannot
// be opened right now) and the one behind it does not, the second would be taken for the beginning, and the first could
// never follow. It is refused instead, until the first one comes again. For one partition, on its core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "protocol/batch_view.h"

namespace thalweg::broker {

class FailedFirsts {
 public:
  // A batch of a producer that the log does not know was not stored.
  void note(const protocol::BatchView& batch) {
    constexpr std::size_t kMost = 1000;
    if (!batch.has_producer_id() || batch.is_control()) return;
    if (known_ == nullptr) known_ = std::make_unique<Table>();
    if (known_->size() >= kMost) return;
    const First first{.epoch = batch.producer_epoch(), .sequence = batch.base_sequence()};
    const auto [at, is_new] = known_->try_emplace(batch.producer_id(), first);
    if (!is_new && at->second.epoch < first.epoch) at->second = first;
  }
  // Whether the batch would go before the one that has failed.
  [[nodiscard]] bool overtakes(const protocol::BatchView& batch) const {
    if (known_ == nullptr) return false;
    const auto found = known_->find(batch.producer_id());
    return found != known_->end() && found->second.epoch == batch.producer_epoch() &&
           found->second.sequence != batch.base_sequence();
  }
  // A batch of the producer was stored.
  void forget(std::int64_t producer_id) {
    if (known_ == nullptr) return;
    known_->erase(producer_id);
    if (known_->empty()) known_ = nullptr;
  }

 private:
  struct First {
    std::int16_t epoch;
    std::int32_t sequence;
  };
  using Table = std::unordered_map<std::int64_t, First>;
  std::unique_ptr<Table> known_;  // by producer id; null while there is none
};

}  // namespace thalweg::broker
