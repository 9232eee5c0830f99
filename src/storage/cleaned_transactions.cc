#include "storage/cleaned_transactions.h"

#include <utility>

#include "storage/control_record.h"

namespace thalweg::storage {

void CleanedTransactions::begin_up_to(std::int64_t offset) {
  while (!aborted_.empty() && aborted_.front().first_offset <= offset) {
    ongoing_aborted_.try_emplace(aborted_.front().producer_id, Ongoing{.transaction = aborted_.front(), .met = false});
    aborted_ = aborted_.subspan(1);
  }
}

bool CleanedTransactions::on_batch(const protocol::BatchView& batch) {
  begin_up_to(batch.last_offset());
  if (!batch.is_transactional()) return false;
  if (const auto aborted = ongoing_aborted_.find(batch.producer_id()); aborted != ongoing_aborted_.end()) {
    aborted->second.met = true;
    return true;
  }
  ongoing_committed_.insert(batch.producer_id());
  return false;
}

bool CleanedTransactions::on_control_batch(std::span<const std::uint8_t> bytes) {
  const protocol::BatchView batch(bytes.data());
  begin_up_to(batch.last_offset());
  // One without records has been dropped before; what is left of it only keeps offsets or the producer's epoch.
  if (batch.record_count() == 0) return true;
  const auto marker = read_end_transaction_marker(bytes);
  if (!marker) return false;
  if (marker->commit) return ongoing_committed_.erase(batch.producer_id()) == 0;
  const auto ended = ongoing_aborted_.extract(batch.producer_id());
  if (ended.empty() || !ended.mapped().met) return true;
  kept_.push_back(ended.mapped().transaction);
  return false;
}

std::vector<AbortedTransaction> CleanedTransactions::take_kept() { return std::exchange(kept_, {}); }

}  // namespace thalweg::storage
