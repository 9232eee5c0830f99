"""Produce in all versions: what is stored, what is refused, and with which code."""

import struct

import batch
from batch import GZIP, LOG_APPEND_TIME, TRANSACTIONAL, ZSTD
from harness import case, fetch_fields, produce_fields
from wire import uuid_to_text

ALL = range(3, 14)


def put(b, v, topic, data=None, **more):
    return b.call("Produce", v, produce_fields(b, topic, batch.batch() if data is None else data, **more))


def stored(b, topic, partition=0):
    """What is in the log now."""
    b.call("Fetch", 12, fetch_fields(b, [(topic, {partition: 0})], maxWaitMs=0), keep=contents)


def contents(answer):
    parts = [p for t in answer["responses"] for p in t["partitions"]]
    return {
        "partitions": [{k: p[k] for k in ("errorCode", "highWatermark", "logStartOffset", "records")} for p in parts]
    }


@case("produce/plain", versions=ALL)
def plain(b, v):
    name = b.topic()
    put(b, v, name)
    put(b, v, name, batch.batch([b"1", (b"key", b"2"), (b"key", None), (b"", b"")]))
    stored(b, name)


@case("produce/acks", versions=[3, 9, 13], each={"1": 1, "all": -1})
def acks(b, v, count):
    name = b.topic()
    put(b, v, name, acks=count)
    # acks=1 promises nothing about when the record can be read.
    b.until("the record", lambda: b.end_offset(name) == 1)
    stored(b, name)


@case("produce/acks-0", versions=ALL)
def acks_0(b, v):
    name = b.topic()
    b.silent("Produce", v, produce_fields(b, name, batch.batch(), acks=0))
    b.until("the record", lambda: b.end_offset(name) == 1)
    stored(b, name)


@case("produce/acks-0-refused", versions=[3, 9, 13])
def acks_0_refused(b, v):
    """There is no answer to carry the error, so the connection ends."""
    name = b.topic()
    b.silent("Produce", v, produce_fields(b, name, batch.batch(crc=1), acks=0))
    b.note("end offset", b.end_offset(name))


@case("produce/acks-0-unknown-topic", versions=[3, 9, 12])
def acks_0_unknown(b, v):
    b.silent("Produce", v, produce_fields(b, b.topic_name("missing"), batch.batch(), acks=0))


@case("produce/acks-other", versions=[3, 7, 9, 13], each={"2": 2, "-2": -2, "32767": 32767})
def acks_other(b, v, count):
    name = b.topic()
    put(b, v, name, acks=count)
    b.note("end offset", b.end_offset(name))


@case("produce/unknown-topic", versions=range(3, 13))
def unknown_topic(b, v):
    put(b, v, b.topic_name("missing"))
    b.note("not made", b.describe(b.topic_name("missing"))["errorCode"])


@case("produce/unknown-id", versions=[13])
def unknown_id(b, v):
    name = b.topic_name("missing")
    b.topic_ids[name] = uuid_to_text(bytes(range(1, 17)))
    put(b, v, name)
    b.topic_ids[name] = uuid_to_text(bytes(16))
    put(b, v, name)


@case("produce/deleted-id")
def deleted_id(b):
    name = b.topic()
    put(b, 13, name)
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    put(b, 13, name)
    put(b, 12, name)


@case("produce/unknown-partition", versions=ALL)
def unknown_partition(b, v):
    name = b.topic()
    put(b, v, name, {1: batch.batch(), 0: batch.batch(), -1: batch.batch()})
    stored(b, name)


@case("produce/illegal-name", versions=[3, 12], each={"empty": "", "slash": "a/b", "long": "x" * 300})
def illegal(b, v, name):
    put(b, v, name)


@case("produce/nothing", versions=[3, 9, 13])
def nothing(b, v):
    b.call("Produce", v, {"acks": -1, "timeoutMs": 1000, "topicData": []})
    name = b.topic()
    b.call("Produce", v, produce_fields(b, name, {}))
    b.silent("Produce", v, {"acks": 0, "timeoutMs": 1000, "topicData": []})


