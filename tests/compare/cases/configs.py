"""DescribeConfigs, IncrementalAlterConfigs, AlterConfigs and ListConfigResources."""

import batch
from harness import case, produce_fields

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
DESCRIBE = range(1, 5)
ALTER = range(2)

# What a broker says here depends on where it runs, not on what it is.
PLACES = {
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "inter.broker.listener.name",
    "listener.security.protocol.map",
    "listeners",
    "log.dir",
    "log.dirs",
    "metadata.log.dir",
    "metric.reporters",
    "process.roles",
    # Raised for recording, so that a busy machine does not make Kafka give up its only broker.
    "broker.session.timeout.ms",
}


def describe(b, v, *resources, keep=None, **more):
    """`resources` are (type, name, keys or None)."""
    fields = {"resources": [{"resourceType": t, "resourceName": n, "configurationKeys": k} for t, n, k in resources]}
    options = {"keep": keep} if keep else {}
    return b.call("DescribeConfigs", v, dict(fields, **more), **options)


def without_places(answer):
    results = [dict(r, configs=[c for c in r["configs"] if c["name"] not in PLACES]) for r in answer["results"]]
    return dict(answer, results=results)


@case("describe-configs/topic", versions=DESCRIBE)
def topic(b, v):
    describe(b, v, (TOPIC, b.topic(retention_ms=1000, cleanup_policy="compact"), None))


@case("describe-configs/topic-synonyms", versions=DESCRIBE)
def synonyms(b, v):
    describe(b, v, (TOPIC, b.topic(retention_ms=1000), None), includeSynonyms=True)


@case("describe-configs/topic-documentation", versions=DESCRIBE)
def documentation(b, v):
    describe(b, v, (TOPIC, b.topic(), ["retention.ms", "cleanup.policy"]), includeDocumentation=True)


@case("describe-configs/topic-keys", versions=DESCRIBE)
def keys(b, v):
    name = b.topic(retention_ms=1000)
    describe(b, v, (TOPIC, name, ["retention.ms", "no.such.config", "segment.bytes"]))
    describe(b, v, (TOPIC, name, []))
    describe(b, v, (TOPIC, name, ["retention.ms", "retention.ms"]))
    describe(b, v, (TOPIC, name, [""]))


@case("describe-configs/topic-unknown", versions=DESCRIBE)
def topic_unknown(b, v):
    describe(b, v, (TOPIC, b.topic_name("missing"), None))


@case(
    "describe-configs/topic-name", versions=[1, 4], each={"empty": "", "slash": "a/b", "dots": "..", "long": "x" * 250}
)
def topic_name(b, v, name):
    describe(b, v, (TOPIC, name, None))


@case("describe-configs/same-twice", versions=[1, 4])
def same_twice(b, v):
    name = b.topic()
    describe(b, v, (TOPIC, name, ["retention.ms"]), (TOPIC, name, ["segment.ms"]))


@case("describe-configs/several")
def several(b):
    one, other = b.topic("a"), b.topic("b", segment_bytes=1048576)
    describe(
        b,
        4,
        (TOPIC, one, ["segment.bytes"]),
        (TOPIC, b.topic_name("missing"), ["segment.bytes"]),
        (BROKER, "1", ["log.segment.bytes", "num.partitions"]),
        (TOPIC, other, ["segment.bytes"]),
    )


@case("describe-configs/none", versions=DESCRIBE)
def none(b, v):
    describe(b, v)


@case("describe-configs/broker", versions=[1, 4])
def broker(b, v):
    describe(b, v, (BROKER, "1", None), keep=without_places)


@case("describe-configs/broker-synonyms")
def broker_synonyms(b):
    describe(b, 4, (BROKER, "1", None), includeSynonyms=True, keep=without_places)


@case("describe-configs/broker-keys", versions=DESCRIBE)
def broker_keys(b, v):
    wanted = ["num.partitions", "log.retention.ms", "auto.create.topics.enable", "no.such.config", "message.max.bytes"]
    describe(b, v, (BROKER, "1", wanted), includeSynonyms=True, includeDocumentation=v >= 3)


@case("describe-configs/broker-default", versions=[1, 4])
def broker_default(b, v):
    describe(b, v, (BROKER, "", None))


@case(
    "describe-configs/broker-name",
    versions=[1, 4],
    each={"other": "2", "negative": "-1", "word": "one", "spaces": " 1", "large": "99999999999"},
)
def broker_name(b, v, name):
    describe(b, v, (BROKER, name, ["num.partitions"]))


@case("describe-configs/type", versions=[1, 4], each={"0": 0, "1": 1, "3": 3, "5": 5, "64": 64, "-1": -1, "127": 127})
def unknown_type(b, v, kind):
    describe(b, v, (kind, "x", None))
    b.alive()


@case("describe-configs/unknown-type-beside-topic")
def type_beside_topic(b):
    describe(b, 4, (TOPIC, b.topic(), ["retention.ms"]), (3, "x", None))


@case("describe-configs/client-metrics", versions=[1, 4])
def client_metrics(b, v):
    describe(b, v, (CLIENT_METRICS, b.topic_name("metrics"), None), includeSynonyms=True)
    describe(b, v, (CLIENT_METRICS, "", None))


@case("describe-configs/group", versions=[1, 4])
def group(b, v):
    describe(b, v, (GROUP, b.topic_name("group"), None), includeSynonyms=True)
    describe(b, v, (GROUP, "", None))


@case("describe-configs/logger-name", versions=[4], each={"other": "2", "empty": "", "word": "x"})
def logger_name(b, v, name):
    """Loggers have the names of the program's own parts, so only what goes wrong is compared."""
    describe(b, v, (LOGGER, name, ["root"]))


# -- altering ----------------------------------------------------------------------------------------------------------


def alter(b, v, *resources, validate=False):
    """`resources` are (type, name, [(key, operation, value), ...])."""
    fields = {
        "resources": [
            {
                "resourceType": t,
                "resourceName": n,
                "configs": [{"name": k, "configOperation": o, "value": value} for k, o, value in configs],
            }
            for t, n, configs in resources
        ],
        "validateOnly": validate,
    }
    return b.call("IncrementalAlterConfigs", v, fields)


