// Awaitable, and how a coroutine waits for a callback.
//
// A coroutine runs on the event loop it was spawned on. suspend() hands out a Resume, which any thread may call once;
// the coroutine then goes on on its own loop, from the loop's queue and never inside the call.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <type_traits>
#include <utility>

namespace thalweg::runtime {

namespace asio = boost::asio;

template <class T>
using Awaitable = asio::awaitable<T>;

template <class T>
using Resume = std::move_only_function<void(T)>;

// Suspends the coroutine until the Resume given to `start` is called, and returns what it was called with. `start` runs
// at once. A Resume that is dropped without a call destroys the coroutine.
template <class T, class Start>
Awaitable<T> suspend(Start start) {
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(T)>(
      [](auto handler, Start begin) {
        auto executor = asio::get_associated_executor(handler);
        begin(Resume<T>([executor, handler = std::move(handler)](T value) mutable {
          asio::post(executor,
                     [handler = std::move(handler), value = std::move(value)]() mutable { handler(std::move(value)); });
        }));
      },
      asio::use_awaitable, std::move(start));
}

}  // namespace thalweg::runtime
