// The smallest legal instance of a message: numbers zero, strings and bytes empty also where null is allowed, one
// element in each array, one empty record batch in a records field, no tagged fields.
#pragma once

#include "base/bytes.h"
#include "inspect/envelope.h"

namespace thalweg::inspect {

// Its bytes, with what stands in front of the body.
base::Bytes smallest_instance(const Envelope& envelope);

}  // namespace thalweg::inspect
