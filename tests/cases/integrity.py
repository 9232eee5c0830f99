"""What a disk spoils is found and said, and what is lost can be brought back: fsck, checks on read, the scrub, backups."""

import glob
import os
import re
import shutil
import subprocess
import threading

from node import batches, sequenced, until
from suite import test

CORRUPT_MESSAGE = 2
STORE = "metadata.sqlite"


def thalweg(node, *words):
    """(exit code, lines of stdout, lines of stderr) of a command."""
    done = subprocess.run([node.binary, *words], capture_output=True, text=True, timeout=120, check=False, cwd=node.folder)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def fsck(node, *words, folder=None):
    return thalweg(node, "fsck", folder or node.data, *words)


def one_line(t, answer, code, pattern):
    t.same(answer[0], code, f"exit code, with {answer[1]} and {answer[2]}")
    t.claim(len(answer[2]) == 1 and re.search(pattern, answer[2][0]), f"one line about {pattern}: {answer[2]}")


def contents(folder):
    found = {}
    for path, _, files in os.walk(folder):
        for name in files:
            one = os.path.join(path, name)
            if not os.path.isfile(one):
                continue  # the socket of a broker that was killed
            with open(one, "rb") as file:
                found[os.path.relpath(one, folder)] = (os.stat(one).st_mtime_ns, file.read())
    return found


def segments(node, name, partition=0, folder=None):
    return sorted(glob.glob(os.path.join(folder or node.data, f"{name}-{partition}", "*.log")))


