"""What takes effect while the broker runs: the settings of brokers, and the levels of its log."""

import contextlib
import os
import select

from node import Closed, Connection, batches, frame, until
from suite import test

TOPIC, BROKER, LOGGER = 2, 4, 8
SET, DELETE = 0, 1
MESSAGE_TOO_LARGE = 10


def change(t, client, name, *changes, kind=BROKER):
    """Sets what has a value, takes back what has none."""
    asked = [(key, DELETE if value is None else SET, value) for key, value in changes]
    answer = client.alter((kind, name, asked))[0]
    t.need(answer["errorCode"] == 0, f"{changes}: {answer['errorCode']} {answer['errorMessage']}")


def answers(connection):
    """Whether the broker answers on a connection rather than to close it."""
    try:
        connection.send_raw(frame("ApiVersions", 0, {}))
        connection.read_frame()
    except (Closed, OSError):
        return False
    return True


def threads(node, name):
    """Threads of the broker by that name."""
    names = []
    for thread in os.listdir(f"/proc/{node.pid}/task"):
        with contextlib.suppress(OSError):  # a thread may end meanwhile
            with open(f"/proc/{node.pid}/task/{thread}/comm", encoding="utf-8") as file:
                names.append(file.read().strip())
    return names.count(name)


@test("max.connections.per.ip counts from when it is set, and its overrides too")
def per_ip(t):
    node = t.node().start()
    with node.client() as client:
        change(t, client, "", ("max.connections.per.ip", "2"))
        second = Connection(*node.listeners["PLAINTEXT"])
        t.claim(answers(second), "the second connection is refused")
        third = Connection(*node.listeners["PLAINTEXT"])
        t.claim(not answers(third), "the third connection is served")
        change(t, client, "1", ("max.connections.per.ip.overrides", "127.0.0.1:3"))
        third = Connection(*node.listeners["PLAINTEXT"])
        t.claim(answers(third), "the third connection is refused though the override allows it")
        change(t, client, "1", ("max.connections.per.ip.overrides", None))
        change(t, client, "", ("max.connections.per.ip", None))
        fourth = Connection(*node.listeners["PLAINTEXT"])
        t.claim(answers(fourth), "the fourth connection is refused without a limit")
        for one in (second, third, fourth):
            one.close()


@test("a lower max.connections closes those that were silent for longest, a higher one lets who waits in")
def most_connections(t):
    node = t.node().start()
    address = node.listeners["PLAINTEXT"]
    silent = [Connection(*address) for _ in range(4)]
    for one in silent:
        t.need(answers(one), "a connection is not served")
    with node.client() as client:
        change(t, client, "1", ("max.connections", "3"))
        for one in silent[:2]:
            t.claim(not answers(one), "a connection beyond the limit goes on")
        t.claim(all(answers(one) for one in silent[2:]), "a connection within the limit was closed")
        waiting = Connection(*address)
        waiting.send_raw(frame("ApiVersions", 0, {}))
        t.same(len(client.ask("Metadata", 12, {"topics": []})["brokers"]), 1, "the broker meanwhile")
        t.claim(not select.select([waiting.socket], [], [], 0.2)[0], "a connection beyond the limit is served")
        change(t, client, "1", ("max.connections", "4"))
        t.claim(waiting.read_frame(), "who waited is not served after the limit went up")
        for one in [*silent, waiting]:
            one.close()


@test("log.cleaner.threads changes how many threads compact, and comes back after a restart")
def cleaner_threads(t):
    node = t.node().start()
    with node.client() as client:
        t.same(threads(node, "cleaner"), 1, "threads at first")
        change(t, client, "", ("log.cleaner.threads", "2"))
        until("two threads", lambda: threads(node, "cleaner") == 2)
        answer = client.alter((BROKER, "", [("log.cleaner.threads", SET, "9")]))[0]
        t.same(answer["errorCode"], 42, "more than double at once")
        change(t, client, "", ("log.cleaner.threads", "4"))
        until("four threads", lambda: threads(node, "cleaner") == 4)
    node.stop()
    node.start()
    with node.client() as client:
        t.same(threads(node, "cleaner"), 4, "threads after a restart")
        change(t, client, "", ("log.cleaner.threads", "2"))
        until("two threads again", lambda: threads(node, "cleaner") == 2)


