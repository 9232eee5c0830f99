// Broker keys: tiered storage.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> tiered_keys() {
  static constexpr ConfigKey kKeys[] = {
      because("there is no tiered storage, only diskless topics",
              key("remote.log.storage.system.enable", Type::boolean, "false", kMedium, kReadOnly, kRefused, {},
                  "Whether old segments move to a remote store through Java plug-ins.")),
      key("log.local.retention.ms", Type::long_, "-2", kMedium, kClusterWide, kAccepted, at_least(-2),
          "How long (ms) a tiered topic keeps segments on the local disk. -2: as `log.retention.ms`."),
      key("log.local.retention.bytes", Type::long_, "-2", kMedium, kClusterWide, kAccepted, at_least(-2),
          "Bytes of a tiered partition kept on the local disk. -2: as `log.retention.bytes`."),
      key("log.remote.copy.lag.ms", Type::long_, "0", kMedium, kClusterWide, kAccepted, at_least(-1),
          "Age (ms) at which a closed segment is copied to the remote store. 0: at once, -1: as local retention "
          "demands."),
      key("log.remote.copy.lag.bytes", Type::long_, "-1", kMedium, kClusterWide, kAccepted, at_least(-1),
          "Bytes of newer records at which a closed segment is copied to the remote store. 0: at once, -1: as local "
          "retention demands."),
      key("remote.fetch.max.wait.ms", Type::int_, "500", kMedium, kClusterWide, kAccepted, at_least(1),
          "Longest wait (ms) of a fetch for the remote store."),
      key("remote.list.offsets.request.timeout.ms", Type::long_, "30000", kMedium, kClusterWide, kAccepted, at_least(1),
          "Longest wait (ms) of ListOffsets for the remote store."),
      key("remote.log.index.file.cache.total.size.bytes", Type::long_, "1073741824", kLow, kClusterWide, kAccepted,
          at_least(1), "Bytes of local disk for index files from the remote store."),
      hidden(key("remote.log.index.file.cache.ttl.ms", Type::long_, "900000", kLow, kReadOnly, kAccepted, at_least(-1),
                 "Time (ms) for which an unused index file from the remote store is kept.")),
      key("remote.log.manager.thread.pool.size", Type::int_, "2", kMedium, kReadOnly, kAccepted, at_least(1),
          "Older name of `remote.log.manager.follower.thread.pool.size`."),
      key("remote.log.manager.copier.thread.pool.size", Type::int_, "10", kMedium, kClusterWide, kAccepted, at_least(1),
          "Threads that copy to the remote store."),
      key("remote.log.manager.expiration.thread.pool.size", Type::int_, "10", kMedium, kClusterWide, kAccepted,
          at_least(1), "Threads that delete from the remote store."),
      key("remote.log.manager.follower.thread.pool.size", Type::int_, "2", kMedium, kClusterWide, kAccepted,
          at_least(1), "Threads that follow remote copies on other replicas."),
      key("remote.log.manager.copy.max.bytes.per.second", Type::long_, "9223372036854775807", kMedium, kClusterWide,
          kAccepted, at_least(1), "Bytes a second that copying to the remote store may use."),
      key("remote.log.manager.copy.quota.window.num", Type::int_, "11", kMedium, kReadOnly, kAccepted, at_least(1),
          "Windows over which copying to the remote store is measured."),
      key("remote.log.manager.copy.quota.window.size.seconds", Type::int_, "1", kMedium, kReadOnly, kAccepted,
          at_least(1), "Length in seconds of a window for copying to the remote store."),
      key("remote.log.manager.fetch.max.bytes.per.second", Type::long_, "9223372036854775807", kMedium, kClusterWide,
          kAccepted, at_least(1), "Bytes a second that reading from the remote store may use."),
      key("remote.log.manager.fetch.quota.window.num", Type::int_, "11", kMedium, kReadOnly, kAccepted, at_least(1),
          "Windows over which reading from the remote store is measured."),
      key("remote.log.manager.fetch.quota.window.size.seconds", Type::int_, "1", kMedium, kReadOnly, kAccepted,
          at_least(1), "Length in seconds of a window for reading from the remote store."),
      key("remote.log.manager.task.interval.ms", Type::long_, "30000", kLow, kReadOnly, kAccepted, at_least(1),
          "Time (ms) between two rounds of copying and deleting."),
      hidden(key("remote.log.manager.task.retry.backoff.ms", Type::long_, "500", kLow, kReadOnly, kAccepted,
                 at_least(1), "First pause (ms) before a failed remote task is tried again.")),
      hidden(key("remote.log.manager.task.retry.backoff.max.ms", Type::long_, "30000", kLow, kReadOnly, kAccepted,
                 at_least(1), "Longest pause (ms) between two tries of a remote task.")),
      hidden(key("remote.log.manager.task.retry.jitter", Type::double_, "0.2", kLow, kReadOnly, kAccepted,
                 real_between(0, 0.5), "Random share, 0 to 0.5, of the pause between two tries of a remote task.")),
      key("remote.log.reader.threads", Type::int_, "10", kMedium, kClusterWide, kAccepted, at_least(1),
          "Threads that read from the remote store."),
      key("remote.log.reader.max.pending.tasks", Type::int_, "100", kMedium, kReadOnly, kAccepted, at_least(1),
          "Reads from the remote store that may wait."),
      key("remote.log.storage.manager.class.name", Type::string, kNull, kMedium, kReadOnly, kAccepted,
          of(Rule::non_empty), "Java class that talks to the remote store."),
      key("remote.log.storage.manager.class.path", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Where the class that talks to the remote store is found."),
      key("remote.log.storage.manager.impl.prefix", Type::string, "rsm.config.", kMedium, kReadOnly, kAccepted,
          of(Rule::non_empty), "Prefix of the keys passed to the class that talks to the remote store."),
      key("remote.log.metadata.manager.class.name", Type::string,
          "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager", kMedium, kReadOnly,
          kAccepted, of(Rule::non_empty), "Java class that keeps track of remote segments."),
      key("remote.log.metadata.manager.class.path", Type::string, kNull, kMedium, kReadOnly, kAccepted, {},
          "Where the class that keeps track of remote segments is found."),
      key("remote.log.metadata.manager.impl.prefix", Type::string, "rlmm.config.", kMedium, kReadOnly, kAccepted,
          of(Rule::non_empty), "Prefix of the keys passed to the class that keeps track of remote segments."),
      key("remote.log.metadata.manager.listener.name", Type::string, kNull, kMedium, kReadOnly, kAccepted,
          of(Rule::non_empty), "Listener that the tracking of remote segments connects to."),
      key("remote.log.metadata.custom.metadata.max.bytes", Type::int_, "128", kLow, kReadOnly, kAccepted, at_least(0),
          "Bytes that a storage plug-in may note for a remote segment."),
  };
  return kKeys;
}

}  // namespace thalweg::config
