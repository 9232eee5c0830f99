#include "server/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/endian.h"
#include "base/log.h"
#include "broker/broker.h"
#include "protocol/wire.h"
#include "server/handlers/handlers.h"

namespace thalweg::server {

namespace {

using protocol::ApiKey;
using runtime::Awaitable;

constexpr std::size_t kSizeBytes = 4;
// What a connection reads into at first. It holds a block only while it has something half read.
constexpr std::size_t kBlockBytes = 64 * 1024;
// What a frame that is not whole yet may claim of memory at first; more comes as its bytes do.
constexpr std::size_t kFirstClaim = 1 << 20;
// Answers that may be outstanding on a connection before it is read further.
constexpr std::size_t kMostPending = 128;
constexpr std::string_view kArea = "connection";

base::LogLimiter& closing_limiter() {
  thread_local base::LogLimiter limiter(1000);
  return limiter;
}

}  // namespace

Connection::Connection(broker::Shard& shard, InFlightBytes& in_flight, Limits limits,
                       const broker::ListenerInfo& listener, std::unique_ptr<runtime::Stream> stream)
    : shard_(shard),
      in_flight_(in_flight),
      limits_(limits),
      stream_(std::move(stream)),
      last_active_(shard.core().clock().steady()),
      last_byte_(last_active_) {
  info_.peer = stream_->peer();
  info_.peer_host = stream_->peer_host();
  info_.listener = &listener;
  if (auto sasl = shard.sasl(listener.name)) login_ = std::make_unique<Login>(shard, info_, std::move(sasl));
}

Connection::~Connection() {
  if (charged_ahead_ > 0) in_flight_.remove_partial(this);
  in_flight_.release(charged_ahead_);
}

Awaitable<void> Connection::serve() {
  while (!closed_) {
    base::Bytes frame;
    if (!co_await read_frame(frame)) break;
    last_active_ = shard_.core().clock().steady();
    const bool is_login = login_ && !login_->complete();
    if (is_login ? !co_await log_in(std::move(frame)) : !co_await handle(std::move(frame))) break;
  }
  // Answers that are under way still go out where the peer has only stopped sending.
  if (!closed_) co_await wait_for_answers(0);
  close();
  block_.reset();
}

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  stream_->close();
  wake_waiter();
  if (held_back_) std::exchange(held_back_, nullptr)(0);
}

void Connection::fail(const std::string& why) {
  std::uint64_t suppressed = 0;
  if (closing_limiter().allow(shard_.now_ms(), suppressed))
    LOG_INFO(kArea, "closing {} ({}): {}{}", info_.peer, info_.listener->name, why,
             suppressed == 0 ? std::string() : fmt::format(" ({} more like it not shown)", suppressed));
}

void Connection::take_block(std::size_t capacity) {
  base::Buffer next(std::max(capacity, kBlockBytes));
  const std::size_t kept = end_ - begin_;
  if (kept > 0) std::memcpy(next.data(), block_.data() + begin_, kept);
  block_ = std::move(next);
  begin_ = 0;
  end_ = kept;
}

void Connection::make_room(std::size_t size) {
  const std::size_t have = end_ - begin_;
  if (block_.capacity() - begin_ >= size) return;
  if (begin_ > 0 && block_.capacity() >= size && block_.unshared()) {
    std::memmove(block_.data(), block_.data() + begin_, have);
    begin_ = 0;
    end_ = have;
    return;
  }
  // A claim is believed a mebibyte at first, then for as much again as has come.
  take_block(std::min(size, std::max(kFirstClaim, have * 2)));
}

Awaitable<bool> Connection::charge_ahead() {
  const std::size_t have = end_ - begin_;
  if (have < charged_ahead_ + kBlockBytes) co_return true;
  const std::size_t more = have - charged_ahead_;
  if (!in_flight_.try_acquire(more)) co_await in_flight_.acquire(more);
  if (charged_ahead_ == 0) in_flight_.add_partial(this);
  charged_ahead_ += more;
  co_return !closed_;
}

void Connection::give_up() {
  shard_.core().post([self = shared_from_this()] {
    if (self->closed_) return;
    self->fail("half a frame, and no byte of it for a while, when memory was short");
    self->close();
  });
}

