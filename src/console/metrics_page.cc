#include "console/metrics_page.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>

#include "protocol/api_key.h"
#include "telemetry/samples.h"

namespace thalweg::console {

namespace {

using broker::Broker;
using broker::CoreMetrics;
using broker::Counter;
using broker::Histogram;

class Page {
 public:
  void head(const char* name, const char* type, const char* help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void sample(std::string_view name, std::string_view labels, double value) {
    if (labels.empty()) {
      fmt::format_to(std::back_inserter(text_), "{} {}\n", name, value);
    } else {
      fmt::format_to(std::back_inserter(text_), "{}{{{}}} {}\n", name, labels, value);
    }
  }
  void single(const char* name, const char* type, const char* help, double value) {
    head(name, type, help);
    sample(name, {}, value);
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

// The sum of a histogram over all cores.
struct Summed {
  std::array<std::int64_t, Histogram::kBuckets> buckets{};
  std::int64_t sum_ns = 0;

  void add(const Histogram& h) {
    for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += h.bucket(i);
    sum_ns += h.sum_ns();
  }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t n = 0;
    for (const std::int64_t b : buckets) n += b;
    return n;
  }
  void print(Page& page, const std::string& name, const std::string& labels) const {
    const std::string sep = labels.empty() ? "" : labels + ",";
    std::int64_t seen = 0;
    for (std::size_t i = 0; i + 1 < buckets.size(); ++i) {
      seen += buckets[i];
      page.sample(name + "_bucket", fmt::format("{}le=\"{}\"", sep, Histogram::upper_bound_s(i)),
                  static_cast<double>(seen));
    }
    page.sample(name + "_bucket", sep + "le=\"+Inf\"", static_cast<double>(count()));
    page.sample(name + "_sum", labels, static_cast<double>(sum_ns) * 1e-9);
    page.sample(name + "_count", labels, static_cast<double>(count()));
  }
};

double sum(Broker& broker, const std::function<double(const CoreMetrics&)>& of) {
  double total = 0;
  for (int i = 0; i < broker.core_count(); ++i) total += of(broker.shard(i).metrics());
  return total;
}
double sum(Broker& broker, Counter CoreMetrics::* counter) {
  return sum(broker, [counter](const CoreMetrics& m) { return static_cast<double>((m.*counter).value()); });
}
Summed sum(Broker& broker, Histogram CoreMetrics::* histogram) {
  Summed total;
  for (int i = 0; i < broker.core_count(); ++i) total.add(broker.shard(i).metrics().*histogram);
  return total;
}

void print_apis(Page& page, Broker& broker) {
  page.head("thalweg_requests_total", "counter", "Requests answered, by API.");
  for (const protocol::ApiInfo& api : protocol::kApis) {
    const auto slot = static_cast<std::size_t>(api.key);
    const double n =
        sum(broker, [slot](const CoreMetrics& m) { return static_cast<double>(m.apis[slot].requests.value()); });
    if (n > 0) page.sample("thalweg_requests_total", fmt::format("api=\"{}\"", api.name), n);
  }
  page.head("thalweg_request_errors_total", "counter", "Requests that ended their connection, by API.");
  for (const protocol::ApiInfo& api : protocol::kApis) {
    const auto slot = static_cast<std::size_t>(api.key);
    const double n =
        sum(broker, [slot](const CoreMetrics& m) { return static_cast<double>(m.apis[slot].errors.value()); });
    if (n > 0) page.sample("thalweg_request_errors_total", fmt::format("api=\"{}\"", api.name), n);
  }
  page.head("thalweg_request_seconds", "histogram", "Time from a request's arrival to its answer, by API.");
  for (const protocol::ApiInfo& api : protocol::kApis) {
    Summed latency;
    for (int i = 0; i < broker.core_count(); ++i)
      latency.add(broker.shard(i).metrics().apis[static_cast<std::size_t>(api.key)].latency);
    if (latency.count() > 0) latency.print(page, "thalweg_request_seconds", fmt::format("api=\"{}\"", api.name));
  }
}

// What the broker does with what clients push; what they say is on the page behind this one.
void print_telemetry(Page& page, Broker& broker) {
  const auto total = [&broker](const auto& of) {
    double all = 0;
    for (int i = 0; i < broker.core_count(); ++i)
      all += static_cast<double>(of(broker.shard(i).telemetry().counters()));
    return all;
  };
  using Telemetry = broker::TelemetryMetrics;
  const auto counter = [&](const char* name, const char* help, Counter Telemetry::* of) {
    page.single(name, "counter", help, total([of](const Telemetry& t) { return (t.*of).value(); }));
  };
  counter("thalweg_telemetry_pushes_total", "Pushes of client metrics that were admitted.", &Telemetry::pushes);
  counter("thalweg_telemetry_push_bytes_total", "Bytes of them, as they came.", &Telemetry::bytes);
  counter("thalweg_telemetry_throttled_total", "Telemetry requests that came too early.", &Telemetry::throttled);
  counter("thalweg_telemetry_refused_total", "Pushes of client metrics refused for another reason.",
          &Telemetry::refused);
  counter("thalweg_telemetry_topic_dropped_total", "Pushes that could not be passed on or written to the topic.",
          &Telemetry::dropped);
  if (const broker::OtlpForwarder* const forwarder = broker.otlp_forwarder()) {
    const auto& otlp = forwarder->metrics();
    page.single("thalweg_telemetry_otlp_sent_total", "counter", "Pushes that the OTLP collector has taken.",
                static_cast<double>(otlp.sent.value()));
    page.single("thalweg_telemetry_otlp_dropped_total", "counter", "Pushes that the OTLP collector never got.",
                static_cast<double>(otlp.dropped.value()));
    page.single("thalweg_telemetry_otlp_retries_total", "counter", "Requests to the OTLP collector made again.",
                static_cast<double>(otlp.retries.value()));
    page.single("thalweg_telemetry_otlp_queue_bytes", "gauge", "Bytes that wait for the OTLP collector.",
                static_cast<double>(otlp.queued_bytes.load(std::memory_order_relaxed)));
  }
  counter("thalweg_telemetry_samples_left_out_total",
          "Samples of client metrics that were beyond a limit or cannot be shown.", &Telemetry::left_out);
  page.single("thalweg_telemetry_instances", "gauge", "Client instances known.",
              total([](const Telemetry& t) { return t.instances.load(std::memory_order_relaxed); }));
  page.single("thalweg_telemetry_series", "gauge", "Series of client metrics kept.",
              total([](const Telemetry& t) { return t.series.load(std::memory_order_relaxed); }));
}

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double size = 0;
  double resident = 0;
  in >> size >> resident;
  return resident * 4096;
}

// Longer than the path of any folder.
constexpr std::size_t kMostPathBytes = 8192;

void print_log_directories(Page& page, Broker& broker) {
  const auto gauge = [&](const char* name, const char* help, const auto& value) {
    page.head(name, "gauge", help);
    for (const auto& directory : broker.log_directories())
      page.sample(name,
                  fmt::format("directory=\"{}\"", telemetry::label_value(directory->absolute_path, kMostPathBytes)),
                  static_cast<double>(value(*directory)));
  };
  using broker::LogDirectory;
  gauge("thalweg_log_directory_free_bytes", "Bytes free on the disk of a log directory; -1 where it is not known.",
        [](const LogDirectory& directory) { return directory.room.free_bytes(); });
  gauge("thalweg_log_directory_full",
        "1 where no more is free than thalweg.log.dirs.reserved.bytes, so that records are refused.",
        [](const LogDirectory& directory) { return directory.room.full() ? 1 : 0; });
  gauge("thalweg_log_directory_offline", "1 where a log directory has failed.",
        [](const LogDirectory& directory) { return directory.offline ? 1 : 0; });
  page.single("thalweg_produces_without_room_total", "counter",
              "Record batches refused to keep thalweg.log.dirs.reserved.bytes free.",
              sum(broker, &CoreMetrics::produces_without_room));
}

}  // namespace

std::string metrics_page(Broker& broker, const ConnectionCounts& connections) {
  Page page;
  print_apis(page, broker);
  page.single("thalweg_connections", "gauge", "Connections open now.", static_cast<double>(connections.open));
  page.single("thalweg_connections_accepted_total", "counter", "Connections accepted.",
              sum(broker, &CoreMetrics::connections_accepted));
  page.single("thalweg_connections_refused_total", "counter", "Connections refused by max.connections.per.ip.",
              sum(broker, &CoreMetrics::connections_refused));
  page.single("thalweg_tls_handshakes_total", "counter", "TLS handshakes that succeeded.",
              static_cast<double>(connections.tls_handshakes));
  page.single("thalweg_tls_handshake_failures_total", "counter", "TLS handshakes that failed.",
              static_cast<double>(connections.tls_handshake_failures));
  page.single("thalweg_received_bytes_total", "counter", "Bytes received from clients.",
              sum(broker, &CoreMetrics::bytes_received));
  page.single("thalweg_sent_bytes_total", "counter", "Bytes sent to clients.", sum(broker, &CoreMetrics::bytes_sent));
  page.single("thalweg_record_bytes_in_total", "counter", "Bytes of record batches appended.",
              sum(broker, &CoreMetrics::records_bytes_in));
  page.single("thalweg_record_bytes_out_total", "counter", "Bytes of record batches handed to fetches.",
              sum(broker, &CoreMetrics::records_bytes_out));
  page.single("thalweg_batches_appended_total", "counter", "Record batches appended.",
              sum(broker, &CoreMetrics::batches_appended));
  page.single("thalweg_fetches_parked_total", "counter", "Fetches that waited for more to read.",
              sum(broker, &CoreMetrics::fetches_parked));
  page.single("thalweg_fetches_expired_total", "counter", "Waiting fetches whose time ran out.",
              sum(broker, &CoreMetrics::fetches_expired));
  page.single("thalweg_fetch_sessions", "gauge", "Fetch sessions kept.",
              sum(broker, [](const CoreMetrics& m) { return static_cast<double>(m.fetch_sessions.load()); }));
  page.single("thalweg_partitions", "gauge", "Partitions in use.",
              sum(broker, [](const CoreMetrics& m) { return static_cast<double>(m.partitions.load()); }));
  page.single("thalweg_bytes_in_flight", "gauge", "Bytes of requests being handled.",
              sum(broker, [](const CoreMetrics& m) { return static_cast<double>(m.bytes_in_flight.load()); }));
  page.single("thalweg_bytes_in_flight_waits_total", "counter", "Requests that waited for thalweg.max.bytes.in.flight.",
              sum(broker, &CoreMetrics::bytes_in_flight_waits));

  page.single("thalweg_compactions_total", "counter", "Passes that compacted a partition.",
              sum(broker, &CoreMetrics::compactions));
  page.single("thalweg_compaction_failures_total", "counter", "Passes that did not come to their end.",
              sum(broker, &CoreMetrics::compaction_failures));
  page.single("thalweg_compaction_bytes_read_total", "counter", "Bytes that compactions have read.",
              sum(broker, &CoreMetrics::compaction_bytes_read));
  page.single("thalweg_compaction_bytes_written_total", "counter", "Bytes that compactions have written.",
              sum(broker, &CoreMetrics::compaction_bytes_written));
  page.single("thalweg_unsound_reads_total", "counter",
              "Reads that met a record batch which is not as it was written; answered with CORRUPT_MESSAGE.",
              sum(broker, &CoreMetrics::unsound_reads));
  page.single("thalweg_scrub_bytes_total", "counter", "Bytes of logs that the scrub has compared with their checksums.",
              sum(broker, &CoreMetrics::scrub_bytes));
  page.single("thalweg_scrub_faults_total", "counter", "Faults that the scrub has met, each time that it met them.",
              sum(broker, &CoreMetrics::scrub_faults));
  page.single("thalweg_timestamps_refused_total", "counter", "Record batches refused for a timestamp out of bounds.",
              sum(broker, &CoreMetrics::timestamps_refused));
  page.single("thalweg_timestamps_future_total", "counter",
              "Record batches stored whose latest record is more than a minute ahead of the clock.",
              sum(broker, &CoreMetrics::timestamps_future));
  page.single("thalweg_timestamps_missing_total", "counter", "Record batches stored that have no timestamp.",
              sum(broker, &CoreMetrics::timestamps_missing));
  page.single("thalweg_segments_deleted_total", "counter", "Segments that retention has deleted.",
              sum(broker, &CoreMetrics::segments_deleted));
  page.single("thalweg_segment_bytes_deleted_total", "counter", "Bytes of segments that retention has deleted.",
              sum(broker, &CoreMetrics::segment_bytes_deleted));

  print_log_directories(page, broker);
  print_telemetry(page, broker);

  page.head("thalweg_sync_seconds", "histogram", "Time of a round of syncs that made records durable.");
  sum(broker, &CoreMetrics::flush_time).print(page, "thalweg_sync_seconds", "");
  page.single("thalweg_sync_failures_total", "counter", "Syncs that failed; each takes a log directory offline.",
              sum(broker, &CoreMetrics::flush_failures));

  broker::StoreMetrics& store = broker.store_metrics();
  page.single("thalweg_store_change_sets_total", "counter", "Change sets committed to the metadata store.",
              static_cast<double>(store.change_sets.value()));
  page.single("thalweg_store_refused_total", "counter", "Change sets refused by a precondition.",
              static_cast<double>(store.refused.value()));
  page.single("thalweg_store_failures_total", "counter", "Transactions of the metadata store that failed.",
              static_cast<double>(store.failures.value()));
  const auto store_histogram = [&](const char* name, const char* help, const Histogram& histogram) {
    page.head(name, "histogram", help);
    Summed total;
    total.add(histogram);
    total.print(page, name, "");
  };
  store_histogram("thalweg_store_commit_seconds", "Time of a transaction of the metadata store.", store.commit_time);
  store_histogram("thalweg_store_sync_seconds", "Time of making such a transaction durable.", store.sync_time);
  store_histogram("thalweg_store_checkpoint_seconds", "Time of a checkpoint of the metadata store.",
                  store.checkpoint_time);

  page.head("thalweg_event_loop_delay_seconds", "gauge",
            "Longest time that a task waited for its turn since the last scrape, by core.");
  for (int i = 0; i < broker.core_count(); ++i)
    page.sample("thalweg_event_loop_delay_seconds", fmt::format("core=\"{}\"", i),
                static_cast<double>(broker.core(i).take_longest_delay_ns()) * 1e-9);
  page.head("thalweg_pool_queue_tasks", "gauge", "Tasks that wait for a thread of a pool.");
  page.sample("thalweg_pool_queue_tasks", "pool=\"disk\"", static_cast<double>(broker.disk_queue()));
  page.sample("thalweg_pool_queue_tasks", "pool=\"sync\"", static_cast<double>(broker.sync_queue()));
  page.sample("thalweg_pool_queue_tasks", "pool=\"metadata\"", static_cast<double>(broker.store_queue()));
  page.single("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
  return std::move(page).take();
}

}  // namespace thalweg::console
