"""`thalweg import`: a folder that Kafka has written becomes one of ours, and a broker on it says what Kafka said."""

import fcntl
import os
import re
import struct

import kafka_folder
import login_accounts as accounts
from integrity import contents, fsck, one_line, thalweg
from node import SCHEMAS, batches, sequenced
from suite import test
from wire import uvarint

LISTENERS = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"


def node_on(t, folder):
    settings = {key: value for key, value in kafka_folder.SETTINGS.items() if key != "listener.security.protocol.map"}
    return t.node({**settings, "log.dirs": folder, "listeners": LISTENERS})


def doors_of(node):
    plaintext, sasl = (":".join(map(str, node.listeners[name])) for name in ("PLAINTEXT", "SASL_PLAINTEXT"))
    return accounts.Doors(plaintext, sasl, sasl)


def unpacked(t, name):
    """(a node to run commands of, the folder of a Kafka)"""
    node = t.node()
    return node, kafka_folder.unpack(name, os.path.join(node.folder, "kafka"))


def ends_of(said):
    return {name: [p["end"] for p in topic["partitions"]] for name, topic in said["topics"].items()}


def last_segment(folder):
    return os.path.join(folder, max(name for name in os.listdir(folder) if name.endswith(".log")))


def append_to(folder, *batch_bytes):
    """Puts batches at the end of a log, at the offsets behind it."""
    path = last_segment(folder)
    with open(path, "r+b") as file:
        offset = int(os.path.basename(path)[:20])
        for one in batches.read_batches(file.read())[0]:
            offset = one["lastOffset"] + 1
        for data in batch_bytes:
            file.write(struct.pack(">q", offset) + data[8:])
            offset += 1


def metadata_record(kind, fields, version=0):
    """A batch with one record of the metadata log."""
    schema = SCHEMAS[kind]
    value = uvarint(1) + uvarint(schema.api_key) + uvarint(version) + schema.encode(fields, version)
    return batches.batch([batches.record(value)])


def compare(t, node, said):
    """Everything that Kafka said, but for the open transaction, which is ended."""
    with node.client() as client:
        ours = kafka_folder.told(client, ends_of(said))
    wanted = {key: value for key, value in said.items() if key != "token"}
    opened, ended = (said_by["topics"]["open"]["partitions"][0] for said_by in (wanted, ours))
    t.same(ended["end"], opened["end"] + 1, "end of the log whose transaction was open")
    # The marker is the newest record of the log now.
    ended.update({key: opened[key] for key in ("end", "latest", "by time")})
    for key, value in wanted.items():
        if isinstance(value, dict):
            for name in value:
                t.same(ours[key].get(name), value[name], f"{key} of {name}")
        else:
            t.same(ours[key], value, key)


def log_in(t, node, token):
    for mechanism in accounts.HASHES:
        door = doors_of(node)().handshake(mechanism)
        door.scram(mechanism, b"carol", accounts.SCRAM_PASSWORD.encode())
        t.claim(door.lines[-1].endswith("right"), f"carol logs in by {mechanism}: {door.lines}")
    answer = door.ask("Metadata", 9, {"topics": [{"name": name} for name in ("plain", "compressed", "compacted", "rolled")],
                                      "allowAutoTopicCreation": False})
    t.same([(x["name"], x["errorCode"]) for x in answer["topics"]],
           [("plain", 0), ("compressed", 0), ("compacted", 29), ("rolled", 29)], "what carol may see")
    door = doors_of(node)().handshake("SCRAM-SHA-256")
    door.scram("SCRAM-SHA-256", token["id"].encode(), token["hmac"].encode(), more=b",tokenauth=true")
    t.claim(door.lines[-1].endswith("right"), f"a login by the token: {door.lines}")
    t.claim("made under another key" not in node.log(), "the tokens are said to be void")
    door = doors_of(node)().handshake("SCRAM-SHA-256")
    door.scram("SCRAM-SHA-256", b"dave", accounts.SCRAM_PASSWORD.encode())
    t.claim(not door.lines[-1].endswith("right"), "dave, who was deleted")


