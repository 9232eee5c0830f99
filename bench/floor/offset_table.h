// Committed offsets in SQLite, with what the metadata store's engine costs and nothing else: one table like the
// store's, WAL with a full sync, one prepared upsert for each partition, one transaction for all commits that wait.
#pragma once

#include <sqlite3.h>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "floor/frames.h"

namespace thalweg::floor {

// A thread of its own writes, beside the loop. Faults of SQLite end the process: there is no figure then.
class OffsetTable {
 public:
  // Makes the table in a folder of its own in `folder`. Completions run on `executor`. Throws where it cannot be made.
  OffsetTable(const std::string& folder, boost::asio::any_io_executor executor);
  // Removes the folder. What still waits is given up.
  ~OffsetTable();
  OffsetTable(const OffsetTable&) = delete;
  OffsetTable& operator=(const OffsetTable&) = delete;

  // Completes once the offsets are durable. `commit` and the frame it lies in must live until then.
  template <class Token>
  auto write(const OffsetCommit& commit, Token&& token) {
    return boost::asio::async_initiate<Token, void()>(
        [this](auto handler, const OffsetCommit* what) { add({what, Handler(std::move(handler))}); }, token, &commit);
  }

 private:
  using Handler = boost::asio::any_completion_handler<void()>;
  struct Waiting {
    const OffsetCommit* commit;
    Handler done;
  };

  void add(Waiting waiting);
  void run();
  void write_all(const std::vector<Waiting>& batch);
  void step(sqlite3_stmt* statement);
  sqlite3_stmt* prepare(const char* text);
  void execute(const char* text);

  boost::asio::any_io_executor executor_;
  std::string folder_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* upsert_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<Waiting> waiting_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace thalweg::floor
