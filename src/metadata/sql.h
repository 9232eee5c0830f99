// The SQL of the metadata store, in the subset that SQLite and databases speaking PostgreSQL's protocol share: upserts
// by ON CONFLICT, parameters $1, $2, … that first appear in this order, no procedures, no triggers.
//
//   thalweg_schema  one row: the number of the last migration that was run; the one table no migration may change
//   store           one row: newest revision, last trimmed change, cluster id, next producer id, node of an embedded
//   store nodes           one row a node; `registration` is its NodeRegistered record in the form of records/codec.h
//   topics, partitions, configs, leases, acls     as their records say; `version` is the revision that wrote the row
//   scram_credentials                             as its record says; the row of the empty user name is nobody's:
//                                                 what users that do not exist are told is made from it
//   delegation_tokens                             `token` is its DelegationTokenCreated record
//   changes         what each revision changed, as records; for followers, trimmed at the old end
//   group_states, group_offsets                   what belongs to coordinators
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace thalweg::metadata::sql {

// What engines call things differently.
struct Dialect {
  std::string_view bytes;      // the type of byte strings
  std::string_view key;        // the type of text that is compared byte by byte
  std::string_view clustered;  // behind a table's parentheses: rows are stored in the order of the primary key
};
inline constexpr Dialect kSqlite = {.bytes = "BLOB", .key = "TEXT", .clustered = " WITHOUT ROWID"};
inline constexpr Dialect kPostgres = {.bytes = "BYTEA", .key = "TEXT COLLATE \"C\"", .clustered = ""};

// The statements of migration `number` (1 ..), for the dialect, separated by semicolons.
std::string migration(std::size_t number, const Dialect& dialect);
// How many migrations there are: the schema that this binary reads and writes.
std::size_t migration_count();

// Creates the table of the schema number, reads it, and makes room for another.
inline constexpr std::string_view kCreateSchemaTable =
    "CREATE TABLE IF NOT EXISTS thalweg_schema (version BIGINT NOT NULL)";
inline constexpr std::string_view kSelectSchema = "SELECT version FROM thalweg_schema";
inline constexpr std::string_view kDeleteSchema = "DELETE FROM thalweg_schema";

// Every statement that is prepared once.
enum class Statement : std::size_t {
#define STATEMENT(name, text) name,
#include "metadata/sql_statements.def"
#undef STATEMENT
};

// Their texts, by the number of the enumerator.
std::span<const std::string_view> statement_texts();

}  // namespace thalweg::metadata::sql
