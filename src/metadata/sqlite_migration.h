// The schema of a SQLite file, brought up to date by numbered migrations.
#pragma once

#include <span>
#include <string>

#include "metadata/engine.h"
#include "metadata/sqlite.h"

namespace thalweg::metadata::sqlite {

// Runs the migrations that the file lacks, of `migrations` number 1, 2, …, within the transaction that the caller has
// begun; so the file has either all of them or stays as it was.
//   errors   the file has more migrations than there are here: a newer release wrote it
EngineResult<void> migrate(Connection& connection, std::span<const std::string> migrations);

}  // namespace thalweg::metadata::sqlite