def flip(path, position, bits=0x20):
    with open(path, "r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ bits]))


def record(i, size=0):
    return batches.batch([batches.record(b"%d" % i + b"x" * size)])


def fill(client, name, count, size=0):
    for i in range(count):
        client.put(name, record(i, size))


def commit(client, group, name, offset, partition=0):
    part = {"partitionIndex": partition, "committedOffset": offset, "committedMetadata": ""}
    fields = {"groupId": group, "generationIdOrMemberEpoch": -1, "memberId": ""}
    answer = client.ask("OffsetCommit", 7, {**fields, "topics": [{"name": name, "partitions": [part]}]})
    code = answer["topics"][0]["partitions"][0]["errorCode"]
    assert code == 0, f"commit: error {code}"


def committed(client, group, name, partition=0):
    wanted = {"groupId": group, "topics": [{"name": name, "partitionIndexes": [partition]}], "requireStable": False}
    return client.ask("OffsetFetch", 7, wanted)["topics"][0]["partitions"][0]["committedOffset"]


@test("fsck of a sound folder finds nothing and changes nothing, after a stop and after a kill")
def sound(t):
    node = t.node().start()
    with node.client() as client:
        client.create("small", partitions=3, internal_segment_bytes=1000)
        client.create("untouched", partitions=2)
        fill(client, "small", 20, 100)
        producer = client.producer()
        for i in range(5):
            client.put("small", sequenced(producer, i), partition=1)
        commit(client, "g", "small", 7)
    for end in (node.kill, node.stop):
        end()
        before = contents(node.data)
        code, lines, errors = fsck(node)
        t.same((code, errors), (0, []), f"fsck says {lines}")
        t.claim(len(lines) == 1 and "25 records" in lines[0] and "no faults" in lines[0], f"summary: {lines}")
        t.claim("1 committed offset" in lines[0], f"summary of the store: {lines}")
        t.same(contents(node.data), before, "the folder")
        node.start()
    node.stop()


@test("fsck refuses a running broker, a folder that is not there, and no folder at all")
def refused(t):
    node = t.node().start()
    one_line(t, fsck(node), 1, r"thalweg: .*data is in use by a broker")
    node.stop()
    one_line(t, fsck(node, folder=node.data + "-none"), 1, r"thalweg: .*No such file")
    t.same(thalweg(node, "fsck")[0], 2, "exit code without a folder")
    t.same(fsck(node, "--no-such-option")[0], 2, "exit code of a wrong option")


@test("a flipped bit: CORRUPT_MESSAGE for its partition, one line in the log, found by fsck, repaired around")
def flipped(t):
    node = t.node({"thalweg.log.scrub.bytes.per.second": "0"}).start()
    with node.client() as client:
        client.create("bad", internal_segment_bytes=1000)
        client.create("good")
        fill(client, "bad", 20, 100)
        fill(client, "good", 3)
    node.stop()
    spoilt = segments(node, "bad")[1]
    base = int(os.path.basename(spoilt)[:20])
    flip(spoilt, 80)
    node.start()
    with node.client() as client:
        for _ in range(3):
            t.same(client.fetch("bad", base)["errorCode"], CORRUPT_MESSAGE, "fetch of what is spoilt")
        t.same(client.fetch("bad", base + 1)["errorCode"], 0, "fetch of what is behind it")
        t.same(client.values("good"), [b"0", b"1", b"2"], "another partition")
        t.claim("thalweg_unsound_reads_total 3" in node.metrics(), "the reads are counted")
    lines = [line for line in node.log().splitlines() if os.path.basename(spoilt) in line and "position 0" in line]
    t.claim(len(lines) == 1 and f"offset {base}" in lines[0], f"one line, with file, position and offset: {lines}")
    node.stop()
    code, lines, _ = fsck(node)
    t.same(code, 1, "exit code of fsck")
    t.claim(lines[0].startswith(f"{spoilt}: position 0, offset {base}: "), f"finding: {lines}")
    code, lines, _ = fsck(node, "--repair")
    t.same(code, 1, "exit code of the repair")
    t.claim(os.path.exists(spoilt + ".damaged"), "the damaged segment is kept")
    t.same(fsck(node)[0], 0, "exit code of fsck afterwards")
    node.start()
    with node.client() as client:
        values = [int(v.rstrip(b"x")) for v in client.values("bad")]
        t.same(values, [i for i in range(20) if i != base], "everything but the record that was spoilt")
        t.same(client.put("bad", record(20)), 20, "offset of the next record")
    node.stop()


@test("thalweg.log.read.verify compares the checksums of large reads too, and gives what is before the fault")
def verified(t):
    for verify in ("false", "true"):
        node = t.node({"thalweg.log.read.verify": verify, "thalweg.log.scrub.bytes.per.second": "0"}).start()
        with node.client() as client:
            client.create("large")
            fill(client, "large", 3, 100_000)
            path = segments(node, "large")[0]
            flip(path, os.path.getsize(path) // 3 + 5000)
            part = client.fetch("large", 0)
            found, _ = batches.read_batches(part["records"])
            if verify == "false":
                t.same([b["crcValid"] for b in found], [True, False, True], "checksums, sent as they are")
            else:
                t.same([b["crcValid"] for b in found], [True], "checksums of what is sent")
                t.same(client.fetch("large", 1)["errorCode"], CORRUPT_MESSAGE, "fetch of what is spoilt")
                t.same(len(batches.read_batches(client.fetch("large", 2)["records"])[0]), 1, "batches behind it")
        t.same(node.stop(), 0, "exit code")


@test("the scrub finds a flipped bit that nobody reads")
def scrubbed(t):
    node = t.node({"thalweg.log.scrub.bytes.per.second": "100000000", "log.initial.task.delay.ms": "0"}).start()
    with node.client() as client:
        client.create("cold", internal_segment_bytes=1000)
        fill(client, "cold", 20, 100)
    node.stop()
    spoilt = segments(node, "cold")[2]
    base = int(os.path.basename(spoilt)[:20])
    flip(spoilt, 80)
    node.start()
    until("the fault is counted", lambda: "thalweg_scrub_faults_total 1" in node.metrics())
    t.claim(f"{spoilt}: position 0, offset {base}: CRC" in node.log(), "the fault is in the log")
    t.claim("thalweg_scrub_bytes_total 0\n" not in node.metrics(), "what was read is counted")
    t.same(node.stop(), 0, "exit code")


@test("a torn end and spoilt indexes are named and repaired, and nothing sound is lost")
def repaired(t):
    node = t.node().start()
    with node.client() as client:
        client.create("log", internal_segment_bytes=3000, index_interval_bytes=100)
        fill(client, "log", 40, 100)
    node.stop()
    first, last = segments(node, "log")[0], segments(node, "log")[-1]
    with open(last, "ab") as file:
        file.write(b"\x01" * 30)
    index, times = (first.replace(".log", end) for end in (".index", ".timeindex"))
    flip(index, 5)
    flip(times, 3)
    code, lines, _ = fsck(node)
    t.same(code, 1, "exit code of fsck")
    for path in (last, index, times):
        t.claim(any(line.startswith(path + ": position ") for line in lines), f"{path} in {lines}")
    t.same(fsck(node, "--repair")[0], 1, "exit code of the repair")
    code, lines, _ = fsck(node)
    t.same(code, 0, f"exit code of fsck afterwards: {lines}")
    node.start()
    with node.client() as client:
        t.same(len(client.values("log")), 40, "records")
    node.stop()


@test("a store that is lost is made anew from the folders of the partitions")
def store_lost(t):
    node = t.node().start()
    with node.client() as client:
        ids = {name: client.create(name, partitions=count) for name, count in (("one", 1), ("three", 3))}
        fill(client, "one", 5)
        for partition in range(3):
            client.put("three", record(partition), partition=partition)
        producer = client.producer()
        client.put("one", sequenced(producer, 0))
        ends = {"one": client.end("one"), "three": client.end("three", 2)}
    node.kill()
    for path in glob.glob(os.path.join(node.data, STORE + "*")):
        os.remove(path)
    code, lines, _ = fsck(node)
    t.same(code, 1, "exit code of fsck")
    t.claim(any(STORE in line and "missing" in line for line in lines), f"finding: {lines}")
    code, lines, errors = fsck(node, "--repair")
    t.same((code, errors), (1, []), f"the repair says {lines}")
    t.claim(any("configs of topics" in line for line in lines), f"what cannot be known is said: {lines}")
    code, lines, _ = fsck(node)
    t.same(code, 0, f"exit code of fsck afterwards: {lines}")
    node.start()
    with node.client() as client:
        for name, count in (("one", 1), ("three", 3)):
            found = client.describe(name)
            t.same((found["topicId"], len(found["partitions"])), (ids[name], count), f"{name}: id and partitions")
        t.same({"one": client.end("one"), "three": client.end("three", 2)}, ends, "ends of the logs")
        t.claim(client.producer()[0] > producer[0], "no producer id is given out twice")
        client.put("one", record(9))
    node.kill()
    node.start()
    with node.client() as client:
        t.same(client.end("one"), ends["one"] + 1, "end of the log after another crash")
    node.stop()


class Load:
    """Clients that write and commit until they are told to stop."""

    def __init__(self, node, names):
        self.acknowledged = {name: 0 for name in names}
        self.committed = {name: 0 for name in names}
        self.failed = []
        self._going_on = True
        self._threads = [threading.Thread(target=self._run, args=(node, name)) for name in names]
        for thread in self._threads:
            thread.start()

    def _run(self, node, name):
        try:
            with node.client() as client:
                while self._going_on:
                    self.acknowledged[name] = client.put(name, record(self.acknowledged[name], 200)) + 1
                    if self.acknowledged[name] % 5 == 0:
                        commit(client, "g-" + name, name, self.acknowledged[name])
                        self.committed[name] = self.acknowledged[name]
        except Exception as error:  # told by the test
            self.failed.append(error)

    def stop(self):
        self._going_on = False
        for thread in self._threads:
            thread.join()


@test("a backup of a broker under load is whole, and holds all that was acknowledged before it began")
def backed_up(t):
    node = t.node().start()
    names = ["a", "b"]
    with node.client() as client:
        for name in names:
            client.create(name, internal_segment_bytes=20_000, retention_bytes=10_000_000)
        client.create("compacted", internal_segment_bytes=2000, cleanup_policy="compact")
        fill(client, "a", 300, 200)
        ids = {name: client.topic_id(name) for name in names}
    load = Load(node, names)
    until("some records", lambda: min(load.acknowledged.values()) > 200, timeout=60)
    acknowledged, committed_before = dict(load.acknowledged), dict(load.committed)
    target = os.path.join(node.folder, "backup")
    code, lines, errors = thalweg(node, "backup", target, "--data", node.data)
    t.same((code, errors), (0, []), f"backup says {lines}")
    t.claim(re.search(r"3 topics, 3 partitions, \d+ bytes copied, [1-9]\d* bytes linked", lines[0]), f"summary: {lines}")
    load.stop()
    t.same(load.failed, [], "faults of clients meanwhile")
    one_line(t, thalweg(node, "backup", target, "--data", node.data), 1, "is not empty")
    code, lines, errors = fsck(node, folder=target)
    t.same((code, errors), (0, []), f"fsck of the backup says {lines}")
    t.same([line for line in lines if line.startswith("note:")], [], "no committed offset is behind its log")
    node.stop()

    code, lines, errors = thalweg(node, "restore", target, os.path.join(node.folder, "restored"))
    t.same((code, errors), (0, []), f"restore says {lines}")
    other = t.node({"log.dirs": os.path.join(node.folder, "restored")}).start()
    with other.client() as client:
        for name in names:
            t.same(client.topic_id(name), ids[name], "topic id")
            count = len(client.values(name))
            t.claim(count == client.end(name), "every offset has its record")
            t.claim(count >= acknowledged[name], f"{name}: {count} records, {acknowledged[name]} acknowledged before")
            offset = committed(client, "g-" + name, name)
            t.claim(committed_before[name] <= offset <= count, f"{name}: committed {offset} of {count}")
            t.same(client.configs(name)["retention.bytes"]["value"], "10000000", "a config")
            client.put(name, record(0))
    t.same(other.stop(), 0, "exit code")


@test("a backup has the indexes of segments that no sync has come by since they were closed")
def backed_up_unsynced(t):
    node = t.node({"log.flush.acks": "none"}).start()
    with node.client() as client:
        client.create("rolled", internal_segment_bytes=1000, index_interval_bytes=100)
        fill(client, "rolled", 40, 100)
    t.claim(len(segments(node, "rolled")) > 4, "closed segments")
    target = os.path.join(node.folder, "backup")
    code, lines, errors = thalweg(node, "backup", target, "--data", node.data)
    t.same((code, errors), (0, []), f"backup says {lines}")
    t.claim(", 0 bytes linked" in lines[0], f"none of them is on stable storage as yet: {lines}")
    for path in segments(node, "rolled", folder=target)[:-1]:
        for end in (".index", ".timeindex"):
            t.claim(os.path.isfile(path.replace(".log", end)), f"{end} beside {path}")
    code, lines, errors = fsck(node, folder=target)
    t.same((code, errors), (0, []), f"fsck of the backup says {lines}")
    node.stop()
    other = t.node({"log.dirs": target}).start()
    with other.client() as client:
        t.same(len(client.values("rolled")), 40, "records")
    t.claim("rebuilding the indexes" not in other.log(), "a start on the backup has nothing to make anew")
    t.same(other.stop(), 0, "exit code")


@test("a backup needs a broker, and restore a backup that was finished")
def backup_refused(t):
    node = t.node().start()
    socket = os.path.join(node.data, "control.sock")
    t.same(os.stat(socket).st_mode & 0o777, 0o600, "mode of the socket")
    node.stop()
    t.claim(not os.path.exists(socket), "the socket is gone after a stop")
    target = os.path.join(node.folder, "backup")
    one_line(t, thalweg(node, "backup", target, "--data", node.data), 1, "no broker answers on ")
    os.makedirs(target)
    one_line(t, thalweg(node, "restore", target, target + "-restored"), 1, "is no backup")
    shutil.copytree(node.data, target, dirs_exist_ok=True)
    with open(os.path.join(target, "incomplete-copy"), "w", encoding="ascii"):
        pass
    one_line(t, thalweg(node, "restore", target, target + "-restored"), 1, "was not finished")
    t.claim("not finished" in fsck(node, folder=target)[1][0], "fsck says so")
    code, _, lines = t.node({"log.dirs": target}).refused()
    t.same((code, len(lines)), (1, 1), f"exit code and lines of a broker that starts on it: {lines}")
    t.claim("not finished" in lines[0], lines[0])
    os.remove(os.path.join(target, "incomplete-copy"))
    one_line(t, thalweg(node, "restore", target, node.data), 1, "is not empty")
