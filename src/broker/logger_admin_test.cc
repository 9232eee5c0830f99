#include "broker/logger_admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/log_levels.h"

namespace thalweg::broker {
namespace {

using base::LogLevel;
using protocol::ErrorCode;

ConfigChange change(std::string name, ConfigOperation operation, std::optional<std::string> value = std::nullopt) {
  return {.name = std::move(name), .operation = operation, .value = std::move(value)};
}

ErrorCode alter(std::vector<ConfigChange> changes, bool validate_only = false) {
  const auto altered = alter_loggers(changes, validate_only);
  return altered ? ErrorCode::none : altered.error().code;
}

std::string level_of(std::string_view logger) {
  for (const config::Described& described : describe_loggers())
    if (described.name == logger) return *described.value;
  return "";
}

class LoggerAdmin : public testing::Test {
 protected:
  void SetUp() override { base::set_log_level(LogLevel::info); }
  void TearDown() override {
    base::set_log_level(LogLevel::info);
    base::clear_log_level("storage");
  }
};

TEST_F(LoggerAdmin, LevelsAreSetAndTakenAway) {
  EXPECT_EQ(alter({change("root", ConfigOperation::set, "WARN"), change("storage", ConfigOperation::set, "TRACE")}),
            ErrorCode::none);
  EXPECT_EQ(level_of("root"), "WARN");
  EXPECT_EQ(level_of("broker"), "WARN");
  EXPECT_EQ(level_of("storage"), "TRACE");
  EXPECT_TRUE(base::log_enabled("storage", LogLevel::debug));
  EXPECT_FALSE(base::log_enabled("broker", LogLevel::info));
  EXPECT_EQ(alter({change("storage", ConfigOperation::delete_)}), ErrorCode::none);
  EXPECT_EQ(level_of("storage"), "WARN");
}

TEST_F(LoggerAdmin, AtFatalNothingIsWritten) {
  EXPECT_EQ(alter({change("storage", ConfigOperation::set, "FATAL")}), ErrorCode::none);
  EXPECT_EQ(level_of("storage"), "FATAL");
  EXPECT_FALSE(base::log_enabled("storage", LogLevel::error));
}

TEST_F(LoggerAdmin, WhatDoesNotGoChangesNothing) {
  EXPECT_EQ(alter({change("storage", ConfigOperation::set, "DEBUG"), change("storage", ConfigOperation::set, "debug")}),
            ErrorCode::invalid_config);
  EXPECT_EQ(alter({change("storage", ConfigOperation::set, "DEBUG"), change("no.such", ConfigOperation::set, "DEBUG")}),
            ErrorCode::invalid_config);
  EXPECT_EQ(alter({change("no.such", ConfigOperation::delete_)}), ErrorCode::invalid_config);
  EXPECT_EQ(alter({change("root", ConfigOperation::delete_)}), ErrorCode::invalid_request);
  EXPECT_EQ(alter({change("storage", ConfigOperation::append, "DEBUG")}), ErrorCode::invalid_request);
  EXPECT_EQ(alter({change("storage", ConfigOperation::subtract, "DEBUG")}), ErrorCode::invalid_request);
  EXPECT_EQ(alter({change("storage", ConfigOperation::set, "DEBUG")}, true), ErrorCode::none);
  EXPECT_EQ(level_of("storage"), "INFO");
}

TEST_F(LoggerAdmin, EveryAreaIsDescribedWithItsSource) {
  const auto loggers = describe_loggers();
  EXPECT_EQ(loggers.size(), base::log_areas().size() + 1);
  for (const config::Described& logger : loggers) {
    EXPECT_EQ(logger.source, config::Source::dynamic_broker_logger);
    EXPECT_FALSE(logger.read_only);
    EXPECT_TRUE(logger.synonyms.empty());
  }
}

}  // namespace
}  // namespace thalweg::broker
