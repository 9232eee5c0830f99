#include "base/bytes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/string.h"

namespace thalweg::base {
namespace {

TEST(Bytes, ASliceKeepsItsBlockAlive) {
  Bytes tail;
  {
    const Bytes all = Bytes::copy_of("thalweg");
    tail = all.slice(4);
  }
  EXPECT_EQ(tail.view(), "weg");
  EXPECT_TRUE(tail.slice(9).empty());
}

TEST(Buffer, IsReusableOnceNoSliceLives) {
  const Buffer buffer(16);
  std::memcpy(buffer.data(), "abcd", 4);
  {
    const Bytes slice = buffer.share(1, 2);
    EXPECT_EQ(slice.view(), "bc");
    EXPECT_FALSE(buffer.unshared());
  }
  EXPECT_TRUE(buffer.unshared());
}

TEST(BufferChain, FlattensInOrderAndLeavesEmptySlicesOut) {
  BufferChain chain(Bytes::copy_of("ab"));
  chain.append(Bytes());
  chain.append(BufferChain(Bytes::copy_of("cd")));
  EXPECT_EQ(chain.size(), 4U);
  EXPECT_EQ(chain.segments().size(), 2U);
  EXPECT_EQ(chain.flatten().view(), "abcd");
}

TEST(String, ACopyOwnsAndAMoveKeepsTheAlias) {
  std::string frame = "topic";
  String alias = String::alias(frame);
  const String copy = alias;
  const String moved = std::move(alias);
  frame[0] = 'T';
  EXPECT_EQ(copy, "topic");
  EXPECT_EQ(moved, "Topic");
  EXPECT_TRUE(copy.owns());
  EXPECT_FALSE(moved.owns());
}

}  // namespace
}  // namespace thalweg::base
