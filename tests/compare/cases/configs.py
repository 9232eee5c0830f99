"""DescribeConfigs and IncrementalAlterConfigs."""

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
