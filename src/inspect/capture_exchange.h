// An exchange: a request of a capture with the response to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inspect/capture_packet.h"
#include "inspect/skim.h"

namespace thalweg::inspect {

struct CapturedMessage {
  std::int64_t begin_ns = 0;        // when its first byte was captured, since 1970; 0: never
  std::int64_t end_ns = 0;          // when its last byte was; 0: never
  std::uint64_t size = 0;           // the frame with its size field; 0: there is none
  std::uint64_t missing = 0;        // bytes of it that the capture lacks
  const char* fault = nullptr;      // where it breaks its schema: why
  std::vector<std::uint8_t> frame;  // where frames are kept and it is whole
  bool too_large = false;           // it would be kept, were it smaller
};

struct Exchange {
  enum class Outcome : std::uint8_t {
    answered,
    unwanted,    // the client has asked for no answer: Produce with acks=0
    unanswered,  // the capture has none
  };

  Endpoint client;
  Endpoint server;
  // Null where the client sent none.
  std::shared_ptr<const std::string> client_id;
  std::int16_t api_key = 0;
  std::int16_t version = 0;
  std::int32_t correlation_id = 0;
  Outcome outcome = Outcome::unanswered;
  CapturedMessage request;
  CapturedMessage response;
  // The version that the response is written in. It is the request's, but that a broker answers ApiVersions in a
  // version that it does not know in version 0.
  std::int16_t response_version = 0;
  std::vector<ErrorCount> errors;  // of the response
  bool guessed = false;            // where the request begins was found by its shape

  // From the request's last byte to the response's last; -1 where one of them was not seen.
  [[nodiscard]] std::int64_t latency_ns() const {
    return request.end_ns > 0 && response.end_ns >= request.end_ns ? response.end_ns - request.end_ns : -1;
  }
};

class ExchangeSink {
 public:
  virtual ~ExchangeSink() = default;
  // An exchange that is complete, or will not become so; it may be taken apart.
  virtual void exchange(Exchange& exchange) = 0;
};

}  // namespace thalweg::inspect
