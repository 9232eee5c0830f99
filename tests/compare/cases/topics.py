"""CreateTopics, DeleteTopics and CreatePartitions."""

from harness import case
from wire import ZERO_UUID, uuid_to_text

CREATE = range(2, 8)
DELETE = range(1, 7)
GROW = range(4)


def topic(name, partitions=1, replicas=1, assignments=(), configs=()):
    return {
        "name": name,
        "numPartitions": partitions,
        "replicationFactor": replicas,
        "assignments": [{"partitionIndex": i, "brokerIds": list(ids)} for i, ids in assignments],
        "configs": [{"name": n, "value": value} for n, value in configs],
    }


def brief(answer):
    """Without the list of all configs, which has a case of its own."""
    short = [dict(t, configs=None if t.get("configs") is None else bool(t["configs"])) for t in answer["topics"]]
    return dict(
        answer, topics=[t if "numPartitions" in t else {k: v for k, v in t.items() if k != "configs"} for t in short]
    )


def create(b, v, *topics, keep=brief, **more):
    answer = b.call("CreateTopics", v, dict({"topics": list(topics), "timeoutMs": 30000}, **more), keep=keep)
    if answer and not more.get("validateOnly"):
        for made in answer["topics"]:
            if made["errorCode"] == 0:
                b.until(f"{made['name']} made", lambda made=made: b.learn(made["name"]))
    return answer


def after(b, name):
    """What came of it, as Metadata has it."""
    found = b.describe(name)
    b.note("there", {"errorCode": found["errorCode"], "partitions": len(found["partitions"])})


@case("create-topics/plain", versions=CREATE)
def plain(b, v):
    name = b.topic_name()
    create(b, v, topic(name, 3))
    b.ready(name, 3)
    b.call("Metadata", 12, {"topics": [{"name": name}]})


@case("create-topics/configs-in-answer", versions=range(5, 8))
def configs_in_answer(b, v):
    name = b.topic_name()
    create(b, v, topic(name, 1, configs=[("retention.ms", "1000"), ("cleanup.policy", "compact")]), keep=lambda a: a)


@case("create-topics/exists", versions=CREATE)
def exists(b, v):
    create(b, v, topic(b.topic()))


@case("create-topics/validate-only", versions=CREATE)
def validate_only(b, v):
    name = b.topic_name()
    create(b, v, topic(name, 2), validateOnly=True)
    after(b, name)
    create(b, v, topic(b.topic("old")), validateOnly=True)


@case("create-topics/defaults", versions=CREATE)
def defaults(b, v):
    """-1 for both takes the broker's defaults, from version 4 on."""
    create(b, v, topic(b.topic_name("a"), -1, -1))
    create(b, v, topic(b.topic_name("b"), -1, 1))
    create(b, v, topic(b.topic_name("c"), 2, -1))


@case("create-topics/partitions", versions=[2, 5, 7], each={"0": 0, "-2": -2, "-100": -100})
def bad_partitions(b, v, count):
    create(b, v, topic(b.topic_name(), count))


@case("create-topics/too-many-partitions", each={"100001": 100001, "2147483647": 2147483647})
def too_many(b, count):
    create(b, 7, topic(b.topic_name(), count), validateOnly=True)


@case("create-topics/replicas", versions=[2, 5, 7], each={"0": 0, "-2": -2, "2": 2, "3": 3, "32767": 32767})
def bad_replicas(b, v, count):
    create(b, v, topic(b.topic_name(), 1, count))
    create(b, v, topic(b.topic_name("checked"), 1, count), validateOnly=True)


ILLEGAL = {
    "empty": "",
    "dot": ".",
    "dots": "..",
    "slash": "a/b",
    "space": "a b",
    "umlaut": "\u00e9",
    "nul": "a\0",
    "star": "*",
    "250": "x" * 250,
}


@case("create-topics/illegal-name", versions=[2, 7], each=ILLEGAL)
def illegal(b, v, name):
    create(b, v, topic(name), validateOnly=True)


@case("create-topics/three-dots")
def three_dots(b):
    create(b, 7, topic("..."), validateOnly=True)


@case("create-topics/longest-name")
def longest(b):
    create(b, 7, topic(b.topic_name("").ljust(249, "x")), validateOnly=True)


