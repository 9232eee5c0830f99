"""ListOffsets and OffsetForLeaderEpoch."""

import batch
from harness import case

LIST = range(1, 12)
EPOCH = range(2, 5)
NAMES = {-1: "latest", -2: "earliest", -3: "max", -4: "local", -5: "tiered", -6: "pending"}


def ask(b, v, topic, *wanted, **more):
    """`wanted` are (partition, timestamp) or (partition, timestamp, leader epoch)."""
    partitions = [
        {"partitionIndex": w[0], "timestamp": w[1], "currentLeaderEpoch": w[2] if len(w) > 2 else -1} for w in wanted
    ]
    fields = {
        "replicaId": -1,
        "isolationLevel": 0,
        "topics": [{"name": topic, "partitions": partitions}],
        "timeoutMs": 5000,
    }
    return b.call("ListOffsets", v, dict(fields, **more))


def at(*milliseconds):
    """Records at these times, counted from the fixed one."""
    return [batch.record(b"v%d" % m, timestamp=batch.TIME + m) for m in milliseconds]


def three_batches(b, codec=batch.NONE):
    name = b.topic()
    b.fill(name, batch.batch(at(0, 10, 20), codec))
    b.fill(name, batch.batch(at(30, 40), codec))
    b.fill(name, batch.batch(at(50), codec))
    return name


@case("list-offsets/special", versions=LIST, each={NAMES[t]: t for t in NAMES})
def special(b, v, timestamp):
    """A timestamp that the version does not know is refused, for empty partitions and for others."""
    name = three_batches(b)
    ask(b, v, name, (0, timestamp))
    ask(b, v, b.topic("empty"), (0, timestamp))


@case("list-offsets/unknown-special", versions=[1, 7, 11], each={"-7": -7, "-100": -100, "min": -(1 << 63)})
def unknown_special(b, v, timestamp):
    ask(b, v, three_batches(b), (0, timestamp))
    b.alive()


@case("list-offsets/by-time", versions=LIST)
def by_time(b, v):
    name = three_batches(b)
    for m in (-1000, 0, 1, 10, 20, 21, 30, 35, 50, 51, 1000):
        ask(b, v, name, (0, batch.TIME + m))


@case("list-offsets/by-time-compressed", each={c: i for i, c in enumerate(batch.CODECS)})
def by_time_compressed(b, codec):
    name = three_batches(b, codec)
    for m in (0, 5, 20, 25, 40, 50, 51):
        ask(b, 7, name, (0, batch.TIME + m))
    ask(b, 7, name, (0, -3))


@case("list-offsets/by-time-unordered", versions=[1, 7])
def unordered(b, v):
    name = b.topic()
    b.fill(name, batch.batch(at(50, 10, 90)))
    b.fill(name, batch.batch(at(20, 20, 5)))
    b.fill(name, batch.batch(at(90, 100, 60)))
    for m in (0, 10, 11, 20, 51, 90, 91, 100, 101):
        ask(b, v, name, (0, batch.TIME + m))
    if v >= 7:
        ask(b, v, name, (0, -3))


@case("list-offsets/equal-times")
def equal_times(b):
    name = b.topic()
    for _ in range(3):
        b.fill(name, batch.batch(at(7, 7, 7)))
    for m in (6, 7, 8):
        ask(b, 7, name, (0, batch.TIME + m))
    ask(b, 7, name, (0, -3))


@case("list-offsets/no-timestamp")
def no_timestamp(b):
    """Records without a time are found by none."""
    name = b.topic()
    b.fill(name, batch.batch([batch.record(b"v", timestamp=-1)]))
    for t in (0, 1, batch.TIME, -3):
        ask(b, 7, name, (0, t))


@case("list-offsets/zero-and-huge")
def zero_and_huge(b):
    name = three_batches(b)
    for t in (0, 1, (1 << 63) - 1):
        ask(b, 7, name, (0, t))


@case("list-offsets/leader-epoch", versions=range(4, 12))
def leader_epoch(b, v):
    name = three_batches(b)
    for epoch in (-1, 0, 1, 100, -2):
        ask(b, v, name, (0, -1, epoch))


@case("list-offsets/leader-epoch-by-time")
def leader_epoch_by_time(b):
    name = three_batches(b)
    for epoch in (0, 1):
        for t in (-1, -2, -3, batch.TIME):
            ask(b, 7, name, (0, t, epoch))


@case("list-offsets/isolation", versions=[2, 7, 11])
def isolation(b, v):
    name = three_batches(b)
    for level in (0, 1):
        ask(b, v, name, (0, -1), isolationLevel=level)
    b.alive()


@case("list-offsets/isolation-unknown", versions=[2, 11])
def isolation_unknown(b, v):
    ask(b, v, three_batches(b), (0, -1), isolationLevel=2)
    b.alive()


@case("list-offsets/unknown-topic", versions=LIST)
def unknown_topic(b, v):
    ask(b, v, b.topic_name("missing"), (0, -1), (3, -2))


@case("list-offsets/unknown-partition", versions=LIST)
def unknown_partition(b, v):
    ask(b, v, b.topic(), (1, -1), (0, -1), (-1, -1), (2147483647, -1))


@case("list-offsets/same-partition-twice", versions=LIST)
def same_twice(b, v):
    ask(b, v, three_batches(b), (0, -1), (0, -2))


