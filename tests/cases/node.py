"""A broker process that can be stopped, killed and started again on its folder, and a client that speaks to it."""

import contextlib
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "compare"))

import batch as batches
from harness import Closed, Connection, Silent, read_answer, request_frame
from wire import ZERO_UUID, Schemas, WireError

SCHEMAS = Schemas()

# What a broker is started with unless a test says otherwise. Records with old times must not be taken by retention.
DEFAULTS = {
    "node.id": "1",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "thalweg.console.listeners": "http://127.0.0.1:0",
    "log.retention.ms": "-1",
}


class NotStarted(Exception):
    """The broker ended, or said nothing, before it was ready."""


def until(what, condition, timeout=20.0, pause=0.002):
    """Waits for a condition and returns what it gave; the pause between two looks grows to a twentieth of a second."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen in {timeout:g} s")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


class Node:
    """One broker and its folder. `settings` are keys over DEFAULTS, None leaves a key out; `lines` are added to the
    file as they stand. `limit` is the (soft, hard) limit of descriptors that the process is given. `in_memory` puts the
    folder on a tmpfs where there is one, for tests that make very many files and are not about what a disk keeps."""

    def __init__(self, binary, settings=None, lines=(), arguments=(), environment=None, limit=None, in_memory=False):
        self.binary = os.path.abspath(binary)
        self.arguments, self.environment, self.limit = list(arguments), environment or {}, limit
        place = "/dev/shm" if in_memory and os.access("/dev/shm", os.W_OK) else None
        self._temporary = tempfile.TemporaryDirectory(prefix="thalweg-test-", dir=place)
        self.folder = self._temporary.name
        self.data = os.path.join(self.folder, "data")
        self.config = os.path.join(self.folder, "server.properties")
        self.settings = {**DEFAULTS, "log.dirs": self.data, **(settings or {})}
        self.lines = list(lines)
        self.process, self.listeners, self.console = None, {}, None
        self._runs = 0

    # -- the process ---------------------------------------------------------------------------------------------------

    def write_config(self):
        with open(self.config, "w", encoding="utf-8") as file:
            for key, value in self.settings.items():
                if value is not None:
                    file.write(f"{key}={value}\n")
            for line in self.lines:
                file.write(line + "\n")

    def command(self):
        return [self.binary, "serve", "--config", self.config, *self.arguments]

    def popen(self, **options):
        """The process, not waited for."""
        limit = self.limit
        if limit:
            options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        environment = {**os.environ, **self.environment}
        return subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, env=environment, **options)

    def start(self, timeout=60.0):
        """Starts and waits until every listener is announced."""
        self.write_config()
        self._runs += 1
        self.log_path = os.path.join(self.folder, f"log-{self._runs}")
        began = time.monotonic()
        with open(self.log_path, "wb") as log:
            self.process = self.popen(stdout=log, stderr=subprocess.STDOUT)
        names = [e.split("://")[0].upper() for e in (self.settings["listeners"] or "PLAINTEXT://").split(",")]
        deadline = time.monotonic() + timeout
        while True:
            text = self.log()
            found = re.findall(r"listening on ([A-Z0-9_]+)://(\S+):(\d+)", text)
            if len(found) == len(names):
                break
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise NotStarted(f"exit code {self.process.returncode}:\n{text[-3000:]}")
            time.sleep(0.002)
        self.start_seconds = time.monotonic() - began
        self.listeners = {name: (host.strip("[]"), int(port)) for name, host, port in found}
        console = re.search(r"console on http://(\S+):(\d+)", text)
        self.console = (console.group(1).strip("[]"), int(console.group(2))) if console else None
        return self

    def refused(self, timeout=30.0):
        """Starts what must not start: (exit code, lines of stdout, lines of stderr). The code is None for a broker
        that did start, and for one that did nothing in time."""
        self.write_config()
        paths = [os.path.join(self.folder, name) for name in ("refused-stdout", "refused-stderr")]
        with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
            process = self.popen(stdout=out, stderr=err)

        def said():
            texts = []
            for path in paths:
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.append(file.read())
            return texts

        deadline = time.monotonic() + timeout
        while process.poll() is None and time.monotonic() < deadline and "listening on" not in said()[1]:
            time.sleep(0.005)
        started = process.poll() is None
        if started:
            process.kill()
        process.wait()
        out, err = said()
        return None if started else process.returncode, out.splitlines(), err.splitlines()

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, timeout=30.0):
        """SIGTERM; the exit code, or None when it had to be killed."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                return None
        return self.process.returncode

    def kill(self):
        """SIGKILL, as a crash would."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def remove(self):
        self.stop(10.0)
        try:
            self._temporary.cleanup()
        except KeyboardInterrupt:
            self._temporary.cleanup()
            raise

    # -- what /proc says -----------------------------------------------------------------------------------------------

    def resident(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def soft_limit(self):
        """(soft, hard) of open files."""
        with open(f"/proc/{self.pid}/limits", encoding="ascii") as file:
            fields = next(line for line in file if line.startswith("Max open files")).split()
        return int(fields[3]), int(fields[4])

    def metrics(self):
        """The text of /metrics."""
        host, port = self.console
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=30) as answer:
            return answer.read().decode()

    # -- clients -------------------------------------------------------------------------------------------------------

    def client(self, listener="PLAINTEXT", timeout=30.0):
        host, port = self.listeners[listener]
        return Client(host, port, timeout)


class Client:
    """One connection, opened when first used, and requests that many tests make. Answers are dicts of the schema."""

    def __init__(self, host, port, timeout=30.0):
        self.host, self.port, self.timeout = host, port, timeout
        self.topic_ids = {}
        self._connection, self._correlation, self._highest = None, 0, None

    @property
    def connection(self):
        if self._connection is None:
            self._connection = Connection(self.host, self.port, self.timeout)
        return self._connection

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, api, version, fields):
        """Sends without waiting; returns what `receive` needs."""
        self._correlation += 1
        self.connection.send_frame(request_frame(SCHEMAS, api, version, fields, self._correlation, client_id="cases"))
        return api, version, self._correlation

    def receive(self, sent, timeout=None):
        api, version, correlation = sent
        frame = self.connection.read_frame(timeout)
        got, value, _, rest = read_answer(SCHEMAS, api, version, frame)
        if got != correlation:
            raise WireError(f"{api} v{version}: correlation id {got} for {correlation}")
        if rest:
            raise WireError(f"{api} v{version}: {rest} bytes left over")
        return value

    def ask(self, api, version, fields=None, timeout=None):
        return self.receive(self.send(api, version, fields or {}), timeout)

    def highest(self, api):
        """The highest version that the broker advertises."""
        if self._highest is None:
            self._highest = {k["apiKey"]: k["maxVersion"] for k in self.ask("ApiVersions", 0)["apiKeys"]}
        return self._highest[SCHEMAS[api + "Request"].api_key]

    # -- topics --------------------------------------------------------------------------------------------------------

    def create(self, name, partitions=1, **configs):
        """A topic that serves; underscores in config names stand for dots. Returns its id."""
        configs = [{"name": k.replace("_", "."), "value": str(v)} for k, v in configs.items()]
        wanted = {"name": name, "numPartitions": partitions, "replicationFactor": 1, "configs": configs}
        answer = self.ask("CreateTopics", 7, {"topics": [wanted], "timeoutMs": 60000})["topics"][0]
        if answer["errorCode"]:
            raise AssertionError(f"creating {name}: error {answer['errorCode']} {answer['errorMessage']}")
        self.topic_ids[name] = answer["topicId"]
        self.serving(name, partitions)
        return answer["topicId"]

    def serving(self, name, partitions):
        """Waits until every partition answers."""
        asked = [{"partitionIndex": i, "timestamp": -1} for i in range(partitions)]

        def answers():
            found = self.ask("ListOffsets", 5, {"replicaId": -1, "topics": [{"name": name, "partitions": asked}]})
            return all(p["errorCode"] == 0 for p in found["topics"][0]["partitions"])

        until(f"{name} serving", answers)

    def delete(self, name):
        answer = self.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 60000})["responses"][0]
        if answer["errorCode"]:
            raise AssertionError(f"deleting {name}: error {answer['errorCode']}")
        return answer

    def describe(self, name, version=12):
        """The topic's part of Metadata; never creates it."""
        return self.ask("Metadata", version, {"topics": [{"name": name}], "allowAutoTopicCreation": False})["topics"][0]

    def topic_id(self, name):
        if name not in self.topic_ids:
            self.topic_ids[name] = self.describe(name)["topicId"]
        return self.topic_ids[name]

    # -- records -------------------------------------------------------------------------------------------------------

    def produce_fields(self, name, data, version=9, acks=-1):
        """`data` is partition 0's bytes, or a dict of partition to bytes."""
        parts = data if isinstance(data, dict) else {0: data}
        topic = {"name": name, "partitionData": [{"index": i, "records": d} for i, d in parts.items()]}
        if version >= 13:
            topic["topicId"] = self.topic_id(name)
        return {"transactionalId": None, "acks": acks, "timeoutMs": 30000, "topicData": [topic]}

    def produce(self, name, data, version=9, acks=-1):
        """Answers by partition; of a single batch its answer."""
        answer = self.ask("Produce", version, self.produce_fields(name, data, version, acks))
        parts = {p["index"]: p for p in answer["responses"][0]["partitionResponses"]}
        return parts if isinstance(data, dict) else parts[0]

    def put(self, name, data, partition=0):
        """Produces one batch that must be taken; returns its base offset."""
        answer = self.produce(name, {partition: data})[partition]
        if answer["errorCode"]:
            raise AssertionError(f"produce to {name}: error {answer['errorCode']} {answer['errorMessage']}")
        return answer["baseOffset"]

    def fetch_fields(self, wanted, version=11, limit=1 << 20, **more):
        """`wanted` maps topics to {partition: offset}; `limit` is each partition's."""
        topics = []
        for name, parts in wanted.items():
            entries = [{"partition": p, "fetchOffset": o, "partitionMaxBytes": limit} for p, o in parts.items()]
            topic = {"topic": name, "partitions": entries}
            if version >= 13:
                topic["topicId"] = self.topic_id(name)
            topics.append(topic)
        fields = {"replicaId": -1, "maxWaitMs": 0, "minBytes": 1, "maxBytes": 50 << 20, "topics": topics}
        return {**fields, **more}

    def fetch(self, name, offsets, version=11, timeout=None, **more):
        """Answers by partition for a dict of partition to offset; for a number that of partition 0."""
        parts = offsets if isinstance(offsets, dict) else {0: offsets}
        answer = self.ask("Fetch", version, self.fetch_fields({name: parts}, version, **more), timeout)
        if answer.get("errorCode"):
            raise AssertionError(f"fetch of {name}: error {answer['errorCode']}")
        found = {p["partitionIndex"]: p for t in answer["responses"] for p in t["partitions"]}
        return found if isinstance(offsets, dict) else found[0]

    def read(self, name, partition=0, offset=0):
        """Every batch from the offset to the high watermark, decoded, with its checksum checked."""
        found = []
        while True:
            part = self.fetch(name, {partition: offset}, limit=16 << 20)[partition]
            if part["errorCode"]:
                raise AssertionError(f"fetch of {name}-{partition} at {offset}: error {part['errorCode']}")
            if offset >= part["highWatermark"]:
                return found
            some, _ = batches.read_batches(part["records"] or b"")
            if not some:
                raise AssertionError(f"fetch of {name}-{partition} at {offset} of {part['highWatermark']}: no batch")
            for one in some:
                if not one["crcValid"]:
                    raise AssertionError(f"{name}-{partition}: the batch at {one['baseOffset']} has a wrong checksum")
                if one["lastOffset"] >= offset:
                    found.append(one)
                    offset = one["lastOffset"] + 1

    def values(self, name, partition=0, offset=0):
        """The values in the log, in order."""
        return [r["value"] for b in self.read(name, partition, offset) for r in b["records"]]

    def offset_at(self, name, timestamp, partition=0, version=5):
        """ListOffsets of one partition: its whole answer."""
        topics = [{"name": name, "partitions": [{"partitionIndex": partition, "timestamp": timestamp}]}]
        return self.ask("ListOffsets", version, {"replicaId": -1, "topics": topics})["topics"][0]["partitions"][0]

    def end(self, name, partition=0):
        return self.offset_at(name, -1, partition)["offset"]

    def producer(self, **more):
        """(producer id, epoch) without a transactional id."""
        fields = {"transactionalId": None, "transactionTimeoutMs": 60000, **more}
        answer = self.ask("InitProducerId", 4, fields)
        if answer["errorCode"]:
            raise AssertionError(f"InitProducerId: error {answer['errorCode']}")
        return answer["producerId"], answer["producerEpoch"]

    # -- configs -------------------------------------------------------------------------------------------------------

    def configs(self, name, keys=None, kind=2, version=4, **more):
        """DescribeConfigs of one resource, by key."""
        resource_ = {"resourceType": kind, "resourceName": name, "configurationKeys": keys}
        answer = self.ask("DescribeConfigs", version, {"resources": [resource_], **more})["results"][0]
        if answer["errorCode"]:
            raise AssertionError(f"DescribeConfigs of {name}: error {answer['errorCode']}")
        return {c["name"]: c for c in answer["configs"]}

    def alter(self, *resources, validate_only=False, version=1):
        """IncrementalAlterConfigs; a resource is (kind, name, [(key, operation, value)]). Answers in that order."""
        wanted = [
            {
                "resourceType": kind,
                "resourceName": name,
                "configs": [{"name": k, "configOperation": op, "value": v} for k, op, v in changes],
            }
            for kind, name, changes in resources
        ]
        answer = self.ask("IncrementalAlterConfigs", version, {"resources": wanted, "validateOnly": validate_only})
        found = {(r["resourceType"], r["resourceName"]): r for r in answer["responses"]}
        return [found[kind, name] for kind, name, _ in resources]


