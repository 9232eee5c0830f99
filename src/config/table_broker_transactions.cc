// Broker keys: transactions, quotas, metrics and telemetry.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> transactions_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("transaction.max.timeout.ms", Type::int_, "900000", kHigh, kReadOnly, kUsed, at_least(1),
          "Longest transaction timeout (ms) that a producer may ask for."),
      key("transactional.id.expiration.ms", Type::int_, "604800000", kHigh, kReadOnly, kUsed, at_least(1),
          "Time (ms) after which a transactional id that nobody uses is forgotten."),
      key("transaction.abort.timed.out.transaction.cleanup.interval.ms", Type::int_, "10000", kLow, kReadOnly, kUsed,
          at_least(1), "Time (ms) between two looks for transactions to abort because their time is up."),
      key("transaction.remove.expired.transaction.cleanup.interval.ms", Type::int_, "3600000", kLow, kReadOnly, kUsed,
          at_least(1), "Time (ms) between two looks for transactional ids to forget."),
      key("transaction.partition.verification.enable", Type::boolean, "true", kLow, kClusterWide, kUsed, {},
          "Whether a transactional write is checked to belong to an open transaction."),
      key("transaction.two.phase.commit.enable", Type::boolean, "false", kLow, kReadOnly, kUsed, {},
          "Whether producers may take part in two-phase commit, with transactions that never time out."),
      key("add.partitions.to.txn.retry.backoff.ms", Type::int_, "20", kHigh, kReadOnly, kAccepted, at_least(1),
          "First pause (ms) before the broker asks a transaction coordinator again to add a partition."),
      key("add.partitions.to.txn.retry.backoff.max.ms", Type::int_, "100", kHigh, kReadOnly, kAccepted, at_least(0),
          "Longest time (ms) in which the broker asks a transaction coordinator again to add a partition."),
      key("transaction.state.log.num.partitions", Type::int_, "50", kHigh, kReadOnly, kAccepted, at_least(1),
          "Partitions of the transaction state topic. The state lives in the metadata store here."),
      key("transaction.state.log.replication.factor", Type::short_, "3", kHigh, kReadOnly, kAccepted, at_least(1),
          "Replicas of the transaction state topic. The state lives in the metadata store here."),
      key("transaction.state.log.min.isr", Type::int_, "2", kHigh, kReadOnly, kAccepted, at_least(1),
          "In-sync replicas the transaction state topic needs. The state lives in the metadata store here."),
      key("transaction.state.log.segment.bytes", Type::int_, "104857600", kHigh, kReadOnly, kAccepted, at_least(1),
          "Segment size in bytes of the transaction state topic. The state lives in the metadata store here."),
      key("transaction.state.log.load.buffer.size", Type::int_, "5242880", kHigh, kReadOnly, kAccepted, at_least(1),
          "Bytes read at once when transaction state is loaded from its topic. It lives in the metadata store here."),
  };
  return kKeys;
}

std::span<const ConfigKey> quotas_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("quota.window.num", Type::int_, "11", kLow, kReadOnly, kUsed, at_least(1),
          "Windows over which the use of client quotas is measured."),
      key("quota.window.size.seconds", Type::int_, "1", kLow, kReadOnly, kUsed, at_least(1),
          "Length in seconds of a window of client quotas."),
      key("controller.quota.window.num", Type::int_, "11", kLow, kReadOnly, kUsed, at_least(1),
          "Windows over which the use of the quota on topic changes is measured."),
      key("controller.quota.window.size.seconds", Type::int_, "1", kLow, kReadOnly, kUsed, at_least(1),
          "Length in seconds of a window of the quota on topic changes."),
      key("replication.quota.window.num", Type::int_, "11", kLow, kReadOnly, kAccepted, at_least(1),
          "Windows over which throttled replication is measured."),
      key("replication.quota.window.size.seconds", Type::int_, "1", kLow, kReadOnly, kAccepted, at_least(1),
          "Length in seconds of a window of throttled replication."),
      key("alter.log.dirs.replication.quota.window.num", Type::int_, "11", kLow, kReadOnly, kAccepted, at_least(1),
          "Windows over which moves between log directories are measured."),
      key("alter.log.dirs.replication.quota.window.size.seconds", Type::int_, "1", kLow, kReadOnly, kAccepted,
          at_least(1), "Length in seconds of a window for moves between log directories."),
      hidden(key("leader.replication.throttled.rate", Type::long_, kNull, kMedium, kClusterWide, kAccepted, at_least(0),
                 "Bytes a second that throttled partitions may send to other brokers. Null: no limit.")),
      hidden(key("follower.replication.throttled.rate", Type::long_, kNull, kMedium, kClusterWide, kAccepted,
                 at_least(0), "Bytes a second that throttled partitions may take from other brokers. Null: no limit.")),
      hidden(key("replica.alter.log.dirs.io.max.bytes.per.second", Type::long_, kNull, kMedium, kClusterWide, kAccepted,
                 at_least(0), "Bytes a second that moves between log directories may use. Null: no limit.")),
      because("Java classes cannot be loaded, and a quota must not be skipped",
              key("client.quota.callback.class", Type::class_, kNull, kLow, kReadOnly, kRefused, {},
                  "Java class that decides quotas.")),
      key("telemetry.max.bytes", Type::int_, "1048576", kLow, kReadOnly, kUsed, at_least(1),
          "Largest metrics push of a client, in bytes, as it comes and again once it is decompressed."),
      because("metrics are served on thalweg.console.listeners; Java classes cannot be loaded",
              key("metric.reporters", Type::list, "org.apache.kafka.common.metrics.JmxReporter", kLow, kClusterWide,
                  kAccepted, list_of("org.apache.kafka.common.metrics.JmxReporter"),
                  "Java classes that report metrics. Metrics are served on `thalweg.console.listeners`.")),
      because("metrics are served on thalweg.console.listeners; Java classes cannot be loaded",
              key("kafka.metrics.reporters", Type::list, "", kLow, kReadOnly, kRefused, any_list(),
                  "Java classes that report the broker's own metrics.")),
      key("kafka.metrics.polling.interval.secs", Type::int_, "10", kLow, kReadOnly, kAccepted, at_least(1),
          "Seconds between two runs of the `kafka.metrics.reporters`."),
      key("metrics.num.samples", Type::int_, "2", kLow, kReadOnly, kAccepted, at_least(1),
          "Samples from which a rate metric is computed."),
      key("metrics.sample.window.ms", Type::long_, "30000", kLow, kReadOnly, kAccepted, at_least(1),
          "Length (ms) of a metric sample."),
      key("metrics.recording.level", Type::string, "INFO", kLow, kReadOnly, kAccepted, {},
          "Which sensors record: INFO, DEBUG or TRACE."),
  };
  return kKeys;
}

}  // namespace thalweg::config
