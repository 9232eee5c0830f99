// What is made from all the messages together.
#pragma once

#include <string>
#include <vector>

#include "schema/message.h"

namespace thalweg::codegen {

// protocol/api_key.h: every API with its versions.
std::string print_api_keys(const std::vector<schema::Message>& messages);
// The list of every message's JSON entry, for tests.
std::string print_registry(const std::vector<schema::Message>& messages);

}  // namespace thalweg::codegen
