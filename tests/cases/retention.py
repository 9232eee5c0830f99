"""Retention and DeleteRecords: what goes, what stays, and what a crash may not bring back."""

import glob
import os
import time

from node import batches, until
from suite import test

HOUR_MS = 3600_000
TOPIC = 2
SET = 0
OUT_OF_RANGE, POLICY_VIOLATION = 1, 44

# A broker that looks for segments to delete all the time.
EAGER = {"log.retention.check.interval.ms": "20", "log.initial.task.delay.ms": "0"}


def now_ms():
    return int(time.time() * 1000)


def fill(client, name, count, timestamp, first=0, key=None):
    """So many batches of one record, each about a third of a small segment."""
    for i in range(first, first + count):
        client.put(name, batches.batch([batches.record(b"%d" % i + b"x" * 300, key=key, timestamp=timestamp)]))


def files(node, name, pattern="*"):
    return sorted(os.path.basename(p) for p in glob.glob(os.path.join(node.data, f"{name}-0", pattern)))


def start_of(client, name):
    return client.offset_at(name, -2)["offset"]


def delete_records(client, name, offset, version=2):
    topics = [{"name": name, "partitions": [{"partitionIndex": 0, "offset": offset}]}]
    answer = client.ask("DeleteRecords", version, {"topics": topics, "timeoutMs": 30000})
    part = answer["topics"][0]["partitions"][0]
    return part["errorCode"], part["lowWatermark"]


