#include "metadata/persistent_map.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::metadata {
namespace {

using Map = PersistentMap<int, int>;

void expect_same(const Map& map, const std::map<int, int>& model) {
  ASSERT_EQ(map.size(), model.size());
  auto expected = model.begin();
  for (const auto& [key, value] : map) {
    ASSERT_EQ(key, expected->first);
    ASSERT_EQ(value, expected->second);
    ++expected;
  }
  ASSERT_EQ(expected, model.end());
}

TEST(PersistentMap, IsTheStandardMapAndItsCopiesStayAsTheyWere) {
  for (const int keys : {40, 3000}) {
    std::mt19937 random(1);
    Map map;
    std::map<int, int> model;
    std::vector<std::pair<Map, std::map<int, int>>> kept;
    for (int step = 0; step < 20'000; ++step) {
      const int key = static_cast<int>(random() % static_cast<unsigned>(keys));
      // Grows and shrinks in turns, so that nodes split and join.
      if (random() % 100 < (step / 4000 % 2 == 0 ? 70U : 25U)) {
        map.set(key, step);
        model[key] = step;
      } else {
        EXPECT_EQ(map.erase(key), model.erase(key) == 1);
      }
      if (step % 1000 == 0) kept.emplace_back(map, model);
      const int* const found = map.find(key + 1);
      ASSERT_EQ(found != nullptr, model.contains(key + 1));
      if (found != nullptr) ASSERT_EQ(*found, model[key + 1]);
    }
    expect_same(map, model);
    for (const auto& [map_then, model_then] : kept) expect_same(map_then, model_then);
    while (!model.empty()) {
      map.erase(model.begin()->first);
      model.erase(model.begin());
    }
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.begin(), map.end());
  }
}

TEST(PersistentMap, LowerBoundFindsTheFirstKeyThatIsNotLess) {
  Map map;
  for (int key = 0; key < 1000; key += 10) map.set(key, key);
  for (int key = -5; key < 1010; ++key) {
    const auto at = map.lower_bound(key);
    if (key > 990)
      EXPECT_EQ(at, map.end());
    else
      EXPECT_EQ(at->first, key <= 0 ? 0 : (key + 9) / 10 * 10);
  }
}

TEST(PersistentMap, KeysMayBeViewsOfTheValuesTheyLeadTo) {
  PersistentMap<std::string_view, std::shared_ptr<const std::string>> map;
  const auto put = [&map](const std::string& text) {
    auto value = std::make_shared<const std::string>(text);
    map.set(*value, value);
  };
  // Every key is replaced by an equal one of another string, then every second one goes: no node may keep a view of a
  // string that went with its entry.
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 2000; ++i) put("a topic whose name is not short " + std::to_string(i));
  for (int i = 0; i < 2000; i += 2) map.erase(std::string_view("a topic whose name is not short " + std::to_string(i)));
  EXPECT_EQ(map.size(), 1000U);
  for (int i = 0; i < 2000; ++i)
    EXPECT_EQ(map.find(std::string_view("a topic whose name is not short " + std::to_string(i))) != nullptr,
              i % 2 == 1);
}

struct Counted {
  static inline int copies = 0;
  Counted() = default;
  Counted(const Counted& /*other*/) { ++copies; }
  Counted& operator=(const Counted&) = default;
  Counted(Counted&&) = default;
  Counted& operator=(Counted&&) = default;
};

TEST(PersistentMap, AChangeOfASharedMapCopiesOnePathAndOfAnUnsharedOneNothing) {
  PersistentMap<int, Counted> map;
  for (int i = 0; i < 100'000; ++i) map.set(i, Counted());
  EXPECT_EQ(Counted::copies, 0);
  auto copy = map;
  EXPECT_EQ(Counted::copies, 0);
  copy.set(50'000, Counted());
  EXPECT_LE(Counted::copies, 33);
}

}  // namespace
}  // namespace thalweg::metadata
