"""Metadata in all versions."""

from harness import case
from wire import ZERO_UUID, uuid_to_text

ALL = range(14)
ILLEGAL = {
    "empty": "",
    "dot": ".",
    "dots": "..",
    "slash": "a/b",
    "space": "a b",
    "colon": "a:b",
    "umlaut": "\u00e9",
    "newline": "a\nb",
    "250": "x" * 250,
}
# Nearly illegal.
LEGAL = {"249": "x" * 249, "internal": "__consumer_offsets_not"}


def names(*topics):
    return [{"name": t} for t in topics]


@case("metadata/one-topic", versions=ALL)
def one_topic(b, v):
    b.call("Metadata", v, {"topics": names(b.topic(partitions=3))})


@case("metadata/all-topics", versions=ALL)
def all_topics(b, v):
    """Null means all from version 1 on; version 0 has no null and takes an empty list for all."""
    b.topic("a", 2)
    b.topic("b", 1)
    b.call("Metadata", v, {"topics": [] if v == 0 else None}, keep=b.mine)


@case("metadata/no-topics", versions=range(1, 14))
def no_topics(b, v):
    b.topic()
    b.call("Metadata", v, {"topics": []})


@case("metadata/null-topics-v0")
def null_topics_v0(b):
    b.call(
        "Metadata", 0, {"topics": []}, body=lambda body: b"\xff\xff\xff\xff", keep=lambda a: {"brokers": a["brokers"]}
    )


@case("metadata/unknown-without-auto-create", versions=range(4, 14))
def unknown(b, v):
    known = b.topic()
    b.call("Metadata", v, {"topics": names(b.topic_name("missing"), known), "allowAutoTopicCreation": False})
    b.note("still missing", b.describe(b.topic_name("missing"))["errorCode"])


@case("metadata/unknown-with-auto-create", versions=ALL)
def auto_create(b, v):
    name = b.topic_name("made")
    b.call("Metadata", v, {"topics": names(name), "allowAutoTopicCreation": True})
    b.ready(name, 4)
    b.call("Metadata", v, {"topics": names(name), "allowAutoTopicCreation": True})


@case("metadata/auto-create-several")
def auto_create_several(b):
    wanted = [b.topic_name("x"), b.topic_name("y"), b.topic_name("not/legal"), b.topic("there")]
    b.call("Metadata", 12, {"topics": names(*wanted), "allowAutoTopicCreation": True})
    for name in wanted[:2]:
        b.ready(name, 4)
    b.call("Metadata", 12, {"topics": names(*wanted), "allowAutoTopicCreation": False})


@case("metadata/auto-create-colliding")
def auto_create_colliding(b):
    """Names that differ only in dot and underscore cannot both be."""
    b.topic("a.b")
    b.call("Metadata", 12, {"topics": names(b.topic_name("a_b")), "allowAutoTopicCreation": True})
    b.note("made", b.describe(b.topic_name("a_b"))["errorCode"])


@case("metadata/illegal-name", versions=[0, 4, 9, 12, 13], each=ILLEGAL)
def illegal(b, v, name):
    b.call(
        "Metadata", v, {"topics": names(name), "allowAutoTopicCreation": False}, keep=lambda a: {"topics": a["topics"]}
    )


# Version 0 would create the topic, under a name that every other case sees.
case("metadata/illegal-name", versions=[4, 9, 12, 13], each=LEGAL)(illegal)


@case("metadata/illegal-name-with-auto-create", each=ILLEGAL)
def illegal_auto(b, name):
    b.call(
        "Metadata", 12, {"topics": names(name), "allowAutoTopicCreation": True}, keep=lambda a: {"topics": a["topics"]}
    )


@case("metadata/same-name-twice", versions=[1, 9, 12])
def same_name_twice(b, v):
    name = b.topic()
    b.call("Metadata", v, {"topics": names(name, name)})


@case("metadata/same-unknown-twice")
def same_unknown_twice(b):
    name = b.topic_name("missing")
    b.call("Metadata", 12, {"topics": names(name, name), "allowAutoTopicCreation": False})


