"""What a case runs on: connections, the session that records every answer, and what is done to an answer before it is
compared. A case is a function of a session; it is run against one broker at a time and knows nothing of the other."""

import contextlib
import os
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time
import zlib

import batch as batches
from wire import ZERO_UUID, Schemas, WireError, jsonable

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = os.path.join(HERE, "settings.properties")


class Closed(Exception):
    """The broker closed the connection where an answer was expected."""


class Silent(Exception):
    """Nothing came in time."""


class SetupFailed(Exception):
    """A step that only prepares a case did not work, so the case proves nothing."""


# -- connections -------------------------------------------------------------------------------------------------------


class Connection:
    """A socket that speaks in frames: four bytes of size, then as many bytes."""

    def __init__(self, host, port, timeout=30.0, source=None):
        self.socket = socket.create_connection((host, port), timeout, (source, 0) if source else None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout = timeout

    def send_raw(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            # Closed while we wrote; what was answered before may still be read.
            pass
        except socket.timeout:
            raise Silent("the broker stopped reading") from None

    def send_frame(self, payload):
        self.send_raw(struct.pack(">i", len(payload)) + payload)

    def read_exactly(self, size, timeout=None):
        self.socket.settimeout(self.timeout if timeout is None else timeout)
        data = bytearray()
        while len(data) < size:
            try:
                piece = self.socket.recv(min(size - len(data), 1 << 20))
            except socket.timeout:
                raise Silent(f"{len(data)} of {size} bytes came") from None
            except (ConnectionResetError, BrokenPipeError):
                piece = b""
            if not piece:
                raise Closed(f"{len(data)} of {size} bytes came")
            data += piece
        return bytes(data)

    def read_frame(self, timeout=None):
        size = struct.unpack(">i", self.read_exactly(4, timeout))[0]
        if size < 0 or size > 1 << 30:
            raise WireError(f"an answer of {size} bytes")
        return self.read_exactly(size, timeout)

    def readable(self):
        """Whether something has come (or the end of the connection) that was not read yet."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def close(self):
        self.socket.close()


def request_frame(schemas, api, version, fields, correlation_id=1, client_id="compare", header_unknown=(), unknown=()):
    """A request without its size: header and body."""
    message = schemas[api + "Request"]
    header_version = schemas.request_header_version(api, version)
    header = schemas["RequestHeader"].encode(
        {
            "requestApiKey": message.api_key,
            "requestApiVersion": version,
            "correlationId": correlation_id,
            "clientId": client_id,
        },
        header_version,
        header_unknown,
    )
    return header + message.encode(fields, version, unknown, lenient=True)


def read_answer(schemas, api, version, frame):
    """(correlation id, value, unknown tagged fields, bytes left over)"""
    header = schemas["ResponseHeader"]
    header_version = schemas.response_header_version(api, version)
    head, header_unknown, rest = header.decode(frame, header_version)
    value, unknown, rest = schemas[api + "Response"].decode(frame[len(frame) - rest :], version)
    return head["correlationId"], value, header_unknown + unknown, rest


def ask(schemas, connection, api, version, fields, correlation_id=1):
    """One request, one answer, no judgement."""
    connection.send_frame(request_frame(schemas, api, version, fields, correlation_id))
    got, value, _, _ = read_answer(schemas, api, version, connection.read_frame())
    if got != correlation_id:
        raise WireError(f"correlation id {got} for {correlation_id}")
    return value


# -- a broker of our own -----------------------------------------------------------------------------------------------


class StartedBroker:
    """`BIN serve` on a free port in a temporary folder, until `stop`."""

    def __init__(self, binary, extra=(), timeout=30.0):
        self.folder = tempfile.TemporaryDirectory(prefix="thalweg-test-")
        self.log = os.path.join(self.folder.name, "log")
        config = os.path.join(self.folder.name, "server.properties")
        with open(SETTINGS, encoding="utf-8") as settings, open(config, "w", encoding="utf-8") as file:
            file.write(settings.read())
            file.write("listeners=PLAINTEXT://127.0.0.1:0\n")
            file.write(f"log.dirs={self.folder.name}/data\n")
            for line in extra:
                file.write(line + "\n")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.abspath(binary), "serve", "--config", config],
                cwd=self.folder.name,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.pid = self.process.pid
        self.host = "127.0.0.1"
        deadline = time.monotonic() + timeout
        while True:
            found = re.search(rb"listening on PLAINTEXT://127\.0\.0\.1:(\d+)", self._read_log())
            if found:
                self.port = int(found.group(1))
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                tail = self._read_log()[-2000:].decode("utf-8", "replace")
                self.stop()
                raise SetupFailed(f"{binary} did not start:\n{tail}")
            time.sleep(0.01)

    def _read_log(self):
        with open(self.log, "rb") as log:
            return log.read()

    def stop(self):
        """Ends the process; returns its exit code, or None when it had to be killed."""
        code = self.process.poll()
        if code is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.folder.cleanup()
        return code


# -- cases -------------------------------------------------------------------------------------------------------------


class Case:
    def __init__(self, name, function, arguments, alone):
        self.name, self.function, self.arguments, self.alone = name, function, arguments, alone


CASES = []


def case(name, versions=None, each=None, alone=False):
    """Registers a case, or one for each version and each labelled value. `alone`: changes something that other cases
    see, so it runs when no other does."""

    def register(function):
        for label, value in (each or {None: None}).items():
            for version in versions if versions is not None else [None]:
                full = (
                    name + (f"/{label}" if label is not None else "") + (f"@v{version}" if version is not None else "")
                )
                if any(c.name == full for c in CASES):
                    raise ValueError(f"two cases named {full}")
                arguments = ([version] if version is not None else []) + ([value] if label is not None else [])
                CASES.append(Case(full, function, arguments, alone))
        return function

    return register


# Arrays whose order Kafka leaves to a hash table: comparing it would compare two hash functions.
UNORDERED = {
    ("MetadataResponse", "topics"),
    ("MetadataResponse", "brokers"),
    ("DescribeConfigsResponse", "results"),
    ("DescribeConfigsResponse", "results[].configs"),
    ("CreateTopicsResponse", "topics"),
    ("CreateTopicsResponse", "topics[].configs"),
    ("CreatePartitionsResponse", "results"),
    ("DeleteTopicsResponse", "responses"),
    ("DeleteRecordsResponse", "topics"),
    ("DeleteRecordsResponse", "topics[].partitions"),
    ("ListOffsetsResponse", "topics"),
    ("ListOffsetsResponse", "topics[].partitions"),
    ("OffsetForLeaderEpochResponse", "topics"),
    ("IncrementalAlterConfigsResponse", "responses"),
    ("AlterConfigsResponse", "responses"),
    ("ListConfigResourcesResponse", "configResources"),
    ("ProduceResponse", "responses"),
    ("ProduceResponse", "responses[].partitionResponses"),
    ("JoinGroupResponse", "members"),
    ("ListGroupsResponse", "groups"),
    ("DescribeGroupsResponse", "groups"),
    ("DescribeGroupsResponse", "groups[].members"),
    ("DeleteGroupsResponse", "results"),
    ("DescribeAclsResponse", "resources"),
    ("DescribeAclsResponse", "resources[].acls"),
    ("DeleteAclsResponse", "filterResults[].matchingAcls"),
    ("DescribeProducersResponse", "topics[].partitions[].activeProducers"),
    ("DescribeLogDirsResponse", "results"),
    ("DescribeLogDirsResponse", "results[].topics"),
    ("DescribeLogDirsResponse", "results[].topics[].partitions"),
    ("AlterReplicaLogDirsResponse", "results"),
    ("AlterReplicaLogDirsResponse", "results[].partitions"),
}

# A member id that a coordinator made up: what it was made from, and something random.
MEMBER_ID = re.compile(r"(.*)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.DOTALL)
MEMBER_FIELDS = {"memberId", "leader"}

TEXTS = {"errorMessage", "batchIndexErrorMessage"}
TIMES = {
    "logAppendTimeMs",
    "timestamp",
    "baseTimestamp",
    "maxTimestamp",
    "lastFetchTimestamp",
    "lastCaughtUpTimestamp",
}


class Session:
    """One run of one case against one broker. `call` records what it was answered; what only prepares does not."""

    def __init__(self, schemas, host, port, tag, name):
        self.schemas, self.host, self.port, self.tag, self.name = schemas, host, port, tag, name
        self.prefix = (
            f"{tag}-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[-60:] + f"-{zlib.crc32(name.encode()):08x}"
        )
        self.steps = []
        self.requests = []
        self.topic_ids = {}
        self.recompressed = False  # set by a case whose batches the broker compresses
        self._names = {}  # what was given out by the broker -> what it is called in the transcript
        self._connection = None
        self._connections = []
        self._correlation = 0
        self._hidden = None

    # -- connections ---------------------------------------------------------------------------------------------------

    def connect(self, source=None):
        """A connection more, from another address of this machine where `source` is given."""
        connection = Connection(self.host, self.port, source=source)
        self._connections.append(connection)
        return connection

    @property
    def connection(self):
        if self._connection is None:
            self._connection = self.connect()
        return self._connection

    @property
    def hidden(self):
        """A connection for what is not recorded, so that preparations cannot disturb what is measured."""
        if self._hidden is None:
            self._hidden = self.connect()
        return self._hidden

    def close(self):
        for connection in self._connections:
            connection.close()

    # -- preparing -----------------------------------------------------------------------------------------------------

    def ask(self, api, version, fields):
        self._correlation += 1
        try:
            return ask(self.schemas, self.hidden, api, version, fields, self._correlation)
        except (Closed, Silent, WireError, OSError) as error:
            self._hidden = None
            raise SetupFailed(f"{api} v{version}: {type(error).__name__} {error}") from None

    def until(self, what, condition, timeout=60.0):
        """Waits for something that a broker may do a little after it answered."""
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise SetupFailed(f"{what} did not happen in {timeout:g} s")
            time.sleep(0.005)

    def topic_name(self, suffix="t"):
        return f"{self.prefix}-{suffix}"

    def topic(self, suffix="t", partitions=1, **configs):
        """Creates a topic and waits until every partition serves; underscores in config names stand for dots."""
        name = self.topic_name(suffix)
        answer = self.ask(
            "CreateTopics",
            7,
            {
                "topics": [
                    {
                        "name": name,
                        "numPartitions": partitions,
                        "replicationFactor": 1,
                        "configs": [{"name": k.replace("_", "."), "value": str(v)} for k, v in configs.items()],
                    }
                ],
                "timeoutMs": 30000,
            },
        )["topics"][0]
        if answer["errorCode"]:
            raise SetupFailed(f"creating {name}: error {answer['errorCode']} {answer['errorMessage']}")
        self.ready(name, partitions)
        return name

    def describe(self, name):
        return self.ask("Metadata", 12, {"topics": [{"name": name}], "allowAutoTopicCreation": False})["topics"][0]

    def learn(self, name):
        """The topic's id as Metadata gives it, or None."""
        topic = self.describe(name)
        if topic["errorCode"]:
            return None
        self.topic_ids[name] = topic["topicId"]
        self._names.setdefault(topic["topicId"], f"<id of {name}>")
        return topic["topicId"]

    def ready(self, name, partitions):
        def serves():
            topic = self.describe(name)
            if topic["errorCode"] or len(topic["partitions"]) < partitions:
                return False
            if any(p["errorCode"] or p["leaderId"] < 0 for p in topic["partitions"]):
                return False
            wanted = [{"partitionIndex": p["partitionIndex"], "timestamp": -1} for p in topic["partitions"]]
            listed = self.ask("ListOffsets", 5, {"replicaId": -1, "topics": [{"name": name, "partitions": wanted}]})
            return all(p["errorCode"] == 0 for p in listed["topics"][0]["partitions"])

        self.until(f"{name} with {partitions} partitions", serves)
        self.learn(name)

    def id_of(self, name):
        return self.topic_ids.get(name, ZERO_UUID)

    def gone(self, name):
        self.until(f"{name} gone", lambda: self.describe(name)["errorCode"] == 3)

    def fill(self, name, data=None, partition=0):
        """Produces a batch without recording it; returns its base offset."""
        if data is None:
            data = batches.batch()
        answer = self.ask("Produce", 9, produce_fields(self, name, data, partition))["responses"][0]
        result = answer["partitionResponses"][0]
        if result["errorCode"]:
            raise SetupFailed(f"produce to {name}-{partition}: error {result['errorCode']} {result['errorMessage']}")
        return result["baseOffset"]

    def end_offset(self, name, partition=0):
        fields = {
            "replicaId": -1,
            "topics": [{"name": name, "partitions": [{"partitionIndex": partition, "timestamp": -1}]}],
        }
        return self.ask("ListOffsets", 5, fields)["topics"][0]["partitions"][0]["offset"]

    def shows(self, name, offset, partition=0):
        """Waits until readers see all records before `offset`: acks below all do not promise that at once."""
        self.until(f"{name} up to {offset}", lambda: self.end_offset(name, partition) >= offset)

    def producer(self):
        """A producer id without a transactional id."""
        answer = self.ask("InitProducerId", 4, {"transactionalId": None, "transactionTimeoutMs": 60000})
        if answer["errorCode"]:
            raise SetupFailed(f"InitProducerId: error {answer['errorCode']}")
        self.call_it(answer["producerId"], "producer")
        return answer["producerId"]

    def call_it(self, value, what):
        """Names a value that the broker chose, so that it compares equal to the other broker's choice."""
        if value not in self._names:
            count = sum(1 for n in self._names.values() if n.startswith(f"<{what} "))
            self._names[value] = f"<{what} {count + 1}>"

    def group(self, suffix="g"):
        """The name of a group of this case's own."""
        return f"{self.prefix}-{suffix}"

    def group_state(self, group):
        return self.ask("DescribeGroups", 5, {"groups": [group]})["groups"][0]["groupState"]

    def in_state(self, group, state, timeout=60.0):
        """Waits for the coordinator to have done what a request that it does not answer yet sets off."""
        self.until(f"{group} {state}", lambda: self.group_state(group) == state, timeout)

    # -- recorded steps ------------------------------------------------------------------------------------------------

    def call(self, api, version, fields=None, **options):
        """Sends a request and records the answer; returns the answer as it came, or None when there was none.
        on            the connection to use
        body          function of the encoded body, to spoil it
        header        header fields that replace the usual ones
        header_tags, tags   unknown tagged fields of the header and the body
        answered_as   version in which the answer is expected, when it is not the request's
        keep          function of the answer, to record only a part of it
        wait          milliseconds that the broker may wait; records whether it did"""
        return self.receive(self.send(api, version, fields, **options))

    def send(self, api, version, fields=None, **options):
        """Sends a request that may be answered much later; `receive` takes what is returned and records the answer."""
        on = options.get("on") or self.connection
        frame, correlation_id = self._frame(api, version, fields or {}, options)
        shown = {"request": f"{api} v{version}", "fields": fields or {}}
        started = time.monotonic()
        on.send_frame(frame)
        return api, version, on, correlation_id, shown, options, started

    def receive(self, sent):
        return self._record_answer(*sent)

    def held(self, sent):
        """Records whether a request that was sent has no answer yet. Only worth asking when the broker is known to have
        handled it."""
        self.note(f"{sent[4]['request']} held", not sent[2].readable())

    def raw(self, label, data, api=None, version=None, correlation_id=None, **options):
        """Sends bytes as they are, their size included, and records the answer, read as one to `api` where given."""
        on = options.get("on") or self.connection
        on.send_raw(data)
        shown = {"request": label, "fields": {"bytes": len(data), "hex": data[:64].hex()}}
        return self._record_answer(api, version, on, correlation_id, shown, options, time.monotonic())

    def note(self, label, value):
        """Records something found out by other means."""
        self.steps.append({"request": label, "answer": self._normal(label, value, "")})
        self.requests.append({})

    def mine(self, answer):
        """A Metadata answer with this case's topics only: others run beside it."""
        return dict(answer, topics=[t for t in answer["topics"] if (t["name"] or "").startswith(self.prefix)])

    def alive(self, on=None):
        """Records whether the connection still answers."""
        self.call("ApiVersions", 0, {}, on=on or self.connection, keep=lambda a: {"errorCode": a["errorCode"]})

    def silent(self, api, version, fields, **options):
        """Sends a request that should not be answered, and one that should; records which of them was."""
        on = options.get("on") or self.connection
        frame, correlation_id = self._frame(api, version, fields, options)
        self._correlation += 1
        on.send_frame(frame)
        on.send_frame(request_frame(self.schemas, "ApiVersions", 0, {}, self._correlation))
        try:
            answered = struct.unpack(">i", on.read_frame()[:4])[0]
            answer = (
                "answered" if answered == correlation_id else "not answered" if answered == self._correlation else "?"
            )
        except Closed:
            answer = "closed"
            self._drop(on)
        except Silent:
            answer = "silence"
        self.steps.append({"request": f"{api} v{version}", "answer": answer})
        self.requests.append({"request": f"{api} v{version}", "fields": fields})
        return answer

    def _frame(self, api, version, fields, options):
        self._correlation += 1
        header = {
            "requestApiKey": self.schemas[api + "Request"].api_key,
            "requestApiVersion": version,
            "correlationId": self._correlation,
            "clientId": "compare",
        }
        header.update(options.get("header", {}))
        message = self.schemas[api + "Request"]
        body_version = min(max(version, message.versions.low), message.versions.high)
        header_version = options.get("header_version") or (2 if version in message.flexible else 1)
        frame = self.schemas["RequestHeader"].encode(header, header_version, options.get("header_tags", ()))
        body = message.encode(fields, body_version, options.get("tags", ()), lenient=True)
        if "body" in options:
            body = options["body"](body)
        return frame + body, header["correlationId"]

    def _drop(self, connection):
        if connection is self._connection:
            self._connection = None

    def _record_answer(self, api, version, on, correlation_id, shown, options, started):
        value, step = None, {"request": shown["request"]}
        try:
            frame = on.read_frame(options.get("timeout"))
            step["answer"] = value = self._decode(api, version, frame, correlation_id, options)
        except Closed:
            step["answer"] = "closed"
            self._drop(on)
        except Silent:
            step["answer"] = "silence"
        except WireError as error:
            step["answer"] = {"unreadable": str(error)}
        if "wait" in options:
            # Half of the wait tells the two apart on a busy machine too.
            waited = (time.monotonic() - started) * 1000 >= options["wait"] * 0.5
            step["waited"] = waited
        texts = {}
        if isinstance(value, dict):
            answer = value
            if "keep" in options:
                answer = options["keep"](value)
            step["answer"] = self._normal(f"{api}Response" if api else "", answer, "", texts)
        if texts:
            step["texts"] = texts
        self.steps.append(step)
        self.requests.append(shown)
        return value

    def _decode(self, api, version, frame, correlation_id, options):
        if api is None:
            return {"bytes": frame}
        if "answered_as" in options:
            version = options["answered_as"]
        got, value, unknown, rest = read_answer(self.schemas, api, version, frame)
        if correlation_id is not None and got != correlation_id:
            value["<correlation id>"] = "another than the request's"
        if unknown:
            value["<unknown tags>"] = unknown
        if rest:
            value["<bytes left over>"] = rest
        if api == "InitProducerId" and value["producerId"] >= 0:
            self.call_it(value["producerId"], "producer")
        if api == "Fetch" and value.get("sessionId"):
            self.call_it(value["sessionId"], "session")
        return value

    # -- normalising ---------------------------------------------------------------------------------------------------

    def _normal(self, message, value, path, texts=None, key=None):
        if isinstance(value, dict):
            return {
                k: self._normal(message, v, f"{path}.{k}" if path else k, texts, k)
                for k, v in value.items()
                if k != "throttleTimeMs"
            }
        if isinstance(value, list):
            place = (message, re.sub(r"\[\d+\]", "[]", path))
            if place in UNORDERED:
                # Members are named in this order, so it must not be the broker's.
                value = sorted(value, key=self._without_random_ids)
            items = [self._normal(message, v, f"{path}[{i}]", texts, key) for i, v in enumerate(value)]
            if place in UNORDERED:
                items.sort(key=repr)
            return items
        if key == "records" and (value is None or isinstance(value, bytes)) and message == "FetchResponse":
            return self._records(value)
        if isinstance(value, bytes):
            return jsonable(value.replace(self.tag.encode(), b"RUN"))
        if key in MEMBER_FIELDS and isinstance(value, str) and MEMBER_ID.fullmatch(value):
            return self._member(value).replace(self.tag, "RUN")
        if key in TEXTS:
            if value and texts is not None:
                text = re.sub(MEMBER_ID.pattern, r"\1-UUID", value)
                texts[path] = text.replace(self.tag, "RUN").replace(str(self.port), "PORT")
            return "<text>" if value else value
        if key == "documentation":
            return "<text>" if value else value
        if key == "clusterId":
            return "<cluster id>" if value else value
        if key == "host":
            return "<host>" if value == self.host else value
        if key == "port":
            return "<port>" if value == self.port else value
        if key == "finalizedFeaturesEpoch":
            return "<epoch>" if value >= 0 else value
        if key in TIMES:
            return "<now>" if abs(value - time.time() * 1000) < 3600_000 else value
        if key == "topicId":
            if value == ZERO_UUID:
                return value
            self.call_it(value, "topic id")
            return self._names[value].replace(self.tag, "RUN")
        if key in ("producerId", "sessionId"):
            return self._names.get(value, value)
        if isinstance(value, str):
            return value.replace(self.tag, "RUN")
        return value

    def _member(self, value):
        """What a member id is called: a number in the order of appearance, and the part that is not random."""
        if value not in self._names:
            count = sum(1 for n in self._names.values() if n.startswith("<member "))
            self._names[value] = f"<member {count + 1}: {MEMBER_ID.fullmatch(value).group(1)}-uuid>"
        return self._names[value]

    def _without_random_ids(self, item):
        if not isinstance(item, dict):
            return repr(item)
        known = {
            k: self._names.get(v, "") if isinstance(v, str) and MEMBER_ID.fullmatch(v) else v for k, v in item.items()
        }
        return repr(known)

    def _records(self, data):
        """A fetched batch, field by field. A batch that a limit cut off at the end is left out: where the cut falls is
        the broker's own affair."""
        if data is None:
            return None
        found, _ = batches.read_batches(data)
        for item in found:
            given = item["producerId"] in self._names
            item["producerId"] = self._names.get(item["producerId"], item["producerId"])
            stamped = item["attributes"] & batches.LOG_APPEND_TIME
            # The checksum covers what the broker chose: its time, its codec, the producer's id.
            if stamped or given or self.recompressed:
                item["crc"] = "right" if item["crcValid"] else "wrong"
            del item["crcValid"]
            if self.recompressed:
                # Two right compressors need not write the same bytes.
                del item["size"]
                item.pop("payload", None)
            for name in ("baseTimestamp", "maxTimestamp"):
                if abs(item[name] - time.time() * 1000) < 3600_000:
                    item[name] = "<now>"
            for record in item.get("records", []):
                if stamped:
                    # Readers take the batch's time; what a record's own says is left as the producer wrote it.
                    record["timestamp"] = record["timestamp"] if item["baseTimestamp"] != "<now>" else "<now>"
                if isinstance(record["timestamp"], int) and abs(record["timestamp"] - time.time() * 1000) < 3600_000:
                    record["timestamp"] = "<now>"
        return jsonable(found)


# -- requests that many cases make -------------------------------------------------------------------------------------


def produce_fields(b, topic, data, partition=0, acks=-1, **more):
    """`data` is one partition's bytes, or a dict of partition to bytes."""
    partitions = data if isinstance(data, dict) else {partition: data}
    fields = {
        "transactionalId": None,
        "acks": acks,
        "timeoutMs": 10000,
        "topicData": [
            {
                "name": topic,
                "topicId": b.id_of(topic),
                "partitionData": [{"index": i, "records": d} for i, d in partitions.items()],
            }
        ],
    }
    fields.update(more)
    return fields


def fetch_fields(b, wanted, **more):
    """`wanted` is a list of (topic, {partition: offset or a dict of fields})."""
    topics = []
    for topic, partitions in wanted:
        entries = []
        for index, given in partitions.items():
            entry = {"partition": index, "fetchOffset": 0, "partitionMaxBytes": 1 << 20}
            entry.update(given if isinstance(given, dict) else {"fetchOffset": given})
            entries.append(entry)
        topics.append({"topic": topic, "topicId": b.id_of(topic), "partitions": entries})
    fields = {
        "replicaId": -1,
        "maxWaitMs": 100,
        "minBytes": 1,
        "maxBytes": 50 << 20,
        "isolationLevel": 0,
        "topics": topics,
    }
    fields.update(more)
    return fields


@contextlib.contextmanager
def session(schemas, host, port, tag, name):
    one = Session(schemas, host, port, tag, name)
    try:
        yield one
    finally:
        one.close()


def warm_up(schemas, host, port, tag):
    """Waits until a broker that has just started does all that it will do later: Kafka has no producer ids at first."""
    with session(schemas, host, port, tag, "warm-up") as b:
        fields = {"transactionalId": None, "transactionTimeoutMs": 60000}
        b.until("a producer id", lambda: b.ask("InitProducerId", 4, fields)["errorCode"] == 0)
        b.fill(b.topic())
        served = {api["apiKey"] for api in b.ask("ApiVersions", 0, {})["apiKeys"]}
        if {schemas["FindCoordinatorRequest"].api_key, schemas["DescribeGroupsRequest"].api_key} <= served:
            # So many names hit every partition of Kafka's offsets topic, which are loaded one after the other.
            fields = {"key": b.group(), "keyType": 0}
            b.until("a coordinator", lambda: b.ask("FindCoordinator", 1, fields)["errorCode"] == 0, 60.0)
            fields = {"groups": [b.group(str(i)) for i in range(1500)]}
            groups = lambda: b.ask("DescribeGroups", 5, fields)["groups"]
            b.until("all coordinators", lambda: all(g["errorCode"] == 0 for g in groups()), 60.0)


def run(schemas, host, port, tag, one):
    """The transcript of one case: {"steps": [...]}, with "failed" when it could not be carried through."""
    with session(schemas, host, port, tag, one.name) as b:
        transcript = {"steps": b.steps, "requests": b.requests}
        try:
            one.function(b, *one.arguments)
        except (SetupFailed, OSError, KeyError, TypeError, IndexError, WireError, Closed, Silent) as error:
            transcript["failed"] = f"{type(error).__name__}: {error}".replace(tag, "RUN")
        return transcript


__all__ = [
    "CASES",
    "Closed",
    "Connection",
    "Schemas",
    "Session",
    "SetupFailed",
    "Silent",
    "StartedBroker",
    "ask",
    "case",
    "fetch_fields",
    "produce_fields",
    "request_frame",
    "run",
]