@case(
    "create-topics/reserved-name",
    each={
        "offsets": "__consumer_offsets",
        "metadata": "__cluster_metadata",
        "transactions": "__transaction_state",
        "shares": "__share_group_state",
        "other": "__mine",
    },
)
def reserved(b, name):
    """Only asked, not made: the coordinators' topics belong to the broker."""
    create(b, 7, topic(name), validateOnly=True)


@case(
    "create-topics/colliding-name",
    each={"dot-first": ("a.b", "a_b"), "underscore-first": ("a_b", "a.b"), "mixed": ("a.b_c", "a_b.c")},
)
def colliding(b, pair):
    b.topic(pair[0])
    create(b, 7, topic(b.topic_name(pair[1])))
    create(b, 7, topic(b.topic_name(pair[1])), validateOnly=True)


@case("create-topics/colliding-in-request")
def colliding_in_request(b):
    create(b, 7, topic(b.topic_name("a.b")), topic(b.topic_name("a_b")))


@case("create-topics/same-name-twice", versions=CREATE)
def same_twice(b, v):
    name = b.topic_name()
    create(b, v, topic(name, 1), topic(name, 2), topic(b.topic_name("other")))
    after(b, name)


@case("create-topics/none", versions=[2, 7])
def none(b, v):
    create(b, v)


@case("create-topics/good-and-bad")
def good_and_bad(b):
    create(
        b,
        7,
        topic(b.topic_name("z"), 2),
        topic("not/legal"),
        topic(b.topic_name("y"), 1, 5),
        topic(b.topic_name("a")),
        topic(b.topic_name("c"), configs=[("no.such.config", "1")]),
    )
    for suffix in ("z", "y", "a", "c"):
        after(b, b.topic_name(suffix))


ASSIGNMENTS = {
    "one": (-1, -1, [(0, [1])]),
    "three": (-1, -1, [(0, [1]), (1, [1]), (2, [1])]),
    "unordered": (-1, -1, [(2, [1]), (0, [1]), (1, [1])]),
    "gap": (-1, -1, [(0, [1]), (2, [1])]),
    "not-from-zero": (-1, -1, [(1, [1])]),
    "negative": (-1, -1, [(-1, [1])]),
    "same-partition-twice": (-1, -1, [(0, [1]), (0, [1])]),
    "same-broker-twice": (-1, -1, [(0, [1, 1])]),
    "unknown-broker": (-1, -1, [(0, [2])]),
    "negative-broker": (-1, -1, [(0, [-1])]),
    "no-brokers": (-1, -1, [(0, [])]),
    "uneven": (-1, -1, [(0, [1]), (1, [])]),
    "with-partitions": (1, -1, [(0, [1])]),
    "with-replicas": (-1, 1, [(0, [1])]),
    "with-both": (1, 1, [(0, [1])]),
}


@case("create-topics/assignment", versions=[2, 7], each=ASSIGNMENTS)
def assignment(b, v, given):
    partitions, replicas, assignments = given
    name = b.topic_name()
    create(b, v, topic(name, partitions, replicas, assignments))
    after(b, name)


