// A capture file, from libpcap's reading to the lines of the list.
#include <cstdint>
#include <cstdio>

#include "inspect/capture.h"
#include "inspect/capture_file.h"
#include "inspect/capture_report.h"

namespace inspect = thalweg::inspect;

namespace {

struct Listed final : inspect::ExchangeSink {
  inspect::CaptureReport* report = nullptr;
  void exchange(inspect::Exchange& exchange) override { (void)report->line(exchange); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::FILE* file = fmemopen(const_cast<std::uint8_t*>(data), size, "rb");
  if (file == nullptr) return 0;
  auto packets = inspect::CaptureFile::open(file);
  if (!packets) return 0;
  Listed listed;
  inspect::Capture capture(inspect::Catalog::built_in(), {}, listed);
  inspect::CaptureReport report(capture);
  listed.report = &report;
  for (auto packet = packets->next(); packet && *packet; packet = packets->next())
    capture.packet((*packet)->time_ns, packets->link(), (*packet)->packet);
  capture.finish();
  (void)report.summary();
  return 0;
}