def go_on(t, node, said):
    """Clients go on where they were."""
    with node.client() as client:
        for name in ("plain", "compacted", "rolled"):
            end = said["topics"][name]["partitions"][0]["end"]
            t.same(client.put(name, batches.batch([batches.record(b"ours", b"key")])), end, f"offset of the next record of {name}")
            t.same(client.values(name)[-1], b"ours", f"the next record of {name}")
        producer = client.producer()
        t.claim(producer[0] > 2, f"a producer id that Kafka has given out: {producer}")
        client.put("empty", sequenced(producer, 0))
        kafka_folder.commit(client, "offsets", "plain", {0: 17})
        member = said["groups"]["members"]["members"][0]
        beat = client.ask("Heartbeat", 4, {"groupId": "members", "generationId": 1, "memberId": member[0], "groupInstanceId": member[1]})
        t.same(beat["errorCode"], 0, "heartbeat of the member that Kafka knew")
        t.same(client.create("gone") not in (None, ""), True, "a name that Kafka had deleted")
    t.same(node.stop(), 0, "exit code")
    code, lines, _ = fsck(node, folder=node.settings["log.dirs"])
    t.same(code, 0, f"fsck afterwards: {lines}")
    node.start()
    with node.client() as client:
        t.same(client.values("plain")[-1], b"ours", "the record after a restart")
    t.same(node.stop(), 0, "exit code")


@test("a folder of Kafka is checked and described, and nothing of it is changed")
def described(t):
    node, kafka = unpacked(t, "stopped")
    before = contents(kafka)
    code, lines, errors = thalweg(node, "import", kafka)
    t.same((code, errors), (0, []), f"import says {lines}")
    said = kafka_folder.what_it_said("stopped")
    t.claim(re.search(rf"^cluster {said['cluster']}, node 1: {len(said['topics'])} topics, 11 partitions, ", lines[-1]), lines[-1])
    t.claim("4 ACLs, 2 SCRAM credentials, 1 delegation token" in lines[-1] and lines[-1].endswith("; no faults"), lines[-1])
    t.claim("note: open-0: 1 open transaction, to be ended" in lines, f"the open transaction: {lines}")
    t.claim(any(line.startswith("note: 1 client quota of ") for line in lines), f"what is not served: {lines}")
    t.same(contents(kafka), before, "the folder")
    t.same((os.listdir(node.folder), os.listdir(os.path.dirname(kafka))), (["kafka"], ["data"]), "what stands beside it")


@test("a folder of a Kafka that was stopped is copied, and a broker on it says what Kafka said")
def copied(t):
    node, kafka = unpacked(t, "stopped")
    before, target = contents(kafka), os.path.join(node.folder, "ours")
    code, lines, errors = thalweg(node, "import", kafka, "--to", target)
    t.same((code, errors), (0, []), f"import says {lines}")
    t.same(contents(kafka), before, "the folder of Kafka")
    code, lines, errors = fsck(node, folder=target)
    t.same((code, errors), (0, []), f"fsck says {lines}")
    t.claim(os.path.isdir(os.path.join(target, "imported-from-kafka", "__cluster_metadata-0")), "the metadata log is kept")
    said = kafka_folder.what_it_said("stopped")
    ours = node_on(t, target).start()
    compare(t, ours, said)
    log_in(t, ours, said["token"])
    go_on(t, ours, said)
    one_line(t, thalweg(node, "import", kafka, "--to", target), 1, "is not empty")


@test("a folder of a Kafka that was killed is taken over, a torn end and all")
def taken_over(t):
    node, kafka = unpacked(t, "killed")
    said = kafka_folder.what_it_said("killed")
    for name in ("plain-0", "__consumer_offsets-0", "__cluster_metadata-0"):
        with open(last_segment(os.path.join(kafka, name)), "ab") as file:
            file.write(batches.batch([b"torn" * 20])[:60])
    target = os.path.join(node.folder, "ours")
    code, lines, errors = thalweg(node, "import", kafka, "--to", target, "--move")
    t.same((code, errors), (0, []), f"import says {lines}")
    t.claim(any(line.startswith("note: ") and "plain-0" in line and f"ends at offset {said['topics']['plain']['partitions'][0]['end']}" in line
                for line in lines), f"the torn end: {lines}")
    t.claim(not os.path.exists(os.path.join(kafka, "plain-0")), "the log is where it was")
    code, lines, errors = fsck(node, folder=target)
    t.same((code, errors), (0, []), f"fsck says {lines}")
    ours = node_on(t, target).start()
    compare(t, ours, said)
    log_in(t, ours, said["token"])
    go_on(t, ours, said)