@test("retention by time takes everything that is old enough, and offsets go on")
def by_time(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        # What must stay is there before, so that a look at everything comes after it.
        client.create("kept", internal_segment_bytes=1000, retention_ms=10 * HOUR_MS)
        fill(client, "kept", 10, now_ms() - HOUR_MS)
        client.create("old", internal_segment_bytes=1000, retention_ms=60_000, file_delete_delay_ms=HOUR_MS)
        fill(client, "old", 10, now_ms() - HOUR_MS)
        until("everything old is gone", lambda: start_of(client, "old") == 10)
        t.same(client.end("old"), 10, "end of the emptied log")
        t.same(client.fetch("old", 0)["errorCode"], OUT_OF_RANGE, "fetch of what is gone")
        t.same(start_of(client, "kept"), 0, "start of what is not old enough")
        t.claim(len(files(node, "old", "*.log.deleted")) >= 4, f"files after the deletion: {files(node, 'old')}")
        t.same(len(files(node, "old", "*.log")), 1, "segments left")
        fill(client, "old", 1, now_ms())
        t.same(start_of(client, "old"), 10, "start after another record")
    node.kill()
    node.start()
    with node.client() as client:
        t.same((start_of(client, "old"), client.end("old")), (10, 11), "start and end after SIGKILL")
        t.same(files(node, "old", "*.deleted"), [], "what a start leaves of deleted segments")
        t.same((start_of(client, "kept"), client.end("kept")), (0, 10), "the other topic after SIGKILL")


@test("retention by size keeps the newest segments, and their files go after the delay")
def by_size(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", internal_segment_bytes=1000, retention_bytes=3000, file_delete_delay_ms=0)
        fill(client, "t", 60, now_ms())
        folder = os.path.join(node.data, "t-0")

        def log_bytes():
            return sum(os.path.getsize(os.path.join(folder, f)) for f in files(node, "t", "*.log"))

        until("the log is small", lambda: start_of(client, "t") > 40 and log_bytes() < 4000)
        t.claim(log_bytes() >= 3000, f"{log_bytes()} bytes are left, though 3000 may stay")
        until("the files are removed", lambda: not files(node, "t", "*.deleted"))
        first = start_of(client, "t")
        t.same(client.values("t", 0, first)[0].rstrip(b"x"), b"%d" % first, "the first record that is left")


@test("a changed retention takes effect, also on a log that nobody writes to")
def changed(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", internal_segment_bytes=1000)
        client.create("other", internal_segment_bytes=1000, retention_ms=1)
        fill(client, "t", 10, now_ms() - HOUR_MS)
        fill(client, "other", 10, now_ms() - HOUR_MS)
        until("another topic's retention", lambda: start_of(client, "other") == 10)
        t.same(start_of(client, "t"), 0, "start before the change")
        client.alter((TOPIC, "t", [("retention.ms", SET, "60000")]))
        until("the old records are gone", lambda: start_of(client, "t") == 10)


@test("C16 a record ahead of the clock keeps its own segment and those behind it, and no others")
def future(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", internal_segment_bytes=1000, retention_ms=60_000)
        old = now_ms() - HOUR_MS
        fill(client, "t", 9, old)
        client.put("t", batches.batch([batches.record(b"9" + b"x" * 300, timestamp=now_ms() + HOUR_MS // 2)]))
        fill(client, "t", 10, old, first=10)
        until("what is before it goes", lambda: 6 < start_of(client, "t") <= 9)
        t.same(client.end("t"), 20, "end")
        t.claim("thalweg_timestamps_future_total 1" in node.metrics(), "the metric does not count the odd batch")


@test("DeleteRecords is seen at once, and outlives SIGKILL")
def deleted_for_good(t):
    # Nothing but the request itself writes the checkpoint.
    node = t.node({"log.flush.offset.checkpoint.interval.ms": "3600000"}).start()
    with node.client() as client:
        client.create("t")
        fill(client, "t", 10, now_ms())
        for version, offset in ((0, 2), (1, 3), (2, 4)):
            t.same(delete_records(client, "t", offset, version), (0, offset), f"version {version}")
            t.same(start_of(client, "t"), offset, f"start after version {version}")
            t.same(client.fetch("t", offset - 1)["errorCode"], OUT_OF_RANGE, "fetch below")
            t.same(client.fetch("t", offset)["logStartOffset"], offset, "log start in Fetch")
        t.same(delete_records(client, "t", 11), (OUT_OF_RANGE, -1), "above the end")
        t.same(delete_records(client, "t", 1), (0, 4), "below the start")
    node.kill()
    node.start()
    with node.client() as client:
        t.same((start_of(client, "t"), client.end("t")), (4, 10), "start and end after SIGKILL")
        t.same(delete_records(client, "t", -1), (0, 10), "up to the high watermark")
        t.same(client.fetch("t", 10)["errorCode"], 0, "fetch at the end")
    node.kill()
    node.start()
    with node.client() as client:
        t.same((start_of(client, "t"), client.end("t")), (10, 10), "start and end of the emptied log")
        fill(client, "t", 1, now_ms(), first=10)
        t.same(len(client.values("t", 0, 10)), 1, "records after it")


@test("segments below the log start go, whatever the retention")
def below_log_start(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", internal_segment_bytes=1000, retention_ms=-1, file_delete_delay_ms=0)
        fill(client, "t", 10, now_ms())
        before = files(node, "t", "*.log")
        delete_records(client, "t", 8)
        until("the segments are removed", lambda: len(files(node, "t", "*.log*")) <= 2)
        t.claim(len(before) >= 4, f"segments before: {before}")
        t.same([v.rstrip(b"x") for v in client.values("t", 0, 8)], [b"8", b"9"], "records left")


@test("a topic that is made again begins at 0, whatever was deleted of the one before, over SIGKILL")
def made_again(t):
    node = t.node({"log.flush.offset.checkpoint.interval.ms": "3600000"}).start()
    with node.client() as client:
        for kill in (False, True):
            client.create("t")
            fill(client, "t", 10, now_ms())
            t.same(delete_records(client, "t", 9), (0, 9), "deleting records")
            if kill:
                break
            client.delete("t")
    # Deleted while the broker knows of it, and made again after the crash.
    with node.client() as client:
        client.delete("t")
    node.kill()
    node.start()
    with node.client() as client:
        client.create("t")
        fill(client, "t", 3, now_ms())
    node.kill()
    node.start()
    with node.client() as client:
        t.same((start_of(client, "t"), client.end("t")), (0, 3), "start and end of the new topic")
        t.same(len(client.values("t")), 3, "its records")


@test("DeleteRecords is refused for a topic that is only compacted")
def compacted(t):
    with t.shared.client() as client:
        client.create(t.topic, cleanup_policy="compact")
        fill(client, t.topic, 3, now_ms(), key=b"k")
        t.same(delete_records(client, t.topic, 1), (POLICY_VIOLATION, -1), "the answer")
        t.same(start_of(client, t.topic), 0, "start")
