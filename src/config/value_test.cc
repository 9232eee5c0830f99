#include "config/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "config/table.h"

namespace thalweg::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string refused(const Table& table, std::string_view name, std::string_view value) {
  const auto result = validate_value(*table.find(name), value);
  return result ? "accepted as " + *result : result.error();
}

TEST(Value, SaysWhatIsWrongAndWhatIsAllowed) {
  const Table& broker = broker_table();
  EXPECT_EQ(refused(broker, "log.segment.bytes", "abc"), "not an integer; allowed: 1048576 to 2147483647");
  EXPECT_EQ(refused(broker, "log.segment.bytes", "7"), "out of range; allowed: 1048576 to 2147483647");
  EXPECT_EQ(refused(broker, "log.preallocate", "yes"), "not a boolean; allowed: true or false");
  EXPECT_EQ(refused(broker, "log.cleaner.min.cleanable.ratio", "2"), "out of range; allowed: 0 to 1");
  EXPECT_EQ(refused(broker, "compression.gzip.level", "0"), "out of range; allowed: -1 or 1 to 9");
  EXPECT_EQ(refused(broker, "sasl.login.refresh.buffer.seconds", "40000"), "out of range; allowed: -32768 to 32767");
  EXPECT_EQ(refused(broker, "compression.type", "GZIP"),
            "not one of the known values; allowed: uncompressed, zstd, lz4, snappy, gzip, producer");
  EXPECT_EQ(refused(broker, "log.cleanup.policy", "compact,,delete"),
            "has an empty entry; allowed: a list out of compact, delete");
  EXPECT_EQ(refused(broker, "log.dirs", " "), "empty; allowed: a list that is not empty");
  EXPECT_EQ(refused(group_table(), "share.auto.offset.reset", "none"),
            "not an offset reset; allowed: earliest, latest or by_duration:PnDTnHnMn.nS, not negative");
}

TEST(Value, RefusesWhatIgnoringWouldMislead) {
  EXPECT_EQ(refused(broker_table(), "remote.log.storage.system.enable", "true"),
            "not supported: there is no tiered storage, only diskless topics; allowed: false");
  EXPECT_EQ(refused(broker_table(), "remote.log.storage.system.enable", "FALSE"), "accepted as false");
  EXPECT_EQ(refused(broker_table(), "kafka.metrics.reporters", "com.acme.Reporter"),
            "not supported: metrics are served on thalweg.console.listeners; Java classes cannot be loaded; allowed: "
            "empty");
  EXPECT_EQ(refused(broker_table(), "create.topic.policy.class.name", "com.acme.Policy"),
            "not supported: Java classes cannot be loaded, and a policy must not be skipped; allowed: not set");
  EXPECT_EQ(
      refused(broker_table(), "authorizer.class.name", "com.acme.Authorizer"),
      "not one of the known values; allowed: empty, org.apache.kafka.metadata.authorizer.StandardAuthorizer (only "
      "the built-in ACL authorizer exists; Java classes cannot be loaded)");
  EXPECT_EQ(refused(broker_table(), "authorizer.class.name", ""), "accepted as ");
}

