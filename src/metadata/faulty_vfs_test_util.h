// A file layer for SQLite that is the machine's until it is told to fail a call, and lets a test look on. It
// syncs nothing.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace thalweg::metadata {

class FaultyVfs {
 public:
  enum class Operation { write, sync, truncate };

  // Registered with SQLite under name() when first asked for.
  static FaultyVfs& instance();
  [[nodiscard]] const char* name() const { return "faulty"; }

  // The next call of this operation fails with `code`, once.
  void fail_next(Operation operation, int code) {
    operation_ = static_cast<int>(operation);
    code_ = code;
    armed_ = true;
  }
  // The n-th call from now on (0: the next) of any operation fails, whichever it is; with all_after, so do those that
  // follow.
  void fail_nth(std::int64_t n, bool all_after) {
    all_after_ = all_after;
    countdown_ = n;
  }
  // No call fails any more. Returns whether one had since fail_nth.
  bool calm() {
    armed_ = false;
    const bool failed = countdown_ < 0 && countdown_ != kNever;
    countdown_ = kNever;
    return failed;
  }

  // Called with the path before each call that changes a file, and behind each sync that worked.
  std::function<void(Operation, const std::string&)> before;
  std::function<void(const std::string&)> synced;

  // The result of a call that is about to be made: SQLITE_OK lets it through.
  int verdict(Operation operation, const char* path);

 private:
  static constexpr std::int64_t kNever = INT64_MIN;
  std::atomic<bool> armed_{false};
  std::atomic<int> operation_{0};
  std::atomic<int> code_{0};
  std::atomic<bool> all_after_{false};
  std::atomic<std::int64_t> countdown_{kNever};
};

}  // namespace thalweg::metadata