def now(b, name, *keys, kind=TOPIC):
    """The configs that differ from the broker's, of those named."""
    fields = {"resources": [{"resourceType": kind, "resourceName": name, "configurationKeys": list(keys)}]}
    found = b.ask("DescribeConfigs", 4, fields)["results"][0]["configs"]
    return {c["name"]: [c["value"], c["configSource"]] for c in found}


def settle(b, name, wanted, *keys, kind=TOPIC):
    """Waits until the change is seen, then records it; a broker may answer before it applies."""
    keys = keys or tuple(wanted)
    b.until(f"{wanted} on {name}", lambda: all(now(b, name, k, kind=kind)[k][0] == v for k, v in wanted.items()))
    b.note("configs", now(b, name, *keys, kind=kind))


@case("alter-configs/set-and-delete", versions=ALTER)
def set_and_delete(b, v):
    name = b.topic()
    alter(b, v, (TOPIC, name, [("retention.ms", SET, "5000"), ("segment.ms", SET, "6000")]))
    settle(b, name, {"retention.ms": "5000", "segment.ms": "6000"})
    alter(b, v, (TOPIC, name, [("retention.ms", DELETE, None)]))
    settle(b, name, {"retention.ms": "-1"}, "retention.ms", "segment.ms")


@case("alter-configs/delete-with-value", versions=ALTER)
def delete_with_value(b, v):
    name = b.topic(retention_ms=7)
    alter(b, v, (TOPIC, name, [("retention.ms", DELETE, "9")]))
    settle(b, name, {"retention.ms": "-1"})


@case("alter-configs/delete-what-is-not-set", versions=ALTER)
def delete_unset(b, v):
    name = b.topic()
    alter(b, v, (TOPIC, name, [("retention.ms", DELETE, None)]))
    alter(b, v, (TOPIC, name, [("no.such.config", DELETE, None)]))


@case("alter-configs/append-and-subtract", versions=ALTER)
def append_and_subtract(b, v):
    name = b.topic()
    alter(b, v, (TOPIC, name, [("cleanup.policy", APPEND, "compact")]))
    settle(b, name, {"cleanup.policy": "delete,compact"})
    alter(b, v, (TOPIC, name, [("cleanup.policy", APPEND, "compact")]))
    alter(b, v, (TOPIC, name, [("cleanup.policy", SUBTRACT, "delete")]))
    settle(b, name, {"cleanup.policy": "compact"})
    alter(b, v, (TOPIC, name, [("cleanup.policy", SUBTRACT, "delete")]))
    b.note("configs", now(b, name, "cleanup.policy"))


@case("alter-configs/append-list", versions=ALTER)
def append_list(b, v):
    name = b.topic()
    key = "leader.replication.throttled.replicas"
    alter(b, v, (TOPIC, name, [(key, SET, "0:1")]))
    settle(b, name, {key: "0:1"})
    alter(b, v, (TOPIC, name, [(key, APPEND, "1:1,2:1")]))
    settle(b, name, {key: "0:1,1:1,2:1"})
    alter(b, v, (TOPIC, name, [(key, SUBTRACT, "2:1,0:1")]))
    settle(b, name, {key: "1:1"})


@case("alter-configs/subtract-all")
def subtract_all(b):
    name = b.topic()
    alter(b, 1, (TOPIC, name, [("cleanup.policy", SUBTRACT, "delete")]))
    settle(b, name, {"cleanup.policy": ""})


@case("alter-configs/append-to-scalar", versions=ALTER, each={"append": APPEND, "subtract": SUBTRACT})
def append_scalar(b, v, operation):
    name = b.topic()
    alter(b, v, (TOPIC, name, [("retention.ms", operation, "1")]))
    b.note("configs", now(b, name, "retention.ms"))


@case("alter-configs/operation", versions=ALTER, each={"4": 4, "-1": -1, "127": 127}, alone=True)
def operation_code(b, v, code):
    """Kafka's controller stumbles over these and takes a moment to come back, so no other case may run beside."""
    name = b.topic()
    alter(b, v, (TOPIC, name, [("retention.ms", code, "1")]))
    b.alive()
    fields = {
        "topics": [{"name": b.topic_name("probe"), "numPartitions": 1, "replicationFactor": 1}],
        "validateOnly": True,
    }
    b.until("controller", lambda: b.ask("CreateTopics", 7, fields)["topics"][0]["errorCode"] == 0)


@case("alter-configs/null-value", versions=ALTER, each={"set": SET, "append": APPEND, "subtract": SUBTRACT})
def null_value(b, v, operation):
    alter(b, v, (TOPIC, b.topic(), [("cleanup.policy", operation, None)]))


@case("alter-configs/same-key-twice", versions=ALTER)
def same_key(b, v):
    name = b.topic()
    alter(b, v, (TOPIC, name, [("retention.ms", SET, "1"), ("retention.ms", SET, "2")]))
    alter(b, v, (TOPIC, name, [("retention.ms", SET, "1"), ("retention.ms", DELETE, None)]))
    b.note("configs", now(b, name, "retention.ms"))


@case("alter-configs/same-resource-twice", versions=ALTER)
def same_resource(b, v):
    name, other = b.topic("a"), b.topic("b")
    alter(
        b,
        v,
        (TOPIC, name, [("retention.ms", SET, "1")]),
        (TOPIC, name, [("segment.ms", SET, "2")]),
        (TOPIC, other, [("segment.ms", SET, "3")]),
    )
    settle(b, other, {"segment.ms": "3"})
    b.note("configs", now(b, name, "retention.ms", "segment.ms"))


@case("alter-configs/none", versions=ALTER)
def alter_none(b, v):
    alter(b, v)


@case("alter-configs/no-configs", versions=ALTER)
def no_configs(b, v):
    alter(b, v, (TOPIC, b.topic(), []))


@case("alter-configs/unknown-topic", versions=ALTER)
def alter_unknown_topic(b, v):
    alter(b, v, (TOPIC, b.topic_name("missing"), [("retention.ms", SET, "1")]))


@case("alter-configs/topic-name", versions=ALTER, each={"empty": "", "slash": "a/b"})
def alter_topic_name(b, v, name):
    alter(b, v, (TOPIC, name, [("retention.ms", SET, "1")]))


