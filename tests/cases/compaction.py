"""Compaction: of each key the last record stays, beside traffic, over crashes."""

import glob
import os
import threading
import time

from node import batches, sequenced, until
from suite import test

HOUR_MS = 3600_000

# A broker that compacts all the time.
EAGER = {
    "log.cleaner.backoff.ms": "20",
    "log.retention.check.interval.ms": "20",
    "log.initial.task.delay.ms": "0",
}
COMPACTED = {
    "cleanup_policy": "compact",
    "internal_segment_bytes": 2000,
    "min_cleanable_dirty_ratio": 0.01,
    "file_delete_delay_ms": 0,
}


def now_ms():
    return int(time.time() * 1000)


def put(client, name, key, value, **more):
    return client.put(name, batches.batch([batches.record(value, key=key, timestamp=now_ms())], **more))


def records(client, name, offset=0):
    return [(r["offset"], r["key"], r["value"]) for b in client.read(name, 0, offset) for r in b["records"]]


def close_segment(client, name):
    """Fills the active segment, so that what is before it can be compacted."""
    for i in range(8):
        put(client, name, b"filler", b"x" * 400 + b"%d" % i)


def compacted(client, name, keys):
    """Waits until each of these keys is there once."""

    def once():
        found = [key for _, key, _ in records(client, name)]
        return all(found.count(key) == 1 for key in keys)

    until(f"{name} compacted", once)


@test("compaction keeps the last value of every key at its offset, in every codec, and over SIGKILL")
def last_values(t):
    node = t.node(EAGER).start()
    keys = [b"key-%d" % i for i in range(10)]
    with node.client() as client:
        for codec in range(5):
            name = f"t-{batches.CODECS[codec]}"
            client.create(name, **COMPACTED)
            last = {}
            for i in range(60):
                key, value = keys[i * 7 % 10], b"value-%d" % i
                last[key] = (put(client, name, key, value, codec=codec), value)
            close_segment(client, name)
            end = client.end(name)
            compacted(client, name, keys)
            found = {key: (offset, value) for offset, key, value in records(client, name) if key != b"filler"}
            t.same(found, last, f"{name}: what is left")
            t.same(client.end(name), end, f"{name}: end")
            t.same(client.offset_at(name, -2)["offset"], 0, f"{name}: start")
            for offset in range(0, end, 7):
                t.same(client.fetch(name, offset)["errorCode"], 0, f"{name}: fetch at {offset}")
        t.claim("thalweg_compaction_failures_total 0" in node.metrics(), "passes failed")
    node.kill()
    node.start()
    with node.client() as client:
        for codec in range(5):
            name = f"t-{batches.CODECS[codec]}"
            found = {key: value for _, key, value in records(client, name)}
            wanted = [b"value-%d" % max(i for i in range(60) if i * 7 % 10 == k) for k in range(10)]
            t.same([found[key] for key in keys], wanted, f"{name} after SIGKILL")
            t.same(glob.glob(os.path.join(node.data, name + "-0", "*.cleaned")), [], "leftovers")


@test("a tombstone takes its key away, and goes itself after delete.retention.ms")
def tombstones(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("kept", **COMPACTED, delete_retention_ms=HOUR_MS)
        client.create("gone", **COMPACTED, delete_retention_ms=0)
        for name in ("kept", "gone"):
            put(client, name, b"a", b"1")
            put(client, name, b"b", b"1")
            put(client, name, b"a", None)

        def keys(name):
            put(client, name, b"filler", b"x" * 400)
            return {(key, value) for _, key, value in records(client, name) if key != b"filler"}

        until("the tombstone and its key are gone", lambda: keys("gone") == {(b"b", b"1")})
        until("the older value is gone", lambda: keys("kept") == {(b"b", b"1"), (b"a", None)})


@test("a topic that is compacted and deleted loses old segments as well")
def both(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", **{**COMPACTED, "cleanup_policy": "compact,delete"}, retention_ms=60_000)
        old = now_ms() - HOUR_MS
        for i in range(30):
            client.put("t", batches.batch([batches.record(b"x" * 300, key=b"old-%d" % i, timestamp=old)]))
        for i in range(30):
            put(client, "t", b"new-%d" % (i % 3), b"x" * 300)
        until("the old keys are gone", lambda: client.offset_at("t", -2)["offset"] > 20)
        start = client.offset_at("t", -2)["offset"]

        def left():
            return [key for _, key, _ in records(client, "t", start)]

        until("the new keys are compacted", lambda: len(left()) < 15 and {b"new-0", b"new-1", b"new-2"} <= set(left()))


@test("retries of an idempotent producer are known although compaction has taken its records")
def producers(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", **COMPACTED)
        producer = client.producer()
        batch = sequenced(producer, 0, 3)
        t.same(client.produce("t", batch)["errorCode"] != 0, True, "records without a key")
        pid, epoch = producer
        keyed = batches.batch(
            [batches.record(b"1", key=b"a", timestamp=now_ms()) for _ in range(3)],
            producer_id=pid,
            producer_epoch=epoch,
            sequence=0,
        )
        t.same(client.put("t", keyed), 0, "first offset")
        put(client, "t", b"a", b"2")
        close_segment(client, "t")
        compacted(client, "t", [b"a"])
        for restart in (None, node.stop, node.kill):
            if restart:
                client.close()
                restart()
                node.start()
                client.host, client.port = node.listeners["PLAINTEXT"]
            part = client.produce("t", keyed)
            t.same((part["errorCode"], part["baseOffset"]), (0, 0), f"the same again after {restart}")


@test("compaction goes on beside writers and readers, who miss nothing")
def beside_traffic(t):
    node = t.node(EAGER).start()
    with node.client() as client:
        client.create("t", **COMPACTED)
        problems, stop = [], threading.Event()

        def read_on():
            with node.client() as reader:
                seen = {}
                while not stop.is_set():
                    for _, key, value in records(reader, "t"):
                        number = int(value.split(b" ")[0])
                        seen[key] = max(seen.get(key, -1), number)
                    # Reading from the start again must end at values that are no older.
                    again = {key: int(value.split(b" ")[0]) for _, key, value in records(reader, "t")}
                    problems.extend(f"{k}: {again.get(k)} after {n}" for k, n in seen.items() if again.get(k, -1) < n)

        thread = threading.Thread(target=read_on)
        thread.start()
        try:
            for i in range(400):
                put(client, "t", b"k%d" % (i % 9), b"%d " % i + b"." * 200)
        finally:
            stop.set()
            thread.join()
        t.same(problems, [], "values that went back")
        last = {key: int(value.split(b" ")[0]) for _, key, value in records(client, "t")}
        t.same(last, {b"k%d" % k: max(i for i in range(400) if i % 9 == k) for k in range(9)}, "the last values")
        until("most of it is gone", lambda: len(records(client, "t")) < 100)
