"""GetTelemetrySubscriptions and PushTelemetry. A changed subscription makes a broker look at every client anew, so these
cases run alone. Kafka offers the two only with a receiver loaded: receiver/ holds a small one."""

import base64
import contextlib
import hashlib
import struct

import batch
from harness import case, read_answer, request_frame
from wire import ZERO_UUID, uuid_to_bytes

CLIENT_METRICS = 16
SET, DELETE = 0, 1
LONG, SHORT = 3_600_000, 100
MAX_BYTES = 1 << 20

# resource_metrics { scope_metrics { metrics { name: "a" gauge { data_points { as_int: 7 } } } } }
METRICS = bytes.fromhex("0a14 1212 1210 0a0161 2a0b 0a09 31 0700000000000000")


def instance(b, suffix=""):
    """An id of the case's own; the same on every broker."""
    digest = hashlib.md5((b.name + suffix).encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def java_hash(instance_id):
    words = struct.unpack(">4I", uuid_to_bytes(instance_id))
    return words[0] ^ words[1] ^ words[2] ^ words[3]


def computed(metrics, interval, instance_id):
    """The subscription id as Kafka makes it."""
    text = "[" + ", ".join(metrics) + "]" + str(interval)
    value = batch.crc32c(text.encode()) ^ java_hash(instance_id)
    return struct.unpack(">i", struct.pack(">I", value))[0]


def shown(answer):
    """What was answered, with the names of what is random or derived from it."""
    kept = dict(answer, requestedMetrics=sorted(answer["requestedMetrics"] or []))
    if answer["errorCode"] == 0:
        expected = computed(kept["requestedMetrics"], answer["pushIntervalMs"], answer["clientInstanceId"])
        if len(kept["requestedMetrics"]) < 2:
            kept["subscriptionId"] = "as computed" if answer["subscriptionId"] == expected else "another"
        else:
            kept["subscriptionId"] = "of several"  # Kafka leaves their order to a hash table
    return kept


def get(b, instance_id=ZERO_UUID, **options):
    def keep(answer):
        kept = shown(answer)
        if instance_id == ZERO_UUID and answer["clientInstanceId"] != ZERO_UUID:
            kept["clientInstanceId"] = "<drawn>"
        return kept

    return b.call("GetTelemetrySubscriptions", 0, {"clientInstanceId": instance_id}, keep=keep, **options)


def push(b, instance_id, subscription_id, metrics=METRICS, codec=0, terminating=False, **options):
    fields = {
        "clientInstanceId": instance_id,
        "subscriptionId": subscription_id,
        "terminating": terminating,
        "compressionType": codec,
        "metrics": metrics,
    }
    return b.call("PushTelemetry", 0, fields, **options)


def asked(b, client_id):
    """What a client that comes now is asked for."""
    connection = b.connect()
    fields = {"clientInstanceId": ZERO_UUID}
    connection.send_frame(request_frame(b.schemas, "GetTelemetrySubscriptions", 0, fields, 1, client_id))
    _, answer, _, _ = read_answer(b.schemas, "GetTelemetrySubscriptions", 0, connection.read_frame())
    connection.close()
    return answer


def alter(b, name, operations):
    configs = [{"name": k, "configOperation": op, "value": v} for k, op, v in operations]
    resource = {"resourceType": CLIENT_METRICS, "resourceName": name, "configs": configs}
    answer = b.ask("IncrementalAlterConfigs", 1, {"resources": [resource], "validateOnly": False})
    assert answer["responses"][0]["errorCode"] == 0, answer


@contextlib.contextmanager
def subscribed(b, metrics="a", interval=LONG, match=(), suffix="", client_id="compare", expect=None):
    """A subscription of this case's own, seen by the broker, gone in the end."""
    name = b.topic_name(suffix or "s")
    before = asked(b, client_id)
    keys = {"metrics": metrics, "interval.ms": str(interval), "match": ",".join(match)}
    alter(b, name, [(k, SET, v) for k, v in keys.items() if v])
    try:
        seen = lambda answer: answer["requestedMetrics"] != before["requestedMetrics"]
        b.until("the subscription", lambda: (expect or seen)(asked(b, client_id)))
        yield
    finally:
        alter(b, name, [(k, DELETE, None) for k, v in keys.items() if v])
        b.until("its end", lambda: asked(b, client_id)["requestedMetrics"] == before["requestedMetrics"])


# -- asking ------------------------------------------------------------------------------------------------------------


@case("telemetry/get/nothing-subscribed", alone=True)
def nothing(b):
    get(b)
    get(b, instance(b))


@case("telemetry/get/one-prefix", alone=True)
def one_prefix(b):
    with subscribed(b, "org.apache.kafka.producer.", 60000):
        get(b)
        get(b, instance(b))


@case("telemetry/get/several-prefixes", alone=True)
def several(b):
    with subscribed(b, "b.,a.,c.", 60000):
        get(b, instance(b))


@case("telemetry/get/all", alone=True)
def everything(b):
    with subscribed(b, "*", 1000):
        get(b, instance(b))
    with subscribed(b, "a,*", 1000):
        get(b, instance(b, "2"))


@case("telemetry/get/two-subscriptions", alone=True)
def two(b):
    with subscribed(b, "a", 70000, suffix="one"), subscribed(b, "b", 50000, suffix="two"):
        get(b, instance(b))


@case("telemetry/get/interval", each={"100": 100, "299999": 299999, "300001": 300001, "3600000": LONG}, alone=True)
def interval(b, ms):
    with subscribed(b, "a", ms):
        get(b, instance(b))


@case("telemetry/get/without-metrics", alone=True)
def without_metrics(b):
    """A subscription that only has an interval."""
    with subscribed(b, "", 5000, expect=lambda answer: answer["pushIntervalMs"] == 5000):
        get(b, instance(b))


SELECTORS = {
    "client-id": (["client_id=mine"], True),
    "client-id-part": (["client_id=min"], False),
    "client-id-spaces": (["client_id = mine "], True),
    "software-name": (["client_software_name=un.*"], True),
    "software-version": (["client_software_version=unknown"], True),
    "software-other": (["client_software_version=4.*"], False),
    "address": (["client_source_address=127[.]0[.]0[.]1"], True),
    "port": (["client_source_port=[0-9]+"], True),
    "both": (["client_id=mine", "client_source_address=127.*"], True),
    "one-of-two": (["client_id=mine", "client_source_address=10.*"], False),
    "twice": (["client_id=nobody", "client_id=mine"], True),
}


@case("telemetry/get/selector", each=SELECTORS, alone=True)
def selector(b, value):
    match, found = value
    # The sign that the broker has seen the change, where it does not show in what a client like this one is asked for.
    with subscribed(b, "sign", match=["client_id=sign"], suffix="sign", client_id="sign"):
        with contextlib.ExitStack() as stack:
            if found:
                stack.enter_context(subscribed(b, "a", match=match, client_id="mine"))
            else:
                stack.enter_context(subscribed(b, "a,b", match=match + ["client_id=sign"], client_id="none-such", expect=lambda _: True))
            get(b, instance(b), header={"clientId": "mine"})


@case("telemetry/get/selector-instance", alone=True)
def selector_instance(b):
    own, other = instance(b), instance(b, "other")
    with subscribed(b, "sign", suffix="sign", match=["client_id=sign"], client_id="sign"):
        with subscribed(b, "a", match=["client_instance_id=" + own], expect=lambda _: True):
            get(b, own)
            get(b, other)


@case("telemetry/get/null-client-id", alone=True)
def null_client_id(b):
    with subscribed(b, "a", match=["client_id=.*"]):
        get(b, instance(b), header={"clientId": None})


@case("telemetry/get/after-api-versions", alone=True)
def after_api_versions(b):
    b.call("ApiVersions", 3, {"clientSoftwareName": "soft", "clientSoftwareVersion": "7.1"}, keep=lambda a: a["errorCode"])
    with subscribed(b, "sign", suffix="sign", match=["client_id=sign"], client_id="sign"):
        with subscribed(b, "a", match=["client_software_name=soft", "client_software_version=7.*"], expect=lambda _: True):
            get(b, instance(b))


@case("telemetry/get/too-early", alone=True)
def get_too_early(b):
    with subscribed(b):
        own = instance(b)
        get(b, own)
        get(b, own)
        # On another connection it is the same client.
        get(b, own, on=b.connect())


@case("telemetry/get/reserved-id", alone=True)
def get_reserved(b):
    with subscribed(b):
        get(b, "AAAAAAAAAAAAAAAAAAAAAQ")


@case("telemetry/get/changed-subscription", alone=True)
def changed(b):
    own = instance(b)
    with subscribed(b, "a"):
        old = get(b, own)
        with subscribed(b, "b", suffix="two"):
            push(b, own, old["subscriptionId"])
            get(b, own)
            get(b, own)


@case("telemetry/get/connection-ended", alone=True)
def ended(b):
    """The client is forgotten with the connection that it came on."""
    own = instance(b)
    with subscribed(b):
        first, second = b.connect(), b.connect()
        get(b, own, on=first)
        get(b, own, on=second)
        first.close()
        fields = {"clientInstanceId": own}
        b.until("it is forgotten", lambda: b.ask("GetTelemetrySubscriptions", 0, fields)["errorCode"] == 0)
        get(b, own, on=second)


# -- pushing -----------------------------------------------------------------------------------------------------------


@case("telemetry/push/each-codec", each={"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}, alone=True)
def each_codec(b, codec):
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], batch.compress(codec, METRICS), codec)


@case("telemetry/push/nothing", alone=True)
def push_nothing(b):
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], b"")


