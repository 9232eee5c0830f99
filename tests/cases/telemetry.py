"""Client telemetry: who may push what when, what of it is shown, and what an attack is worth."""

import gzip
import http.server
import struct
import threading
import time

import exposition
from node import SCHEMAS, ZERO_UUID, batches, read_answer, request_frame, until
from suite import test

CLIENT_METRICS = 16
SET = 0
INVALID_REQUEST, UNSUPPORTED_CODEC, INVALID_RECORD, THROTTLED = 42, 76, 87, 89
UNKNOWN_SUBSCRIPTION, TOO_LARGE = 117, 118
MIB = 1 << 20
LETTERS = "ab9_-.:\"\\\n{}=,# \0\x7f\u00e9\u2028\U0001f600"


# -- OTLP --------------------------------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(key, value):
    return field(1, key.encode()) + field(2, field(1, value.encode()))


def number(value, **labels):
    """A data point."""
    return b"\x21" + struct.pack("<d", value) + b"".join(field(7, attribute(k, v)) for k, v in labels.items())


def gauge(name, *points):
    return field(1, name.encode()) + field(5, b"".join(field(1, p) for p in points))


def odd_attribute(key, value):
    return field(7, field(1, key) + field(2, field(1, value)))


def counter(name, value, delta=True):
    return field(1, name.encode()) + field(7, field(1, number(value)) + b"\x10" + bytes([1 if delta else 2]) + b"\x18\x01")


def metrics(*list_of_metrics, **resource):
    attributes = b"".join(field(1, attribute(k, v)) for k, v in resource.items())
    return field(1, field(1, attributes) + field(2, b"".join(field(2, m) for m in list_of_metrics)))


# -- a client ----------------------------------------------------------------------------------------------------------


class Pusher:
    """A client instance that pushes what it is told to."""

    def __init__(self, client, instance=ZERO_UUID):
        self.client = client
        self.told = client.ask("GetTelemetrySubscriptions", 0, {"clientInstanceId": instance})
        self.instance = self.told["clientInstanceId"]

    def push(self, payload, codec=0, terminating=False, subscription=None):
        fields = {
            "clientInstanceId": self.instance,
            "subscriptionId": self.told["subscriptionId"] if subscription is None else subscription,
            "terminating": terminating,
            "compressionType": codec,
            "metrics": payload,
        }
        return self.client.ask("PushTelemetry", 0, fields)["errorCode"]

    def push_in_time(self, payload, **options):
        until("the next interval", lambda: self.push(payload, **options) == 0)


def page(t, node):
    text = node.metrics()
    families = exposition.parse(text)
    if wrong := exposition.promtool(text):
        t.claim(False, f"promtool: {wrong[:300]}")
    return families


def labels_of(families, name, instance):
    return [labels for labels, _ in exposition.values(families, name) if labels.get("client_instance_id") == instance]


@test("C39 a client is told what to push, and each mistake has its own answer, in Kafka's order")
def handshake(t):
    node = t.node({"thalweg.telemetry.interval.ms": "3600000"}).start()
    with node.client() as client:
        one = Pusher(client)
        t.claim(one.instance != ZERO_UUID, "no instance id was drawn")
        t.same(one.told["errorCode"], 0, "first Get")
        t.same(one.told["acceptedCompressionTypes"], [4, 3, 1, 2], "codecs")
        t.same(one.told["telemetryMaxBytes"], MIB, "largest push")
        t.same(one.told["deltaTemporality"], True, "delta temporality")
        t.same(len(one.told["requestedMetrics"]), 30, "metrics of the default subscription")
        t.same(one.push(b""), 0, "first push")
        t.same(one.push(b"", subscription=1, codec=9), THROTTLED, "second push")
        t.same(one.push(b"", terminating=True), 0, "early last push")
        t.same(one.push(b""), INVALID_REQUEST, "push behind the last")
        for wrong, answer in (
            ({"subscription": 1, "codec": 9, "payload": b"x" * (MIB + 1)}, UNKNOWN_SUBSCRIPTION),
            ({"codec": 9, "payload": b"x" * (MIB + 1)}, UNSUPPORTED_CODEC),
            ({"payload": b"x" * (MIB + 1)}, TOO_LARGE),
            ({"codec": 1, "payload": gzip.compress(b"\0" * (MIB + 1))}, TOO_LARGE),
            ({"codec": 1, "payload": gzip.compress(b"\0" * 100)}, INVALID_RECORD),
            ({"codec": 4, "payload": b"garbage"}, INVALID_RECORD),
            ({"payload": b"\xff\xff"}, INVALID_RECORD),
        ):
            t.same(Pusher(client).push(**wrong), answer, f"{list(wrong)}")