@case("produce/records-empty", versions=ALL)
def records_empty(b, v):
    name = b.topic()
    b.call("Produce", v, produce_fields(b, name, {0: b""}))
    b.alive()
    b.note("end offset", b.end_offset(name))


@case("produce/records-null", versions=[3, 9, 13])
def records_null(b, v):
    name = b.topic()
    b.call("Produce", v, produce_fields(b, name, {0: None}), timeout=3)
    b.note("end offset", b.end_offset(name))


SPOILT = {
    "crc": lambda: batch.batch(crc=0x12345678),
    "length-short": lambda: batch.batch(length=50),
    "length-long": lambda: batch.batch(length=200),
    "length-zero": lambda: batch.batch(length=0),
    "length-negative": lambda: batch.batch(length=-1),
    "length-huge": lambda: batch.batch(length=0x7FFFFFFF),
    "length-below-header": lambda: batch.batch(length=48),
    "header-only": lambda: batch.batch()[:61],
    "half-header": lambda: batch.batch()[:30],
    "twelve-bytes": lambda: batch.batch()[:12],
    "eleven-bytes": lambda: batch.batch()[:11],
    "one-byte": lambda: b"\0",
    "cut-at-end": lambda: batch.batch([b"value" * 10])[:-3],
    "trailing-bytes": lambda: batch.batch() + b"\0\1\2",
    "trailing-header": lambda: batch.batch() + batch.batch()[:20],
    "magic-3": lambda: batch.batch(magic=3),
    "magic-minus-1": lambda: batch.batch(magic=-1),
    "magic-1-in-batch": lambda: batch.batch(magic=1),
    "count-high": lambda: batch.batch([b"1", b"2"], count=3),
    "count-low": lambda: batch.batch([b"1", b"2"], count=1),
    "count-zero": lambda: batch.batch([b"1", b"2"], count=0),
    "count-negative": lambda: batch.batch([b"1", b"2"], count=-1),
    "count-huge": lambda: batch.batch([b"1"], count=0x7FFFFFFF),
    "no-records": lambda: batch.batch([]),
    "no-records-with-delta": lambda: batch.batch([], last_offset_delta=5, count=0),
    "last-delta-high": lambda: batch.batch([b"1", b"2"], last_offset_delta=5),
    "last-delta-low": lambda: batch.batch([b"1", b"2", b"3"], last_offset_delta=1),
    "last-delta-negative": lambda: batch.batch([b"1"], last_offset_delta=-1),
    "offset-deltas-gap": lambda: batch.batch(
        [batch.record(b"1", offset_delta=0), batch.record(b"2", offset_delta=2)], last_offset_delta=2
    ),
    "offset-deltas-same": lambda: batch.batch(
        [batch.record(b"1", offset_delta=0), batch.record(b"2", offset_delta=0)], last_offset_delta=1
    ),
    "offset-deltas-from-one": lambda: batch.batch(
        [batch.record(b"1", offset_delta=1), batch.record(b"2", offset_delta=2)], last_offset_delta=1
    ),
    "offset-deltas-down": lambda: batch.batch(
        [batch.record(b"1", offset_delta=1), batch.record(b"2", offset_delta=0)], last_offset_delta=1
    ),
    "offset-delta-negative": lambda: batch.batch([batch.record(b"1", offset_delta=-1)]),
    "base-offset-not-zero": lambda: batch.batch([b"1", b"2"], base_offset=77),
    "base-offset-negative": lambda: batch.batch([b"1"], base_offset=-5),
    "leader-epoch-set": lambda: batch.batch([b"1"], leader_epoch=9),
    "codec-5": lambda: batch.batch(attributes=5),
    "codec-7": lambda: batch.batch(attributes=7),
    "attribute-log-append": lambda: batch.batch(attributes=LOG_APPEND_TIME),
    "attribute-delete-horizon": lambda: batch.batch(attributes=batch.DELETE_HORIZON),
    "attributes-unused": lambda: batch.batch(attributes=0x7F80),
    "record-attributes": lambda: batch.batch([batch.record(b"1", attributes=0x55)]),
    "record-length-short": lambda: spoil_record(-1),
    "record-length-long": lambda: spoil_record(+1),
    "record-length-negative": lambda: batch.batch([b"1"], payload=b"\x01" + b"\0" * 6),
    "record-length-huge": lambda: batch.batch([b"1"], payload=b"\xfe\xff\xff\xff\x0f" + b"\0" * 6),
    "record-cut": lambda: batch.batch([b"1"], payload=batch.encode_record(batch.record(b"12345"), 0, 0)[:-2]),
    "record-trailing": lambda: batch.batch([b"1"], payload=batch.encode_record(batch.record(b"12345"), 0, 0) + b"\0\0"),
    "header-null-key": lambda: batch.batch([b"1"], payload=sized(b"\0\0\0\x01\x02v\x02\x01\x02v")),
    "header-null-value": lambda: batch.batch([batch.record(b"1", headers=[(b"h", None)])]),
    "header-count-negative": lambda: batch.batch([b"1"], payload=sized(b"\0\0\0\x01\x02v\x01")),
    "header-count-huge": lambda: batch.batch([b"1"], payload=sized(b"\0\0\0\x01\x02v\xfe\xff\xff\xff\x0f")),
    "key-length-minus-2": lambda: batch.batch([b"1"], payload=sized(b"\0\0\0\x03\x02v\0")),
    "key-length-long": lambda: batch.batch([b"1"], payload=sized(b"\0\0\0\x7e\x02v\0")),
    "varint-too-long": lambda: batch.batch([b"1"], payload=b"\xff" * 11 + b"\x01"),
    "base-timestamp-negative": lambda: batch.batch([batch.record(b"1", timestamp=-1)]),
    "timestamp-very-negative": lambda: batch.batch([batch.record(b"1", timestamp=-100)]),
    "max-timestamp-low": lambda: batch.batch([b"1"], max_timestamp=5),
    "max-timestamp-high": lambda: batch.batch([b"1"], max_timestamp=batch.TIME + 99),
    "gzip-garbage": lambda: batch.batch([b"1"], codec=GZIP, payload=b"not gzip at all"),
    "gzip-empty": lambda: batch.batch([b"1"], codec=GZIP, payload=b""),
    "gzip-cut": lambda: batch.batch([b"1"], codec=GZIP, payload=batch.compress(GZIP, b"x" * 50)[:-4]),
    "snappy-garbage": lambda: batch.batch([b"1"], codec=batch.SNAPPY, payload=b"\xff\xff\xff\xff\xff\xff"),
    "lz4-garbage": lambda: batch.batch([b"1"], codec=batch.LZ4, payload=b"not lz4 at all"),
    "zstd-garbage": lambda: batch.batch([b"1"], codec=ZSTD, payload=b"not zstd at all"),
    "gzip-count-high": lambda: batch.batch([b"1", b"2"], codec=GZIP, count=3),
    "gzip-count-low": lambda: batch.batch([b"1", b"2"], codec=GZIP, count=1),
    "gzip-last-delta-high": lambda: batch.batch([b"1", b"2"], codec=GZIP, last_offset_delta=9),
    "gzip-offset-deltas-down": lambda: batch.batch(
        [batch.record(b"1", offset_delta=1), batch.record(b"2", offset_delta=0)], codec=GZIP, last_offset_delta=1
    ),
    "control": lambda: batch.batch([b"1"], attributes=batch.CONTROL),
    "marker": lambda: batch.marker(),
    "transactional-without-id": lambda: batch.batch([b"1"], attributes=TRANSACTIONAL),
}