VALUES = {
    "unknown": ("no.such.config", "1"),
    "empty-key": ("", "1"),
    "word": ("retention.ms", "soon"),
    "below": ("retention.ms", "-2"),
    "above": ("max.message.bytes", "99999999999"),
    "empty": ("retention.ms", ""),
    "spaces": ("retention.ms", " 7 "),
    "policy": ("cleanup.policy", "shred"),
    "codec": ("compression.type", "brotli"),
    "bool": ("preallocate", "maybe"),
    "broker-key": ("num.partitions", "3"),
    "broker-synonym": ("log.retention.ms", "3"),
}


@case("alter-configs/bad-value", versions=ALTER, each=VALUES)
def bad_value(b, v, pair):
    name = b.topic()
    alter(b, v, (TOPIC, name, [(pair[0], SET, pair[1])]))
    alter(b, v, (TOPIC, name, [(pair[0], SET, pair[1])]), validate=True)


@case("alter-configs/good-and-bad", versions=ALTER)
def good_and_bad(b, v):
    """One bad key spoils its own topic and no other."""
    one, other = b.topic("a"), b.topic("b")
    alter(
        b,
        v,
        (TOPIC, one, [("retention.ms", SET, "5"), ("segment.ms", SET, "x")]),
        (TOPIC, other, [("retention.ms", SET, "6")]),
    )
    settle(b, other, {"retention.ms": "6"})
    b.note("configs", now(b, one, "retention.ms"))


@case("alter-configs/validate-only", versions=ALTER)
def validate_only(b, v):
    name = b.topic()
    alter(b, v, (TOPIC, name, [("retention.ms", SET, "5")]), validate=True)
    alter(b, v, (TOPIC, name, [("retention.ms", SET, "x")]), validate=True)
    alter(b, v, (TOPIC, b.topic_name("missing"), [("retention.ms", SET, "5")]), validate=True)
    b.note("configs", now(b, name, "retention.ms"))


@case("alter-configs/type", versions=ALTER, each={"0": 0, "3": 3, "-1": -1, "64": 64})
def alter_type(b, v, kind):
    alter(b, v, (kind, "x", [("retention.ms", SET, "5")]))
    b.alive()


@case("alter-configs/read-only-broker-config", versions=ALTER)
def read_only(b, v):
    alter(b, v, (BROKER, "1", [("num.partitions", SET, "9")]))
    alter(b, v, (BROKER, "1", [("node.id", SET, "9")]))
    alter(b, v, (BROKER, "", [("auto.create.topics.enable", SET, "false")]))


@case("alter-configs/broker-name", versions=ALTER, each={"other": "2", "word": "one"})
def alter_broker_name(b, v, name):
    alter(b, v, (BROKER, name, [("log.retention.ms", SET, "9")]), validate=True)


@case("alter-configs/broker-dynamic", versions=ALTER, alone=True)
def broker_dynamic(b, v):
    """Set for one broker, then for all; the nearer wins, and both can be taken back."""
    key = "log.cleaner.delete.retention.ms"
    name = b.topic()
    alter(b, v, (BROKER, "", [(key, SET, "1111")]))
    settle(b, "1", {key: "1111"}, kind=BROKER)
    describe(
        b, 4, (BROKER, "1", [key]), (BROKER, "", None), (TOPIC, name, ["delete.retention.ms"]), includeSynonyms=True
    )
    alter(b, v, (BROKER, "1", [(key, SET, "2222")]))
    settle(b, "1", {key: "2222"}, kind=BROKER)
    describe(b, 4, (BROKER, "1", [key]), (TOPIC, name, ["delete.retention.ms"]), includeSynonyms=True)
    alter(b, v, (BROKER, "1", [(key, DELETE, None)]))
    settle(b, "1", {key: "1111"}, kind=BROKER)
    alter(b, v, (BROKER, "", [(key, DELETE, None)]))
    settle(b, "1", {key: "86400000"}, kind=BROKER)
    describe(
        b, 4, (BROKER, "1", [key]), (BROKER, "", None), (TOPIC, name, ["delete.retention.ms"]), includeSynonyms=True
    )


@case("alter-configs/broker-bad-value", versions=ALTER)
def broker_bad_value(b, v):
    alter(b, v, (BROKER, "1", [("log.cleaner.delete.retention.ms", SET, "soon")]))
    alter(b, v, (BROKER, "", [("log.cleaner.delete.retention.ms", SET, "soon")]))


@case("alter-configs/group", versions=ALTER)
def alter_group(b, v):
    name = b.topic_name("group")
    alter(b, v, (GROUP, name, [("consumer.session.timeout.ms", SET, "50000")]))
    settle(b, name, {"consumer.session.timeout.ms": "50000"}, kind=GROUP)
    alter(b, v, (GROUP, name, [("consumer.session.timeout.ms", SET, "1")]))
    alter(b, v, (GROUP, name, [("no.such.config", SET, "1")]))
    alter(b, v, (GROUP, name, [("consumer.session.timeout.ms", DELETE, None)]))
    settle(b, name, {"consumer.session.timeout.ms": "45000"}, kind=GROUP)


@case("alter-configs/client-metrics", versions=ALTER)
def alter_client_metrics(b, v):
    name = b.topic_name("metrics")
    alter(b, v, (CLIENT_METRICS, name, [("interval.ms", SET, "5000"), ("metrics", SET, "org.apache.kafka.")]))
    settle(b, name, {"interval.ms": "5000"}, "interval.ms", "metrics", "match", kind=CLIENT_METRICS)
    alter(b, v, (CLIENT_METRICS, name, [("interval.ms", SET, "1")]))
    alter(b, v, (CLIENT_METRICS, name, [("match", SET, "no_such_thing=x")]))
    alter(b, v, (CLIENT_METRICS, name, [("no.such.config", SET, "1")]))
    alter(b, v, (CLIENT_METRICS, name, [("interval.ms", DELETE, None), ("metrics", DELETE, None)]))


