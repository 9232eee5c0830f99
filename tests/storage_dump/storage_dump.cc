// Writes a partition's folder for Kafka's tools to look at, and prints what the log sees in one that Kafka has written.
//
//   storage_dump write FOLDER     several segments: transactions, idempotent producers, times that jump; closed in
//   order storage_dump read FOLDER [RECOVERY_POINT]
//                                 one line a batch; with a recovery point the folder is opened as after a crash
//   storage_dump index FOLDER     looks every batch up by its offset and by its timestamp

#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "storage/log.h"
#include "storage/test_batch.h"

namespace {

using namespace thalweg;  // NOLINT(google-build-using-namespace): a test program
using storage::Blocking;
using storage::Log;

struct Storage {
  std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  storage::HandleCache handles{*files, 16};
  storage::IndexCache indexes{1 << 20};
  storage::LogContext context{.files = *files, .handles = handles, .indexes = indexes};
  std::shared_ptr<storage::LogConfig> config = std::make_shared<storage::LogConfig>();
  std::unique_ptr<Log> log;

  bool open(const std::string& folder, const storage::OpenOptions& options) {
    const std::string name = folder.substr(folder.rfind('/') + 1);
    auto opened = Log::open(context, folder, storage::parse_folder_name(name).value_or(storage::TopicPartition{}),
                            config, options);
    if (!opened) {
      std::fprintf(stderr, "storage_dump: %s\n", opened.error().message().c_str());
      return false;
    }
    log = std::move(*opened);
    return true;
  }
};

bool append(Log& log, std::vector<std::uint8_t> batch, storage::AppendOrigin origin = storage::AppendOrigin::client) {
  const storage::MutableBatch batches[] = {batch};
  const auto result = log.append(batches, {.origin = origin, .leader_epoch = 3, .now_ms = 1'700'000'000'000});
  if (!result.ok()) std::fprintf(stderr, "storage_dump: %s\n", result.detail.c_str());
  return result.ok();
}

int write(const std::string& folder) {
  Storage storage;
  storage.config->segment_bytes = 60'000;
  storage.config->index_interval_bytes = 1'000;
  if (!storage.open(folder, {.now_ms = 1'700'000'000'000})) return 1;
  Log& log = *storage.log;
  std::int64_t time = 1'700'000'000'000;
  std::int32_t sequence = 0;
  for (int i = 0; i < 1500; ++i) {
    time += i % 7 == 0 ? -500 : 300;
    bool ok = true;
    if (i % 10 == 3) {
      ok = append(log, storage::test::make_batch({.records = 4,
                                                  .value_bytes = 50,
                                                  .timestamp = time,
                                                  .producer_id = 1000,
                                                  .producer_epoch = 2,
                                                  .base_sequence = sequence,
                                                  .transactional = true}));
      sequence += 4;
    } else if (i % 10 == 8) {
      ok = append(log, storage::test::make_marker(1000, 2, i % 20 == 8, 7, time), storage::AppendOrigin::coordinator);
    } else if (i % 5 == 1) {
      ok = append(log, storage::test::make_batch({.value_bytes = 100,
                                                  .timestamp = time,
                                                  .producer_id = 2000 + i % 3,
                                                  .producer_epoch = 0,
                                                  .base_sequence = static_cast<std::int32_t>(i / 15)}));
    } else {
      ok =
          append(log, storage::test::make_batch(
                          {.records = 1 + i % 5, .value_bytes = static_cast<std::size_t>(i % 200), .timestamp = time}));
    }
    if (!ok) return 1;
  }
  const auto closed = log.close({.sync = true});
  return closed ? 0 : 1;
}

// Calls visit(batch, position in its segment) for every batch that consumers would read.
template <class Visit>
bool for_each_batch(Log& log, const Visit& visit) {
  for (std::int64_t offset = log.log_start_offset(); offset < log.log_end_offset();) {
    const auto result = log.read(offset, {.max_bytes = 1, .at_least_one = true, .blocking = Blocking::allowed});
    if (result.status != storage::ReadResult::Status::ok || result.range.size == 0) {
      std::fprintf(stderr, "storage_dump: offset %lld: %s\n", static_cast<long long>(offset), result.detail.c_str());
      return false;
    }
    const auto bytes = Log::read_bytes(result.range, Blocking::allowed);
    if (!bytes || !storage::batch_crc_matches(bytes->span())) {
      std::fprintf(stderr, "storage_dump: offset %lld: bad batch\n", static_cast<long long>(offset));
      return false;
    }
    const protocol::BatchView batch(bytes->data());
    if (!visit(batch, result.range.position)) return false;
    offset = batch.next_offset();
  }
  return true;
}

int read(const std::string& folder, const char* recovery_point) {
  Storage storage;
  storage::OpenOptions options{.clean_shutdown = recovery_point == nullptr};
  if (recovery_point != nullptr)
    std::from_chars(recovery_point, recovery_point + std::strlen(recovery_point), options.recovery_point);
  if (!storage.open(folder, options)) return 1;
  const bool ok = for_each_batch(*storage.log, [](const protocol::BatchView& batch, std::uint64_t position) {
    std::printf(
        "baseOffset: %lld lastOffset: %lld count: %d baseSequence: %d producerId: %lld producerEpoch: %d "
        "position: %llu size: %zu crc: %u\n",
        static_cast<long long>(batch.base_offset()), static_cast<long long>(batch.last_offset()), batch.record_count(),
        batch.base_sequence(), static_cast<long long>(batch.producer_id()), batch.producer_epoch(),
        static_cast<unsigned long long>(position), batch.size_bytes(), batch.crc());
    return true;
  });
  std::fprintf(stderr, "log start %lld, log end %lld, %zu producers, %d segments recovered, %lld bytes cut\n",
               static_cast<long long>(storage.log->log_start_offset()),
               static_cast<long long>(storage.log->log_end_offset()), storage.log->producers().size(),
               storage.log->recovery_report().segments_recovered,
               static_cast<long long>(storage.log->recovery_report().bytes_truncated));
  return ok ? 0 : 1;
}

int index(const std::string& folder) {
  Storage storage;
  if (!storage.open(folder, {.clean_shutdown = true})) return 1;
  Log& log = *storage.log;
  const storage::RecordFinder first_record = [](std::span<const std::uint8_t> bytes, std::int64_t, std::int64_t) {
    const protocol::BatchView batch(bytes.data());
    return std::optional<storage::TimestampedOffset>({batch.max_timestamp(), batch.base_offset(), -1});
  };
  std::int64_t newest = -1;
  const bool ok = for_each_batch(log, [&](const protocol::BatchView& batch, std::uint64_t) {
    const auto found = log.read(batch.last_offset(), {.blocking = Blocking::allowed});
    if (found.first_batch_offset != batch.base_offset()) return false;
    if (batch.max_timestamp() <= newest) return true;
    newest = batch.max_timestamp();
    const auto by_time = log.offset_for_time(newest, first_record, Blocking::allowed);
    return by_time && *by_time && (*by_time)->offset == batch.base_offset();
  });
  if (!ok) std::fprintf(stderr, "storage_dump: the indexes of %s do not lead to its batches\n", folder.c_str());
  return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "write" && argc == 3) return write(argv[2]);
  if (command == "read" && (argc == 3 || argc == 4)) return read(argv[2], argc == 4 ? argv[3] : nullptr);
  if (command == "index" && argc == 3) return index(argv[2]);
  std::fprintf(stderr, "usage: storage_dump write FOLDER | read FOLDER [RECOVERY_POINT] | index FOLDER\n");
  return 2;
}
