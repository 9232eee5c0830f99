#include "storage/producer_append.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/text.h"
#include "storage/control_record.h"
#include "storage/producer_snapshot.h"
#include "storage/test_batch.h"

namespace thalweg::storage {
namespace {

using protocol::ErrorCode;
using test::make_batch;
using test::make_marker;

constexpr std::int32_t kMaxSequence = std::numeric_limits<std::int32_t>::max();

class ProducerAppendTest : public testing::Test {
 protected:
  ErrorCode add(std::vector<std::uint8_t> batch, AppendOptions options = {}) {
    protocol::patch_base_offset(batch.data(), next_offset_);
    if (options.origin == AppendOrigin::client && state_.find_duplicate(protocol::BatchView(batch.data())))
      return ErrorCode::duplicate_sequence_number;
    ProducerAppend append(state_, options);
    const auto checked = append.add(batch);
    if (!checked) return checked.error().code;
    for (const auto& aborted : append.aborted()) aborted_.push_back(aborted);
    append.commit(state_);
    next_offset_ = protocol::BatchView(batch.data()).next_offset();
    return ErrorCode::none;
  }
  ErrorCode data(std::int32_t sequence, std::int16_t epoch = 0, std::int32_t records = 1, AppendOptions options = {}) {
    return add(make_batch({.records = records, .producer_id = 1, .producer_epoch = epoch, .base_sequence = sequence}),
               options);
  }
  ErrorCode transactional(std::int32_t sequence, std::int64_t producer = 1) {
    return add(
        make_batch({.producer_id = producer, .producer_epoch = 0, .base_sequence = sequence, .transactional = true}));
  }
  ErrorCode marker(std::int16_t epoch, bool commit, std::int32_t coordinator_epoch = 0,
                   std::int16_t transaction_version = 0, std::int64_t producer = 1) {
    return add(make_marker(producer, epoch, commit, coordinator_epoch),
               {.origin = AppendOrigin::coordinator, .transaction_version = transaction_version});
  }