@test("C39 `*` asks for all metrics")
def everything(t):
    node = t.node({"thalweg.telemetry.default.metrics": "*"}).start()
    with node.client() as client:
        t.same(Pusher(client).told["requestedMetrics"], ["*"], "requested metrics")


@test("C39 nothing is asked for where nothing is subscribed")
def nothing(t):
    node = t.node({"thalweg.telemetry.default.metrics": ""}).start()
    with node.client() as client:
        told = Pusher(client).told
        t.same((told["requestedMetrics"], told["pushIntervalMs"]), ([], 300000), "requested metrics and interval")


@test("what clients push stands on /metrics, summed up, and goes with the client")
def shown(t):
    node = t.node({"thalweg.telemetry.interval.ms": "200"}).start()
    with node.client() as client:
        client.ask("ApiVersions", 3, {"clientSoftwareName": "cases", "clientSoftwareVersion": "1.5"})
        one = Pusher(client)
        for codec in range(5):
            payload = metrics(
                counter("org.apache.kafka.producer.record.send.total", 3),
                gauge("org.apache.kafka.consumer.lag", number(codec, topic='a"b\\c\n', client_id="me")),
                group_id="g",
            )
            one.push_in_time(batches.compress(codec, payload), codec=codec)
        families = page(t, node)
        own = {
            "client_id": "cases",
            "client_instance_id": one.instance,
            "client_software_name": "cases",
            "client_software_version": "1.5",
            "listener": "PLAINTEXT",
        }
        t.same(exposition.values(families, "kafka_client_producer_record_send_total"), [(own, 15.0)], "counter")
        t.same(families["kafka_client_producer_record_send_total"].type, "counter", "its type")
        lag = {**own, "topic": 'a"b\\c\n', "exported_client_id": "me"}
        t.same(exposition.values(families, "kafka_client_consumer_lag"), [(lag, 4.0)], "gauge")
        t.same(exposition.values(families, "kafka_client_info"), [({**own, "group_id": "g"}, 1.0)], "info")
        until("it is gone", lambda: "kafka_client_" not in node.metrics(), timeout=10)
        t.same(exposition.value(page(t, node), "thalweg_telemetry_series"), 0.0, "series left")


@test("a subscription changes what a client is asked for at once, and for those alone whom it means")
def subscription(t):
    node = t.node({"thalweg.telemetry.interval.ms": "3600000"}).start()
    with node.client() as client, node.client() as admin:
        one = Pusher(client)
        t.same(one.push(b""), 0, "push")
        admin.alter((CLIENT_METRICS, "s", [("metrics", SET, "a,b"), ("match", SET, "client_id=cas.*"), ("interval.ms", SET, "100")]))
        t.same(one.push(b""), UNKNOWN_SUBSCRIPTION, "push for what was asked for before")
        t.same(Pusher(client, one.instance).told["requestedMetrics"], ["a", "b"], "requested metrics")
        admin.alter((CLIENT_METRICS, "s", [("match", SET, "client_id=other")]))
        t.same(len(Pusher(client, one.instance).told["requestedMetrics"]), 30, "metrics of who is not meant")
    node.stop()
    node.start()
    with node.client() as client:
        client.connection.send_frame(
            request_frame(SCHEMAS, "GetTelemetrySubscriptions", 0, {"clientInstanceId": ZERO_UUID}, 1, client_id="other")
        )
        told = read_answer(SCHEMAS, "GetTelemetrySubscriptions", 0, client.connection.read_frame())[1]
        t.same(told["requestedMetrics"], ["a", "b"], "requested metrics after a restart")


