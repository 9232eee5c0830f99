#include "broker/config_admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::broker {
namespace {

using config::Overrides;
using protocol::ErrorCode;
using records::ResourceType;
using testing::ElementsAre;
using testing::Pair;

ConfigChange change(std::string name, ConfigOperation operation, std::optional<std::string> value) {
  return {.name = std::move(name), .operation = operation, .value = std::move(value)};
}

protocol::Result<Overrides> apply(const Overrides& before, std::vector<ConfigChange> changes) {
  TRY(check_changes(changes));
  return apply_changes(config::topic_table(), before, changes);
}

ErrorCode error_of(const protocol::Result<Overrides>& result) { return result ? ErrorCode::none : result.error().code; }

TEST(ApplyChanges, SetsDeletesAppendsAndSubtracts) {
  const Overrides before = {{"retention.ms", "5"}, {"segment.ms", "6"}, {"cleanup.policy", "compact"}};
  const auto after = apply(before, {change("retention.ms", ConfigOperation::set, "7"),
                                    change("segment.ms", ConfigOperation::delete_, std::nullopt),
                                    change("cleanup.policy", ConfigOperation::append, "delete")});
  ASSERT_TRUE(after);
  EXPECT_THAT(*after, ElementsAre(Pair("cleanup.policy", "compact,delete"), Pair("retention.ms", "7")));
  const auto less = apply(*after, {change("cleanup.policy", ConfigOperation::subtract, "compact")});
  ASSERT_TRUE(less);
  EXPECT_EQ(less->at("cleanup.policy"), "delete");
}

TEST(ApplyChanges, AListThatIsNotSetStartsFromItsDefault) {
  const auto after = apply({}, {change("cleanup.policy", ConfigOperation::append, "compact")});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->at("cleanup.policy"), "delete,compact");
}

TEST(ApplyChanges, DeletingWhatIsNotSetChangesNothing) {
  const auto after = apply({}, {change("no.such.config", ConfigOperation::delete_, "9")});
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->empty());
}

TEST(ApplyChanges, RefusesWhatContradictsItself) {
  EXPECT_EQ(error_of(apply({}, {change("retention.ms", ConfigOperation::set, "1"),
                                change("retention.ms", ConfigOperation::delete_, std::nullopt)})),
            ErrorCode::invalid_request);
  EXPECT_EQ(error_of(apply({}, {change("retention.ms", ConfigOperation::set, std::nullopt)})),
            ErrorCode::invalid_request);
  EXPECT_EQ(error_of(apply({}, {change("retention.ms", ConfigOperation::append, std::nullopt)})),
            ErrorCode::invalid_request);
  EXPECT_EQ(error_of(apply({}, {change("retention.ms", static_cast<ConfigOperation>(4), "1")})),
            ErrorCode::invalid_request);
  EXPECT_EQ(error_of(apply({}, {change("retention.ms", static_cast<ConfigOperation>(-1), "1")})),
            ErrorCode::invalid_request);
  EXPECT_EQ(error_of(apply({}, {change("retention.ms", ConfigOperation::append, "1")})), ErrorCode::invalid_config);
  EXPECT_EQ(error_of(apply({}, {change("no.such.config", ConfigOperation::append, "1")})), ErrorCode::invalid_config);
}

ErrorCode check(ResourceType type, const Overrides& own) {
  const auto checked = check_own_configs(type, own, config::Config(config::broker_table()));
  return checked ? ErrorCode::none : checked.error().code;
}

TEST(CheckOwnConfigs, EachKindHasItsKeysAndErrors) {
  EXPECT_EQ(check(ResourceType::topic, {{"retention.ms", "5"}}), ErrorCode::none);
  EXPECT_EQ(check(ResourceType::topic, {{"retention.ms", "soon"}}), ErrorCode::invalid_config);
  EXPECT_EQ(check(ResourceType::topic, {{"interval.ms", "5000"}}), ErrorCode::invalid_config);
  EXPECT_EQ(check(ResourceType::group, {{"consumer.session.timeout.ms", "50000"}}), ErrorCode::none);
  EXPECT_EQ(check(ResourceType::group, {{"retention.ms", "5"}}), ErrorCode::invalid_config);
  EXPECT_EQ(check(ResourceType::client_metrics, {{"interval.ms", "5000"}}), ErrorCode::none);
  EXPECT_EQ(check(ResourceType::client_metrics, {{"interval.ms", "1"}}), ErrorCode::invalid_request);
  EXPECT_EQ(check(ResourceType::client_metrics, {{"interval.ms", "soon"}}), ErrorCode::invalid_config);
  EXPECT_EQ(check(ResourceType::client_metrics, {{"interval.ms", "99999999999"}}), ErrorCode::invalid_config);
  EXPECT_EQ(check(ResourceType::client_metrics, {{"retention.ms", "5"}}), ErrorCode::invalid_request);
  EXPECT_EQ(check(ResourceType::client_metrics, {{"match", "no_such_thing=x"}}), ErrorCode::invalid_config);
}

TEST(CheckOwnConfigs, KeysAreHeldAgainstEachOtherAndTheBroker) {
  EXPECT_EQ(check(ResourceType::topic, {{"min.compaction.lag.ms", "100"}, {"max.compaction.lag.ms", "10"}}),
            ErrorCode::invalid_config);
  EXPECT_EQ(check(ResourceType::group, {{"consumer.session.timeout.ms", "1"}}), ErrorCode::invalid_config);
}

}  // namespace
}  // namespace thalweg::broker