def sized(body):
    return batch.varint(len(body)) + body


def spoil_record(by):
    whole = batch.encode_record(batch.record(b"12345"), 0, 0)
    return batch.batch([b"1"], payload=batch.encode_record(batch.record(b"12345"), 0, 0, length=len(whole) - 1 + by))


@case("produce/spoilt", versions=[3, 9, 13], each=SPOILT)
def spoilt(b, v, build):
    """One partition gets a batch that is wrong in one thing, another a good one."""
    name = b.topic(partitions=2)
    put(b, v, name, {0: build(), 1: batch.batch([b"good"])})
    b.alive()
    for partition in (0, 1):
        stored(b, name, partition)


@case("produce/spoilt-after-good", each={"crc": "crc", "count-high": "count-high"})
def spoilt_after_good(b, which):
    name = b.topic()
    put(b, 9, name)
    put(b, 9, name, SPOILT[which]())
    put(b, 9, name)
    stored(b, name)


OLD = {
    "magic-0": lambda: batch.message(0),
    "magic-1": lambda: batch.message(1),
    "magic-1-crc": lambda: batch.message(1, crc=1),
    "magic-1-two": lambda: batch.message(1) + batch.message(1, offset=1),
    "magic-1-then-batch": lambda: batch.message(1) + batch.batch(),
    "batch-then-magic-1": lambda: batch.batch() + batch.message(1),
    "magic-0-gzip": lambda: batch.message(0, batch.compress(GZIP, batch.message(0)), attributes=1),
}


