// Broker keys: the broker itself, requests, and what only Thalweg has.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> general_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("node.id", Type::int_, "1", kHigh, kReadOnly, kUsed, at_least(0),
          "Number of this broker, unique in its fleet."),
      key("broker.id", Type::int_, "1", kHigh, kReadOnly, kUsed, {},
          "Older name of `node.id`. If both are set they must agree."),
      key("broker.rack", Type::string, kNull, kMedium, kReadOnly, kUsed, {},
          "Rack or zone of this broker, told to clients that prefer near replicas. Null: none."),
      key("auto.create.topics.enable", Type::boolean, "true", kHigh, kReadOnly, kUsed, {},
          "Whether asking for a topic that does not exist may create it."),
      key("delete.topic.enable", Type::boolean, "true", kHigh, kReadOnly, kUsed, {}, "Whether topics may be deleted."),
      key("num.partitions", Type::int_, "1", kMedium, kReadOnly, kUsed, at_least(1),
          "Partitions of a topic that is created without a count."),
      key("default.replication.factor", Type::int_, "1", kMedium, kReadOnly, kUsed, {},
          "Replicas of a topic that is created without a factor."),
      key("min.insync.replicas", Type::int_, "1", kHigh, kClusterWide, kUsed, at_least(1),
          "In-sync replicas that a write with acks=all needs. Topics may override it."),
      key("message.max.bytes", Type::int_, "1048588", kHigh, kClusterWide, kUsed, at_least(0),
          "Largest record batch accepted, in bytes as stored, compressed if it came so. Topics override it with "
          "`max.message.bytes`."),
      key("max.decompressed.message.bytes", Type::int_, "2147483639", kMedium, kClusterWide, kUsed,
          between(1, 2147483639),
          "Largest size in bytes of a single record after decompression. Larger ones are rejected, in compaction and "
          "in look-ups by time too."),
      key("compression.type", Type::string, "producer", kHigh, kClusterWide, kUsed,
          one_of("uncompressed,zstd,lz4,snappy,gzip,producer"),
          "Codec in which batches are kept. `producer` keeps each as it came."),
      key("compression.gzip.level", Type::int_, "-1", kMedium, kClusterWide, kUsed, between_or(1, 9, -1),
          "Effort of gzip, 1 to 9, when batches are rewritten with it. -1 is the library's default."),
      key("compression.lz4.level", Type::int_, "9", kMedium, kClusterWide, kUsed, between(1, 17),
          "Effort of lz4, 1 to 17, when batches are rewritten with it."),
      key("compression.zstd.level", Type::int_, "3", kMedium, kClusterWide, kUsed, between(-131072, 22),
          "Effort of zstd, -131072 to 22, when batches are rewritten with it."),
      key("fetch.max.bytes", Type::int_, "57671680", kMedium, kReadOnly, kUsed, at_least(1024),
          "Most bytes of records in one Fetch answer, whatever the client asks. A first batch that is larger still "
          "goes out whole."),
      key("max.request.partition.size.limit", Type::int_, "2000", kMedium, kReadOnly, kUsed, at_least(1),
          "Most partitions that one DescribeTopicPartitions answer lists."),
      key("max.incremental.fetch.session.cache.slots", Type::int_, "1000", kMedium, kReadOnly, kUsed, at_least(0),
          "Fetch sessions that are remembered at once."),
      key("fetch.purgatory.purge.interval.requests", Type::int_, "1000", kMedium, kReadOnly, kAccepted, {},
          "Finished waits after which the fetch purgatory is swept. Waits are removed at once here."),
      key("producer.purgatory.purge.interval.requests", Type::int_, "1000", kMedium, kReadOnly, kAccepted, {},
          "Finished waits after which the produce purgatory is swept. Waits are removed at once here."),
      key("delete.records.purgatory.purge.interval.requests", Type::int_, "1", kMedium, kReadOnly, kAccepted, {},
          "Finished waits after which the DeleteRecords purgatory is swept. Waits are removed at once here."),
      key("controlled.shutdown.enable", Type::boolean, "true", kMedium, kReadOnly, kAccepted, {},
          "Whether a stopping broker first gives up its partitions. A stop is always orderly here."),
      key("config.providers", Type::list, "", kLow, kClusterWide, kUsed, any_list(),
          "Names of value providers, each with a `config.providers.NAME.class`. `env` and `file` work without being "
          "named."),
      hidden(key("unstable.api.versions.enable", Type::boolean, "false", kHigh, kReadOnly, kUsed, {},
                 "Whether API versions that are still being worked on are offered. Not for production.")),
      hidden(key("unstable.feature.versions.enable", Type::boolean, "false", kHigh, kReadOnly, kUsed, {},
                 "Whether feature levels that are still being worked on may be chosen. Not for production.")),
      hidden(key("server.max.startup.time.ms", Type::long_, "9223372036854775807", kMedium, kReadOnly, kAccepted,
                 at_least(0), "Time (ms) the start may take before it is given up.")),
      because(kNoJava, key("security.providers", Type::string, kNull, kLow, kReadOnly, kRefused, {},
                           "Java security providers to install, as class names.")),
  };
  return kKeys;
}

