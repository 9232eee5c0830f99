// Revision: the number of a committed change set. It is also the version of a row: the revision that wrote it last, 0
// where there is no row.
#pragma once

#include <cstdint>

#include "base/strong.h"

namespace thalweg::metadata {

using Revision = base::Strong<struct RevisionTag, std::int64_t>;

// The version of what is not there; the revision of a store that has committed nothing.
inline constexpr Revision kNothing{0};

inline constexpr Revision next(Revision revision) { return Revision(revision.value() + 1); }

}  // namespace thalweg::metadata