@case("produce/old-format", versions=[3, 7, 9, 13], each=OLD)
def old_format(b, v, build):
    name = b.topic()
    put(b, v, name, build())
    b.alive()
    stored(b, name)


@case("produce/two-batches", versions=ALL)
def two_batches(b, v):
    """From version 3 on exactly one batch is allowed in a partition."""
    name = b.topic(partitions=2)
    put(b, v, name, {0: batch.batch([b"1"]) + batch.batch([b"2"]), 1: batch.batch()})
    b.alive()
    stored(b, name)


@case("produce/same-partition-twice", versions=[3, 9, 13])
def same_partition(b, v):
    name = b.topic()
    fields = produce_fields(b, name, {})
    fields["topicData"][0]["partitionData"] = [{"index": 0, "records": batch.batch([value])} for value in (b"1", b"2")]
    b.call("Produce", v, fields)
    b.alive()
    stored(b, name)


@case("produce/same-topic-twice", versions=[3, 9, 12, 13])
def same_topic(b, v):
    name = b.topic(partitions=2)
    fields = produce_fields(b, name, batch.batch([b"1"]))
    fields["topicData"] += produce_fields(b, name, {1: batch.batch([b"2"])})["topicData"]
    b.call("Produce", v, fields)
    b.alive()
    stored(b, name)
    stored(b, name, 1)


@case("produce/codec", versions=[3, 6, 7, 9, 13], each={c: i for i, c in enumerate(batch.CODECS)})
def codec(b, v, number):
    name = b.topic()
    put(b, v, name, batch.batch([b"1", b"2" * 200, (b"k", None)], codec=number))
    b.call("Fetch", 12, fetch_fields(b, [(name, {0: 0})]))
    b.call("Fetch", 9, fetch_fields(b, [(name, {0: 0})]))
    b.call("Fetch", 10, fetch_fields(b, [(name, {0: 0})]))


@case(
    "produce/recompressed",
    each={f"{c}-to-{k}": (i, k) for i, c in enumerate(batch.CODECS) for k in ("gzip", "snappy", "lz4", "uncompressed")},
)
def recompressed(b, pair):
    """A topic's own compression.type rewrites what comes; records, offsets and checksum stay right."""
    b.recompressed = True
    name = b.topic(compression_type=pair[1])
    for _ in range(2):
        put(b, 9, name, batch.batch([b"1", b"2" * 300, (b"k", None)], codec=pair[0]))
    stored(b, name)


@case("produce/recompressed-to-zstd")
def recompressed_zstd(b):
    b.recompressed = True
    name = b.topic(compression_type="zstd")
    put(b, 9, name, batch.batch([b"1", b"2" * 300]))
    stored(b, name)
    put(b, 3, name, batch.batch([b"1"]))
    b.call("Fetch", 9, fetch_fields(b, [(name, {0: 0})]))


@case("produce/too-large", versions=[3, 9, 13])
def too_large(b, v):
    """The limit is the topic's; other partitions of the request are stored."""
    name, other = b.topic(partitions=2, max_message_bytes=200), b.topic("other")
    fields = produce_fields(b, name, {0: batch.batch([b"x" * 500]), 1: batch.batch([b"small"])})
    fields["topicData"] += produce_fields(b, other, batch.batch([b"x" * 500]))["topicData"]
    b.call("Produce", v, fields)
    stored(b, name)
    stored(b, name, 1)