CONFIGS = {
    "good": [("retention.ms", "60000"), ("cleanup.policy", "compact,delete"), ("max.message.bytes", "1000")],
    "unknown": [("no.such.config", "1")],
    "empty-name": [("", "1")],
    "null-value": [("retention.ms", None)],
    "empty-number": [("retention.ms", "")],
    "not-a-number": [("retention.ms", "soon")],
    "below": [("retention.ms", "-2")],
    "above": [("max.message.bytes", "99999999999")],
    "fraction": [("segment.bytes", "1000000.5")],
    "spaces": [("retention.ms", " 60000 ")],
    "small-segment": [("segment.bytes", "10")],
    "policy": [("cleanup.policy", "shred")],
    "policy-empty": [("cleanup.policy", "")],
    "policy-twice": [("cleanup.policy", "delete,delete")],
    "codec": [("compression.type", "brotli")],
    "codec-upper": [("compression.type", "GZIP")],
    "codec-level": [("compression.type", "gzip"), ("compression.gzip.level", "99")],
    "timestamp-type": [("message.timestamp.type", "logappendtime")],
    "bool": [("preallocate", "yes")],
    "bool-upper": [("preallocate", "TRUE")],
    "min-isr": [("min.insync.replicas", "2")],
    "min-isr-zero": [("min.insync.replicas", "0")],
    "ratio": [("min.cleanable.dirty.ratio", "1.5")],
    "lags": [("min.compaction.lag.ms", "100"), ("max.compaction.lag.ms", "10")],
    "same-twice": [("retention.ms", "1"), ("retention.ms", "2")],
    "old-format": [("message.format.version", "2.8")],
    "down-conversion": [("message.downconversion.enable", "true")],
    "difference": [("message.timestamp.difference.max.ms", "5")],
    "before": [("message.timestamp.before.max.ms", "-1")],
    "throttled": [("leader.replication.throttled.replicas", "*")],
    "throttled-bad": [("leader.replication.throttled.replicas", "x:y")],
    "remote": [("remote.storage.enable", "true")],
    "local-retention": [("local.retention.ms", "5")],
    "unclean": [("unclean.leader.election.enable", "true")],
    "broker-name": [("log.retention.ms", "5")],
}


@case("create-topics/config", versions=[5, 7], each=CONFIGS)
def config(b, v, given):
    name = b.topic_name()
    asked = dict(given)
    create(
        b,
        v,
        topic(name, configs=given),
        keep=lambda a: dict(
            a,
            topics=[
                dict(t, configs=t["configs"] and [c for c in t["configs"] if c["name"] in asked]) for t in a["topics"]
            ],
        ),
    )
    after(b, name)


@case("create-topics/config-old-version", versions=[2, 4])
def config_old(b, v):
    create(
        b, v, topic(b.topic_name("a"), configs=[("retention.ms", "5")]), topic(b.topic_name("b"), configs=[("x", "5")])
    )


@case("create-topics/timeout", each={"0": 0, "-1": -1, "1": 1})
def timeout(b, ms):
    """Whether a wait of no time is in time depends on the machine; what must hold is the connection."""
    name = b.topic_name()
    create(b, 7, topic(name), timeoutMs=ms, keep=lambda a: {"answers": len(a["topics"])})
    b.alive()


@case("create-topics/hundred")
def hundred(b):
    create(b, 7, *[topic(b.topic_name(f"n{i:03}")) for i in range(100)], validateOnly=True)


# -- deleting ----------------------------------------------------------------------------------------------------------


def delete(b, v, *topics):
    """Topics are names, or ids as {"topicId": ...}."""
    states = [t if isinstance(t, dict) else {"name": t, "topicId": ZERO_UUID} for t in topics]
    fields = {"topics": states, "topicNames": [t for t in topics if isinstance(t, str)], "timeoutMs": 30000}
    return b.call("DeleteTopics", v, fields)


@case("delete-topics/by-name", versions=DELETE)
def by_name(b, v):
    name = b.topic(partitions=2)
    delete(b, v, name)
    b.gone(name)
    delete(b, v, name)


@case("delete-topics/unknown", versions=DELETE)
def unknown(b, v):
    delete(b, v, b.topic_name("missing"), b.topic())


@case("delete-topics/by-id")
def by_id(b):
    name = b.topic()
    topic_id = b.id_of(name)
    delete(b, 6, {"name": None, "topicId": topic_id})
    b.gone(name)
    delete(b, 6, {"name": None, "topicId": topic_id})


@case("delete-topics/unknown-id")
def unknown_id(b):
    delete(b, 6, {"name": None, "topicId": uuid_to_text(bytes(range(1, 17)))})


@case("delete-topics/neither")
def neither(b):
    delete(b, 6, {"name": None, "topicId": ZERO_UUID})
    b.alive()


@case("delete-topics/id-and-name")
def id_and_name(b):
    name = b.topic()
    delete(b, 6, {"name": name, "topicId": b.id_of(name)})
    after(b, name)


@case("delete-topics/same-twice", versions=[1, 5, 6])
def delete_twice(b, v):
    name, other = b.topic(), b.topic("other")
    answer = delete(b, v, name, name, other)
    for deleted in answer["responses"]:
        if deleted["errorCode"] == 0:
            b.gone(deleted["name"])
    after(b, name)
    after(b, other)


