// The three faces of one message: header, codec, and JSON (the last for tests against the reference).
#pragma once

#include <string>

#include "codegen/model.h"

namespace thalweg::codegen {

std::string print_header(const MessageModel& model);
std::string print_codec(const MessageModel& model);
std::string print_json(const MessageModel& model);

}  // namespace thalweg::codegen