@case("produce/too-large-exactly")
def too_large_exactly(b):
    size = len(batch.batch([b"x" * 100]))
    name = b.topic(max_message_bytes=size)
    put(b, 9, name, batch.batch([b"x" * 100]))
    put(b, 9, name, batch.batch([b"x" * 101]))
    b.note("end offset", b.end_offset(name))


@case("produce/too-large-when-written-again")
def too_large_again(b):
    """Small when compressed, too large as it would be stored."""
    b.recompressed = True
    name = b.topic(max_message_bytes=300, compression_type="uncompressed")
    put(b, 9, name, batch.batch([b"x" * 2000], codec=GZIP))
    b.note("end offset", b.end_offset(name))


@case("produce/default-limit")
def default_limit(b):
    name = b.topic()
    put(b, 9, name, batch.batch([b"x" * 1048588]))
    put(b, 9, name, batch.batch([b"x" * 1000000]))
    b.note("end offset", b.end_offset(name))


@case("produce/segment-too-small")
def segment_too_small(b):
    """A batch beyond a segment's size cannot be stored at all."""
    name = b.topic(segment_bytes=1048576, max_message_bytes=5000000)
    put(b, 9, name, batch.batch([b"x" * 2000000]))
    b.note("end offset", b.end_offset(name))


@case("produce/compacted", versions=[3, 7, 8, 9, 13])
def compacted(b, v):
    name = b.topic(cleanup_policy="compact")
    put(b, v, name, batch.batch([(b"k", b"1"), (None, b"2"), (b"k", None), (None, None)]))
    put(b, v, name, batch.batch([(b"k", b"1"), (b"", b"2")]))
    put(b, v, name, batch.batch([b"1"], codec=GZIP))
    put(b, v, name, batch.batch([(b"k", b"1")], codec=GZIP))
    stored(b, name)


@case("produce/log-append-time", versions=[3, 9, 13], each={c: i for i, c in enumerate(batch.CODECS)})
def log_append_time(b, v, number):
    name = b.topic(message_timestamp_type="LogAppendTime")
    put(b, v, name, batch.batch([batch.record(b"1"), batch.record(b"2", timestamp=batch.TIME + 5)], codec=number))
    stored(b, name)


@case("produce/timestamp-bounds", versions=[3, 8, 9, 13])
def timestamp_bounds(b, v):
    """Too early and too late by the topic's own bounds, with which record it was."""
    name = b.topic(message_timestamp_before_max_ms=1000)
    put(b, v, name, batch.batch([b"old"]))
    name = b.topic("after", message_timestamp_after_max_ms=1000)
    late = 4_000_000_000_000
    put(b, v, name, batch.batch([batch.record(b"1"), batch.record(b"2", timestamp=late)]))
    put(b, v, name, batch.batch([batch.record(b"2", timestamp=late)], codec=GZIP))
    put(b, v, name, batch.batch([batch.record(b"1")]))
    stored(b, name)


@case("produce/timestamp-future")
def timestamp_future(b):
    """The default allows an hour ahead."""
    name = b.topic()
    put(b, 9, name, batch.batch([batch.record(b"1", timestamp=4_000_000_000_000)]))
    b.note("end offset", b.end_offset(name))


@case("produce/unordered-timestamps")
def unordered_timestamps(b):
    name = b.topic()
    data = [batch.record(b"%d" % t, timestamp=batch.TIME + t) for t in (50, 10, 90, 90, 0)]
    put(b, 9, name, batch.batch(data))
    put(b, 9, name, batch.batch(data, base_timestamp=batch.TIME - 1000))
    stored(b, name)


@case("produce/many-topics")
def many_topics(b):
    """Good, unknown and refused partitions in one request."""
    one, other = b.topic("a", 3), b.topic("b", 1)
    fields = produce_fields(b, one, {2: batch.batch(), 0: batch.batch(crc=3), 7: batch.batch()})
    fields["topicData"] += produce_fields(b, b.topic_name("missing"), batch.batch())["topicData"]
    fields["topicData"] += produce_fields(b, other, batch.batch())["topicData"]
    b.call("Produce", 9, fields, keep=sorted_responses)
    b.alive()