@case("telemetry/push/too-early", alone=True)
def push_too_early(b):
    with subscribed(b):
        own = instance(b)
        subscription = get(b, own)["subscriptionId"]
        push(b, own, subscription)
        push(b, own, subscription)
        # It is told so before anything else is looked at.
        push(b, own, subscription + 1, codec=9)
        get(b, own)


@case("telemetry/push/without-get", alone=True)
def without_get(b):
    with subscribed(b):
        own = instance(b)
        push(b, own, computed(["a"], 300000, own))
        get(b, own)


@case("telemetry/push/terminating", alone=True)
def terminating(b):
    with subscribed(b):
        own = instance(b)
        subscription = get(b, own)["subscriptionId"]
        push(b, own, subscription)
        push(b, own, subscription, terminating=True)
        push(b, own, subscription, terminating=True)
        push(b, own, subscription)
        # The one before was refused, but did not say that it was the last.
        push(b, own, subscription)
        get(b, own)


@case("telemetry/push/terminating-wrong", alone=True)
def terminating_wrong(b):
    with subscribed(b):
        own = instance(b)
        subscription = get(b, own)["subscriptionId"]
        push(b, own, subscription + 1, terminating=True)
        push(b, own, subscription)
        get(b, own)


@case("telemetry/push/unknown-subscription", alone=True)
def unknown_subscription(b):
    with subscribed(b):
        own = instance(b)
        subscription = get(b, own)["subscriptionId"]
        push(b, own, subscription + 1, codec=9, metrics=b"x" * (MAX_BYTES + 1))
        get(b, own)
        get(b, own)