@test("a transaction that Kafka had decided to commit is committed")
def decided(t):
    node, kafka = unpacked(t, "killed")
    said = kafka_folder.what_it_said("killed")
    with open(last_segment(os.path.join(kafka, "open-0")), "rb") as file:
        one = next(b for b in batches.read_batches(file.read())[0] if b["attributes"] & batches.TRANSACTIONAL)
    key, value = SCHEMAS["TransactionLogKey"], SCHEMAS["TransactionLogValue"]
    record = batches.record(
        struct.pack(">h", 0) + value.encode({"producerId": one["producerId"], "producerEpoch": one["producerEpoch"], "transactionTimeoutMs": 1,
                                             "transactionStatus": 2, "transactionPartitions": [], "transactionLastUpdateTimestampMs": 1,
                                             "transactionStartTimestampMs": 1}, 0, lenient=True),
        struct.pack(">h", 0) + key.encode({"transactionalId": "left-open"}, 0))
    log = next(name for name in sorted(os.listdir(kafka)) if name.startswith("__transaction_state-")
               and b"left-open" in open(last_segment(os.path.join(kafka, name)), "rb").read())
    append_to(os.path.join(kafka, log), batches.batch([record]))
    target = os.path.join(node.folder, "ours")
    code, lines, errors = thalweg(node, "import", kafka, "--to", target)
    t.same((code, errors), (0, []), f"import says {lines}")
    t.claim(any(line.startswith("note: open-0: the transaction of producer ") and line.endswith("is committed") for line in lines), lines)
    ours = node_on(t, target).start()
    with ours.client() as client:
        t.same(kafka_folder.committed_values(client, "open"), ["before", "left open 1", "left open 2"], "what is committed")
        offsets = kafka_folder.told_offsets(client, "decided")
        t.same(offsets, sorted(said["groups"]["decided"]["offsets"] + [["compressed", 0, 13, 0, "left-open"]]), "offsets")
    t.same(ours.stop(), 0, "exit code")


@test("import refuses a folder of ZooKeeper's time, a tiered one, one of ours, one in use, one with faults, and no folder")
def refused(t):
    node, kafka = unpacked(t, "stopped")
    target = os.path.join(node.folder, "ours")
    t.same(thalweg(node, "import")[0], 2, "exit code without a folder")
    t.same(thalweg(node, "import", kafka, "--move")[0], 2, "exit code of --move without --to")
    one_line(t, thalweg(node, "import", kafka + "-none"), 1, "No such file")
    one_line(t, thalweg(node, "import", os.path.join(kafka, "plain-0")), 1, "is no folder of a Kafka broker")
    with open(os.path.join(kafka, ".lock"), "w+b") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        one_line(t, thalweg(node, "import", kafka), 1, "in use by a broker")
    segment = last_segment(os.path.join(kafka, "compressed-0"))
    with open(segment, "r+b") as file:
        file.seek(100)
        file.write(b"\xff")
    code, lines, _ = thalweg(node, "import", kafka)
    t.claim(code == 1 and any(line.startswith(segment + ": position 0, ") for line in lines), f"the fault: {code} {lines}")
    one_line(t, thalweg(node, "import", kafka, "--to", target), 1, "the logs have faults")
    t.claim(not os.path.exists(target), "nothing is made")

    append_to(os.path.join(kafka, "__cluster_metadata-0"), metadata_record("ConfigRecord", {
        "resourceType": 2, "resourceName": "plain", "name": "remote.storage.enable", "value": "true"}))
    one_line(t, thalweg(node, "import", kafka), 1, "topic plain is tiered")
    properties = os.path.join(kafka, "meta.properties")
    with open(properties, "w", encoding="ascii") as file:
        file.write("version=0\nbroker.id=1\ncluster.id=abcdefghijklmnopqrstuv\n")
    one_line(t, thalweg(node, "import", kafka), 1, "in ZooKeeper mode; migrate it to KRaft first")
    node.start()
    node.stop()
    one_line(t, thalweg(node, "import", node.data), 1, "is a folder of Thalweg's already")
