// Connection: one client's requests in, answers out, in the order of the requests.
//
// A frame is a size (int32) and that many bytes. Frames are slices of the block they were read into, and so are the
// records in them, all the way to the file. Requests of one connection run one after the other, as Kafka runs them, but
// for those that are pipelined (Produce): these start in order and their answers wait for their turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "broker/request_context.h"
#include "broker/shard.h"
#include "runtime/stream.h"
#include "server/dispatch.h"
#include "server/in_flight.h"
#include "server/login.h"
#include "server/request_header.h"

namespace thalweg::server {

class Connection final : public std::enable_shared_from_this<Connection>, private PartialFrame {
 public:
  struct Limits {
    std::size_t frame_bytes = 100 << 20;         // socket.request.max.bytes
    std::size_t login_frame_bytes = 512 * 1024;  // sasl.server.max.receive.size
    bool unstable_versions = false;
  };

  Connection(broker::Shard& shard, InFlightBytes& in_flight, Limits limits, const broker::ListenerInfo& listener,
             std::unique_ptr<runtime::Stream> stream);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Says who the client is, where the listener has found out before the first request.
  void set_principal(broker::Principal principal) { info_.principal = std::move(principal); }
  // Serves until the peer ends the connection, a fault does, or close() is called.
  runtime::Awaitable<void> serve();
  // Ends the connection; on its core.
  void close();

  [[nodiscard]] const broker::ConnectionInfo& info() const { return info_; }
  // When something was last received or answered.
  [[nodiscard]] base::SteadyTime last_active() const { return last_active_; }
  // Whether no request waits for its answer.
  [[nodiscard]] bool idle() const { return slots_.empty() && !writing_; }

 private:
  // The place of one answer in the order.
  struct Slot {
    bool ready = false;
    Reply reply;
    std::size_t charged_bytes = 0;
  };

  // A whole frame without its size, or nothing where the connection has ended.
  runtime::Awaitable<bool> read_frame(base::Bytes& frame);
  // Makes room in the block for a frame of `size` bytes of which some may be there already.
  void make_room(std::size_t size);
  // Takes what has come of a large frame from the budget. False where the connection ended meanwhile.
  runtime::Awaitable<bool> charge_ahead();
  [[nodiscard]] base::SteadyTime last_byte() const override { return last_byte_; }
  void give_up() override;
  void take_block(std::size_t capacity);

  // The largest frame that is read now: a small one from a client that is not logged in.
  [[nodiscard]] std::size_t frame_limit() const;
  // Charges for a whole frame, of which some may be charged for already. False where the connection ended meanwhile.
  runtime::Awaitable<bool> charge(Slot& slot, std::size_t frame_bytes);
  [[nodiscard]] std::shared_ptr<broker::RequestContext> context_of(const RequestHeader& header);
  // Hands a frame to the login that is not complete. False where the connection ends.
  runtime::Awaitable<bool> log_in(base::Bytes frame);
  runtime::Awaitable<bool> log_in(std::shared_ptr<broker::RequestContext> context, base::Bytes body);
  runtime::Awaitable<bool> finish_login_step(std::shared_ptr<Slot> slot, Login::Outcome outcome);
  // Waits for a while, or until the connection is closed.
  runtime::Awaitable<void> hold_back(std::chrono::milliseconds delay);

  // Runs one request. False where the connection ends.
  runtime::Awaitable<bool> handle(base::Bytes frame);
  runtime::Awaitable<void> process(std::shared_ptr<Slot> slot, std::shared_ptr<broker::RequestContext> context,
                                   const ServedApi& api, base::Bytes frame, std::size_t header_bytes);
  static runtime::Awaitable<void> process_alone(std::shared_ptr<Connection> self, std::shared_ptr<Slot> slot,
                                                std::shared_ptr<broker::RequestContext> context, const ServedApi& api,
                                                base::Bytes frame, std::size_t header_bytes);
  void answer(Slot& slot, Reply reply);
  void flush();
  static runtime::Awaitable<void> write_rest(std::shared_ptr<Connection> self);
  // Waits until at most `pending` answers are outstanding and everything ready has been sent.
  runtime::Awaitable<void> wait_for_answers(std::size_t pending);
  void wake_waiter();
  void fail(const std::string& why);

  broker::Shard& shard_;
  InFlightBytes& in_flight_;
  const Limits limits_;
  std::unique_ptr<runtime::Stream> stream_;
  broker::ConnectionInfo info_;
  std::unique_ptr<Login> login_;  // null: the listener knows nobody
  base::SteadyTime last_active_;
  base::SteadyTime last_byte_;

  base::Buffer block_;
  std::size_t begin_ = 0;  // of the bytes in the block that were not handled yet
  std::size_t end_ = 0;
  std::size_t charged_ahead_ = 0;  // of the budget, for what has come of a large frame that is not whole yet

  std::deque<std::shared_ptr<Slot>> slots_;
  base::BufferChain out_;
  std::uint64_t out_sent_ = 0;
  bool writing_ = false;
  bool close_after_write_ = false;
  bool closed_ = false;
  std::size_t waiting_for_ = 0;
  runtime::Resume<int> waiter_;
  runtime::Resume<int> held_back_;
};

}  // namespace thalweg::server
