// Group keys.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> group_keys() {
  static constexpr ConfigKey kKeys[] = {
      falls_back("group.consumer.assignment.interval.ms",
                 key("consumer.assignment.interval.ms", Type::int_, "1000", kMedium, kPerResource, kUsed, at_least(0),
                     "Shortest time (ms) between two new assignments of this consumer group.")),
      hidden(falls_back("group.consumer.assignor.offload.enable",
                        key("consumer.assignor.offload.enable", Type::boolean, "true", kMedium, kPerResource, kAccepted,
                            {}, "Whether assignments are computed away from the coordinator's thread."))),
      falls_back("group.consumer.heartbeat.interval.ms",
                 key("consumer.heartbeat.interval.ms", Type::int_, "5000", kMedium, kPerResource, kUsed, at_least(1),
                     "Time (ms) between heartbeats, told to the members of this consumer group.")),
      falls_back("group.consumer.session.timeout.ms",
                 key("consumer.session.timeout.ms", Type::int_, "45000", kMedium, kPerResource, kUsed, at_least(1),
                     "Time (ms) without a heartbeat after which a member of this consumer group is removed.")),
      key("errors.deadletterqueue.copy.record.enable", Type::boolean, "false", kMedium, kPerResource, kUsed, {},
          "Whether the dead-letter topic gets the given-up record itself, or only headers that say where it is."),
      key("errors.deadletterqueue.topic.name", Type::string, "", kMedium, kPerResource, kUsed, {},
          "Topic that gets the records this share group gave up. Empty: none."),
      falls_back("group.share.assignment.interval.ms",
                 key("share.assignment.interval.ms", Type::int_, "1000", kMedium, kPerResource, kUsed, at_least(0),
                     "Shortest time (ms) between two new assignments of this share group.")),
      hidden(falls_back("group.share.assignor.offload.enable",
                        key("share.assignor.offload.enable", Type::boolean, "true", kMedium, kPerResource, kAccepted,
                            {}, "Whether assignments are computed away from the coordinator's thread."))),
      key("share.auto.offset.reset", Type::string, "latest", kMedium, kPerResource, kUsed, of(Rule::offset_reset),
          "Where a share group starts in a partition: `earliest`, `latest`, or `by_duration:` and how far back, such "
          "as `by_duration:PT1H`."),
      falls_back("group.share.delivery.count.limit",
                 key("share.delivery.count.limit", Type::int_, "5", kMedium, kPerResource, kUsed, at_least(2),
                     "How often a record is delivered before it is given up as archived.")),
      falls_back("group.share.heartbeat.interval.ms",
                 key("share.heartbeat.interval.ms", Type::int_, "5000", kMedium, kPerResource, kUsed, at_least(1),
                     "Time (ms) between heartbeats, told to the members of this share group.")),
      key("share.isolation.level", Type::string, "read_uncommitted", kMedium, kPerResource, kUsed,
          one_of("read_committed,read_uncommitted"),
          "Whether records of open and aborted transactions are delivered (read_uncommitted) or held back "
          "(read_committed)."),
      falls_back("group.share.partition.max.record.locks",
                 key("share.partition.max.record.locks", Type::int_, "2000", kMedium, kPerResource, kUsed,
                     at_least(100), "Records of one share partition that may be in flight at once.")),
      falls_back("group.share.record.lock.duration.ms",
                 key("share.record.lock.duration.ms", Type::int_, "30000", kMedium, kPerResource, kUsed, at_least(1000),
                     "Time (ms) for which an acquired record belongs to its consumer.")),
      key("share.renew.acknowledge.enable", Type::boolean, "true", kMedium, kPerResource, kUsed, {},
          "Whether a consumer may extend the time for which an acquired record is its own."),
      falls_back("group.share.session.timeout.ms",
                 key("share.session.timeout.ms", Type::int_, "45000", kMedium, kPerResource, kUsed, at_least(1),
                     "Time (ms) without a heartbeat after which a member of this share group is removed.")),
      hidden(falls_back("group.streams.acceptable.recovery.lag",
                        key("streams.acceptable.recovery.lag", Type::long_, "10000", kMedium, kPerResource, kUsed,
                            at_least(0), "Offsets by which a copy of a task may lag and still count as caught up."))),
      falls_back("group.streams.assignment.interval.ms",
                 key("streams.assignment.interval.ms", Type::int_, "1000", kMedium, kPerResource, kUsed, at_least(0),
                     "Shortest time (ms) between two new assignments of this streams group.")),
      falls_back(
          "group.streams.assignors",
          key("streams.assignor.name", Type::string, kNull, kMedium, kPerResource, kUsed, {},
              "Task assignor of this streams group. Unset: the first of the broker's `group.streams.assignors`.")),
      hidden(falls_back("group.streams.assignor.offload.enable",
                        key("streams.assignor.offload.enable", Type::boolean, "true", kMedium, kPerResource, kAccepted,
                            {}, "Whether assignments are computed away from the coordinator's thread."))),
      falls_back("group.streams.heartbeat.interval.ms",
                 key("streams.heartbeat.interval.ms", Type::int_, "5000", kMedium, kPerResource, kUsed, at_least(1),
                     "Time (ms) between heartbeats, told to the members of this streams group.")),
      falls_back(
          "group.streams.initial.rebalance.delay.ms",
          key("streams.initial.rebalance.delay.ms", Type::int_, "3000", kMedium, kPerResource, kUsed, at_least(0),
              "Time (ms) this streams group, when new, waits for more members before its first assignment.")),
      falls_back("group.streams.num.standby.replicas",
                 key("streams.num.standby.replicas", Type::int_, "0", kMedium, kPerResource, kUsed, at_least(0),
                     "Standby copies of each stateful task.")),
      hidden(falls_back("group.streams.num.warmup.replicas",
                        key("streams.num.warmup.replicas", Type::int_, "2", kMedium, kPerResource, kUsed, at_least(0),
                            "Warm-up copies of tasks that the group may run at once."))),
      falls_back("group.streams.rack.aware.assignment.tags",
                 key("streams.rack.aware.assignment.tags", Type::list, "", kLow, kPerResource, kUsed, distinct_list(),
                     "Client tags over whose values the standby copies of a task are spread.")),
      falls_back("group.streams.session.timeout.ms",
                 key("streams.session.timeout.ms", Type::int_, "45000", kMedium, kPerResource, kUsed, at_least(1),
                     "Time (ms) without a heartbeat after which a member of this streams group is removed.")),
      hidden(falls_back("group.streams.task.offset.interval.ms",
                        key("streams.task.offset.interval.ms", Type::int_, "60000", kMedium, kPerResource, kUsed,
                            at_least(1), "Time (ms) between two reports of task offsets, told to the members."))),
  };
  return kKeys;
}

}  // namespace thalweg::config
