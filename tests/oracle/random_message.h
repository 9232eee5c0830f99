// Random messages as the reference's JSON, made from the schema model.
#pragma once

#include <cstdint>
#include <random>

#include "schema/message.h"
#include "vectors/message_json.h"

namespace thalweg::oracle {

class RandomMessage {
 public:
  explicit RandomMessage(std::uint64_t seed) : random_(seed) {}

  // Every field that the version has; tagged ones may be left out. Numbers and lengths favour the edges.
  protocol::Json make(const schema::Message& message, int version);
  // Unknown tagged fields of the outermost structure, in rising order; empty for most messages.
  protocol::Json unknown_fields(const schema::Message& message, int version);
  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
  }

 private:
  protocol::Json structure(const schema::Message& message, const schema::Struct& s, int version, int depth);
  protocol::Json value(const schema::Message& message, const schema::Field& field, int version, int depth);
  protocol::Json integer(std::int64_t lowest, std::int64_t highest);
  std::string text();
  std::vector<std::uint8_t> bytes(std::size_t most);
  bool chance(unsigned percent) { return below(100) < percent; }

  std::mt19937_64 random_;
};

}  // namespace thalweg::oracle