@case("alter-configs/takes-effect")
def takes_effect(b):
    """What is set governs what is produced afterwards, once the broker got to know."""
    name = b.topic()
    b.call("Produce", 9, produce_fields(b, name, batch.batch()))
    alter(b, 1, (TOPIC, name, [("message.timestamp.type", SET, "LogAppendTime")]))
    settle(b, name, {"message.timestamp.type": "LogAppendTime"})

    def stamped():
        answer = b.ask("Produce", 9, produce_fields(b, name, batch.batch()))
        return answer["responses"][0]["partitionResponses"][0]["logAppendTimeMs"] >= 0

    b.until("broker's time in records", stamped)
    b.note("stamped", True)


# -- altering every kind of resource -----------------------------------------------------------------------------------

KINDS = {"topic": TOPIC, "broker": BROKER, "logger": LOGGER, "client-metrics": CLIENT_METRICS, "group": GROUP}
KEY_OF = {
    TOPIC: "retention.ms",
    BROKER: "log.retention.ms",
    LOGGER: "root",
    CLIENT_METRICS: "interval.ms",
    GROUP: "consumer.session.timeout.ms",
}
VALUE_OF = {TOPIC: "5000", BROKER: "5000", LOGGER: "WARN", CLIENT_METRICS: "5000", GROUP: "50000"}


def resource_of(b, kind):
    """A resource of that kind that may be changed; brokers are only asked whether they would."""
    if kind == TOPIC:
        return b.topic()
    return "1" if kind in (BROKER, LOGGER) else b.topic_name("r")


@case("alter-configs/kind/null-value", each=KINDS)
def kind_null(b, kind):
    name, key = resource_of(b, kind), KEY_OF[kind]
    alter(b, 1, (kind, name, [(key, SET, None)]), validate=True)
    alter(b, 1, (kind, name, [(key, APPEND, None)]), validate=True)
    alter(b, 1, (kind, name, [("no.such.config", SET, None)]), validate=True)


@case("alter-configs/kind/same-key-twice", each=KINDS)
def kind_same_key(b, kind):
    name, key = resource_of(b, kind), KEY_OF[kind]
    alter(b, 1, (kind, name, [(key, SET, VALUE_OF[kind]), (key, DELETE, None)]), validate=True)
    alter(b, 1, (kind, name, [(key, SET, None), (key, DELETE, None)]), validate=True)


@case("alter-configs/kind/same-resource-twice", each=KINDS)
def kind_same_resource(b, kind):
    name, key = resource_of(b, kind), KEY_OF[kind]
    change = (kind, name, [(key, SET, VALUE_OF[kind])])
    alter(b, 1, change, (kind, name, []), validate=True)


@case("alter-configs/kind/unknown-key", each=KINDS)
def kind_unknown(b, kind):
    name = resource_of(b, kind)
    alter(b, 1, (kind, name, [("no.such.config", SET, "1")]), validate=True)
    alter(b, 1, (kind, name, [("no.such.config", DELETE, None)]), validate=True)
    alter(b, 1, (kind, name, [("no.such.config", APPEND, "1")]), validate=True)
    alter(b, 1, (kind, name, [("", SET, "1")]), validate=True)


@case("alter-configs/kind/append-to-scalar", each=KINDS)
def kind_append(b, kind):
    name, key = resource_of(b, kind), KEY_OF[kind]
    alter(b, 1, (kind, name, [(key, APPEND, VALUE_OF[kind])]), validate=True)
    alter(b, 1, (kind, name, [(key, SUBTRACT, VALUE_OF[kind])]), validate=True)


@case("alter-configs/kind/bad-value", each=KINDS)
def kind_bad_value(b, kind):
    name, key = resource_of(b, kind), KEY_OF[kind]
    for value in ("soon", "", " "):
        alter(b, 1, (kind, name, [(key, SET, value)]), validate=True)


@case("alter-configs/kind/empty-name", each=KINDS)
def kind_empty_name(b, kind):
    alter(b, 1, (kind, "", [(KEY_OF[kind], SET, VALUE_OF[kind])]), validate=True)


@case("alter-configs/kind/nothing", each=KINDS)
def kind_nothing(b, kind):
    alter(b, 1, (kind, resource_of(b, kind), []))


@case("alter-configs/kind/strange-name", each=KINDS)
def kind_strange_name(b, kind):
    for name in ("a/b", "..", "x" * 250, " 1", "+1", "01", "2"):
        alter(b, 1, (kind, name, [(KEY_OF[kind], SET, VALUE_OF[kind])]), validate=True)