@case("delete-topics/same-by-id-and-name")
def same_by_id_and_name(b):
    name = b.topic()
    delete(b, 6, name, {"name": None, "topicId": b.id_of(name)})
    after(b, name)


@case("delete-topics/none", versions=[1, 6])
def delete_none(b, v):
    delete(b, v)


@case("delete-topics/illegal-names", versions=[1, 6])
def delete_illegal(b, v):
    delete(b, v, "", "a/b", ".", "x" * 300)


@case("delete-topics/several", versions=[3, 6])
def delete_several(b, v):
    names = [b.topic(s) for s in ("c", "a", "b")]
    delete(b, v, names[0], b.topic_name("missing"), names[1], names[2])
    for name in names:
        b.gone(name)


@case("delete-topics/then-create")
def delete_then_create(b):
    name = b.topic()
    delete(b, 6, name)
    create(b, 7, topic(name, 2))
    b.ready(name, 2)
    after(b, name)


# -- growing -----------------------------------------------------------------------------------------------------------


def grow(b, v, *wanted, validate=False):
    """`wanted` are (topic, count, assignments or None)."""
    fields = {
        "topics": [
            {"name": n, "count": c, "assignments": None if a is None else [{"brokerIds": ids} for ids in a]}
            for n, c, a in wanted
        ],
        "timeoutMs": 30000,
        "validateOnly": validate,
    }
    return b.call("CreatePartitions", v, fields)


@case("create-partitions/more", versions=GROW)
def more(b, v):
    name = b.topic(partitions=2)
    grow(b, v, (name, 5, None))
    b.ready(name, 5)
    b.call("Metadata", 12, {"topics": [{"name": name}]})


@case("create-partitions/validate-only", versions=GROW)
def grow_validate(b, v):
    name = b.topic(partitions=2)
    grow(b, v, (name, 3, None), validate=True)
    grow(b, v, (name, 2, None), validate=True)
    after(b, name)


@case("create-partitions/count", versions=[0, 3], each={"equal": 2, "lower": 1, "0": 0, "-1": -1, "-5": -5})
def grow_count(b, v, count):
    name = b.topic(partitions=2)
    grow(b, v, (name, count, None))
    after(b, name)


@case("create-partitions/too-many", each={"100000": 100000, "2147483647": 2147483647})
def grow_too_many(b, count):
    name = b.topic(partitions=2)
    grow(b, 3, (name, count, None), validate=True)


@case("create-partitions/unknown", versions=GROW)
def grow_unknown(b, v):
    name = b.topic()
    grow(b, v, (b.topic_name("missing"), 3, None), (name, 2, None))


@case("create-partitions/illegal-name")
def grow_illegal(b):
    grow(b, 3, ("", 3, None), ("a/b", 3, None))


@case("create-partitions/same-twice", versions=GROW)
def grow_twice(b, v):
    name, other = b.topic(), b.topic("other")
    grow(b, v, (name, 2, None), (name, 3, None), (other, 2, None))
    b.ready(other, 2)
    after(b, name)


@case("create-partitions/none")
def grow_none(b):
    grow(b, 3)


GROWN = {
    "right": [[1], [1]],
    "too-few": [[1]],
    "too-many": [[1], [1], [1]],
    "none": [],
    "unknown-broker": [[1], [2]],
    "empty-replicas": [[1], []],
    "two-replicas": [[1, 2], [1, 2]],
    "same-broker-twice": [[1, 1], [1, 1]],
    "negative-broker": [[-1], [1]],
}


@case("create-partitions/assignment", versions=[1, 3], each=GROWN)
def grow_assignment(b, v, assignments):
    name = b.topic(partitions=1)
    answer = grow(b, v, (name, 3, assignments))
    if answer["results"][0]["errorCode"] == 0:
        b.ready(name, 3)
    after(b, name)


@case("create-partitions/several")
def grow_several(b):
    first, second = b.topic("a"), b.topic("b", 2)
    grow(b, 3, (second, 4, None), (first, 2, None), (b.topic_name("missing"), 1, None))
    b.ready(first, 2)
    b.ready(second, 4)
