"""Writes one record and reads it back with librdkafka: confluent.py BOOTSTRAP TOPIC KEY=VALUE...

Prints one line: OK, or ERROR with the client's error codes and words.
"""

import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition

boot, topic = sys.argv[1:3]
errors = []
settings = {
    "bootstrap.servers": boot,
    "error_cb": lambda error: errors.append(f"{error.name()}: {error.str()}"),
    "log_level": 0,
    **dict(pair.split("=", 1) for pair in sys.argv[3:]),
}
SECONDS = 15


def give_up(what):
    line = f"ERROR {what}; " + "; ".join(dict.fromkeys(errors))
    print(line.replace("\n", " "))
    sys.exit()


def main():
    value = f"value-{time.monotonic_ns()}".encode()
    producer = Producer({**settings, "message.timeout.ms": SECONDS * 1000})
    done = []
    producer.produce(topic, value, partition=0, on_delivery=lambda error, _: done.append(error))
    end = time.monotonic() + SECONDS
    while not done and time.monotonic() < end:
        producer.poll(0.1)
        # A connection that is refused is tried again for ever: its error is the answer.
        if any(error.startswith(("_SSL", "_TRANSPORT", "_AUTHENTICATION")) for error in errors):
            give_up("not connected")
    if not done or done[0] is not None:
        give_up(f"not delivered: {done}")
    consumer = Consumer({**settings, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    while time.monotonic() < end:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None and message.value() == value:
            print("OK")
            sys.exit()
    give_up("what was written did not come back")


try:
    main()
except KafkaException as error:
    give_up(error)
