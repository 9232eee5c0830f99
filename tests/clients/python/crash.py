"""crash.py produce|consume HOST:PORT FILE ARGUMENT...: librdkafka's producer and consumer for tests/crash, which go on
while the broker is killed, and note each record in a file. ../../crash/README.md describes both."""

import contextlib
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException, Producer

TICK_SECONDS = 0.02
MOST_OPEN = 300  # records without an answer


class Notes:
    """The file: whole lines, flushed when asked."""

    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8", buffering=1 << 20)

    def line(self, *words):
        self._file.write(" ".join(map(str, words)) + "\n")

    def flush(self):
        self._file.flush()


def input_ends():
    """An event that is set once standard input ends."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), ended.set()), daemon=True).start()
    return ended


def value(name, seq):
    """What record number seq of a producer holds."""
    return f"{name} {seq} " + "x" * (20_000 if seq % 500 == 499 else seq * 7919 % 200)


def connection(boot):
    return {"bootstrap.servers": boot, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200,
            "retry.backoff.ms": 20, "retry.backoff.max.ms": 200, "log_level": 2}


def produce(boot, out, topic, partitions, name, rate, codec):
    ended = input_ends()
    partitions, each = int(partitions), int(int(rate) * TICK_SECONDS)
    producer = Producer({**connection(boot), "enable.idempotence": True, "acks": "all", "linger.ms": 5,
                         "message.timeout.ms": 600_000, "compression.type": codec})

    def noted(seq):
        def report(error, message):
            if error:
                out.line("fail", seq, message.partition(), error)
            else:
                out.line("ack", seq, message.partition(), message.offset())
        return report

    seq, due = 0, time.monotonic()
    while not ended.is_set():
        for _ in range(min(each, MOST_OPEN - len(producer))):
            producer.produce(topic, value(name, seq), partition=seq % partitions, on_delivery=noted(seq))
            seq += 1
        due = max(due + TICK_SECONDS, time.monotonic())
        producer.poll(max(0.0, due - time.monotonic()))
        out.flush()
    while producer.flush(1.0):
        out.flush()
    out.line("end", seq)
    out.flush()


def consume(boot, out, topic, group, assignor):
    ended = input_ends()

    def given(word):
        def report(consumer, parts):
            now = int(time.time() * 1e6)
            for part in parts:
                out.line(word, part.partition, now)
            out.flush()
        return report

    consumer = Consumer({**connection(boot), "group.id": group, "partition.assignment.strategy": assignor,
                         "enable.auto.commit": False, "auto.offset.reset": "earliest", "session.timeout.ms": 6000,
                         "heartbeat.interval.ms": 300, "max.poll.interval.ms": 10_000, "fetch.wait.max.ms": 100})
    consumer.subscribe([topic], on_assign=given("assigned"), on_revoke=given("revoked"), on_lost=given("lost"))
    while not ended.is_set():
        following = False
        for message in consumer.consume(200, 0.2):
            if not message.error():
                name, seq, _ = message.value().decode().split(" ", 2)
                out.line("read", message.partition(), message.offset(), name, seq)
                following = True
        out.flush()
        if following:
            with contextlib.suppress(KafkaException):
                done = consumer.commit(asynchronous=False)
                now = int(time.time() * 1e6)
                for part in done:
                    if not part.error:
                        out.line("committed", part.partition, part.offset, now)
            out.flush()
    consumer.close()
    out.line("end")
    out.flush()


if __name__ == "__main__":
    {"produce": produce, "consume": consume}[sys.argv[1]](sys.argv[2], Notes(sys.argv[3]), *sys.argv[4:])
