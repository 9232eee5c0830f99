#include "runtime/host.h"

#include <utility>

#include "runtime/blocking_pool.h"

namespace thalweg::runtime {

namespace {

class MachineHost final : public Host {
 public:
  std::unique_ptr<Pool> make_pool(std::string name, std::size_t threads) override {
    return std::make_unique<BlockingPool>(std::move(name), threads);
  }
  void start(Core& core, const char* name) override { core.start(name); }
  void stop(Core& core) override { core.stop(); }
  void run_until(const std::function<bool()>& /*ready*/) override {}
};

}  // namespace

Host& machine_host() {
  static MachineHost host;
  return host;
}

}  // namespace thalweg::runtime
