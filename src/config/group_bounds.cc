#include "config/group_bounds.h"

#include <array>

namespace thalweg::config {
namespace {

constexpr std::array kGroupBounds = {
    GroupBounds{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms",
                "group.consumer.max.session.timeout.ms"},
    GroupBounds{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms",
                "group.consumer.max.heartbeat.interval.ms"},
    GroupBounds{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms",
                "group.consumer.max.assignment.interval.ms"},
    GroupBounds{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
    GroupBounds{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms",
                "group.share.max.heartbeat.interval.ms"},
    GroupBounds{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms",
                "group.share.max.assignment.interval.ms"},
    GroupBounds{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms",
                "group.share.max.record.lock.duration.ms"},
    GroupBounds{"share.delivery.count.limit", "group.share.min.delivery.count.limit",
                "group.share.max.delivery.count.limit"},
    GroupBounds{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks",
                "group.share.max.partition.max.record.locks"},
    GroupBounds{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms",
                "group.streams.max.session.timeout.ms"},
    GroupBounds{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms",
                "group.streams.max.heartbeat.interval.ms"},
    GroupBounds{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms",
                "group.streams.max.assignment.interval.ms"},
    GroupBounds{"streams.num.standby.replicas", {}, "group.streams.max.standby.replicas"},
    GroupBounds{"streams.num.warmup.replicas", {}, "group.streams.max.warmup.replicas"},
    GroupBounds{"streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms", {}},
};

}  // namespace

std::span<const GroupBounds> group_bounds() { return kGroupBounds; }

}  // namespace thalweg::config