BROKER_VALUES = {
    "retention-below": ("log.retention.ms", "-2"),
    "retention-spaces": ("log.retention.ms", " 7 "),
    "message-negative": ("message.max.bytes", "-1"),
    "segment-small": ("log.segment.bytes", "13"),
    "policy": ("log.cleanup.policy", "shred"),
    "policy-empty": ("log.cleanup.policy", ""),
    "codec": ("compression.type", "brotli"),
    "threads-zero": ("log.cleaner.threads", "0"),
    "threads-three-times": ("log.cleaner.threads", "3"),
    "threads-two": ("log.cleaner.threads", "2"),
    "io-threads": ("num.io.threads", "100"),
    "network-threads": ("num.network.threads", "100"),
    "background-threads": ("background.threads", "1"),
    "recovery-threads": ("num.recovery.threads.per.data.dir", "5"),
    "replica-fetchers": ("num.replica.fetchers", "2"),
    "dedupe-small": ("log.cleaner.dedupe.buffer.size", "100"),
    "dedupe": ("log.cleaner.dedupe.buffer.size", "13421772"),
    "load-factor": ("log.cleaner.io.buffer.load.factor", "0.5"),
    "load-factor-large": ("log.cleaner.io.buffer.load.factor", "2"),
    "io-rate": ("log.cleaner.io.max.bytes.per.second", "100"),
    "io-rate-negative": ("log.cleaner.io.max.bytes.per.second", "-1"),
    "backoff": ("log.cleaner.backoff.ms", "-1"),
    "ratio": ("log.cleaner.min.cleanable.ratio", "1.5"),
    "lags": ("log.cleaner.min.compaction.lag.ms", "9223372036854775807"),
    "connections": ("max.connections", "-1"),
    "connections-zero": ("max.connections", "0"),
    "per-ip-zero": ("max.connections.per.ip", "0"),
    "per-ip-negative": ("max.connections.per.ip", "-1"),
    "per-ip-overrides": ("max.connections.per.ip.overrides", "127.0.0.1:100"),
    "per-ip-overrides-bad": ("max.connections.per.ip.overrides", "x"),
    "per-ip-overrides-unknown": ("max.connections.per.ip.overrides", "no.such.host.invalid:5"),
    "creation-rate": ("max.connection.creation.rate", "0"),
    "creation-rate-good": ("max.connection.creation.rate", "100"),
    "min-insync": ("min.insync.replicas", "0"),
    "min-insync-two": ("min.insync.replicas", "2"),
    "unclean": ("unclean.leader.election.enable", "maybe"),
    "unclean-good": ("unclean.leader.election.enable", "true"),
    "minutes": ("log.retention.minutes", "5"),
    "hours": ("log.retention.hours", "5"),
    "roll-hours": ("log.roll.hours", "5"),
    "roll": ("log.roll.ms", "0"),
    "check-interval": ("log.retention.check.interval.ms", "5"),
    "cleaner-enable": ("log.cleaner.enable", "true"),
    "producer-expiry": ("producer.id.expiration.ms", "0"),
    "producer-expiry-good": ("producer.id.expiration.ms", "1000"),
    "verification": ("transaction.partition.verification.enable", "false"),
    "client-auth": ("ssl.client.auth", "none"),
    "ciphers": ("ssl.cipher.suites", ""),
    "keystore": ("ssl.keystore.type", "JKS"),
    "listener-keystore": ("listener.name.plaintext.ssl.keystore.type", "JKS"),
    "listener-connections": ("listener.name.plaintext.max.connections", "1000"),
    "listener-read-only": ("listener.name.plaintext.log.dirs", "x"),
    "listener-unknown": ("listener.name.plaintext.no.such.config", "x"),
    "cordoned": ("cordoned.log.dirs", ""),
    "cordoned-unknown": ("cordoned.log.dirs", "/no/such/folder"),
    "cordoned-all": ("cordoned.log.dirs", "*"),
    "reporters": ("metric.reporters", ""),
    "reporters-unknown": ("metric.reporters", "no.such.Class"),
    "providers": ("config.providers", ""),
    "index-size": ("log.index.size.max.bytes", "3"),
    "preallocate": ("log.preallocate", "true"),
    "flush-messages": ("log.flush.interval.messages", "0"),
    "flush-ms": ("log.flush.interval.ms", "-5"),
    "timestamp-type": ("log.message.timestamp.type", "Never"),
    "before": ("log.message.timestamp.before.max.ms", "-1"),
    "after": ("log.message.timestamp.after.max.ms", "-1"),
    "group-consumer-interval": ("group.consumer.assignment.interval.ms", "5"),
    "group-share-interval": ("group.share.assignment.interval.ms", "5"),
    "group-session": ("group.max.session.timeout.ms", "5"),
    "group-consumer-session": ("group.consumer.session.timeout.ms", "50000"),
    "throttled": ("leader.replication.throttled.rate", "5"),
    "throttled-negative": ("leader.replication.throttled.rate", "-5"),
    "jaas": ("sasl.jaas.config", "x"),
    "mechanisms": ("sasl.enabled.mechanisms", "PLAIN"),
    "principal-builder": ("principal.builder.class", "x"),
    "super-users": ("super.users", "User:x"),
    "authorizer": ("authorizer.class.name", "x"),
    "roles": ("process.roles", "broker"),
    "inter-broker": ("inter.broker.listener.name", "X"),
    "advertised": ("advertised.listeners", "PLAINTEXT://x:1"),
    "protocol-map": ("listener.security.protocol.map", "PLAINTEXT:SASL_PLAINTEXT"),
    "connections-idle": ("connections.max.idle.ms", "5"),
    "fetch-max": ("fetch.max.bytes", "5"),
    "request-max": ("socket.request.max.bytes", "5"),
    "auto-create": ("auto.create.topics.enable", "true"),
    "topic-key": ("retention.ms", "5"),
    "password-type": ("password.encoder.secret", "x"),
    "remote-fetch-wait": ("remote.fetch.max.wait.ms", "5"),
    "remote-cache": ("remote.log.index.file.cache.total.size.bytes", "5"),
}


@case("alter-configs/broker-value", each=BROKER_VALUES)
def broker_value(b, pair):
    """Which keys may change, for one broker and for all, and to what."""
    alter(b, 1, (BROKER, "1", [(pair[0], SET, pair[1])]), validate=True)
    alter(b, 1, (BROKER, "", [(pair[0], SET, pair[1])]), validate=True)
    alter(b, 1, (BROKER, "1", [(pair[0], DELETE, None)]), validate=True)
    alter(b, 1, (BROKER, "", [(pair[0], DELETE, None)]), validate=True)


METRICS_VALUES = {
    "interval-small": ("interval.ms", "99"),
    "interval-least": ("interval.ms", "100"),
    "interval-most": ("interval.ms", "3600000"),
    "interval-large": ("interval.ms", "3600001"),
    "interval-beyond-int": ("interval.ms", "99999999999"),
    "interval-spaces": ("interval.ms", " 1000 "),
    "metrics-empty": ("metrics", ""),
    "metrics-star": ("metrics", "*"),
    "metrics-several": ("metrics", "a.b,c.d"),
    "metrics-same-twice": ("metrics", "a.b,a.b"),
    "metrics-empty-entry": ("metrics", "a.b,,c"),
    "match-empty": ("match", ""),
    "match-one": ("match", "client_id=.*"),
    "match-several": ("match", "client_id=x,client_software_name=apache-kafka-java"),
    "match-spaces": ("match", " client_id = x , client_source_port = 1"),
    "match-same-twice": ("match", "client_id=x,client_id=y"),
    "match-no-equals": ("match", "client_id"),
    "match-two-equals": ("match", "client_id=a=b"),
    "match-no-pattern": ("match", "client_id="),
    "match-no-name": ("match", "=x"),
    "match-bad-pattern": ("match", "client_id=(("),
    "match-unknown": ("match", "client_color=red"),
    "match-capital": ("match", "CLIENT_ID=red"),
    "match-comma-in-pattern": ("match", "client_id=a{1,2}"),
    "match-lookahead": ("match", "client_id=(?=a).*"),
}


