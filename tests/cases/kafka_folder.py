#!/usr/bin/env python3
"""The folder of an Apache Kafka broker for tests of `thalweg import`, and what that broker said of itself.

    kafka_folder.py KAFKA_PEER PORT

starts an Apache Kafka 4.4 by bench/kafka-peer, fills it, writes down what it says, and keeps its data folder twice in
kafka-folders/: once after an orderly stop (stopped.tar.xz), and once after SIGKILL (killed.tar.xz), with what it said
before each. Tests unpack them and ask a broker of ours the same.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import login_accounts as accounts
from node import Client, batches, until

import groups  # of tests/compare

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kafka-folders")
TIME = batches.TIME
LONG_MS = 3_000_000_000_000  # a fixture does not run out
# What both brokers are started with, besides listeners and folders.
SETTINGS = {
    **{key: value for key, value in accounts.SETTINGS.items() if "reauth" not in key},
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "log.retention.ms": "-1",
    "offsets.retention.minutes": "2147483647",
    "delegation.token.max.lifetime.ms": str(LONG_MS),
    "delegation.token.expiry.time.ms": str(LONG_MS),
}
OF_KAFKA = {
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "log.index.size.max.bytes": "4096",
    "log.cleaner.backoff.ms": "100",
    "log.retention.check.interval.ms": "500",
    "metadata.log.max.record.bytes.between.snapshots": "3000",
}
TOPICS = ("plain", "compressed", "compacted", "trimmed", "rolled", "decided", "open", "empty")
GROUPS = ("offsets", "members", "decided", "forsaken")


def commit(client, group, name, parts, member="", generation=-1):
    wanted = [{"partitionIndex": p, "committedOffset": o, "committedLeaderEpoch": 0, "committedMetadata": f"of {group}"}
              for p, o in parts.items()]
    fields = {"groupId": group, "generationIdOrMemberEpoch": generation, "memberId": member}

    def done():
        answer = client.ask("OffsetCommit", 7, {**fields, "topics": [{"name": name, "partitions": wanted}]})
        return all(p["errorCode"] == 0 for p in answer["topics"][0]["partitions"])

    until(f"{group} has committed", done)


# -- what a broker says ------------------------------------------------------------------------------------------------


def raw(client, name, partition, start, end):
    """(digest, bytes) of the batches from one offset to another, as a Fetch gives them."""
    digest, size, offset = hashlib.sha256(), 0, start
    while offset < end:
        part = client.fetch(name, {partition: offset}, limit=16 << 20)[partition]
        assert part["errorCode"] == 0, f"fetch of {name}-{partition} at {offset}: error {part['errorCode']}"
        found, _ = batches.read_batches(part["records"])
        at = 0
        for one in found:
            data = part["records"][at:at + one["size"]]
            at += one["size"]
            if one["baseOffset"] >= end:
                return digest.hexdigest(), size
            digest.update(data)
            size += len(data)
            offset = one["lastOffset"] + 1
    return digest.hexdigest(), size


def committed_values(client, name):
    """What a consumer with read_committed reads of partition 0."""
    values, offset = [], 0
    while True:
        part = client.fetch(name, {0: offset}, isolationLevel=1)[0]
        if not part["records"]:
            return values
        aborted = {(a["producerId"], a["firstOffset"]) for a in part["abortedTransactions"] or []}
        left_out = set()
        for one in batches.read_batches(part["records"])[0]:
            offset = one["lastOffset"] + 1
            left_out |= {pid for pid, first in aborted if first <= one["baseOffset"]}
            if one["attributes"] & batches.CONTROL:
                left_out.discard(one["producerId"])
                aborted -= {(pid, first) for pid, first in aborted if pid == one["producerId"] and first < offset}
            elif one["producerId"] not in left_out:
                values += [r["value"].decode() for r in one["records"]]


def told_topic(client, name, ends=None):
    found = client.describe(name)
    parts = []
    for i in range(len(found["partitions"])):
        start, end = client.offset_at(name, -2, i)["offset"], client.end(name, i)
        upto = end if ends is None else ends[i]
        latest = client.offset_at(name, -3, i, version=7)
        parts.append({"start": start, "end": end, "records": raw(client, name, i, start, upto),
                      "latest": [latest["timestamp"], latest["offset"]],
                      "by time": client.offset_at(name, TIME + 15_000, i)["offset"]})
    own = {key: one["value"] for key, one in client.configs(name).items() if one["configSource"] == 1}
    return {"id": found["topicId"], "partitions": parts, "configs": own}


def told_offsets(client, group):
    def fetched():
        found = client.ask("OffsetFetch", 7, {"groupId": group, "topics": None, "requireStable": False})
        return found if found["errorCode"] == 0 else None

    answer = until(f"the coordinator of {group}", fetched)
    return sorted([t["name"], p["partitionIndex"], p["committedOffset"], p["committedLeaderEpoch"], p["metadata"]]
                  for t in answer["topics"] for p in t["partitions"])


def told_group(client, group):
    offsets = told_offsets(client, group)
    found = client.ask("DescribeGroups", 5, {"groups": [group]})["groups"][0]
    members = sorted([m["memberId"], m["groupInstanceId"], m["clientId"]] for m in found["members"])
    return {"offsets": offsets, "state": found["groupState"], "protocol": found["protocolType"], "members": members}


def told(client, ends=None):
    """What a broker says of all that the fixture is filled with, as JSON holds it. Records are read up to `ends`."""
    anything = {"resourceTypeFilter": 1, "resourceNameFilter": None, "patternTypeFilter": 1, "principalFilter": None,
                "hostFilter": None, "operation": 1, "permissionType": 1}
    acls = [[r["resourceType"], r["resourceName"], r["patternType"], a["principal"], a["host"], a["operation"], a["permissionType"]]
            for r in client.ask("DescribeAcls", 3, anything)["resources"] for a in r["acls"]]
    scram = client.ask("DescribeUserScramCredentials", 0, {"users": None})["results"]
    names = {t["name"] for t in client.ask("Metadata", 12, {"topics": None})["topics"]}
    default = {key: one["value"] for key, one in client.configs("", kind=4).items()}
    said = {
        "cluster": client.ask("Metadata", 9, {"topics": []})["clusterId"],
        "names": sorted(name for name in names if not name.startswith("__")),
        "topics": {name: told_topic(client, name, ends and ends[name]) for name in TOPICS},
        "groups": {group: told_group(client, group) for group in GROUPS},
        "committed": {name: committed_values(client, name) for name in ("decided", "open")},
        "acls": sorted(acls),
        "scram": sorted([r["user"], sorted([c["mechanism"], c["iterations"]] for c in r["credentialInfos"])] for r in scram),
        "brokers": {key: default[key] for key in ("log.cleaner.threads", "message.max.bytes") if key in default},
    }
    return json.loads(json.dumps(said))


# -- what it is filled with --------------------------------------------------------------------------------------------


class Transaction:
    """What a transactional producer sends."""

    def __init__(self, client, name):
        self.client, self.name, self.sequence = client, name, {}

        def ready():
            answer = client.ask("InitProducerId", 4, {"transactionalId": name, "transactionTimeoutMs": 900_000,
                                                      "producerId": -1, "producerEpoch": -1})
            self.id, self.epoch = answer["producerId"], answer["producerEpoch"]
            return answer["errorCode"] == 0

        until(f"the coordinator of {name}", ready)
        self.fields = {"transactionalId": name, "producerId": self.id, "producerEpoch": self.epoch}

    def put(self, topic, *values):
        def added():
            answer = self.client.ask("AddPartitionsToTxn", 3, {
                "v3AndBelowTransactionalId": self.name, "v3AndBelowProducerId": self.id, "v3AndBelowProducerEpoch": self.epoch,
                "v3AndBelowTopics": [{"name": topic, "partitions": [0]}]})
            return answer["resultsByTopicV3AndBelow"][0]["resultsByPartition"][0]["partitionErrorCode"] == 0

        until(f"{topic} is in the transaction", added)
        sequence = self.sequence.get(topic, 0)
        data = batches.batch([batches.record(v) for v in values], attributes=batches.TRANSACTIONAL, producer_id=self.id,
                             producer_epoch=self.epoch, sequence=sequence)
        self.sequence[topic] = sequence + len(values)
        fields = {**self.client.produce_fields(topic, data), "transactionalId": self.name}
        answer = self.client.ask("Produce", 9, fields)["responses"][0]["partitionResponses"][0]
        assert answer["errorCode"] == 0, f"transactional produce: error {answer['errorCode']}"

    def offsets(self, group, topic, offset):
        answer = self.client.ask("AddOffsetsToTxn", 3, {**self.fields, "groupId": group})
        assert answer["errorCode"] == 0, f"offsets of a transaction: error {answer['errorCode']}"
        part = {"partitionIndex": 0, "committedOffset": offset, "committedLeaderEpoch": 0, "committedMetadata": self.name}

        def done():
            found = self.client.ask("TxnOffsetCommit", 3, {
                **self.fields, "groupId": group, "generationIdOrMemberEpoch": -1, "memberId": "",
                "topics": [{"name": topic, "partitions": [part]}]})
            return found["topics"][0]["partitions"][0]["errorCode"] == 0

        until(f"offsets of {group} in the transaction", done)

    def end(self, commit_it):
        def done():
            return self.client.ask("EndTxn", 3, {**self.fields, "committed": commit_it})["errorCode"] == 0

        until(f"{self.name} ended", done)


def fill_topics(client):
    client.create("plain", partitions=2, retention_ms=-1, max_message_bytes=2_000_000)
    for i in range(30):
        client.put("plain", batches.batch([batches.record(b"plain %d" % i, b"%d" % i, [(b"h", b"v")], TIME + i * 1000)]), i % 2)
    client.create("compressed", compression_type="producer")
    for codec in range(5):
        values = [batches.record(b"codec %d record %d " % (codec, i) * 20, timestamp=TIME + (codec * 10 + i) * 1000) for i in range(10)]
        client.put("compressed", batches.batch(values, codec=codec))
    client.create("rolled", segment_ms=1000, segment_jitter_ms=0)
    for i in range(6):
        client.put("rolled", batches.batch([batches.record(b"rolled %d" % i, timestamp=TIME + i * 10_000)]))
    client.create("trimmed")
    client.put("trimmed", batches.batch([batches.record(b"trimmed %d" % i, timestamp=TIME + i * 1000) for i in range(20)]))
    answer = client.ask("DeleteRecords", 2, {"topics": [{"name": "trimmed", "partitions": [{"partitionIndex": 0, "offset": 7}]}],
                                             "timeoutMs": 30000})
    assert answer["topics"][0]["partitions"][0]["errorCode"] == 0
    client.create("empty", partitions=3)
    client.create("gone", retention_ms=1)
    client.delete("gone")
    client.create("again", retention_ms=1)
    client.delete("again")


def fill_compacted(client):
    client.create("compacted", cleanup_policy="compact", segment_ms=1000, segment_jitter_ms=0, min_cleanable_dirty_ratio="0.0001")
    for i in range(24):
        client.put("compacted", batches.batch([batches.record(b"value %d" % i, b"key %d" % (i % 5), timestamp=TIME + i * 10_000)]))
    until("a compaction", lambda: len(client.values("compacted")) < 10, timeout=60)


def find_coordinators(client):
    """Kafka makes the topics of its coordinators when it is asked who they are."""
    for kind in (0, 1):
        wanted = {"keyType": kind, "coordinatorKeys": ["any"]}
        until("a coordinator", lambda: client.ask("FindCoordinator", 4, wanted)["coordinators"][0]["errorCode"] == 0, timeout=60)


def fill_groups(client):
    commit(client, "offsets", "plain", {0: 3, 1: 5})
    commit(client, "offsets", "compressed", {0: 20})
    commit(client, "forsaken", "plain", {0: 1})
    until("the group is deleted", lambda: client.ask("DeleteGroups", 2, {"groupsNames": ["forsaken"]})["results"][0]["errorCode"] == 0)
    # A static member, as it need not come again when it is there already.
    joined = {}

    def join():
        fields = groups.join_fields("members", member=joined.get("memberId", ""), instance="one", sessionTimeoutMs=1_800_000)
        joined.update(client.ask("JoinGroup", 7, fields, timeout=60))
        return joined["errorCode"] == 0

    until("a member", join)
    answer = client.ask("SyncGroup", 5, groups.sync_fields("members", joined["memberId"], joined["generationId"],
                                                           [(joined["memberId"], b"")], groupInstanceId="one"))
    assert answer["errorCode"] == 0, f"sync: error {answer['errorCode']}"
    commit(client, "members", "plain", {0: 7}, joined["memberId"], joined["generationId"])


def fill_transactions(client):
    client.create("decided")
    producer = Transaction(client, "decider")
    for commit_it, what in ((True, b"committed"), (False, b"aborted"), (True, b"committed again")):
        producer.put("decided", what + b" 1", what + b" 2")
        if commit_it:
            producer.offsets("decided", "plain", 9 if what == b"committed" else 11)
        producer.end(commit_it)
    client.create("open")
    client.put("open", batches.batch([batches.record(b"before")]))
    producer = Transaction(client, "left-open")
    producer.put("open", b"left open 1", b"left open 2")
    producer.offsets("decided", "compressed", 13)


def fill_security(client, doors):
    def acl(kind, name, pattern, principal, operation, permission):
        return {"resourceType": kind, "resourceName": name, "resourcePatternType": pattern, "principal": principal, "host": "*",
                "operation": operation, "permissionType": permission}

    wanted = [acl(2, "plain", 3, "User:carol", 3, 3), acl(2, "comp", 4, "User:carol", 8, 3), acl(3, "*", 3, "User:*", 3, 3),
              acl(2, "compacted", 3, "User:carol", 8, 2), acl(4, "kafka-cluster", 3, "User:dave", 1 + 1, 3)]
    answer = client.ask("CreateAcls", 3, {"creations": wanted})
    assert not any(r["errorCode"] for r in answer["results"])
    client.ask("DeleteAcls", 3, {"filters": [{"resourceTypeFilter": 4, "resourceNameFilter": None, "patternTypeFilter": 1,
                                              "principalFilter": "User:dave", "hostFilter": None, "operation": 1, "permissionType": 1}]})
    accounts.set_up(doors)
    door = doors("PLAINTEXT")
    accounts.alter(door, upsertions=[accounts.upsertion("dave", 1)])
    until("dave", lambda: door.ask("DescribeUserScramCredentials", 0, {"users": [{"name": "dave"}]})["results"][0]["errorCode"] == 0)
    accounts.alter(door, [("dave", 1)])
    quota = {"entity": [{"entityType": "user", "entityName": "alice"}], "ops": [{"key": "producer_byte_rate", "value": 1e9, "remove": False}]}
    answer = client.ask("AlterClientQuotas", 1, {"entries": [quota], "validateOnly": False})
    assert not any(e["errorCode"] for e in answer["entries"])
    client.alter((4, "", [("log.cleaner.threads", 0, "2"), ("message.max.bytes", 0, "1100000")]))
    made = accounts.Tokens(doors().log_in("alice")).create("one", maxLifetimeMs=LONG_MS)
    return {"id": made["tokenId"], "hmac": base64.b64encode(made["hmac"]).decode()}


# -- the fixture -------------------------------------------------------------------------------------------------------


class Kafka:
    def __init__(self, peer, port, folder):
        self.peer, self.port, self.folder = peer, port, folder

    def start(self):
        where = ",".join(f"{name}://127.0.0.1:{self.port + i}" for i, name in enumerate(("PLAINTEXT", "CONTROLLER", "SASL_PLAINTEXT")))
        more = {**SETTINGS, **OF_KAFKA, "listeners": where, "advertised.listeners": where}
        environment = {**os.environ, "KAFKA_PEER_EXTRA": "\n".join(f"{key}={value}" for key, value in more.items()),
                       "KAFKA_HEAP_OPTS": "-Xmx512M -Xms256M"}
        subprocess.run([self.peer, "start", str(self.port), self.folder], check=True, env=environment)

    def stop(self):
        subprocess.run([self.peer, "stop", self.folder], check=True)

    def kill(self):
        with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
            os.kill(int(file.read()), 9)
        self.stop()

    def client(self):
        return Client("127.0.0.1", self.port)

    def doors(self):
        plaintext, sasl = (f"127.0.0.1:{self.port + i}" for i in (0, 2))
        return accounts.Doors(plaintext, sasl, sasl)

    def keep(self, name):
        with tarfile.open(os.path.join(FOLDER, name + ".tar.xz"), "w:xz") as archive:
            archive.add(os.path.join(self.folder, "data"), "data")


def unpack(name, folder):
    """The data folder of the Kafka of that name, below `folder`."""
    with tarfile.open(os.path.join(FOLDER, name + ".tar.xz")) as archive:
        archive.extractall(folder)
    return os.path.join(folder, "data")


def write_down(name, said):
    with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(said, file, indent=1, sort_keys=True)
        file.write("\n")


def what_it_said(name):
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    with tempfile.TemporaryDirectory(prefix="thalweg-kafka-") as folder:
        kafka = Kafka(sys.argv[1], int(sys.argv[2]), folder)
        try:
            kafka.start()
            with kafka.client() as client:
                fill_topics(client)
                fill_compacted(client)
                find_coordinators(client)
                fill_groups(client)
                fill_transactions(client)
                token = fill_security(client, kafka.doors())
                write_down("stopped", {**told(client), "token": token})
            kafka.stop()
            kafka.keep("stopped")
            kafka.start()
            with kafka.client() as client:
                client.serving("plain", 2)
                client.put("plain", batches.batch([batches.record(b"more", timestamp=TIME + 60_000)]))
                commit(client, "offsets", "plain", {0: 16})
                write_down("killed", {**told(client), "token": token})
            kafka.kill()
            kafka.keep("killed")
        finally:
            subprocess.run([kafka.peer, "stop", folder], check=False, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