def sequenced(producer, sequence, count=1, epoch=None, **more):
    """A batch of an idempotent producer, whose records say which sequence they have. Their time is now: a broker, Kafka
    too, forgets a producer whose last batch has a time of more than a day ago."""
    pid, given = producer
    now = int(time.time() * 1000)
    records = [batches.record(b"%d" % (sequence + i), timestamp=now) for i in range(count)]
    epoch = given if epoch is None else epoch
    return batches.batch(records, producer_id=pid, producer_epoch=epoch, sequence=sequence, **more)


def outcome(connection, timeout=10.0):
    """What comes next: "closed", "silence", or the frame."""
    try:
        return connection.read_frame(timeout)
    except Closed:
        return "closed"
    except Silent:
        return "silence"


def frame(api, version, fields, correlation_id=1):
    """A request with its size in front."""
    payload = request_frame(SCHEMAS, api, version, fields, correlation_id, client_id="cases")
    return struct.pack(">i", len(payload)) + payload


@contextlib.contextmanager
def running(node):
    """The node, started, and removed in the end."""
    try:
        yield node.start()
    finally:
        node.remove()


__all__ = [
    "Client",
    "Closed",
    "Connection",
    "Node",
    "NotStarted",
    "SCHEMAS",
    "Silent",
    "WireError",
    "ZERO_UUID",
    "frame",
    "outcome",
    "read_answer",
    "request_frame",
    "running",
    "sequenced",
    "until",
]
