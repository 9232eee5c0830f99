// Printer: lines of C++ with indentation.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace thalweg::codegen {

class Printer {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
  }
  void put(std::string_view text) {
    if (!text.empty()) out_.append(static_cast<std::size_t>(depth_) * 2, ' ').append(text);
    out_ += '\n';
  }
  // Opens "head {", or a bare block where head is empty; close() ends it.
  void open(std::string_view head) {
    put(head.empty() ? std::string("{") : std::string(head) + " {");
    ++depth_;
  }
  void close(std::string_view tail = "}") {
    --depth_;
    put(tail);
  }
  // Ends one block and begins the next on the same line, such as "} else {".
  void otherwise(std::string_view words) {
    --depth_;
    put(words);
    ++depth_;
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
  int depth_ = 0;
};

}  // namespace thalweg::codegen