@case("alter-configs/client-metrics-value", each=METRICS_VALUES)
def metrics_value(b, pair):
    name = b.topic_name("metrics")
    answer = alter(b, 1, (CLIENT_METRICS, name, [(pair[0], SET, pair[1])]))
    if answer["responses"][0]["errorCode"] == 0:
        b.until("stored", lambda: now(b, name, pair[0], kind=CLIENT_METRICS)[pair[0]][1] == 7)
        describe(b, 4, (CLIENT_METRICS, name, None), includeSynonyms=True)
    alter(b, 1, (CLIENT_METRICS, name, [(pair[0], DELETE, None)]))


@case("alter-configs/client-metrics-lists")
def metrics_lists(b):
    """Kafka's controller knows no lists of subscriptions."""
    name = b.topic_name("metrics")
    alter(b, 1, (CLIENT_METRICS, name, [("metrics", APPEND, "a,b")]))
    alter(b, 1, (CLIENT_METRICS, name, [("match", SUBTRACT, "client_id=x")]))
    alter(b, 1, (CLIENT_METRICS, name, [("metrics", SET, "a"), ("match", APPEND, "client_id=x")]), validate=True)


GROUP_VALUES = {
    "session": ("consumer.session.timeout.ms", "46000"),
    "session-low": ("consumer.session.timeout.ms", "44999"),
    "session-high": ("consumer.session.timeout.ms", "60001"),
    "session-word": ("consumer.session.timeout.ms", "x"),
    "heartbeat": ("consumer.heartbeat.interval.ms", "6000"),
    "heartbeat-low": ("consumer.heartbeat.interval.ms", "4999"),
    "heartbeat-high": ("consumer.heartbeat.interval.ms", "15001"),
    "interval": ("consumer.assignment.interval.ms", "2000"),
    "interval-high": ("consumer.assignment.interval.ms", "999999"),
    "offload": ("consumer.assignor.offload.enable", "false"),
    "share-session": ("share.session.timeout.ms", "50000"),
    "share-session-low": ("share.session.timeout.ms", "1000"),
    "share-heartbeat": ("share.heartbeat.interval.ms", "6000"),
    "share-lock": ("share.record.lock.duration.ms", "20000"),
    "share-lock-low": ("share.record.lock.duration.ms", "10"),
    "share-reset": ("share.auto.offset.reset", "earliest"),
    "share-reset-duration": ("share.auto.offset.reset", "by_duration:PT1H"),
    "share-reset-bad": ("share.auto.offset.reset", "by_duration:1h"),
    "share-isolation": ("share.isolation.level", "read_committed"),
    "share-isolation-bad": ("share.isolation.level", "x"),
    "share-isolation-capital": ("share.isolation.level", "READ_COMMITTED"),
    "share-limit": ("share.delivery.count.limit", "3"),
    "share-limit-high": ("share.delivery.count.limit", "999"),
    "share-locks": ("share.partition.max.record.locks", "500"),
    "share-renew": ("share.renew.acknowledge.enable", "false"),
    "dlq-topic": ("errors.deadletterqueue.topic.name", "dlq.x"),
    "streams-session": ("streams.session.timeout.ms", "50000"),
    "streams-standby": ("streams.num.standby.replicas", "1"),
    "streams-standby-high": ("streams.num.standby.replicas", "99"),
    "streams-warmup": ("streams.num.warmup.replicas", "1"),
    "streams-rebalance": ("streams.initial.rebalance.delay.ms", "5"),
    "streams-assignor": ("streams.assignor.name", "sticky"),
    "streams-assignor-bad": ("streams.assignor.name", "x"),
    "broker-key": ("group.consumer.session.timeout.ms", "50000"),
}


@case("alter-configs/group-value", each=GROUP_VALUES)
def group_value(b, pair):
    name = b.topic_name("group")
    answer = alter(b, 1, (GROUP, name, [(pair[0], SET, pair[1])]))
    if answer["responses"][0]["errorCode"] == 0:
        b.until("stored", lambda: now(b, name, pair[0], kind=GROUP)[pair[0]][1] == 8)
        describe(b, 4, (GROUP, name, [pair[0]]), includeSynonyms=True)
    alter(b, 1, (GROUP, name, [(pair[0], DELETE, None)]))


@case("alter-configs/broker-lists", versions=ALTER, alone=True)
def broker_lists(b, v):
    """Lists of a broker, for one and for all."""
    key = "log.cleanup.policy"
    alter(b, v, (BROKER, "", [(key, APPEND, "compact")]))
    settle(b, "1", {key: "delete,compact"}, kind=BROKER)
    alter(b, v, (BROKER, "1", [(key, SUBTRACT, "delete")]))
    settle(b, "1", {key: ""}, kind=BROKER)
    alter(b, v, (BROKER, "1", [(key, DELETE, None)]))
    alter(b, v, (BROKER, "", [(key, SUBTRACT, "delete,compact")]))
    settle(b, "1", {key: ""}, kind=BROKER)
    alter(b, v, (BROKER, "", [(key, DELETE, None)]))
    settle(b, "1", {key: "delete"}, kind=BROKER)


@case("alter-configs/broker-other", alone=True)
def broker_other(b):
    """A broker's settings that are nobody's, and a mixture of good and bad ones."""
    alter(b, 1, (BROKER, "1", [("no.such.config", SET, "x"), ("log.retention.ms", SET, "9")]))
    settle(b, "1", {"log.retention.ms": "9"}, kind=BROKER)
    describe(b, 4, (BROKER, "1", ["no.such.config", "log.retention.ms", "log.retention.hours"]), includeSynonyms=True)
    alter(b, 1, (BROKER, "1", [("num.partitions", DELETE, None), ("log.retention.ms", DELETE, None)]))
    alter(b, 1, (BROKER, "1", [("no.such.config", DELETE, None), ("log.retention.ms", DELETE, None)]))
    settle(b, "1", {"log.retention.ms": "-1"}, kind=BROKER)
    b.until("gone", lambda: "no.such.config" not in now(b, "1", "no.such.config", kind=BROKER))
    describe(b, 4, (BROKER, "1", ["no.such.config", "log.retention.ms"]), includeSynonyms=True)


