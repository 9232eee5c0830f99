#include "metadata/sql.h"

#include <fmt/format.h>

#include <array>

namespace thalweg::metadata::sql {

namespace {

// A migration that has been released is never edited; what is wrong in it, the next one puts right. {bytes},
// {key} and {clustered} stand for the words of the dialect.
constexpr auto kMigrations = std::to_array<std::string_view>({
    R"sql(
CREATE TABLE store (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  revision BIGINT NOT NULL,
  trimmed BIGINT NOT NULL,
  cluster_id TEXT NOT NULL,
  next_producer_id BIGINT NOT NULL,
  bound_node_id BIGINT
);
INSERT INTO store (id, revision, trimmed, cluster_id, next_producer_id) VALUES (1, 0, 0, '', 0);
CREATE TABLE nodes (
  node_id BIGINT NOT NULL PRIMARY KEY,
  registration {bytes} NOT NULL,
  registered BIGINT NOT NULL,
  started_ms BIGINT NOT NULL,
  unclean_starts BIGINT NOT NULL
);
CREATE TABLE topics (
  topic_id {bytes} NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created_ms BIGINT NOT NULL,
  replication_factor BIGINT NOT NULL,
  version BIGINT NOT NULL
){clustered};
CREATE TABLE partitions (
  topic_id {bytes} NOT NULL,
  partition_index BIGINT NOT NULL,
  leader BIGINT NOT NULL,
  epoch_base BIGINT NOT NULL,
  directory {bytes} NOT NULL,
  PRIMARY KEY (topic_id, partition_index)
){clustered};
CREATE TABLE configs (
  resource_type BIGINT NOT NULL,
  resource_name TEXT NOT NULL,
  config_key TEXT NOT NULL,
  config_value TEXT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (resource_type, resource_name, config_key)
){clustered};
CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  owner BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  expires_ms BIGINT NOT NULL
){clustered};
CREATE TABLE changes (
  revision BIGINT NOT NULL PRIMARY KEY,
  records {bytes} NOT NULL
){clustered};
CREATE TABLE group_states (
  group_id {key} NOT NULL PRIMARY KEY,
  kind BIGINT NOT NULL,
  state_version BIGINT NOT NULL,
  state {bytes} NOT NULL,
  version BIGINT NOT NULL
);
CREATE TABLE group_offsets (
  group_id {key} NOT NULL,
  topic_id {bytes} NOT NULL,
  partition_index BIGINT NOT NULL,
  topic TEXT NOT NULL,
  committed_offset BIGINT NOT NULL,
  leader_epoch BIGINT NOT NULL,
  metadata TEXT NOT NULL,
  commit_ms BIGINT NOT NULL,
  expire_ms BIGINT NOT NULL,
  PRIMARY KEY (group_id, topic_id, partition_index)
){clustered};
CREATE INDEX group_offsets_by_topic ON group_offsets (topic_id);
)sql",
    R"sql(
CREATE TABLE acls (
  resource_type BIGINT NOT NULL,
  resource_name {key} NOT NULL,
  pattern_type BIGINT NOT NULL,
  principal {key} NOT NULL,
  host {key} NOT NULL,
  operation BIGINT NOT NULL,
  permission BIGINT NOT NULL,
  PRIMARY KEY (resource_type, resource_name, pattern_type, principal, host, operation, permission)
){clustered};
)sql",
    R"sql(
CREATE TABLE scram_credentials (
  user_name {key} NOT NULL,
  mechanism BIGINT NOT NULL,
  iterations BIGINT NOT NULL,
  salt {bytes} NOT NULL,
  stored_key {bytes} NOT NULL,
  server_key {bytes} NOT NULL,
  PRIMARY KEY (user_name, mechanism)
){clustered};
CREATE TABLE delegation_tokens (
  token_id {key} NOT NULL PRIMARY KEY,
  token {bytes} NOT NULL
){clustered};
)sql",
});

constexpr std::string_view kStatements[] = {
#define STATEMENT(name, text) text,
#include "metadata/sql_statements.def"
#undef STATEMENT
};

}  // namespace

std::string migration(std::size_t number, const Dialect& dialect) {
  return fmt::format(fmt::runtime(kMigrations.at(number - 1)), fmt::arg("bytes", dialect.bytes),
                     fmt::arg("key", dialect.key), fmt::arg("clustered", dialect.clustered));
}

std::size_t migration_count() { return kMigrations.size(); }

std::span<const std::string_view> statement_texts() { return kStatements; }

}  // namespace thalweg::metadata::sql