def sorted_responses(answer):
    topics = [
        dict(t, partitionResponses=sorted(t["partitionResponses"], key=lambda p: p["index"]))
        for t in answer["responses"]
    ]
    return dict(answer, responses=sorted(topics, key=lambda t: t["name"]))


@case("produce/negative-timeout", versions=[3, 9, 13], each={"0": 0, "-1": -1})
def timeout(b, v, ms):
    name = b.topic()
    put(b, v, name, timeoutMs=ms, acks=1)


@case("produce/min-isr")
def min_isr(b):
    """acks=all needs as many in-sync replicas as the topic asks for; acks=1 does not."""
    name = b.topic(min_insync_replicas=2)
    put(b, 9, name)
    put(b, 9, name, acks=1)
    b.until("the second record", lambda: b.end_offset(name) == 2)
    b.note("end offset", b.end_offset(name))


# -- idempotence -------------------------------------------------------------------------------------------------------


def sequenced(pid, sequence, count=1, epoch=0, **more):
    return batch.batch(
        [b"%d" % (sequence + i) for i in range(count)], producer_id=pid, producer_epoch=epoch, sequence=sequence, **more
    )


@case("produce/idempotent", versions=[3, 9, 13])
def idempotent(b, v):
    name, pid = b.topic(), b.producer()
    put(b, v, name, sequenced(pid, 0, 2))
    put(b, v, name, sequenced(pid, 2, 1))
    put(b, v, name, sequenced(pid, 3, 3))
    stored(b, name)


@case("produce/duplicate", versions=[3, 5, 9, 13])
def duplicate(b, v):
    """A repeated batch is answered as the first time and not stored again: any of the last five."""
    name, pid = b.topic(), b.producer()
    for sequence in range(6):
        put(b, v, name, sequenced(pid, sequence))
    for sequence in (5, 4, 3, 2, 1, 0):
        put(b, v, name, sequenced(pid, sequence))
    b.note("end offset", b.end_offset(name))


@case("produce/duplicate-of-other-length")
def duplicate_other(b):
    name, pid = b.topic(), b.producer()
    put(b, 9, name, sequenced(pid, 0, 3))
    put(b, 9, name, sequenced(pid, 0, 2))
    put(b, 9, name, sequenced(pid, 1, 2))
    put(b, 9, name, sequenced(pid, 0, 4))
    b.note("end offset", b.end_offset(name))


@case("produce/duplicate-with-append-time")
def duplicate_append_time(b):
    name, pid = b.topic(message_timestamp_type="LogAppendTime"), b.producer()
    put(b, 9, name, sequenced(pid, 0))
    put(b, 9, name, sequenced(pid, 0))


@case("produce/out-of-order", versions=[3, 9, 13])
def out_of_order(b, v):
    name, pid = b.topic(), b.producer()
    put(b, v, name, sequenced(pid, 0))
    put(b, v, name, sequenced(pid, 2))
    put(b, v, name, sequenced(pid, 1))
    put(b, v, name, sequenced(pid, 2))
    b.note("end offset", b.end_offset(name))


@case("produce/first-sequence-not-zero", versions=[3, 9, 13])
def first_not_zero(b, v):
    name, pid = b.topic(), b.producer()
    put(b, v, name, sequenced(pid, 7))
    put(b, v, name, sequenced(pid, 8))
    put(b, v, name, sequenced(pid, 0))
    stored(b, name)


@case("produce/epochs", versions=[3, 9, 13])
def epochs(b, v):
    """A newer epoch starts at 0; an older one is refused; so is a newer one that does not start at 0."""
    name, pid = b.topic(), b.producer()
    put(b, v, name, sequenced(pid, 0, epoch=3))
    put(b, v, name, sequenced(pid, 1, epoch=3))
    put(b, v, name, sequenced(pid, 2, epoch=2))
    put(b, v, name, sequenced(pid, 0, epoch=2))
    put(b, v, name, sequenced(pid, 2, epoch=4))
    put(b, v, name, sequenced(pid, 0, epoch=4))
    put(b, v, name, sequenced(pid, 0, epoch=4))
    put(b, v, name, sequenced(pid, 0, epoch=3))
    stored(b, name)