  ProducerState state_;
  std::vector<AbortedTransaction> aborted_;
  std::int64_t next_offset_ = 100;
};

TEST_F(ProducerAppendTest, SequencesFollowOneAnother) {
  EXPECT_EQ(data(0, 0, 3), ErrorCode::none);
  EXPECT_EQ(data(4), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(data(2), ErrorCode::out_of_order_sequence_number) << "not a whole batch of before";
  EXPECT_EQ(data(0, 0, 3), ErrorCode::duplicate_sequence_number);
  EXPECT_EQ(data(3), ErrorCode::none);
}

TEST_F(ProducerAppendTest, SequencesWrap) {
  EXPECT_EQ(data(kMaxSequence - 1, 0, 4), ErrorCode::none) << "an unknown producer may begin anywhere";
  EXPECT_EQ(state_.find(1)->last_sequence(), 1);
  EXPECT_EQ(state_.find(1)->batches[0].first_sequence(), kMaxSequence - 1);
  EXPECT_EQ(data(kMaxSequence - 1, 0, 4), ErrorCode::duplicate_sequence_number);
  EXPECT_EQ(data(2), ErrorCode::none);
  state_.clear();
  EXPECT_EQ(data(kMaxSequence, 0, 1), ErrorCode::none);
  EXPECT_EQ(data(1), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(data(0), ErrorCode::none);
}

TEST_F(ProducerAppendTest, NewEpochsBeginAtZero) {
  EXPECT_EQ(data(0, 3), ErrorCode::none);
  EXPECT_EQ(data(1, 2), ErrorCode::invalid_producer_epoch);
  EXPECT_EQ(data(1, 4), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(data(0, 4), ErrorCode::none);
  EXPECT_EQ(data(0, 3), ErrorCode::invalid_producer_epoch);
  EXPECT_EQ(state_.find(1)->batch_count, 1) << "batches of the old epoch are forgotten";
}

TEST_F(ProducerAppendTest, RemembersFiveBatches) {
  for (std::int32_t i = 0; i < 7; ++i) EXPECT_EQ(data(i), ErrorCode::none);
  for (std::int32_t i = 0; i < 2; ++i) EXPECT_EQ(data(i), ErrorCode::out_of_order_sequence_number);
  for (std::int32_t i = 2; i < 7; ++i) {
    EXPECT_EQ(data(i), ErrorCode::duplicate_sequence_number);
    const auto batch = make_batch({.producer_id = 1, .producer_epoch = 0, .base_sequence = i});
    EXPECT_EQ(state_.find_duplicate(protocol::BatchView(batch.data()))->first_offset(), 100 + i);
  }
}

TEST_F(ProducerAppendTest, BatchesOfOneAppendAreCheckedTogether) {
  ProducerAppend append(state_, AppendOptions{});
  EXPECT_TRUE(append.add(make_batch({.producer_id = 1, .producer_epoch = 0, .base_sequence = 0, .base_offset = 1}))
                  .has_value());
  EXPECT_TRUE(append.add(make_batch({.producer_id = 2, .producer_epoch = 0, .base_sequence = 0, .base_offset = 2}))
                  .has_value());
  EXPECT_TRUE(append.add(make_batch({.producer_id = 1, .producer_epoch = 0, .base_sequence = 1, .base_offset = 3}))
                  .has_value());
  EXPECT_EQ(state_.size(), 0U) << "nothing before the commit";
  append.commit(state_);
  EXPECT_EQ(state_.find(1)->last_sequence(), 1);
  EXPECT_EQ(state_.find(2)->last_sequence(), 0);
}

TEST_F(ProducerAppendTest, ReplicationIsNotRefused) {
  EXPECT_EQ(data(0, 3), ErrorCode::none);
  EXPECT_EQ(data(7, 2, 1, {.origin = AppendOrigin::replication}), ErrorCode::none);
  EXPECT_EQ(state_.find(1)->epoch, 2);
}

TEST_F(ProducerAppendTest, VerifiedTransactionsBeginAtTheLowestSequence) {
  const AppendOptions verified{.verification =
                                   TransactionVerification{.lowest_sequence = 3, .supports_epoch_bump = false}};
  EXPECT_EQ(data(5, 0, 1, verified), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(data(3, 0, 1, verified), ErrorCode::none);
  state_.clear();
  const AppendOptions bumped{.verification = TransactionVerification{.supports_epoch_bump = true}};
  EXPECT_EQ(data(3, 0, 1, bumped), ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(data(0, 0, 1, bumped), ErrorCode::none);
}

TEST_F(ProducerAppendTest, TransactionsOpenAndEnd) {
  EXPECT_EQ(transactional(0), ErrorCode::none);     // 100
  EXPECT_EQ(transactional(0, 2), ErrorCode::none);  // 101
  EXPECT_EQ(transactional(1), ErrorCode::none);     // 102
  EXPECT_EQ(state_.first_undecided_offset(), 100);
  EXPECT_TRUE(state_.has_open_transaction(1, 0));
  EXPECT_FALSE(state_.has_open_transaction(1, 1));
  EXPECT_EQ(data(2), ErrorCode::invalid_txn_state) << "not transactional while a transaction is open";
  EXPECT_EQ(marker(0, false), ErrorCode::none);  // 103
  EXPECT_EQ(aborted_, (std::vector<AbortedTransaction>{{1, 100, 103, 101}}));
  EXPECT_EQ(state_.first_undecided_offset(), 101);
  EXPECT_EQ(state_.first_unstable_offset(), 100);
  state_.on_high_watermark(103);
  EXPECT_EQ(state_.first_unstable_offset(), 100) << "the marker is at 103";
  state_.on_high_watermark(104);
  EXPECT_EQ(state_.first_unstable_offset(), 101);
  EXPECT_EQ(marker(0, true, 0, 0, 2), ErrorCode::none);
  EXPECT_EQ(aborted_.size(), 1U);
  EXPECT_FALSE(state_.first_undecided_offset());
  EXPECT_EQ(data(2), ErrorCode::none) << "the sequence goes on behind the marker";
  EXPECT_EQ(marker(0, false), ErrorCode::none) << "without a transaction it changes nothing";
  EXPECT_EQ(aborted_.size(), 1U);
}

TEST_F(ProducerAppendTest, MarkersAreFenced) {
  EXPECT_EQ(transactional(0), ErrorCode::none);
  EXPECT_EQ(marker(0, true, 5), ErrorCode::none);
  EXPECT_EQ(marker(0, true, 4), ErrorCode::transaction_coordinator_fenced);
  EXPECT_EQ(marker(1, true, 5), ErrorCode::none);
  EXPECT_EQ(marker(0, true, 5), ErrorCode::invalid_producer_epoch);
}

TEST_F(ProducerAppendTest, Version2MarkersRaiseTheEpoch) {
  EXPECT_EQ(transactional(0), ErrorCode::none);
  EXPECT_EQ(marker(0, true, 0, 2), ErrorCode::invalid_producer_epoch) << "the transaction is open at this epoch";
  EXPECT_EQ(marker(1, true, 0, 2), ErrorCode::none);
  EXPECT_EQ(marker(1, true, 0, 2), ErrorCode::none) << "a repetition";
  EXPECT_EQ(marker(0, true, 0, 2), ErrorCode::invalid_producer_epoch);
}

TEST_F(ProducerAppendTest, SilentProducersExpireUnlessATransactionIsOpen) {
  EXPECT_EQ(data(0), ErrorCode::none);
  EXPECT_EQ(transactional(0, 2), ErrorCode::none);
  state_.expire(1'700'000'000'000 + 999, 1000);
  EXPECT_EQ(state_.size(), 2U);
  state_.expire(1'700'000'000'000 + 1000, 1000);
  EXPECT_EQ(state_.size(), 1U);
  EXPECT_NE(state_.find(2), nullptr);
  EXPECT_EQ(state_.oldest_open_transaction_timestamp(), 1'700'000'000'000);
}

TEST_F(ProducerAppendTest, SnapshotsKeepTheLastBatch) {
  EXPECT_EQ(data(0), ErrorCode::none);
  EXPECT_EQ(data(1, 0, 3), ErrorCode::none);
  EXPECT_EQ(transactional(0, 2), ErrorCode::none);
  EXPECT_EQ(transactional(0, 3), ErrorCode::none);
  EXPECT_EQ(marker(1, false, 9, 2, 3), ErrorCode::none);
  const auto bytes = encode_producer_snapshot(state_);
  EXPECT_EQ(bytes.size(), 10U + 3 * 46U);
  const auto entries = decode_producer_snapshot(bytes);
  ASSERT_TRUE(entries);
  ProducerState loaded;
  for (const ProducerEntry& entry : *entries) loaded.load(entry);
  EXPECT_EQ(loaded.find(1)->batch_count, 1);
  EXPECT_EQ(loaded.find(1)->last_sequence(), 3);
  EXPECT_EQ(loaded.find(1)->batches[0].first_offset(), 101);
  EXPECT_EQ(loaded.first_undecided_offset(), 104);
  EXPECT_EQ(loaded.find(3)->coordinator_epoch, 9);
  EXPECT_FALSE(loaded.find(3)->has_batches());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(decode_producer_snapshot(std::span(bytes).first(n))) << "prefix of " << n;
    auto damaged = bytes;
    damaged[n] ^= 0x10;
    EXPECT_FALSE(decode_producer_snapshot(damaged)) << "byte " << n;
  }
}

TEST(ProducerSnapshot, MatchesKafkasBytes) {
  // Written by Kafka 4.4 for one idempotent producer.
  const auto bytes = base::hex_decode(
      "0001933baef10000000100000000000000000000000000040000000000000004"
      "00000004000001a22dab15b0ffffffffffffffffffffffff");
  ASSERT_TRUE(bytes);
  const auto entries = decode_producer_snapshot(*bytes);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1U);
  ProducerState state;
  state.load(entries->front());
  EXPECT_EQ(encode_producer_snapshot(state), *bytes);
  const ProducerEntry& entry = entries->front();
  EXPECT_EQ(entry.producer_id, 0);
  EXPECT_EQ(entry.epoch, 0);
  EXPECT_EQ(entry.last_sequence(), 4);
  EXPECT_EQ(entry.batches[0].first_offset(), 0);
  EXPECT_EQ(entry.coordinator_epoch, -1);
  EXPECT_EQ(entry.current_txn_first_offset, -1);
}

TEST(ControlRecord, EveryTruncationIsRefused) {
  const auto marker = make_marker(1, 0, true, 7, 1234);
  const auto read = read_end_transaction_marker(marker);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->commit);
  EXPECT_EQ(read->coordinator_epoch, 7);
  EXPECT_EQ(read->timestamp, 1234);
  EXPECT_FALSE(read_end_transaction_marker(make_marker(1, 0, false))->commit);
  for (std::size_t n = 0; n < marker.size(); ++n)
    EXPECT_FALSE(read_end_transaction_marker(std::span(marker).first(n))) << "prefix of " << n;
}

}  // namespace
}  // namespace thalweg::storage