Awaitable<bool> Connection::read_frame(base::Bytes& frame) {
  while (true) {
    const std::size_t have = end_ - begin_;
    std::size_t want = kSizeBytes;
    if (have >= kSizeBytes) {
      const auto size = base::load_be<std::int32_t>(block_.data() + begin_);
      if (size < 0 || static_cast<std::size_t>(size) > frame_limit()) {
        fail(fmt::format("a frame of {} bytes; {} is {}", size,
                         frame_limit() == limits_.frame_bytes ? "socket.request.max.bytes"
                                                              : "sasl.server.max.receive.size, before the login,",
                         frame_limit()));
        co_return false;
      }
      want = kSizeBytes + static_cast<std::size_t>(size);
      if (have >= want) {
        frame = block_.share(begin_ + kSizeBytes, static_cast<std::size_t>(size));
        begin_ += want;
        if (begin_ == end_ && block_.unshared()) begin_ = end_ = 0;
        co_return true;
      }
    }
    if (have == 0) {
      // Nothing half read: wait without holding a block.
      block_.reset();
      begin_ = end_ = 0;
      if (!co_await stream_->readable() || closed_) co_return false;
      take_block(kBlockBytes);
    } else if (end_ == block_.capacity() || block_.capacity() - begin_ < want) {
      make_room(want);
    }
    const auto n = stream_->read_now({block_.data() + end_, block_.capacity() - end_});
    if (!n) co_return false;
    end_ += *n;
    shard_.metrics().bytes_received.add(static_cast<std::int64_t>(*n));
    if (*n > 0) {
      last_byte_ = shard_.core().clock().steady();
      // A whole frame is charged for when it is handled.
      if (want > kBlockBytes && end_ - begin_ < want && !co_await charge_ahead()) co_return false;
    } else if (end_ > begin_) {
      if (!co_await stream_->readable() || closed_) co_return false;
    }
  }
}

std::size_t Connection::frame_limit() const {
  const bool is_login = login_ && !login_->complete();
  return is_login ? std::min(limits_.login_frame_bytes, limits_.frame_bytes) : limits_.frame_bytes;
}

// What was charged while the frame came counts for it; the rest is charged now.
Awaitable<bool> Connection::charge(Slot& slot, std::size_t frame_bytes) {
  slot.charged_bytes = std::max(charged_ahead_, frame_bytes);
  const std::size_t rest = slot.charged_bytes - charged_ahead_;
  if (std::exchange(charged_ahead_, 0) > 0) in_flight_.remove_partial(this);
  if (!in_flight_.try_acquire(rest)) co_await in_flight_.acquire(rest);
  if (closed_) in_flight_.release(std::exchange(slot.charged_bytes, 0));
  co_return !closed_;
}

std::shared_ptr<broker::RequestContext> Connection::context_of(const RequestHeader& header) {
  return std::make_shared<broker::RequestContext>(broker::RequestContext{.broker = shard_.broker(),
                                                                         .shard = shard_,
                                                                         .core = shard_.core(),
                                                                         .connection = info_,
                                                                         .api_key = static_cast<ApiKey>(header.api_key),
                                                                         .version = header.api_version,
                                                                         .correlation_id = header.correlation_id,
                                                                         .client_id = header.client_id,
                                                                         .received = last_active_});
}

Awaitable<bool> Connection::log_in(base::Bytes frame) {
  if (login_->takes_bare_tokens()) {
    auto slot = std::make_shared<Slot>();
    if (!co_await charge(*slot, frame.size())) co_return false;
    slots_.push_back(slot);
    Login::Outcome outcome = co_await login_->bare_token(std::move(frame));
    co_return co_await finish_login_step(std::move(slot), std::move(outcome));
  }
  RequestHeader header;
  if (const char* fault = parse_header(frame, header)) {
    fail(fmt::format("{} (API key {}, version {}) before the login", fault, header.api_key, header.api_version));
    co_return false;
  }
  co_return co_await log_in(context_of(header), frame.slice(header.size));
}

Awaitable<bool> Connection::log_in(std::shared_ptr<broker::RequestContext> context, base::Bytes body) {
  auto slot = std::make_shared<Slot>();
  if (!co_await charge(*slot, body.size())) co_return false;
  slots_.push_back(slot);
  Login::Outcome outcome = co_await login_->request(*context, std::move(body));
  co_return co_await finish_login_step(std::move(slot), std::move(outcome));
}

Awaitable<bool> Connection::finish_login_step(std::shared_ptr<Slot> slot, Login::Outcome outcome) {
  using Next = Login::Outcome::Next;
  if (!outcome.why.empty()) fail(outcome.why);
  if (outcome.next == Next::end_later)
    co_await hold_back(std::chrono::milliseconds(shard_.broker().settings().failed_authentication_delay_ms));
  outcome.reply.close = outcome.next != Next::go_on;
  answer(*slot, std::move(outcome.reply));
  // A client waits for each answer before it goes on, so one that does not read keeps us from reading.
  if (!closed_) co_await wait_for_answers(0);
  co_return !closed_ && !close_after_write_;
}

Awaitable<void> Connection::hold_back(std::chrono::milliseconds delay) {
  if (closed_ || delay.count() <= 0) co_return;
  runtime::Core& core = shard_.core();
  co_await runtime::suspend<int>([this, &core, delay](runtime::Resume<int> resume) {
    held_back_ = std::move(resume);
    core.at(core.clock().steady() + delay, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->held_back_) std::exchange(self->held_back_, nullptr)(0);
    });
  });
}

