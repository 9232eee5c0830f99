#include "metadata/sqlite_migration.h"

#include <fmt/format.h>

#include <charconv>

#include "metadata/sql.h"

namespace thalweg::metadata::sqlite {

EngineResult<void> migrate(Connection& connection, std::span<const std::string> migrations) {
  TRY(connection.execute(std::string(sql::kCreateSchemaTable)));
  ASSIGN_OR_RETURN(const std::string text, connection.single(std::string(sql::kSelectSchema)));
  std::size_t found = 0;
  std::from_chars(text.data(), text.data() + text.size(), found);
  if (found > migrations.size())
    return std::unexpected(EngineFault{
        .message = fmt::format("{}: written by a newer release (schema {}), this one reads schemas up to {}: start the "
                               "newer release, or restore a backup made before it",
                               connection.path(), found, migrations.size())});
  if (found == migrations.size()) return {};
  for (const std::string& migration : migrations.subspan(found)) TRY(connection.execute(migration));
  return connection.execute(
      fmt::format("{}; INSERT INTO thalweg_schema (version) VALUES ({})", sql::kDeleteSchema, migrations.size()));
}

}  // namespace thalweg::metadata::sqlite