namespace {

// What a broker asks its clients for unless somebody says otherwise: what KIP-714 has every client measure, and what
// their owners look at first when something is slow.
constexpr std::string_view kDefaultClientMetrics =
    "org.apache.kafka.producer.connection.creation.rate,"
    "org.apache.kafka.producer.connection.creation.total,"
    "org.apache.kafka.producer.node.request.latency.avg,"
    "org.apache.kafka.producer.node.request.latency.max,"
    "org.apache.kafka.producer.produce.throttle.time.avg,"
    "org.apache.kafka.producer.produce.throttle.time.max,"
    "org.apache.kafka.producer.record.queue.time.avg,"
    "org.apache.kafka.producer.record.queue.time.max,"
    "org.apache.kafka.producer.record.send.total,"
    "org.apache.kafka.producer.record.error.total,"
    "org.apache.kafka.producer.record.retry.total,"
    "org.apache.kafka.producer.outgoing.byte.total,"
    "org.apache.kafka.producer.batch.size.avg,"
    "org.apache.kafka.producer.buffer.available.bytes,"
    "org.apache.kafka.consumer.connection.creation.rate,"
    "org.apache.kafka.consumer.connection.creation.total,"
    "org.apache.kafka.consumer.node.request.latency.avg,"
    "org.apache.kafka.consumer.node.request.latency.max,"
    "org.apache.kafka.consumer.poll.idle.ratio.avg,"
    "org.apache.kafka.consumer.coordinator.commit.latency.avg,"
    "org.apache.kafka.consumer.coordinator.commit.latency.max,"
    "org.apache.kafka.consumer.coordinator.assigned.partitions,"
    "org.apache.kafka.consumer.coordinator.rebalance.latency.avg,"
    "org.apache.kafka.consumer.coordinator.rebalance.latency.max,"
    "org.apache.kafka.consumer.coordinator.rebalance.latency.total,"
    "org.apache.kafka.consumer.fetch.manager.fetch.latency.avg,"
    "org.apache.kafka.consumer.fetch.manager.fetch.latency.max,"
    "org.apache.kafka.consumer.fetch.manager.records.lag.max,"
    "org.apache.kafka.consumer.fetch.manager.records.consumed.total,"
    "org.apache.kafka.consumer.fetch.manager.bytes.consumed.total";

}  // namespace

std::span<const ConfigKey> own_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("thalweg.console.listeners", Type::list, "http://127.0.0.1:8080", kHigh, kReadOnly, kUsed, any_list(),
          "HTTP addresses of the console, metrics and health checks. Empty: no console."),
      key("thalweg.allow.insecure.listeners", Type::boolean, "false", kHigh, kReadOnly, kUsed, {},
          "Whether a plain listener without an authorizer may listen beyond the loopback interface."),
      key("thalweg.cores", Type::int_, "0", kHigh, kReadOnly, kUsed, between(0, 1024),
          "Event loops, one thread each. 0: one for each core of the machine."),
      key("thalweg.max.bytes.in.flight", Type::long_, "268435456", kHigh, kReadOnly, kUsed, at_least(1),
          "Bytes of requests that may be read and not yet answered, over all connections. Beyond it reading waits."),
      key("thalweg.log.dirs.reserved.bytes", Type::long_, "67108864", kMedium, kClusterWide, kUsed, at_least(0),
          "Bytes of each log directory's disk that records do not fill: with less left, a produce to it is refused "
          "with KAFKA_STORAGE_ERROR, while deletions and the metadata store go on. 0: nothing is kept free."),
      key("thalweg.offsets.mirror.enable", Type::boolean, "false", kLow, kReadOnly, kUsed, {},
          "Whether committed offsets are also written to the topic `__consumer_offsets`, for tools that read it."),
      key("thalweg.telemetry.default.metrics", Type::list, kDefaultClientMetrics, kMedium, kReadOnly, kUsed, any_list(),
          "Prefixes of the metrics that clients are asked for which no client metrics subscription matches. `*` means "
          "all. "
          "Empty: they are asked for none."),
      key("thalweg.telemetry.interval.ms", Type::int_, "60000", kMedium, kReadOnly, kUsed, between(100, 3600000),
          "Time (ms) between two pushes of the `thalweg.telemetry.default.metrics`."),
      key("thalweg.telemetry.otlp.endpoint", Type::string, kNull, kMedium, kReadOnly, kUsed, {},
          "Collector that gets what clients push, by OTLP over HTTP: http://HOST[:PORT][/PATH], by default port 4318 "
          "and "
          "path /v1/metrics. Null: none."),
      key("thalweg.telemetry.topic.enable", Type::boolean, "false", kLow, kReadOnly, kUsed, {},
          "Whether what clients push is also written to the topic `__client_telemetry`."),
      key("thalweg.telemetry.max.series", Type::int_, "100000", kMedium, kReadOnly, kUsed, at_least(0),
          "Series of client metrics that are kept for `/metrics`, of all clients together. Beyond it new ones are "
          "dropped."),
      key("thalweg.log.read.verify", Type::boolean, "false", kLow, kReadOnly, kUsed, {},
          "Whether the checksum of every record batch is compared before a Fetch answers with it. Batches then go "
          "through memory instead of straight from the file. Small answers are always compared."),
      key("thalweg.log.scrub.bytes.per.second", Type::long_, "1048576", kLow, kReadOnly, kUsed, at_least(0),
          "Bytes that the broker reads of its own logs in a second to compare checksums, once a day where there is "
          "time for that. What it finds is logged and counted. 0: never."),
  };
  return kKeys;
}

}  // namespace thalweg::config
