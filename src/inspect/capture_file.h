// A capture file, pcap or pcapng, read by the platform's libpcap packet after packet.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "inspect/capture_packet.h"

namespace thalweg::inspect {

// Whether a file that begins with these bytes, four at least, is a capture.
bool is_capture(std::span<const std::uint8_t> begin);

struct CapturedPacket {
  std::int64_t time_ns = 0;              // since 1970
  std::span<const std::uint8_t> packet;  // until the next one is read
};

class CaptureFile {
 public:
  // Reads from `file`, which it closes at the end. The error is one line: it is no capture, or of a link type that is
  // not known here.
  static base::Result<CaptureFile, std::string> open(std::FILE* file);

  // The next packet; nothing at the end. The error is one line: the file is damaged or cut off.
  base::Result<std::optional<CapturedPacket>, std::string> next();
  [[nodiscard]] LinkType link() const { return link_; }

  CaptureFile(CaptureFile&&) noexcept;
  CaptureFile& operator=(CaptureFile&&) noexcept;
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;
  ~CaptureFile();

 private:
  struct Handle;
  explicit CaptureFile(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
  LinkType link_ = LinkType::ethernet;
};

}  // namespace thalweg::inspect
