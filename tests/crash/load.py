"""A broker under load from real producers, which is ended and started again on its port and folder, and looked at."""

import socket
import threading
import time

from ledger import Ledger
from node import Closed, Silent, WireError, until
from programs import Program

TOPIC = "t"
GROUP = "offsets"
PARTITIONS = 6
RATE = 300  # records a second of each producer, where the machine gives that much
PATIENCE = 180.0  # seconds; a machine that is busy with other things is slow, not wrong
LOST = (Closed, Silent, OSError)


def free_port(random):
    """A port below those that the kernel gives to outgoing connections: one of these could take it while the broker is
    down, a client's attempt to connect to it before all others."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def read_up_to(client, ledger, partition, offset, end, where):
    """Reads from an offset on until a batch reaches `end`; the log grows meanwhile."""
    while offset is not None and offset < end:
        part = client.fetch(TOPIC, {partition: offset})[partition]
        if part["errorCode"] or not part["records"]:
            ledger.fault(f"{where}: {partition}@{offset}, which ends at {end}: error {part['errorCode']}, no batch")
            return
        offset = ledger.read(partition, part["records"], where)


class Worker(threading.Thread):
    """A client in a thread that connects again whenever its connection is lost. `step` makes one round."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.client = node, node.client(timeout=30.0)
        self.stopping, self.error = threading.Event(), None

    def run(self):
        while not self.stopping.is_set():
            try:
                self.step(self.client)
            except LOST:
                self.client.close()
                self.stopping.wait(0.01)
            except WireError as error:
                self.error = f"{type(self).__name__}: {error}"
                return
        self.client.close()

    def end(self):
        self.stopping.set()
        self.join(60.0)


class Reader(Worker):
    """Reads on at the end of every partition, as a consumer does: what it has seen must be there for ever."""

    def __init__(self, node, ledger):
        super().__init__(node)
        self.ledger, self.positions = ledger, dict.fromkeys(range(ledger.partitions), 0)
        self.high = dict(self.positions)
        self.resting = threading.Event()  # while the log is compared: two at it would be in each other's way

    def step(self, client):
        if self.resting.is_set():
            self.stopping.wait(0.005)
            return
        found = client.fetch(TOPIC, self.positions, maxWaitMs=100)
        for p, part in found.items():
            if part["errorCode"]:
                self.ledger.fault(f"a consumer at {p}@{self.positions[p]}: error {part['errorCode']}")
                self.stopping.set()
                return
            if part["highWatermark"] < self.high[p]:
                self.ledger.fault(f"{p}: the high watermark went from {self.high[p]} back to {part['highWatermark']}")
            self.high[p] = part["highWatermark"]
            if part["records"]:
                self.positions[p] = self.ledger.read(p, part["records"], "a consumer") or self.positions[p]


class Committer(Worker):
    """Commits ever higher offsets for a group without members."""

    def __init__(self, node):
        super().__init__(node)
        self.asked = self.acked = 0

    def step(self, client):
        self.asked += 1
        wanted = {"committedOffset": self.asked, "committedMetadata": "m"}
        parts = [{"partitionIndex": p, **wanted} for p in range(PARTITIONS)]
        fields = {"groupId": GROUP, "generationIdOrMemberEpoch": -1, "memberId": "",
                  "topics": [{"name": TOPIC, "partitions": parts}]}  # fmt: skip
        number = self.asked
        answer = client.ask("OffsetCommit", 9, fields)["topics"][0]["partitions"]
        if not any(p["errorCode"] for p in answer):
            self.acked = number
        self.stopping.wait(0.005)

    def check(self, client, ledger, where):
        acked = self.acked
        answer = client.ask("OffsetFetch", 8, {"groups": [{"groupId": GROUP, "topics": None}]})["groups"][0]
        asked = self.asked
        if answer["errorCode"]:
            ledger.fault(f"{where}: OffsetFetch: error {answer['errorCode']}")
            return
        found = {p["partitionIndex"]: p["committedOffset"] for x in answer["topics"] for p in x["partitions"]}
        for p in range(PARTITIONS):
            if acked and not acked <= found.get(p, -1) <= asked:
                told = f"{found.get(p)} is committed; {acked} was acknowledged, {asked} sent"
                ledger.fault(f"{where}: offsets of partition {p}: {told}")


