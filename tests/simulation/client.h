// Client: one connection to the simulated broker: requests out as real frames, answers in, in their order.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "protocol/wire.h"
#include "runtime/simulated_stream.h"

namespace thalweg::simulation {

class Client {
 public:
  using Link = std::shared_ptr<runtime::SimulatedLink>;

  // A new connection; there is none.
  void connect(Link link) { link_ = std::move(link); }
  [[nodiscard]] bool connected() const { return link_ != nullptr; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  // Ends the connection; every request that waits hears that it gets no answer.
  void hang_up();

  // Sends the request. `done` gets the answer, or null where the connection ended before.
  template <class Request>
  void send(const Request& request, int version, std::function<void(const typename Request::Response*)> done) {
    write(request, version);
    waiting_.push_back({correlation_id_, [version, done = std::move(done)](const base::Bytes* body) {
                          typename Request::Response response;
                          if (body == nullptr) return done(nullptr);
                          decode(*body, version, response);
                          done(&response);
                        }});
  }
  // Sends a request that is not answered.
  template <class Request>
  void send_unanswered(const Request& request, int version) {
    write(request, version);
  }

  // Hands out what has arrived.
  void poll();

 private:
  struct Waiting {
    std::int32_t correlation_id;
    std::function<void(const base::Bytes*)> done;
  };

  template <class Request>
  void write(const Request& request, int version) {
    protocol::Writer writer;
    writer.fixed(std::int32_t{0});
    writer.fixed(static_cast<std::int16_t>(Request::kApiKey));
    writer.fixed(static_cast<std::int16_t>(version));
    writer.fixed(++correlation_id_);
    writer.string("simulation", false);
    if (version >= Request::kFirstFlexibleVersion) writer.uvarint(0);
    request.encode(writer, version);
    writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
    link_->send(std::move(writer).finish().flatten().view());
  }
  template <class Response>
  static void decode(const base::Bytes& body, int version, Response& response) {
    protocol::Reader reader(body);
    if (version >= Response::kFirstFlexibleVersion) (void)reader.uvarint();
    response.decode(reader, version);
    check(reader.ok());
  }
  static void check(bool readable);

  Link link_;
  std::int32_t correlation_id_ = 0;
  std::string input_;
  std::deque<Waiting> waiting_;
};

}  // namespace thalweg::simulation
