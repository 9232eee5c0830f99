// Where the lines about a log go.
#pragma once

#include <cstdint>
#include <string_view>

namespace thalweg::inspect {

class LogSink {
 public:
  virtual ~LogSink() = default;
  // Takes whole lines. False: nobody reads any more, so there is nothing left to do.
  virtual bool write(std::string_view lines) = 0;
  // How many of all bytes have been looked at; called often.
  virtual void progress(std::uint64_t done_bytes, std::uint64_t total_bytes) = 0;
};

}  // namespace thalweg::inspect
