"""A client of librdkafka that works until it is told to end: producer or consumer, HOST:PORT."""

import signal
import sys
import time

from confluent_kafka import Consumer, Producer

kind, bootstrap = sys.argv[1:]
ending = []
signal.signal(signal.SIGTERM, lambda *_: ending.append(1))
if kind == "producer":
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "rd-producer"})
    while not ending:
        producer.produce("t", b"x" * 100)
        producer.poll(0)
        time.sleep(0.02)
    producer.flush(10)
else:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "client.id": "rd-consumer", "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["t"])
    while not ending:
        consumer.poll(0.1)
    consumer.close()