class Load:
    """The producers, a reader, a committer, and the ledger that all of it must agree with."""

    def __init__(self, t, node, kinds, rate=RATE):
        self.t, self.node, self.ledger = t, node, Ledger(PARTITIONS)
        host, port = node.listeners["PLAINTEXT"]
        self.programs = []
        for kind, codec in kinds.items():
            name = f"{kind}-{t.random.randrange(1 << 30)}"
            arguments = TOPIC, PARTITIONS, name, rate, codec
            self.programs.append(Program(kind, "produce", f"{host}:{port}", node.folder, name, *arguments))
        self.reader, self.committer = Reader(node, self.ledger), Committer(node)
        self.reader.start()
        self.committer.start()
        self.checked = [0] * PARTITIONS  # everything before was read twice
        self.acks = dict.fromkeys((one.name for one in self.programs), 0)

    def take_news(self):
        for one in self.programs:
            for words in one.news():
                if words[0] == "ack":
                    self.ledger.acknowledged(one.name, *map(int, words[1:]))
                    self.acks[one.name] += 1
                else:
                    self.ledger.fault(f"{one.name}: {' '.join(words)}")

    def healthy(self):
        """Nothing is wrong so far, and whoever should run does."""
        dead = [one for one in self.programs if not one.alive()]
        self.take_news()  # of those too, whose last line may have come with their end
        for one in dead:
            if not one.ended:
                self.ledger.fault(f"{one.name} ended by itself: {one.said()}")
        for one in (self.reader, self.committer):
            if one.error:
                self.ledger.fault(one.error)
        self.t.need(not self.ledger.faults, "\n".join(self.ledger.faults))
        return True

    def progress(self, least=1, timeout=PATIENCE):
        """Waits until every producer has `least` more acknowledgements than now."""
        self.take_news()
        before = dict(self.acks)

        def more():
            self.healthy()
            return all(self.acks[name] >= count + least for name, count in before.items())

        until("acknowledgements for every producer", more, timeout)

    def check(self, where, whole=False):
        """Compares the log, as a client that has just come reads it, with everything that is known of it."""
        self.reader.resting.set()
        try:
            self._compare(where, whole)
        finally:
            self.reader.resting.clear()
        self.healthy()

    def _compare(self, where, whole):
        self.take_news()
        seen = self.ledger.ends()
        with self.node.client() as client:
            for p in range(PARTITIONS):
                end = client.end(TOPIC, p)
                if end < seen[p]:
                    self.ledger.fault(f"{where}: partition {p} ends at {end}, a consumer has read up to {seen[p]}")
                    continue
                read_up_to(client, self.ledger, p, 0 if whole else self.checked[p], end, where)
                self.checked[p] = seen[p]
            self.committer.check(client, self.ledger, where)
        self.ledger.check_acks(where)

    def finish(self):
        """Lets the producers end and reads everything once more."""
        for one in self.programs:
            one.finish()

        def ended():
            self.healthy()
            return all(one.ended for one in self.programs)

        until("the producers' end", ended, PATIENCE)
        self.reader.end()
        self.committer.end()
        self.check("at the end", whole=True)
        for one in self.programs:
            self.ledger.sent(one.name, int(one.ended[1]))
        self.healthy()

    def close(self):
        for one in (self.reader, self.committer):
            one.end()
        for one in self.programs:
            one.close()

    def total(self):
        return sum(self.acks.values())


def pause(random, longest):
    """The moment of a kill is what is random here; nothing is waited for."""
    time.sleep(random.uniform(0, longest))
