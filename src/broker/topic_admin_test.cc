#include "broker/topic_admin.h"

#include <gtest/gtest.h>

namespace thalweg::broker {
namespace {

TEST(TopicName, TakesWhatKafkaTakes) {
  for (const std::string& name :
       {std::string("a"), std::string("..."), std::string("A-b_c.9"), std::string(249, 'x'), std::string("__mine")})
    EXPECT_FALSE(topic_name_fault(name)) << name;
}

TEST(TopicName, RefusesWhatKafkaRefuses) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a b"), std::string("a:b"),
        std::string("\u00e9"), std::string("a\nb"), std::string("a\0b", 3), std::string(250, 'x')})
    EXPECT_TRUE(topic_name_fault(name)) << name;
}

TEST(TopicName, KafkasOwnTopicsAreInternal) {
  EXPECT_TRUE(is_internal_topic("__consumer_offsets"));
  EXPECT_TRUE(is_internal_topic("__transaction_state"));
  EXPECT_FALSE(is_internal_topic("__consumer_offsets_not"));
  EXPECT_FALSE(is_internal_topic("__mine"));
}

}  // namespace
}  // namespace thalweg::broker