Awaitable<bool> Connection::handle(base::Bytes frame) {
  RequestHeader header;
  if (const char* fault = parse_header(frame, header)) {
    fail(fmt::format("{} (API key {}, version {})", fault, header.api_key, header.api_version));
    co_return false;
  }
  auto slot = std::make_shared<Slot>();
  auto context = context_of(header);
  if (login_) {
    if (context->api_key == ApiKey::sasl_handshake && login_->begin_again(last_active_))
      co_return co_await log_in(std::move(context), frame.slice(header.size));
    if (login_->expired(last_active_)) {
      fail(fmt::format("{} after the end of the session; the client must log in again", api_name(header.api_key)));
      co_return false;
    }
  }

  const ServedApi* api = find_served(header.api_key);
  if (api == nullptr || !serves(*api, header.api_version, limits_.unstable_versions)) {
    const std::string served = api == nullptr
                                   ? std::string("it is not served")
                                   : fmt::format("served are {} to {}", api->lowest,
                                                 limits_.unstable_versions ? api->highest_unstable : api->highest);
    const std::string what =
        fmt::format("client {} at {} asks for {} (API key {}) version {}; {}", header.client_id, info_.peer,
                    api_name(header.api_key), header.api_key, header.api_version, served);
    if (api != nullptr && api->key == ApiKey::api_versions) {
      LOG_DEBUG(kArea, "{}; it is told so", what);
      slots_.push_back(slot);
      answer(*slot, internal::encode_reply(*context, handlers::unsupported_api_versions(), 0));
      co_return true;
    }
    fail(what);
    co_return false;
  }

  if (!co_await charge(*slot, frame.size())) co_return false;
  slots_.push_back(slot);
  if (api->pipelined) {
    shard_.core().spawn(
        process_alone(shared_from_this(), slot, std::move(context), *api, std::move(frame), header.size));
    co_await wait_for_answers(kMostPending);
  } else {
    co_await process(slot, std::move(context), *api, std::move(frame), header.size);
    if (writing_) co_await wait_for_answers(kMostPending);
  }
  co_return !closed_ && !close_after_write_;
}

Awaitable<void> Connection::process_alone(std::shared_ptr<Connection> self, std::shared_ptr<Slot> slot,
                                          std::shared_ptr<broker::RequestContext> context, const ServedApi& api,
                                          base::Bytes frame, std::size_t header_bytes) {
  co_await self->process(std::move(slot), std::move(context), api, std::move(frame), header_bytes);
}

Awaitable<void> Connection::process(std::shared_ptr<Slot> slot, std::shared_ptr<broker::RequestContext> context,
                                    const ServedApi& api, base::Bytes frame, std::size_t header_bytes) {
  Reply reply = co_await api.run(*context, frame.slice(header_bytes));
  broker::ApiMetrics& metrics = shard_.metrics().apis[static_cast<std::size_t>(api.key)];
  const base::SteadyTime now = shard_.core().clock().steady();
  metrics.requests.add();
  metrics.latency.record(std::chrono::nanoseconds(now - context->received).count());
  last_active_ = now;
  if (reply.close) {
    metrics.errors.add();
    fail(fmt::format("client {}, {} v{}: {}", context->client_id, api_name(static_cast<std::int16_t>(api.key)),
                     context->version, reply.fault));
  }
  answer(*slot, std::move(reply));
}

void Connection::answer(Slot& slot, Reply reply) {
  slot.reply = std::move(reply);
  slot.ready = true;
  in_flight_.release(std::exchange(slot.charged_bytes, 0));
  flush();
}

// Sends what is ready at the head of the order; what the socket does not take at once a coroutine sends later.
void Connection::flush() {
  while (!slots_.empty() && slots_.front()->ready) {
    Reply& reply = slots_.front()->reply;
    if (!close_after_write_) out_.append(std::move(reply.frame));
    close_after_write_ = close_after_write_ || reply.close;
    slots_.pop_front();
  }
  if (closed_ || writing_) return wake_waiter();
  if (!out_.empty()) {
    const auto sent = stream_->write_now(out_, 0);
    if (!sent) return close();
    shard_.metrics().bytes_sent.add(static_cast<std::int64_t>(*sent));
    if (*sent < out_.size()) {
      out_sent_ = *sent;
      writing_ = true;
      shard_.core().spawn(write_rest(shared_from_this()));
      return wake_waiter();
    }
    out_ = {};
  }
  if (close_after_write_) return close();
  wake_waiter();
}

Awaitable<void> Connection::write_rest(std::shared_ptr<Connection> self) {
  while (!self->closed_ && self->out_sent_ < self->out_.size()) {
    if (!co_await self->stream_->writable() || self->closed_) break;
    const auto sent = self->stream_->write_now(self->out_, self->out_sent_);
    if (!sent) {
      self->close();
      break;
    }
    self->out_sent_ += *sent;
    self->shard_.metrics().bytes_sent.add(static_cast<std::int64_t>(*sent));
    self->last_active_ = self->shard_.core().clock().steady();
  }
  self->out_ = {};
  self->out_sent_ = 0;
  self->writing_ = false;
  self->flush();
}

Awaitable<void> Connection::wait_for_answers(std::size_t pending) {
  while (!closed_ && (writing_ || slots_.size() > pending)) {
    waiting_for_ = pending;
    co_await runtime::suspend<int>([this](runtime::Resume<int> resume) { waiter_ = std::move(resume); });
  }
}

void Connection::wake_waiter() {
  if (waiter_ && (closed_ || (!writing_ && slots_.size() <= waiting_for_))) std::exchange(waiter_, nullptr)(0);
}

}  // namespace thalweg::server