@case("produce/sequence-wraps")
def sequence_wraps(b):
    name, pid = b.topic(), b.producer()
    put(b, 9, name, batch.batch([b"1", b"2", b"3"], producer_id=pid, producer_epoch=0, sequence=0x7FFFFFFE))
    put(b, 9, name, sequenced(pid, 1, 2))
    stored(b, name)


@case("produce/unknown-producer")
def unknown_producer(b):
    """Ids that no broker gave out are taken as they come."""
    name = b.topic()
    put(b, 9, name, sequenced(987654321, 0))
    put(b, 9, name, sequenced(987654321, 1))
    put(b, 9, name, sequenced(0, 5, epoch=32767))


IDENTITIES = {
    "id-without-epoch": (5, -1, 0),
    "id-without-sequence": (5, 0, -1),
    "epoch-without-id": (-1, 0, 0),
    "sequence-without-id": (-1, -1, 0),
    "negative-sequence": (5, 0, -5),
    "negative-id": (-2, 0, 0),
    "negative-epoch": (5, -2, 0),
}


@case("produce/producer-identity", versions=[3, 9, 13], each=IDENTITIES)
def identity(b, v, given):
    name = b.topic()
    put(b, v, name, batch.batch([b"1"], producer_id=given[0], producer_epoch=given[1], sequence=given[2]))
    b.alive()
    stored(b, name)


@case("produce/two-producers")
def two_producers(b):
    name, one, other = b.topic(), b.producer(), b.producer()
    put(b, 9, name, sequenced(one, 0))
    put(b, 9, name, sequenced(other, 0))
    put(b, 9, name, sequenced(one, 1))
    put(b, 9, name, batch.batch([b"plain"]))
    put(b, 9, name, sequenced(other, 1))
    stored(b, name)


@case("produce/one-producer-two-partitions")
def two_partitions(b):
    name, pid = b.topic(partitions=2), b.producer()
    put(b, 9, name, {0: sequenced(pid, 0), 1: sequenced(pid, 0)})
    put(b, 9, name, {0: sequenced(pid, 1), 1: sequenced(pid, 5)})
    for partition in (0, 1):
        stored(b, name, partition)


@case("produce/idempotent-after-delete-records")
def after_delete_records(b):
    name, pid = b.topic(), b.producer()
    put(b, 9, name, sequenced(pid, 0, 3))
    fields = {"topics": [{"name": name, "partitions": [{"partitionIndex": 0, "offset": 3}]}], "timeoutMs": 10000}
    b.ask("DeleteRecords", 2, fields)
    put(b, 9, name, sequenced(pid, 3))
    put(b, 9, name, sequenced(pid, 0, 3))
    stored(b, name)


@case("produce/transactional", versions=[3, 9, 12, 13])
def transactional(b, v):
    """Transactional batches without a transaction, and ids that do not fit what is sent."""
    name, pid = b.topic(), b.producer()
    data = sequenced(pid, 0, attributes=TRANSACTIONAL)
    put(b, v, name, data)
    put(b, v, name, data, transactionalId=b.topic_name("tx"))
    put(b, v, name, sequenced(pid, 0), transactionalId=b.topic_name("tx"))
    put(b, v, name, batch.batch([b"1"]), transactionalId=b.topic_name("tx"))
    b.alive()
    stored(b, name)


@case("produce/transactional-mixed")
def transactional_mixed(b):
    name, pid = b.topic(partitions=2), b.producer()
    put(b, 9, name, {0: sequenced(pid, 0, attributes=TRANSACTIONAL), 1: batch.batch()})
    b.alive()


@case("produce/marker-with-producer")
def marker(b):
    name, pid = b.topic(), b.producer()
    put(b, 9, name, batch.marker(producer_id=pid))
    put(b, 9, name, batch.batch([(struct.pack(">hh", 0, 1), b"\0" * 6)], attributes=batch.CONTROL))
    stored(b, name)


@case("produce/big-record-count")
def big(b):
    name = b.topic()
    put(b, 9, name, batch.batch([b"%d" % i for i in range(2000)]))
    put(b, 9, name, batch.batch([b"%d" % i for i in range(2000)], codec=GZIP))
    b.note("end offset", b.end_offset(name))