@test("a million series from a thousand clients stay within their bounds, and so does a bomb")
def attack(t):
    most = 5000
    node = t.node({"thalweg.telemetry.max.series": str(most)}).start()
    with node.client() as client:
        client.create("t")
        began = node.resident()
        # A payload of the size that is allowed, half a million points without any label.
        bomb = metrics(field(1, b"bomb") + field(5, b"\x0a\x00" * 500_000))
        for i in range(1000):
            many = [gauge(f"x.{j}", *(number(k, p=f"{i}-{k}") for k in range(100))) for j in range(10)]
            pusher = Pusher(client)
            payload = bomb if i % 100 == 0 else gzip.compress(metrics(*many), 1)
            error = pusher.push(payload, codec=0 if i % 100 == 0 else 1)
            t.need(error in (0, INVALID_RECORD, TOO_LARGE), f"push {i}: error {error}")
            if i % 100 == 50:
                slowest = time.monotonic()
                client.put("t", batches.batch())
                slowest = time.monotonic() - slowest
                t.claim(slowest < 5, f"a record took {slowest:.1f} s meanwhile")
        families = page(t, node)
        series = exposition.value(families, "thalweg_telemetry_series")
        t.claim(0 < series <= most, f"{series} series are kept")
        left_out = exposition.value(families, "thalweg_telemetry_samples_left_out_total")
        t.claim(left_out > 900_000, f"{left_out} samples are counted as left out")
        grown = (node.resident() - began) / MIB
        t.claim(grown < 200, f"the broker has grown by {grown:.0f} MiB")
        t.note(f"{series:.0f} series kept, {left_out:.0f} left out, {grown:.0f} MiB more")


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes OTLP over HTTP as a collector does; `refusals` answers are 503 first."""

    refusals, bodies = 0, []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        cls = type(self)
        status = 200
        if cls.refusals > 0:
            cls.refusals, status = cls.refusals - 1, 503
        else:
            cls.bodies.append((self.path, self.headers["Content-Type"], body))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@test("what clients push is handed on to a collector and written to the topic, and says whose it is")
def handed_on(t):
    collector = type("OneCollector", (Collector,), {"refusals": 2, "bodies": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        node = t.node(
            {
                "thalweg.telemetry.otlp.endpoint": f"http://127.0.0.1:{server.server_port}",
                "thalweg.telemetry.topic.enable": "true",
            }
        ).start()
        with node.client() as client:
            one = Pusher(client)
            t.same(one.push(gzip.compress(metrics(counter("a", 3), group_id="g"), 1), codec=1), 0, "push")
            attributes = {
                "client_id": "cases",
                "client_instance_id": one.instance,
                "client_software_name": "unknown",
                "client_software_version": "unknown",
                "client_source_address": "127.0.0.1",
                "client_source_port": str(client.connection.socket.getsockname()[1]),
                "listener": "PLAINTEXT",
            }
            whole = metrics(counter("a", 3), group_id="g", **attributes)
            until("the collector has it", lambda: collector.bodies)
            t.same(collector.bodies, [("/v1/metrics", "application/x-protobuf", whole)], "what the collector got")
            value = lambda name: exposition.value(page(t, node), name)
            until("it is counted", lambda: value("thalweg_telemetry_otlp_sent_total") == 1)
            t.same(value("thalweg_telemetry_otlp_retries_total"), 2.0, "retries")
            parts = len(client.describe("__client_telemetry")["partitions"])

            def stored():
                return [v for p in range(parts) for v in client.values("__client_telemetry", p)]

            t.same(until("it is in the topic", stored), [whole], "values in the topic")
        server.shutdown()


@test("texts of all kinds leave a page that Prometheus can read")
def texts(t):
    node = t.node({"thalweg.telemetry.interval.ms": "100"}).start()
    with node.client() as client:
        for i in range(30):
            junk = lambda: "".join(t.random.choices(LETTERS, k=t.random.randrange(12))).encode()
            list_of = [
                field(1, junk()) + field(3, junk()) + field(5, field(1, number(k, a="b") + odd_attribute(junk(), junk())))
                for k in range(5)
            ]
            same = [gauge(name, number(1)) for name in ("a.b", "a-b", "info", "9a", "h_sum", "h")]
            Pusher(client).push(metrics(*list_of, *same))
        families = page(t, node)
        t.claim("kafka_client_a_b" in families, "what can be shown is missing")


