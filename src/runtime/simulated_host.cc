#include "runtime/simulated_host.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace thalweg::runtime {

namespace {

// Far more turns than a start, a stop or an answer takes.
constexpr std::uint64_t kMostTurns = 2'000'000;

}  // namespace

class SimulatedHost::SimulatedPool final : public Pool {
 public:
  SimulatedPool(SimulatedHost& host, bool in_order) : host_(host), in_order_(in_order) { host_.pools_.push_back(this); }
  ~SimulatedPool() override {
    stop();
    std::erase(host_.pools_, this);
  }

  void post(Task task) override {
    if (!stopped_) tasks_.push_back(std::move(task));
  }
  void stop() override {
    while (run_one()) {
    }
    stopped_ = true;
  }
  [[nodiscard]] std::size_t queued() const override { return tasks_.size(); }

  // The threads of a pool are not equally quick, so any task may be the next.
  bool run_one() {
    if (tasks_.empty()) return false;
    const std::size_t which = in_order_ ? 0 : host_.random_.below(tasks_.size());
    Task task = std::move(tasks_[which]);
    tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(which));
    task();
    return true;
  }

 private:
  SimulatedHost& host_;
  const bool in_order_;
  bool stopped_ = false;
  std::deque<Task> tasks_;
};

std::unique_ptr<Pool> SimulatedHost::make_pool(std::string /*name*/, std::size_t threads) {
  return std::make_unique<SimulatedPool>(*this, threads == 1);
}

void SimulatedHost::start(Core& core, const char* /*name*/) {
  core.start_driven();
  cores_.push_back(&core);
}

void SimulatedHost::stop(Core& core) {
  core.stop();
  std::erase(cores_, &core);
}

bool SimulatedHost::run_one() {
  if (observer_) observer_();
  ++turns_;
  if (random_.below(16) == 0) clock_.advance(std::chrono::milliseconds(1 + random_.below(4)));
  const std::size_t count = cores_.size() + pools_.size();
  if (count == 0) return false;
  const std::size_t first = random_.below(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (first + i) % count;
    if (at < cores_.size() ? cores_[at]->run_one() : pools_[at - cores_.size()]->run_one()) return true;
  }
  return false;
}

bool SimulatedHost::advance() {
  std::optional<base::SteadyTime> next;
  for (const Core* core : cores_)
    if (const auto deadline = core->next_deadline(); deadline && (!next || *deadline < *next)) next = deadline;
  if (!next) return false;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - clock_.steady());
  clock_.advance(std::max(left, std::chrono::milliseconds(0)));
  return true;
}

void SimulatedHost::run_until(const std::function<bool()>& ready) {
  for (std::uint64_t turn = 0; !ready(); ++turn) {
    if (turn == kMostTurns) throw Deadlock("the broker does not come to an end with what it does");
    if (!run_one() && !advance()) throw Deadlock("everything in the broker waits");
  }
}

}  // namespace thalweg::runtime