TEST(Value, IntegersAreJavas) {
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("-0"), 0);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text : {"", "+", "-", "+-7", "--7", "7 ", " 7", "0x7", "7L", "7.0", "1_0",
                                      "9223372036854775808", "-9223372036854775809"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(Value, DoublesAreReadAsJavaReadsThem) {
  EXPECT_EQ(parse_double("5e-1"), 0.5);
  EXPECT_EQ(parse_double(".5d"), 0.5);
  EXPECT_EQ(parse_double("5.e-1F"), 0.5);
  EXPECT_EQ(parse_double("0x1p-1"), 0.5);
  EXPECT_EQ(parse_double("-Infinity"), -std::numeric_limits<double>::infinity());
  for (const std::string_view text : {"", ".", "1e", "inf", "nan", "NaN", "0x1", "1dd", "--1", "1,5"})
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
}

TEST(Value, DoublesAreWrittenAsJavaWritesThem) {
  EXPECT_EQ(double_text(0), "0.0");
  EXPECT_EQ(double_text(-0.0), "-0.0");
  EXPECT_EQ(double_text(1), "1.0");
  EXPECT_EQ(double_text(0.5), "0.5");
  EXPECT_EQ(double_text(0.001), "0.001");
  EXPECT_EQ(double_text(0.00012), "1.2E-4");
  EXPECT_EQ(double_text(9999999.5), "9999999.5");
  EXPECT_EQ(double_text(1234567), "1234567.0");
  EXPECT_EQ(double_text(1e7), "1.0E7");
  EXPECT_EQ(double_text(12345678), "1.2345678E7");
  EXPECT_EQ(double_text(-123456.789), "-123456.789");
  EXPECT_EQ(double_text(std::numeric_limits<double>::max()), "1.7976931348623157E308");
  EXPECT_EQ(double_text(std::numeric_limits<double>::infinity()), "Infinity");
}

TEST(Value, ListsAreSplitAtCommasAndTrimmed) {
  EXPECT_THAT(split_list(" a , b "), ElementsAre("a", "b"));
  EXPECT_THAT(split_list(""), IsEmpty());
  EXPECT_THAT(split_list(" \t"), IsEmpty());
  EXPECT_THAT(split_list("a,,b,"), ElementsAre("a", "", "b", ""));
  EXPECT_EQ(validate_value(*broker_table().find("log.cleanup.policy"), "delete , compact,delete"), "delete,compact");
}

TEST(Value, ListsGrowAndShrinkByEntries) {
  EXPECT_EQ(append_to_list("delete", "compact , delete"), "delete,compact");
  EXPECT_EQ(append_to_list("", "0:1,0:1"), "0:1");
  EXPECT_EQ(append_to_list("a", ""), "a");
  EXPECT_EQ(subtract_from_list("0:1,1:1, 2:1", "2:1,3:1"), "0:1,1:1");
  EXPECT_EQ(subtract_from_list("a", " a "), "");
}

TEST(Value, DurationsAreIso8601) {
  EXPECT_EQ(parse_duration_ms("P1D"), 86'400'000);
  EXPECT_EQ(parse_duration_ms("PT1H30M1.5S"), 5'401'500);
  EXPECT_EQ(parse_duration_ms("p1dt1h"), 90'000'000);
  EXPECT_EQ(parse_duration_ms("PT0S"), 0);
  EXPECT_EQ(parse_duration_ms("-PT1H"), -3'600'000);
  EXPECT_EQ(parse_duration_ms("PT-1H+61M"), 60'000);
  EXPECT_EQ(parse_duration_ms("PT-1.5S"), -1500);
  EXPECT_EQ(parse_duration_ms("PT1,25S"), 1250);
  EXPECT_EQ(parse_duration_ms("PT1.0009S"), 1000);
  for (const std::string_view text : {"", "P", "PT", "P1DT", "P1Y", "1D", "PT1M1H", "PT1.5M", "PT.5S",
                                      "PT1.1234567890S", "PT99999999999999999999S", "PT9223372036854775807S"})
    EXPECT_EQ(parse_duration_ms(text), std::nullopt) << text;
}

TEST(Value, AddressCountsAreReadFromTheRight) {
  const auto pairs = parse_address_counts(" 127.0.0.1:5, ::1 : 7,host-a:0,");
  ASSERT_TRUE(pairs.has_value());
  ASSERT_EQ(pairs->size(), 3u);
  EXPECT_EQ((*pairs)[1].address, "::1");
  EXPECT_EQ((*pairs)[1].count, 7);
  for (const std::string_view text : {"127.0.0.1", "a:x", "a b:7", "[::1]:5", ":5", "a:-1", "a:2147483648"})
    EXPECT_EQ(parse_address_counts(text).has_value(), false) << text;
}

}  // namespace
}  // namespace thalweg::config
