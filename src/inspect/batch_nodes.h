// Record batches as nodes of a tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inspect/tree.h"

namespace thalweg::inspect {

// Adds a node to `into` for each record batch in [begin, end) of the bytes at `data`: the fields of its header, then
// its records where they are not compressed. Bytes that are no whole batch of format v2 become one node that says why.
// From `max_nodes` on records stand together in one node. Returns how many nodes were made.
std::size_t add_batches(Node& into, const std::uint8_t* data, std::size_t begin, std::size_t end,
                        std::size_t max_nodes);

}  // namespace thalweg::inspect
