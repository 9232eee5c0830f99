// What a call on a coordinator gives back to its shell: what to store, and what to say once it is stored.
//
// The machines here are pure: they are told the time and what came in, change their own state at once, and leave the
// rest in a Step. The shell commits `writes` as one change set and delivers `answers` only when it is durable; answers
// of a later step on the same group wait for the writes of the earlier one. Where the commit fails the shell gives the
// answers the error instead, forgets the group and loads it anew: what is stored is the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "protocol/error.h"
#include "records/record.h"

namespace thalweg::coordinator {

// When something happens: deadlines count in steady time, what is stored in wall time. Both in milliseconds.
struct Time {
  std::int64_t steady_ms = 0;
  std::int64_t wall_ms = 0;
};

// No deadline.
inline constexpr std::int64_t kNever = INT64_MAX;

// Takes the answer to one request, once.
template <class Response>
using Reply = std::move_only_function<void(Response)>;

// An answer that waits for what it says to be durable. Called once, with the error that kept it from being stored, or
// none.
using Answer = std::move_only_function<void(protocol::ErrorCode)>;

// The answer a client gets instead where the group's change could not be stored.
template <class Response>
void set_failed(Response& response, protocol::ErrorCode error) {
  response = Response();
  response.error_code = error;
}

struct Step {
  std::vector<records::Record> writes{};
  std::vector<Answer> answers{};

  template <class Response>
  void answer(Reply<Response> reply, Response response) {
    answers.emplace_back(
        [reply = std::move(reply), response = std::move(response)](protocol::ErrorCode failed) mutable {
          if (failed != protocol::ErrorCode::none) set_failed(response, failed);
          reply(std::move(response));
        });
  }
};

}  // namespace thalweg::coordinator