@test("compaction goes by a backoff and a rate that were changed while it slept")
def cleaner_pace(t):
    # Nothing but a change can make the cleaner look again in time, and a pass at this rate would take hours.
    node = t.node(
        {
            "log.cleaner.backoff.ms": "3600000",
            "log.cleaner.io.max.bytes.per.second": "100",
            "log.cleaner.min.cleanable.ratio": "0.01",
        }
    ).start()
    with node.client() as client:
        client.create("t", cleanup_policy="compact", internal_segment_bytes=20000)
        for i in range(200):
            client.put("t", batches.batch([batches.record(b"%d" % i + b"x" * 1000, key=b"k")]))
        t.same(len(client.values("t")), 200, "records before")
        change(t, client, "", ("log.cleaner.backoff.ms", "10"))
        until("a pass has begun", lambda: metric(node, "thalweg_compaction_bytes_read_total") > 0)
        change(t, client, "", ("log.cleaner.io.max.bytes.per.second", "100000000"))
        until("compacted", lambda: len(client.values("t")) < 100)


def metric(node, name):
    lines = [line for line in node.metrics().splitlines() if line.startswith(name)]
    return sum(float(line.split()[-1]) for line in lines)


@test("topics follow the broker's defaults at once, unless they have a setting of their own")
def defaults(t):
    node = t.node().start()
    with node.client() as client:
        client.create("t")
        client.create("own", max_message_bytes=100000)
        large = batches.batch([batches.record(b"x" * 50000)])
        change(t, client, "", ("message.max.bytes", "10000"))
        t.same(client.produce("t", large)["errorCode"], MESSAGE_TOO_LARGE, "a topic without a setting of its own")
        t.same(client.produce("own", large)["errorCode"], 0, "a topic with its own")
        change(t, client, "1", ("message.max.bytes", "90000"))
        t.same(client.produce("t", large)["errorCode"], 0, "with a setting for this broker alone")
        change(t, client, "", ("log.message.timestamp.type", "LogAppendTime"))
        t.claim(client.produce("t", batches.batch())["logAppendTimeMs"] > 0, "the broker's time is not stamped")
    node.kill()
    node.start()
    with node.client() as client:
        t.claim(client.produce("t", batches.batch())["logAppendTimeMs"] > 0, "forgotten over SIGKILL")
        found = client.configs("1", ["message.max.bytes"], BROKER, includeSynonyms=True)["message.max.bytes"]
        places = [(s["value"], s["source"]) for s in found["synonyms"]]
        t.same(places, [("90000", 2), ("10000", 3), ("1048588", 5)], "where message.max.bytes stands")


@test("a logger's level decides what is written from then on")
def loggers(t):
    node = t.node().start()
    with node.client() as client:
        names = client.configs("1", None, LOGGER)
        t.claim({"root", "server", "storage"} <= set(names), f"loggers: {sorted(names)}")
        t.same({c["value"] for c in names.values()}, {"INFO"}, "levels at first")
        change(t, client, "", ("max.connections.per.ip", "1"))
        refused = Connection(*node.listeners["PLAINTEXT"])
        t.claim(not answers(refused), "a connection beyond the limit is served")
        t.claim("refused 127.0.0.1" not in node.log(), "a refusal is told at INFO")
        change(t, client, "1", ("server", "DEBUG"), kind=LOGGER)
        refused = Connection(*node.listeners["PLAINTEXT"])
        t.claim(not answers(refused), "a connection beyond the limit is served")
        until("the refusal is told at DEBUG", lambda: "refused 127.0.0.1" in node.log())
        change(t, client, "1", ("root", "ERROR"), kind=LOGGER)
        found = client.configs("1", ["root", "server", "storage"], LOGGER)
        t.same({k: c["value"] for k, c in found.items()}, {"root": "ERROR", "server": "DEBUG", "storage": "ERROR"}, "levels")
        change(t, client, "1", ("server", None), kind=LOGGER)
        t.same(client.configs("1", ["server"], LOGGER)["server"]["value"], "ERROR", "a level that was taken away")
    node.stop()
    node.start()
    with node.client() as client:
        t.same(client.configs("1", ["root"], LOGGER)["root"]["value"], "INFO", "the root's level after a restart")