@case("telemetry/push/unknown-codec", each={"5": 5, "-1": -1, "127": 127}, alone=True)
def unknown_codec(b, codec):
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], b"x" * (MAX_BYTES + 1), codec)
        get(b, own)
        get(b, own)


@case("telemetry/push/too-large", alone=True)
def too_large(b):
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], b"x" * (MAX_BYTES + 1))
        get(b, own)


@case("telemetry/push/unreadable", each={"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}, alone=True)
def unreadable(b, codec):
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], b"\xff\xff\xff\xff", codec)
        get(b, own)


@case("telemetry/push/compressed-garbage", each={"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}, alone=True)
def compressed_garbage(b, codec):
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], batch.compress(codec, METRICS[:-3]), codec)


@case("telemetry/push/decompressed-too-large", alone=True)
def decompressed_too_large(b):
    """Kafka 4.4.0 calls it unreadable, upon which clients never push again; its next release says what it is."""
    # A resource_metrics of nothing but unknown bytes.
    size = MAX_BYTES + 100
    padding = b"\xa2\x06" + batch_uvarint(size) + b"\0" * size
    with subscribed(b):
        own = instance(b)
        push(b, own, get(b, own)["subscriptionId"], batch.compress(1, padding), 1)
        get(b, own)


def batch_uvarint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@case("telemetry/push/reserved-id", each={"zero": ZERO_UUID, "one": "AAAAAAAAAAAAAAAAAAAAAQ"}, alone=True)
def push_reserved(b, reserved):
    with subscribed(b):
        push(b, reserved, 0)


@case("telemetry/push/next-interval", alone=True)
def next_interval(b):
    with subscribed(b, interval=SHORT):
        own = instance(b)
        subscription = get(b, own)["subscriptionId"]
        push(b, own, subscription)
        fields = {
            "clientInstanceId": own,
            "subscriptionId": subscription,
            "terminating": False,
            "compressionType": 0,
            "metrics": METRICS,
        }
        b.until("the next interval", lambda: b.ask("PushTelemetry", 0, fields)["errorCode"] == 0)
        b.until("another one", lambda: b.ask("GetTelemetrySubscriptions", 0, {"clientInstanceId": own})["errorCode"] == 0)
