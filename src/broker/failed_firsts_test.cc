#include "broker/failed_firsts.h"

#include <gtest/gtest.h>

#include "protocol/record_batch_builder.h"

namespace thalweg::broker {
namespace {

base::Bytes batch(std::int64_t producer_id, std::int32_t sequence, std::int16_t epoch = 0) {
  protocol::BatchOptions options;
  options.producer_id = producer_id;
  options.producer_epoch = epoch;
  options.base_sequence = sequence;
  protocol::RecordBatchBuilder builder(options);
  builder.append(protocol::RecordInput{});
  return builder.build();
}

protocol::BatchView view(const base::Bytes& bytes) { return protocol::BatchView(bytes.data()); }

TEST(FailedFirsts, NothingGoesBeforeABatchThatFailed) {
  FailedFirsts firsts;
  const auto first = batch(7, 0);
  const auto second = batch(7, 1);
  const auto of_another = batch(8, 5);
  EXPECT_FALSE(firsts.overtakes(view(second)));
  firsts.note(view(first));
  firsts.note(view(second));
  EXPECT_TRUE(firsts.overtakes(view(second)));
  EXPECT_FALSE(firsts.overtakes(view(first))) << "it is what is waited for";
  EXPECT_FALSE(firsts.overtakes(view(of_another)));
  firsts.forget(7);
  EXPECT_FALSE(firsts.overtakes(view(second)));
}

TEST(FailedFirsts, ANewEpochBeginsAnew) {
  FailedFirsts firsts;
  const auto old = batch(7, 4);
  const auto next = batch(7, 0, 1);
  const auto behind = batch(7, 1, 1);
  firsts.note(view(old));
  EXPECT_FALSE(firsts.overtakes(view(next)));
  firsts.note(view(next));
  EXPECT_TRUE(firsts.overtakes(view(behind)));
}

TEST(FailedFirsts, BatchesWithoutAProducerAreNoneOfIts) {
  FailedFirsts firsts;
  const auto plain = protocol::RecordBatchBuilder({}).build();
  firsts.note(view(plain));
  EXPECT_FALSE(firsts.overtakes(view(plain)));
}

}  // namespace
}  // namespace thalweg::broker