@case("metadata/by-id", versions=range(10, 14))
def by_id(b, v):
    """Version 10 and 11 have the field, and 12 is the first where it may stand alone."""
    name = b.topic(partitions=2)
    b.call("Metadata", v, {"topics": [{"name": None, "topicId": b.id_of(name)}]})
    b.alive()


@case("metadata/by-id-and-name", versions=range(10, 14))
def by_id_and_name(b, v):
    name, other = b.topic("a"), b.topic("b")
    b.call("Metadata", v, {"topics": [{"name": name, "topicId": b.id_of(name)}]})
    b.alive()
    b.call("Metadata", v, {"topics": [{"name": name, "topicId": b.id_of(other)}]})
    b.alive()


@case("metadata/unknown-id", versions=[12, 13])
def unknown_id(b, v):
    known = b.topic()
    wanted = [{"name": None, "topicId": uuid_to_text(bytes(range(1, 17)))}, {"name": None, "topicId": b.id_of(known)}]
    b.call("Metadata", v, {"topics": wanted})


@case("metadata/null-name-zero-id", versions=range(10, 14))
def null_name_zero_id(b, v):
    b.call("Metadata", v, {"topics": [{"name": None, "topicId": ZERO_UUID}]})
    b.alive()


@case("metadata/reserved-ids", versions=[12])
def reserved_ids(b, v):
    for last in (1, 2, 100):
        wanted = [{"name": None, "topicId": uuid_to_text(bytes(15) + bytes([last]))}]
        b.call("Metadata", v, {"topics": wanted}, keep=lambda a: {"topics": a["topics"]})


@case("metadata/ids-mixed-with-names", versions=[12, 13])
def ids_mixed(b, v):
    one, other = b.topic("a"), b.topic("b")
    b.call("Metadata", v, {"topics": [{"name": None, "topicId": b.id_of(one)}, {"name": other}]})


@case("metadata/operations", versions=range(8, 14))
def operations(b, v):
    name = b.topic()
    wanted = names(name, b.topic_name("missing"))
    for cluster in (False, True):
        for topic in (False, True):
            fields = {"includeClusterAuthorizedOperations": cluster, "includeTopicAuthorizedOperations": topic}
            b.call("Metadata", v, dict(fields, topics=wanted, allowAutoTopicCreation=False))


@case("metadata/deleted", versions=[1, 7, 12])
def deleted(b, v):
    name = b.topic()
    topic_id = b.id_of(name)
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    b.call("Metadata", v, {"topics": names(name), "allowAutoTopicCreation": False})
    if v >= 12:
        b.call("Metadata", v, {"topics": [{"name": None, "topicId": topic_id}]})


@case("metadata/made-again")
def made_again(b):
    """A new topic of an old name has another id and starts over."""
    name = b.topic()
    first = b.id_of(name)
    b.fill(name)
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    b.topic()
    b.note("another id", first != b.learn(name))
    b.call("Metadata", 12, {"topics": names(name)})
    b.call("Metadata", 12, {"topics": [{"name": None, "topicId": first}]})
    b.note("end offset", b.end_offset(name))


@case("metadata/internal-topic-flag")
def internal_flag(b):
    """The coordinators' topics are internal; whether they exist yet depends on who asked, so only the flag is kept."""
    b.call(
        "Metadata",
        12,
        {"topics": names("__consumer_offsets"), "allowAutoTopicCreation": False},
        keep=lambda a: {"internal": [t["isInternal"] for t in a["topics"]]},
    )


@case("metadata/hundred-names")
def hundred(b):
    known = b.topic()
    wanted = names(*[b.topic_name(f"missing-{i}") for i in range(100)], known)
    b.call("Metadata", 12, {"topics": wanted, "allowAutoTopicCreation": False})


@case("metadata/bool-other-than-one", versions=[4, 8, 9])
def bool_two(b, v):
    """Any byte but zero is true."""
    name = b.topic_name("made")
    at = {4: 1, 8: 3, 9: 4}[v]
    b.call(
        "Metadata",
        v,
        {"topics": names(name), "allowAutoTopicCreation": True},
        body=lambda body: body[:-at] + b"\x02" + body[len(body) - at + 1 :],
    )
    b.ready(name, 4)