# -- loggers -----------------------------------------------------------------------------------------------------------


@case("alter-configs/logger", versions=ALTER, alone=True)
def logger(b, v):
    """The root's level is what every part has that was not given its own."""
    for level in ("DEBUG", "TRACE", "INFO", "ERROR", "FATAL", "WARN"):
        alter(b, v, (LOGGER, "1", [("root", SET, level)]))
        describe(b, 4, (LOGGER, "1", ["root"]), includeSynonyms=True)
    describe(b, 1, (LOGGER, "1", ["root", "no.such.logger"]))


LEVELS = {"lower": "debug", "off": "OFF", "all": "ALL", "word": "LOUD", "empty": "", "number": "1", "spaces": " INFO "}


@case("alter-configs/logger-level", each=LEVELS)
def logger_level(b, level):
    alter(b, 1, (LOGGER, "1", [("root", SET, level)]), validate=True)


@case("alter-configs/logger-wrong", each={"set": SET, "delete": DELETE, "append": APPEND, "subtract": SUBTRACT})
def logger_wrong(b, operation):
    alter(b, 1, (LOGGER, "1", [("no.such.logger", operation, "INFO")]))
    alter(b, 1, (LOGGER, "1", [("no.such.logger", operation, "LOUD")]))


@case("alter-configs/logger-root", each={"delete": DELETE, "append": APPEND, "subtract": SUBTRACT})
def logger_root(b, operation):
    alter(b, 1, (LOGGER, "1", [("root", operation, "INFO")]))
    alter(b, 1, (LOGGER, "1", [("root", operation, None)]))


# -- replacing ---------------------------------------------------------------------------------------------------------

REPLACE = range(3)

# Kafka's eligible leader replicas insist on this setting of all brokers.
KEPT = [("min.insync.replicas", "1")]


def replace(b, v, *resources, validate=False):
    """AlterConfigs; `resources` are (type, name, [(key, value), ...])."""
    fields = {
        "resources": [
            {"resourceType": t, "resourceName": n, "configs": [{"name": k, "value": value} for k, value in configs]}
            for t, n, configs in resources
        ],
        "validateOnly": validate,
    }
    return b.call("AlterConfigs", v, fields)


@case("replace-configs/topic", versions=REPLACE)
def replace_topic(b, v):
    """What is not named goes back to its default."""
    name = b.topic(cleanup_policy="compact")
    replace(b, v, (TOPIC, name, [("retention.ms", "5000"), ("segment.ms", "6000")]))
    settle(b, name, {"retention.ms": "5000", "segment.ms": "6000", "cleanup.policy": "delete"})
    replace(b, v, (TOPIC, name, [("segment.ms", "7000")]))
    settle(b, name, {"segment.ms": "7000", "retention.ms": "-1"})
    replace(b, v, (TOPIC, name, []))
    settle(b, name, {"segment.ms": "604800000"})


@case("replace-configs/group", versions=REPLACE)
def replace_group(b, v):
    name = b.topic_name("group")
    replace(b, v, (GROUP, name, [("consumer.session.timeout.ms", "50000"), ("consumer.heartbeat.interval.ms", "6000")]))
    settle(b, name, {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}, kind=GROUP)
    replace(b, v, (GROUP, name, [("consumer.heartbeat.interval.ms", "7000")]))
    settle(b, name, {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "7000"}, kind=GROUP)
    replace(b, v, (GROUP, name, []))
    settle(b, name, {"consumer.heartbeat.interval.ms": "5000"}, kind=GROUP)


@case("replace-configs/client-metrics", versions=REPLACE)
def replace_metrics(b, v):
    name = b.topic_name("metrics")
    replace(b, v, (CLIENT_METRICS, name, [("interval.ms", "5000"), ("metrics", "a,b")]))
    settle(b, name, {"interval.ms": "5000", "metrics": "a,b"}, kind=CLIENT_METRICS)
    replace(b, v, (CLIENT_METRICS, name, [("metrics", "c")]))
    settle(b, name, {"interval.ms": "300000", "metrics": "c"}, kind=CLIENT_METRICS)
    replace(b, v, (CLIENT_METRICS, name, []))
    settle(b, name, {"metrics": ""}, kind=CLIENT_METRICS)


@case("replace-configs/broker", versions=REPLACE, alone=True)
def replace_broker(b, v):
    for name, more in (("1", []), ("", KEPT)):
        replace(b, v, (BROKER, name, [("log.cleaner.delete.retention.ms", "9"), ("log.roll.ms", "8000"), *more]))
        settle(b, "1", {"log.cleaner.delete.retention.ms": "9", "log.roll.ms": "8000"}, kind=BROKER)
        replace(b, v, (BROKER, name, [("log.roll.ms", "9000"), *more]))
        settle(b, "1", {"log.cleaner.delete.retention.ms": "86400000", "log.roll.ms": "9000"}, kind=BROKER)
        replace(b, v, (BROKER, name, [("log.roll.ms", "9000"), ("num.partitions", "9"), *more]))
        replace(b, v, (BROKER, name, [("log.roll.ms", "soon"), *more]))
        replace(b, v, (BROKER, name, more), validate=True)
        b.note("kept", now(b, "1", "log.roll.ms", kind=BROKER))
        replace(b, v, (BROKER, name, more))
        settle(b, "1", {"log.roll.ms": None}, kind=BROKER)


@case("replace-configs/null-value", versions=REPLACE, each=KINDS)
def replace_null(b, v, kind):
    name = resource_of(b, kind)
    replace(b, v, (kind, name, [(KEY_OF[kind], None)]), validate=True)
    replace(b, v, (kind, name, [(KEY_OF[kind], VALUE_OF[kind]), ("no.such.config", None)]), validate=True)


@case("replace-configs/same-key-twice", versions=REPLACE, each=KINDS)
def replace_same_key(b, v, kind):
    name, key = resource_of(b, kind), KEY_OF[kind]
    replace(b, v, (kind, name, [(key, VALUE_OF[kind]), (key, VALUE_OF[kind])]), validate=True)
    replace(b, v, (kind, name, [(key, None), (key, VALUE_OF[kind])]), validate=True)


