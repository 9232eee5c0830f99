// The metadata store of a broker that starts for the first time.
#pragma once

#include <string>

#include "base/result.h"
#include "metadata/sqlite_store.h"
#include "metadata/store.h"
#include "runtime/file.h"

namespace thalweg::broker {

// Makes the store at `options.path` where there is none yet, durably, whole or not at all; leaves one that is there
// alone. Blocks. The error is one line that names the file.
base::Result<void, std::string> make_store_if_missing(runtime::FileSystem& files,
                                                      const metadata::SqliteOptions& options,
                                                      const metadata::StoreEnvironment& environment);

}  // namespace thalweg::broker
