"""Several log directories: where partitions go, what is told of them, and what becomes of them when one is missing or full."""

import os
import shutil
import time

from node import batches, until
from suite import test

NONE, STORAGE_ERROR, LEADER_NOT_AVAILABLE = 0, 56, 5
BROKER, SET = 4, 0


def several(t, count=2, **settings):
    """A broker with as many log directories; they are `node.dirs`."""
    node = t.node(settings)
    node.dirs = [os.path.join(node.folder, f"disk-{i}") for i in range(count)]
    node.settings["log.dirs"] = ",".join(node.dirs)
    return node.start()


def logs(client, name):
    """{(partition, is future): (directory, size)} of a topic."""
    answer = client.ask("DescribeLogDirs", 5, {"topics": None})
    found = {}
    for result in answer["results"]:
        for topic in result["topics"]:
            for part in topic["partitions"]:
                if topic["name"] == name:
                    found[part["partitionIndex"], part["isFutureKey"]] = (result["logDir"], part["partitionSize"])
    return found


def where(client, name, partition=0):
    return logs(client, name)[partition, False][0]


def other(node, client, name, partition=0):
    """A directory that the partition is not in."""
    here = where(client, name, partition)
    return next(d for d in node.dirs if d != here)


def fill(client, name, count, first=0, size=1000, partition=0):
    now = int(time.time() * 1000)
    for i in range(first, first + count):
        client.put(name, batches.batch([batches.record(b"%d " % i + b"x" * size, timestamp=now)]), partition)


def numbers(client, name, offset=0, partition=0):
    return [int(v.split()[0]) for v in client.values(name, partition, offset)]


@test("new partitions go where the fewest are, and never into a cordoned directory")
def placement(t):
    node = several(t, 3)
    with node.client() as client:
        client.create("a", 7)
        client.create("b", 2)
        client.create("c", 3)
        spread = {d: 0 for d in node.dirs}
        for name in "abc":
            for directory, _ in logs(client, name).values():
                spread[directory] += 1
        t.same(sorted(spread.values()), [4, 4, 4], "partitions by directory")
        cordoned = ",".join(node.dirs[:2])
        answer = client.alter((BROKER, "1", [("cordoned.log.dirs", SET, cordoned)]))[0]
        t.same(answer["errorCode"], NONE, "cordoning two directories")
        client.create("d", 4)
        t.same({d for d, _ in logs(client, "d").values()}, {node.dirs[2]}, "directories of a topic made then")
        marks = {r["logDir"]: r["isCordoned"] for r in client.ask("DescribeLogDirs", 5, {"topics": []})["results"]}
        t.same(marks, {node.dirs[0]: True, node.dirs[1]: True, node.dirs[2]: False}, "marks")


@test("a directory that fails takes only its own partitions along")
def failed(t):
    node = several(t)
    with node.client() as client:
        client.create("t", 2, internal_segment_bytes=2000)
        first = next(p for p in (0, 1) if where(client, "t", p) == node.dirs[0])
        second = 1 - first
        record = batches.batch([batches.record(b"x" * 500, timestamp=int(time.time() * 1000))])
        shutil.rmtree(node.dirs[1])
        until("the disk is missed", lambda: client.produce("t", {second: record})[second]["errorCode"] != NONE)
        t.same(client.produce("t", {second: record})[second]["errorCode"], STORAGE_ERROR, "produce to what is lost")
        t.same(client.produce("t", {first: record})[first]["errorCode"], NONE, "produce to the other")
        results = {r["logDir"]: r for r in client.ask("DescribeLogDirs", 5, {"topics": None})["results"]}
        t.same(results[node.dirs[1]]["errorCode"], STORAGE_ERROR, "the failed directory")
        t.same(results[node.dirs[1]]["topics"], [], "what is in it")
        t.same(results[node.dirs[0]]["errorCode"], NONE, "the other directory")
        client.create("u", 4)
        t.same({d for d, _ in logs(client, "u").values()}, {node.dirs[0]}, "directories of a new topic")


@test("a folder that somebody moved by hand is found where it is")
def by_hand(t):
    node = several(t)
    with node.client() as client:
        client.create("t")
        fill(client, "t", 10)
        here, target = where(client, "t"), other(node, client, "t")
    node.kill()
    shutil.move(os.path.join(here, "t-0"), os.path.join(target, "t-0"))
    node.start()
    with node.client() as client:
        t.same(numbers(client, "t"), list(range(10)), "records")
        t.same(where(client, "t"), target, "directory")
        fill(client, "t", 3, 10)
    node.kill()
    node.start()
    with node.client() as client:
        t.same(where(client, "t"), target, "directory after a crash")
        t.same(numbers(client, "t"), list(range(13)), "records after a crash")


