// SQLite on any FileSystem: a file layer registered with SQLite, so that the metadata store of a simulated broker lies
// on the simulated disk and loses what it did not sync, like everything else. For one thread.
#pragma once

#include "runtime/file.h"

namespace thalweg::simulation {

// Registers the layer, or points it at other files; nothing of SQLite's is open then. Returns its name for
// SqliteOptions::vfs.
const char* use_sqlite_files(runtime::FileSystem& files);

}  // namespace thalweg::simulation