@case("replace-configs/same-resource-twice", versions=REPLACE)
def replace_same_resource(b, v):
    name, other = b.topic("a"), b.topic("b")
    replace(
        b,
        v,
        (TOPIC, name, [("retention.ms", "1")]),
        (TOPIC, name, [("segment.ms", "2")]),
        (TOPIC, other, [("segment.ms", "3")]),
    )
    settle(b, other, {"segment.ms": "3"})
    b.note("configs", now(b, name, "retention.ms", "segment.ms"))


@case("replace-configs/several", versions=REPLACE)
def replace_several(b, v):
    """One bad resource spoils no other; the answers come as the requests do."""
    one, other = b.topic("a"), b.topic("b", retention_ms=7)
    replace(
        b,
        v,
        (TOPIC, one, [("retention.ms", "5")]),
        (TOPIC, other, [("segment.ms", "x")]),
        (3, "x", []),
        (BROKER, "2", []),
        (TOPIC, b.topic_name("missing"), []),
    )
    settle(b, one, {"retention.ms": "5"})
    b.note("kept", now(b, other, "retention.ms"))


@case("replace-configs/none", versions=REPLACE)
def replace_none(b, v):
    replace(b, v)
    replace(b, v, validate=True)


@case("replace-configs/unknown-topic", versions=REPLACE)
def replace_unknown_topic(b, v):
    replace(b, v, (TOPIC, b.topic_name("missing"), [("retention.ms", "1")]))
    replace(b, v, (TOPIC, b.topic_name("missing"), []))
    replace(b, v, (TOPIC, b.topic_name("missing"), [("retention.ms", "x")]), validate=True)


@case("replace-configs/name", versions=[0, 2], each=KINDS)
def replace_name(b, v, kind):
    for name in ("", "a/b", "..", "x" * 250, "2", " 1", "one"):
        more = KEPT if kind == BROKER and not name else []
        replace(b, v, (kind, name, [(KEY_OF[kind], VALUE_OF[kind]), *more]), validate=True)


@case("replace-configs/bad-value", versions=[0, 2], each=VALUES)
def replace_bad_value(b, v, pair):
    name = b.topic(segment_ms=8000)
    replace(b, v, (TOPIC, name, [pair]), validate=True)
    replace(b, v, (TOPIC, name, [pair]))


@case("replace-configs/kind-unknown-key", versions=[0, 2], each=KINDS)
def replace_unknown_key(b, v, kind):
    name = resource_of(b, kind)
    replace(b, v, (kind, name, [("no.such.config", "1")]), validate=True)
    replace(b, v, (kind, name, [("", "1")]), validate=True)
    replace(b, v, (kind, name, [(KEY_OF[kind], "soon")]), validate=True)


@case("replace-configs/validate-only", versions=REPLACE)
def replace_validate(b, v):
    name = b.topic(retention_ms=7)
    replace(b, v, (TOPIC, name, [("segment.ms", "5000")]), validate=True)
    b.note("configs", now(b, name, "retention.ms", "segment.ms"))


@case("replace-configs/type", versions=[0, 2], each={"0": 0, "1": 1, "3": 3, "8": 8, "-1": -1, "64": 64})
def replace_type(b, v, kind):
    replace(b, v, (kind, "x", [("retention.ms", "5")]))
    replace(b, v, (kind, "1", []))
    b.alive()


@case("replace-configs/broker-value", each={k: BROKER_VALUES[k] for k in list(BROKER_VALUES)[::4]})
def replace_broker_value(b, pair):
    replace(b, 2, (BROKER, "1", [pair]), validate=True)
    replace(b, 2, (BROKER, "", [pair, *KEPT]), validate=True)


# -- which resources there are -----------------------------------------------------------------------------------------


def resources(b, v, *kinds):
    """Those of this case, and brokers."""
    mine = lambda r: r["resourceName"] in ("", "1") or r["resourceName"].startswith(b.prefix)
    keep = lambda answer: dict(answer, configResources=[r for r in answer["configResources"] if mine(r)])
    fields = {"resourceTypes": list(kinds)} if v >= 1 else {}
    return b.call("ListConfigResources", v, fields, keep=keep)


def some_resources(b):
    """A resource of each kind with settings of its own, and a topic and a group without."""
    b.topic("a")
    b.topic("b", retention_ms=7)
    group, metrics = b.topic_name("g"), b.topic_name("m")
    alter(b, 1, (GROUP, group, [("consumer.session.timeout.ms", SET, "50000")]))
    alter(b, 1, (CLIENT_METRICS, metrics, [("interval.ms", SET, "5000")]))
    listed = lambda: [
        r["resourceName"]
        for r in b.ask("ListConfigResources", 1, {"resourceTypes": [GROUP, CLIENT_METRICS]})["configResources"]
    ]
    b.until("both", lambda: {group, metrics} <= set(listed()))
    return group, metrics


@case("list-config-resources/v0")
def list_v0(b):
    _, metrics = some_resources(b)
    resources(b, 0)
    alter(b, 1, (CLIENT_METRICS, metrics, [("interval.ms", DELETE, None)]))
    b.until("gone", lambda: metrics not in str(b.ask("ListConfigResources", 0, {})))
    resources(b, 0)


@case("list-config-resources/all")
def list_all(b):
    some_resources(b)
    resources(b, 1)


@case("list-config-resources/kind", each={**KINDS, "unknown": 0, "3": 3, "64": 64, "-1": -1, "127": 127})
def list_kind(b, kind):
    some_resources(b)
    resources(b, 1, kind)
    b.alive()


@case("list-config-resources/several")
def list_several(b):
    some_resources(b)
    resources(b, 1, TOPIC, GROUP)
    resources(b, 1, GROUP, GROUP)
    resources(b, 1, CLIENT_METRICS, 3)


@case("list-config-resources/after-delete")
def list_after_delete(b):
    group, metrics = some_resources(b)
    alter(b, 1, (GROUP, group, [("consumer.session.timeout.ms", DELETE, None)]))
    replace(b, 2, (CLIENT_METRICS, metrics, []))
    kinds = {"resourceTypes": [GROUP, CLIENT_METRICS]}
    b.until("gone", lambda: b.prefix not in str(b.ask("ListConfigResources", 1, kinds)["configResources"]))
    resources(b, 1)
