"""DeleteRecords."""

import batch
from harness import case

ALL = range(0, 3)


def ask(b, v, *wanted, **more):
    """`wanted` are (topic, {partition: offset}) or (topic, [(partition, offset), ...])."""
    topics = []
    for topic, offsets in wanted:
        pairs = offsets.items() if isinstance(offsets, dict) else offsets
        topics.append({"name": topic, "partitions": [{"partitionIndex": p, "offset": o} for p, o in pairs]})
    return b.call("DeleteRecords", v, dict({"topics": topics, "timeoutMs": 30000}, **more))


def filled(b, suffix="t", partitions=1, **configs):
    """Three batches of two records in each partition."""
    name = b.topic(suffix, partitions, **configs)
    for partition in range(partitions):
        for _ in range(3):
            b.fill(name, batch.batch([batch.record(b"k", b"a"), batch.record(b"k", b"b")]), partition)
    return name


def offsets(b, name, partition=0):
    """Where the log begins, as ListOffsets has it."""
    topics = [{"name": name, "partitions": [{"partitionIndex": partition, "timestamp": -2}]}]
    b.call("ListOffsets", 7, {"replicaId": -1, "isolationLevel": 0, "topics": topics})


def fetch(b, name, offset, partition=0):
    topics = [
        {
            "topic": name,
            "partitions": [{"partition": partition, "fetchOffset": offset, "partitionMaxBytes": 1 << 20}],
        }
    ]
    fields = {"replicaId": -1, "maxWaitMs": 0, "minBytes": 0, "maxBytes": 1 << 20, "topics": topics}
    b.call("Fetch", 11, fields)


@case("delete-records/plain", versions=ALL)
def plain(b, v):
    name = filled(b)
    for offset in (2, 2, 1, 3, 0, 5, 6, 6):
        ask(b, v, (name, {0: offset}))
        offsets(b, name)


@case("delete-records/up-to-high-watermark", versions=ALL)
def high_watermark(b, v):
    name = filled(b)
    ask(b, v, (name, {0: -1}))
    offsets(b, name)
    ask(b, v, (name, {0: -1}))
    b.fill(name)
    ask(b, v, (name, {0: 6}))
    offsets(b, name)


@case("delete-records/out-of-range", versions=ALL, each={"-2": -2, "min": -(1 << 63), "7": 7, "max": (1 << 63) - 1})
def out_of_range(b, v, offset):
    name = filled(b)
    ask(b, v, (name, {0: offset}))
    offsets(b, name)
    ask(b, v, (b.topic("empty"), {0: offset}))


@case("delete-records/empty-log", versions=ALL)
def empty(b, v):
    name = b.topic()
    for offset in (0, -1, 1):
        ask(b, v, (name, {0: offset}))


@case("delete-records/then-fetch")
def then_fetch(b):
    """What is below is out of range at once; a batch that holds the log start is given whole."""
    name = filled(b)
    ask(b, 2, (name, {0: 3}))
    for offset in (0, 2, 3, 4, 6):
        fetch(b, name, offset)


@case("delete-records/unknown", versions=ALL)
def unknown(b, v):
    name = filled(b)
    ask(b, v, (b.topic_name("missing"), {0: 0, 3: 1}), (name, {1: 0, -1: 0, 2147483647: 0, 0: 1}))
    offsets(b, name)


@case("delete-records/several", versions=ALL)
def several(b, v):
    one, other = filled(b, "a", 3), filled(b, "b", 2)
    ask(b, v, (one, {2: 4, 0: 1, 1: 99}), (other, {1: -1, 0: 0}))


@case("delete-records/same-partition-twice", versions=ALL)
def same_twice(b, v):
    name = filled(b)
    ask(b, v, (name, [(0, 1), (0, 3)]))
    offsets(b, name)
    ask(b, v, (name, {0: 5}), (name, {0: 4}))
    offsets(b, name)


@case("delete-records/nothing", versions=ALL)
def nothing(b, v):
    ask(b, v)
    ask(b, v, (filled(b), {}))


@case("delete-records/illegal-name", versions=ALL, each={"empty": "", "slash": "a/b"})
def illegal(b, v, name):
    ask(b, v, (name, {0: 0}))


@case(
    "delete-records/policy",
    versions=[0, 2],
    each={"compact": "compact", "both": "compact,delete", "delete": "delete", "none": ""},
)
def policy(b, v, cleanup):
    name = filled(b, cleanup_policy=cleanup)
    for offset in (2, -1, 99):
        ask(b, v, (name, {0: offset}))
    offsets(b, name)


@case("delete-records/timeout", versions=[2], each={"0": 0, "-1": -1, "min": -(1 << 31)})
def timeout(b, v, milliseconds):
    ask(b, v, (filled(b), {0: 2}), timeoutMs=milliseconds)
