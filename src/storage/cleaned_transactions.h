// CleanedTransactions: which transactional batches and markers a compaction may drop, as it walks a log from front to
// back. Records of aborted transactions go at once; a marker may go in a later pass, once no batch of its transaction
// is left for it to decide.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "protocol/batch_view.h"
#include "storage/txn_index.h"

namespace thalweg::storage {

class CleanedTransactions {
 public:
  // `aborted`: the aborted transactions that end at or behind the first batch of the walk, by first offset; it outlives
  // this.
  explicit CleanedTransactions(std::span<const AbortedTransaction> aborted) : aborted_(aborted) {}

  // Notes a batch that is not a control batch. True where it belongs to an aborted transaction.
  bool on_batch(const protocol::BatchView& batch);
  // Notes a control batch, whose bytes are whole. True where the walk has met no batch that it decides.
  bool on_control_batch(std::span<const std::uint8_t> batch);
  // The aborted transactions whose markers were met and must stay, since batches of theirs were met as well. They
  // belong into the transaction index. The caller takes them out.
  std::vector<AbortedTransaction> take_kept();

 private:
  struct Ongoing {
    AbortedTransaction transaction;
    bool met = false;  // a batch of it
  };
  void begin_up_to(std::int64_t offset);

  std::span<const AbortedTransaction> aborted_;                // those that have not begun yet
  std::unordered_map<std::int64_t, Ongoing> ongoing_aborted_;  // by producer id
  std::unordered_set<std::int64_t> ongoing_committed_;         // producer ids
  std::vector<AbortedTransaction> kept_;
};

}  // namespace thalweg::storage
