#include "inspect/capture_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/endian.h"

namespace thalweg::inspect {

namespace {

// libpcap is loaded when a capture is first read. Linked, it would bring D-Bus and systemd into every start of the
// broker: 2 ms, where a start should take a few.
struct Library {
  decltype(&::pcap_fopen_offline_with_tstamp_precision) fopen_offline = nullptr;
  decltype(&::pcap_datalink) datalink = nullptr;
  decltype(&::pcap_datalink_val_to_name) datalink_val_to_name = nullptr;
  decltype(&::pcap_next_ex) next_ex = nullptr;
  decltype(&::pcap_geterr) geterr = nullptr;
  decltype(&::pcap_close) close = nullptr;
  std::string fault;  // why it cannot be used

  // Of the program; loaded by the first call.
  static const Library& get() {
    static const Library library = load();
    return library;
  }

 private:
  static Library load() {
    Library library;
    void* handle = nullptr;
    // As Debian names it, and as others do.
    for (const char* name : {"libpcap.so.0.8", "libpcap.so.1"})
      if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      library.fault = fmt::format("captures need libpcap, which cannot be loaded: {}", dlerror());
      return library;
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (function == nullptr) library.fault = fmt::format("this libpcap has no {}", name);
    };
    find(library.fopen_offline, "pcap_fopen_offline_with_tstamp_precision");
    find(library.datalink, "pcap_datalink");
    find(library.datalink_val_to_name, "pcap_datalink_val_to_name");
    find(library.next_ex, "pcap_next_ex");
    find(library.geterr, "pcap_geterr");
    find(library.close, "pcap_close");
    return library;
  }
};

// What pcap_datalink() says, which differs from what files say in the raw ones.
std::optional<LinkType> link_type(int datalink) {
  switch (datalink) {
    case DLT_EN10MB:
      return LinkType::ethernet;
    case DLT_LINUX_SLL:
      return LinkType::linux_sll;
    case DLT_LINUX_SLL2:
      return LinkType::linux_sll2;
    case DLT_NULL:
    case DLT_LOOP:
      return LinkType::loopback;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
      return LinkType::raw_ip;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_capture(std::span<const std::uint8_t> begin) {
  if (begin.size() < 4) return false;
  // pcap with microseconds, with nanoseconds, and as some kernels wrote it; each in both byte orders. pcapng.
  constexpr std::array<std::uint32_t, 7> kMagics = {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1,
                                                    0xa1b2cd34, 0x34cdb2a1, 0x0a0d0d0a};
  return std::ranges::find(kMagics, base::load_be<std::uint32_t>(begin.data())) != kMagics.end();
}

struct CaptureFile::Handle {
  pcap_t* pcap = nullptr;

  explicit Handle(pcap_t* opened) : pcap(opened) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() { Library::get().close(pcap); }
};

CaptureFile::CaptureFile(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
CaptureFile::CaptureFile(CaptureFile&&) noexcept = default;
CaptureFile& CaptureFile::operator=(CaptureFile&&) noexcept = default;
CaptureFile::~CaptureFile() = default;

base::Result<CaptureFile, std::string> CaptureFile::open(std::FILE* file) {
  const Library& library = Library::get();
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  pcap_t* pcap = nullptr;
  if (library.fault.empty()) pcap = library.fopen_offline(file, PCAP_TSTAMP_PRECISION_NANO, error.data());
  if (pcap == nullptr) {
    if (file != stdin) std::fclose(file);
    return std::unexpected(library.fault.empty() ? std::string(error.data()) : library.fault);
  }
  CaptureFile capture(std::make_unique<Handle>(pcap));
  const int datalink = library.datalink(pcap);
  const std::optional<LinkType> link = link_type(datalink);
  if (!link) {
    const char* name = library.datalink_val_to_name(datalink);
    return std::unexpected(fmt::format("link type {} is not known here", name == nullptr ? "?" : name));
  }
  capture.link_ = *link;
  return capture;
}

base::Result<std::optional<CapturedPacket>, std::string> CaptureFile::next() {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  switch (Library::get().next_ex(handle_->pcap, &header, &data)) {
    case 1: {
      // Times that no capture can have, as damaged files do, are put where differences still fit.
      constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / kNsPerSecond / 2;
      const auto seconds = std::clamp<std::int64_t>(header->ts.tv_sec, 0, kMostSeconds);
      // With the precision that was asked for, the microseconds are nanoseconds.
      const auto rest = std::clamp<std::int64_t>(header->ts.tv_usec, 0, kNsPerSecond - 1);
      return CapturedPacket{.time_ns = seconds * kNsPerSecond + rest, .packet = {data, header->caplen}};
    }
    case PCAP_ERROR_BREAK:
      return std::nullopt;
    default:
      return std::unexpected(std::string(Library::get().geterr(handle_->pcap)));
  }
}

}  // namespace thalweg::inspect
