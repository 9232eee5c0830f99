#include "storage/txn_index.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "runtime/simulated_file.h"

namespace thalweg::storage {
namespace {

TEST(TxnIndex, EntryMatchesReferenceBytes) {
  const AbortedTransaction transaction{
      .producer_id = 1, .first_offset = 0x0102, .last_offset = 0x0304, .last_stable_offset = 0x0506};
  std::uint8_t bytes[kTxnIndexEntrySize];
  encode_txn_index_entry(transaction, bytes);
  EXPECT_EQ(base::hex_encode(bytes),
            "0000"
            "0000000000000001"
            "0000000000000102"
            "0000000000000304"
            "0000000000000506");
  EXPECT_EQ(decode_txn_index_entry(bytes), transaction);
  bytes[1] = 1;
  EXPECT_FALSE(decode_txn_index_entry(bytes));
}

TEST(TxnIndex, CollectsWhatOverlaps) {
  runtime::SimulatedFileSystem files{1};
  const auto file = *files.open("t", runtime::OpenMode::create);
  // 300 transactions of ten records, markers at 9, 19, 29, …; more than one chunk of reading.
  for (std::int64_t i = 0; i < 300; ++i) {
    std::uint8_t bytes[kTxnIndexEntrySize];
    encode_txn_index_entry(
        {.producer_id = i, .first_offset = i * 10, .last_offset = i * 10 + 9, .last_stable_offset = i * 10 + 10},
        bytes);
    ASSERT_TRUE(file->write_at(static_cast<std::uint64_t>(i) * kTxnIndexEntrySize, std::span<const std::uint8_t>(bytes))
                    .has_value());
  }
  const auto collect = [&](std::int64_t offset, std::int64_t upper) {
    std::vector<AbortedTransaction> found;
    const auto complete = collect_aborted(file, 300, offset, upper, Blocking::allowed, found);
    EXPECT_TRUE(complete.has_value());
    return std::pair(found, complete.value_or(false));
  };
  for (const std::int64_t offset : {0, 5, 9, 10, 11, 1234, 2990, 2999, 3000}) {
    for (const std::int64_t size : {1, 10, 25, 3000}) {
      const auto [found, complete] = collect(offset, offset + size);
      std::vector<AbortedTransaction> expected;
      for (std::int64_t i = 0; i < 300; ++i)
        if (i * 10 + 9 >= offset && i * 10 < offset + size) expected.push_back({i, i * 10, i * 10 + 9, i * 10 + 10});
      EXPECT_EQ(found, expected) << offset << " + " << size;
      EXPECT_EQ(complete, offset + size <= 3000) << offset << " + " << size;
    }
  }
  std::vector<AbortedTransaction> found;
  EXPECT_FALSE(collect_aborted(file, 301, 2995, 9999, Blocking::allowed, found).has_value()) << "the file is too short";
  files.chill();
  const auto cold = collect_aborted(file, 300, 0, 10, Blocking::never, found);
  ASSERT_FALSE(cold.has_value());
  EXPECT_EQ(cold.error().kind, ReadFault::Kind::cold);
}

}  // namespace
}  // namespace thalweg::storage