@case("list-offsets/same-topic-twice", versions=[1, 7, 11])
def same_topic_twice(b, v):
    name = b.topic(partitions=2)
    topics = [{"name": name, "partitions": [{"partitionIndex": i, "timestamp": -1}]} for i in (0, 1)]
    b.call("ListOffsets", v, {"replicaId": -1, "topics": topics})
    topics[1]["partitions"][0]["partitionIndex"] = 0
    b.call("ListOffsets", v, {"replicaId": -1, "topics": topics})


@case("list-offsets/nothing", versions=LIST)
def nothing(b, v):
    b.call("ListOffsets", v, {"replicaId": -1, "topics": []})
    b.call("ListOffsets", v, {"replicaId": -1, "topics": [{"name": b.topic(), "partitions": []}]})


@case("list-offsets/illegal-name", versions=[1, 11], each={"empty": "", "slash": "a/b"})
def illegal(b, v, name):
    ask(b, v, name, (0, -1))


@case("list-offsets/replica-id", versions=[1, 4, 7, 11], each={"-2": -2, "-3": -3, "1": 1, "2": 2})
def replica(b, v, replica_id):
    """-2 is a tool that reads without being a consumer; a broker's id asks as a follower."""
    name = three_batches(b)
    for t in (-1, -2, batch.TIME):
        ask(b, v, name, (0, t), replicaId=replica_id)


@case("list-offsets/after-delete-records", versions=[1, 7, 11])
def after_delete(b, v):
    name = three_batches(b)
    fields = {"topics": [{"name": name, "partitions": [{"partitionIndex": 0, "offset": 2}]}], "timeoutMs": 10000}
    deleted = b.ask("DeleteRecords", 2, fields)["topics"][0]["partitions"][0]
    b.note("deleted", deleted)
    for t in (-2, -1, batch.TIME, batch.TIME + 15, batch.TIME + 20):
        ask(b, v, name, (0, t))


@case("list-offsets/log-append-time")
def log_append_time(b):
    name = b.topic(message_timestamp_type="LogAppendTime")
    b.fill(name, batch.batch(at(0, 10)))
    for t in (-1, -2, -3, batch.TIME, batch.TIME + 11):
        ask(b, 7, name, (0, t))


@case("list-offsets/several-topics")
def several(b):
    one, other = three_batches(b), b.topic("other", 3)
    topics = [
        {"name": other, "partitions": [{"partitionIndex": i, "timestamp": -1} for i in (2, 0, 1)]},
        {"name": b.topic_name("missing"), "partitions": [{"partitionIndex": 0, "timestamp": -1}]},
        {"name": one, "partitions": [{"partitionIndex": 0, "timestamp": -2}]},
    ]
    b.call("ListOffsets", 7, {"replicaId": -1, "topics": topics})


# -- leader epochs -----------------------------------------------------------------------------------------------------


def ask_epoch(b, v, topic, *wanted, **more):
    """`wanted` are (partition, leader epoch, current leader epoch)."""
    partitions = [{"partition": p, "leaderEpoch": e, "currentLeaderEpoch": c} for p, e, c in wanted]
    fields = {"replicaId": -1, "topics": [{"topic": topic, "partitions": partitions}]}
    return b.call("OffsetForLeaderEpoch", v, dict(fields, **more))


@case("offset-for-leader-epoch/plain", versions=EPOCH)
def epoch_plain(b, v):
    name = three_batches(b)
    for epoch in (0, 1, 2, 100, -1, -2):
        ask_epoch(b, v, name, (0, epoch, -1))


@case("offset-for-leader-epoch/empty", versions=EPOCH)
def epoch_empty(b, v):
    name = b.topic()
    for epoch in (0, 1, -1):
        ask_epoch(b, v, name, (0, epoch, -1))


@case("offset-for-leader-epoch/current", versions=EPOCH)
def epoch_current(b, v):
    name = three_batches(b)
    for current in (-1, 0, 1, 50, -2):
        ask_epoch(b, v, name, (0, 0, current))


@case("offset-for-leader-epoch/unknown", versions=EPOCH)
def epoch_unknown(b, v):
    ask_epoch(b, v, b.topic_name("missing"), (0, 0, -1))
    ask_epoch(b, v, b.topic(), (1, 0, -1), (0, 0, -1), (-1, 0, -1))


@case("offset-for-leader-epoch/nothing", versions=EPOCH)
def epoch_nothing(b, v):
    b.call("OffsetForLeaderEpoch", v, {"replicaId": -1, "topics": []})
    ask_epoch(b, v, b.topic())


@case("offset-for-leader-epoch/same-twice", versions=EPOCH)
def epoch_twice(b, v):
    ask_epoch(b, v, three_batches(b), (0, 0, -1), (0, 1, -1))


@case("offset-for-leader-epoch/replica-id", versions=[3, 4], each={"-2": -2, "-3": -3, "1": 1, "2": 2})
def epoch_replica(b, v, replica_id):
    ask_epoch(b, v, three_batches(b), (0, 0, -1), replicaId=replica_id)


@case("offset-for-leader-epoch/after-delete-records")
def epoch_after_delete(b):
    name = three_batches(b)
    fields = {"topics": [{"name": name, "partitions": [{"partitionIndex": 0, "offset": -1}]}], "timeoutMs": 10000}
    b.ask("DeleteRecords", 2, fields)
    for epoch in (0, 1, -1):
        ask_epoch(b, 4, name, (0, epoch, -1))
