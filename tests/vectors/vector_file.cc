#include "vectors/vector_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

#include "base/check.h"
#include "base/text.h"

namespace thalweg::protocol {

void for_each_line(const std::string& name, const std::function<void(const Json&)>& each) {
  const std::string path = std::string(std::getenv("THALWEG_SOURCE_DIR")) + "/tests/vectors/" + name;
  const gzFile file = gzopen(path.c_str(), "rb");
  CHECK(file != nullptr, path);
  std::string line;
  char buffer[1 << 16];
  while (gzgets(file, buffer, sizeof buffer) != nullptr) {
    line += buffer;
    if (!line.ends_with('\n')) continue;
    each(Json::parse(line));
    line.clear();
  }
  gzclose(file);
}

Bytes from_hex(std::string_view hex) { return Bytes::copy_of(base::hex_decode(hex).value()); }

}  // namespace thalweg::protocol
