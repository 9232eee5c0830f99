#include "simulation/client.h"

#include "base/endian.h"
#include "simulation/ledger.h"

namespace thalweg::simulation {

void Client::check(bool readable) {
  if (!readable) throw Violation("an answer cannot be decoded");
}

void Client::hang_up() {
  if (link_) link_->hang_up();
  link_ = nullptr;
  input_.clear();
  for (Waiting& waiting : std::exchange(waiting_, {})) waiting.done(nullptr);
}

void Client::poll() {
  if (!link_) return;
  input_ += link_->receive();
  std::size_t at = 0;
  while (input_.size() - at >= 8) {
    const auto* head = reinterpret_cast<const std::uint8_t*>(input_.data()) + at;
    const auto size = static_cast<std::size_t>(base::load_be<std::int32_t>(head));
    if (input_.size() - at < 4 + size) break;
    const auto correlation_id = base::load_be<std::int32_t>(head + 4);
    if (waiting_.empty() || waiting_.front().correlation_id != correlation_id)
      throw Violation("an answer does not belong to the oldest request");
    const base::Bytes body = base::Bytes::copy_of(std::string_view(input_).substr(at + 8, size - 4));
    Waiting waiting = std::move(waiting_.front());
    waiting_.pop_front();
    at += 4 + size;
    waiting.done(&body);
    if (!link_) return;  // the handler has hung up
  }
  input_.erase(0, at);
  if (link_->over()) hang_up();
}

}  // namespace thalweg::simulation