@test("a folder that is there twice is served from where the store has it, and the other goes aside")
def twice(t):
    node = several(t)
    with node.client() as client:
        client.create("t")
        fill(client, "t", 10)
        here, there = where(client, "t"), other(node, client, "t")
    t.same(node.stop(), 0, "exit code")
    shutil.copytree(os.path.join(here, "t-0"), os.path.join(there, "t-0"))
    node.start()
    with node.client() as client:
        t.same(where(client, "t"), here, "directory")
        t.same(numbers(client, "t"), list(range(10)), "records")
    aside = [name for name in os.listdir(there) if name.startswith("t-0")]
    t.claim(len(aside) == 1 and aside[0].endswith("-stray"), f"what became of the other: {aside}")


@test("a directory that is left out of log.dirs takes only its own partitions along, and brings them back")
def left_out(t):
    node = several(t, 3)
    with node.client() as client:
        client.create("t", 3)
        at = {where(client, "t", p): p for p in range(3)}
        t.same(sorted(at), sorted(node.dirs), "directories")
        for p in range(3):
            fill(client, "t", 5, partition=p)
    t.same(node.stop(), 0, "exit code")
    gone = node.dirs[2]
    node.settings["log.dirs"] = ",".join(node.dirs[:2])
    node.start()
    record = batches.batch([batches.record(b"x", timestamp=int(time.time() * 1000))])
    with node.client() as client:
        for directory, p in at.items():
            wanted = STORAGE_ERROR if directory == gone else NONE
            t.same(client.produce("t", {p: record})[p]["errorCode"], wanted, f"produce to partition {p}")
        parts = client.describe("t")["partitions"]
        codes = {p["partitionIndex"]: p["errorCode"] for p in parts}
        t.same(codes, {p: LEADER_NOT_AVAILABLE if d == gone else NONE for d, p in at.items()}, "metadata")
        t.same(sorted(p for p, _ in logs(client, "t")), sorted(p for d, p in at.items() if d != gone), "logs shown")
        client.create("u", 4)
        t.same({d for d, _ in logs(client, "u").values()}, set(node.dirs[:2]), "directories of a new topic")
    t.same(node.stop(), 0, "exit code of the broker without it")
    node.settings["log.dirs"] = ",".join(node.dirs)
    node.start()
    with node.client() as client:
        t.same(numbers(client, "t", partition=at[gone]), list(range(5)), "records that are back")


@test("what was deleted stays deleted where a log could not be opened at the start")
def opened_late(t):
    node = several(t, 1)
    with node.client() as client:
        client.create("t")
        fill(client, "t", 20)
        wanted = [{"name": "t", "partitions": [{"partitionIndex": 0, "offset": 13}]}]
        client.ask("DeleteRecords", 2, {"topics": wanted, "timeoutMs": 30000})
    t.same(node.stop(), 0, "exit code")
    path = os.path.join(node.dirs[0], "t-0", "partition.metadata")
    with open(path, "rb") as file:
        good = file.read()
    with open(path, "wb") as file:
        file.write(b"nonsense")
    node.start()
    with open(path, "wb") as file:
        file.write(good)
    with node.client() as client:
        t.same(client.offset_at("t", -2)["offset"], 13, "log start")
        t.same(numbers(client, "t", 13), list(range(13, 20)), "records")


@test("records do not fill the reserved part of a disk, and everything else goes on")
def reserved(t):
    node = several(t, 1)
    with node.client() as client:
        client.create("t")
        taken = 0

        def produce():
            nonlocal taken
            data = batches.batch([batches.record(b"%d " % taken, timestamp=int(time.time() * 1000))])
            code = client.produce("t", {0: data})[0]["errorCode"]
            taken += code == NONE
            return code

        def reserve(size):
            answer = client.alter((BROKER, "", [("thalweg.log.dirs.reserved.bytes", SET, str(size))]))[0]
            t.same(answer["errorCode"], NONE, f"reserving {size} bytes")

        t.same(produce(), NONE, "produce to a disk with room")
        reserve(1 << 62)
        until("records are refused", lambda: produce() == STORAGE_ERROR)
        where_it_is = f'{{directory="{node.dirs[0]}"}}'
        t.claim(f"thalweg_log_directory_full{where_it_is} 1" in node.metrics(), "the metric does not say so")
        t.claim("thalweg_produces_without_room_total 1" in node.metrics(), "the refusal is not counted")
        t.same(numbers(client, "t"), list(range(taken)), "records that can be read")
        wanted = [{"name": "t", "partitions": [{"partitionIndex": 0, "offset": 1}]}]
        answer = client.ask("DeleteRecords", 2, {"topics": wanted, "timeoutMs": 30000})
        t.same(answer["topics"][0]["partitions"][0]["errorCode"], NONE, "a deletion")
        client.create("u")
        reserve(0)
        until("records are taken again", lambda: produce() == NONE)
        t.claim(f"thalweg_log_directory_full{where_it_is} 0" in node.metrics(), "the metric does not say so")
        t.same(numbers(client, "t", 1), list(range(1, taken)), "records in the end")
