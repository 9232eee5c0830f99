"""OffsetCommit, OffsetFetch and OffsetDelete."""

from groups import (
    Member,
    alone,
    commit,
    commit_fields,
    describe,
    fetch,
    fetch_fields,
    preparing,
    set_offsets,
    sorted_topics,
    stable,
    subscription,
)
from harness import case
from wire import ZERO_UUID

COMMITS = range(2, 11)
FETCHES = range(1, 11)
MISSING_ID = "AAAAAAAAAAAAAAAAAAAAAQ"  # no topic has it


def fetch_of(v):
    """A version of OffsetFetch of the same time as one of OffsetCommit."""
    return min(v, 10)


# -- OffsetCommit ------------------------------------------------------------------------------------------------------


@case("offset-commit/plain", versions=COMMITS)
def plain(b, v):
    """Without members: by partition, then over it, then back."""
    one, other = b.topic("a", partitions=2), b.topic("b")
    commit(b, v, b.group(), [(one, {1: 7, 0: 3}), (other, {0: 1})])
    commit(b, v, b.group(), [(one, {0: 5})])
    commit(b, v, b.group(), [(one, {1: 2})])
    fetch(b, fetch_of(v), b.group(), [(one, [0, 1]), (other, [0])])
    describe(b, b.group())


VALUES = {
    "zero": {"committedOffset": 0},
    "largest": {"committedOffset": (1 << 63) - 1},
    "minus-one": {"committedOffset": -1},
    "minus-two": {"committedOffset": -2},
    "smallest": {"committedOffset": -(1 << 63)},
    "beyond-the-end": {"committedOffset": 1000},
    "epoch": {"committedOffset": 4, "committedLeaderEpoch": 3},
    "epoch-minus-two": {"committedOffset": 4, "committedLeaderEpoch": -2},
    "epoch-largest": {"committedOffset": 4, "committedLeaderEpoch": 2147483647},
    "metadata": {"committedOffset": 4, "committedMetadata": "some text"},
    "metadata-null": {"committedOffset": 4, "committedMetadata": None},
    "metadata-umlaut": {"committedOffset": 4, "committedMetadata": "\u00e4\u00f6\u00fc \U0001f600"},
    "metadata-4096": {"committedOffset": 4, "committedMetadata": "x" * 4096},
    "metadata-4097": {"committedOffset": 4, "committedMetadata": "x" * 4097},
    "metadata-4096-umlauts": {"committedOffset": 4, "committedMetadata": "\u00e4" * 4096},
    "metadata-4096-emojis": {"committedOffset": 4, "committedMetadata": "\U0001f600" * 2048},
    "metadata-4098-emojis": {"committedOffset": 4, "committedMetadata": "\U0001f600" * 2049},
}


@case("offset-commit/value", versions=[2, 6, 8, 10], each=VALUES)
def value(b, v, fields):
    topic = b.topic()
    commit(b, v, b.group(), [(topic, {0: fields})])
    fetch(b, 4, b.group(), [(topic, [0])])
    fetch(b, 7, b.group(), [(topic, [0])])
    fetch(b, 10, b.group(), [(topic, [0])])


@case("offset-commit/metadata-too-large-for-one", versions=COMMITS)
def one_too_large(b, v):
    """The others are stored."""
    topic = b.topic(partitions=3)
    large = {"committedOffset": 1, "committedMetadata": "x" * 5000}
    commit(b, v, b.group(), [(topic, {0: 1, 1: large, 2: 3})])
    fetch(b, fetch_of(v), b.group(), [(topic, [0, 1, 2])])


@case("offset-commit/only-too-large", versions=[2, 9, 10])
def only_too_large(b, v):
    """Nothing is stored, but is the group made?"""
    commit(b, v, b.group(), [(b.topic(), {0: {"committedOffset": 1, "committedMetadata": "x" * 5000}})])
    describe(b, b.group())
    fetch(b, 7, b.group(), None)


@case("offset-commit/unknown-topic", versions=COMMITS)
def unknown_topic(b, v):
    """By name, or by an id that no topic has (from 10); alone and beside a topic that is there."""
    missing = b.topic_name("missing")
    b.topic_ids[missing] = MISSING_ID
    commit(b, v, b.group("only"), [(missing, {0: 1, 1: 2})])
    describe(b, b.group("only"))
    topic = b.topic()
    commit(b, v, b.group(), [(missing, {0: 1}), (topic, {0: 2})])
    commit(b, v, b.group(), [(topic, {0: 3}), (missing, {0: 1})])
    fetch(b, 7, b.group(), None)


@case("offset-commit/unknown-partition", versions=COMMITS)
def unknown_partition(b, v):
    topic = b.topic(partitions=2)
    commit(b, v, b.group("only"), [(topic, {2: 1})])
    describe(b, b.group("only"))
    commit(b, v, b.group(), [(topic, {2: 1, 0: 2, -1: 3, 1: 4, 2147483647: 5})])
    fetch(b, 7, b.group(), None)


@case(
    "offset-commit/topic-name",
    versions=[2, 9],
    each={"empty": "", "slash": "a/b", "dots": "..", "internal": "__consumer_offsets"},
)
def topic_name(b, v, name):
    commit(b, v, b.group(), [(name, {60: 1})])


@case("offset-commit/topic-id", versions=[10])
def topic_id(b, v):
    """The zero id, and two topics without an id."""
    one, other = b.topic("a"), b.topic("b")
    zero = {"topicId": ZERO_UUID, "partitions": [{"partitionIndex": 0, "committedOffset": 1, "committedMetadata": ""}]}
    fields = commit_fields(b, b.group(), [(one, {0: 1})])
    fields["topics"].append(zero)
    b.call("OffsetCommit", v, fields)
    fields["topics"] = [zero, zero]
    b.call("OffsetCommit", v, fields)
    fields["topics"] = [dict(zero, topicId=MISSING_ID), dict(zero, topicId=b.id_of(other))]
    b.call("OffsetCommit", v, fields)
    b.alive()


@case("offset-commit/nothing", versions=COMMITS)
def nothing(b, v):
    commit(b, v, b.group(), [])
    describe(b, b.group())
    commit(b, v, b.group("empty-topic"), [(b.topic(), {})])
    describe(b, b.group("empty-topic"))


@case("offset-commit/nothing-from-strangers", versions=COMMITS)
def nothing_wrong(b, v):
    """Without a topic nobody looks at the member."""
    commit(b, v, b.group(), [], member="someone", generation=5)
    commit(b, v, "", [])
    one = alone(b)
    commit(b, v, one.group, [], member="someone", generation=5)
    commit(b, v, one.group, [(b.topic_name("missing"), {0: 1})], member="someone", generation=5)


@case("offset-commit/empty-group-id", versions=COMMITS, alone=True)
def empty_group_id(b, v):
    """A group like others for offsets, though none can join it."""
    topic = b.topic()
    commit(b, v, "", [(topic, {0: 1})])
    commit(b, v, "", [(topic, {0: 2})], member="someone", generation=0)
    fetch(b, fetch_of(v), "", [(topic, [0])])
    b.call("OffsetDelete", 0, {"groupId": "", "topics": [{"name": topic, "partitions": [{"partitionIndex": 0}]}]})
    fetch(b, fetch_of(v), "", [(topic, [0])])
    b.ask("DeleteGroups", 2, {"groupsNames": [""]})


@case("offset-commit/unknown-group", versions=COMMITS)
def unknown_group(b, v):
    """Only a generation below zero makes a group."""
    topic = b.topic()
    for suffix, member, generation in (
        ("a", "someone", 0),
        ("b", "", 0),
        ("c", "someone", 5),
        ("d", "someone", -1),
        ("e", "", -2),
        ("f", "", -2147483648),
    ):
        commit(b, v, b.group(suffix), [(topic, {0: 1})], member=member, generation=generation)
    b.call("DescribeGroups", 5, {"groups": [b.group(s) for s in "abcdef"]})


@case("offset-commit/unknown-group-with-instance", versions=[7, 8, 9, 10])
def unknown_group_instance(b, v):
    topic = b.topic()
    commit(b, v, b.group("a"), [(topic, {0: 1})], instance="one")
    commit(b, v, b.group("b"), [(topic, {0: 1})], instance="one", member="someone")
    commit(b, v, b.group("c"), [(topic, {0: 1})], instance="one", member="someone", generation=1)
    commit(b, v, b.group("d"), [(topic, {0: 1})], instance="")


@case("offset-commit/simple-group", versions=COMMITS)
def simple_group(b, v):
    """A group without members, to which one commits as a member."""
    topic = b.topic()
    set_offsets(b, b.group(), [(topic, {0: 1})])
    for member, generation in (("", -1), ("someone", -1), ("", 0), ("someone", 0), ("someone", 1)):
        commit(b, v, b.group(), [(topic, {0: 2})], member=member, generation=generation)


@case("offset-commit/member", versions=COMMITS)
def member(b, v):
    """Of a stable group: the right one, and all wrong ones."""
    topic = b.topic()
    one = alone(b, 9)
    for name, generation in (
        (one.id, one.generation),
        (one.id, one.generation + 1),
        (one.id, one.generation - 1),
        (one.id, -1),
        (one.id, -2),
        ("someone", one.generation),
        ("someone", one.generation + 1),
        ("someone", -1),
        ("", one.generation),
        ("", -1),
        ("", -2),
    ):
        commit(b, v, one.group, [(topic, {0: 2})], member=name, generation=generation)
    fetch(b, 7, one.group, None)


@case("offset-commit/member-with-instance", versions=[7, 8, 9, 10])
def member_instance(b, v):
    """A dynamic member that says it is static."""
    topic = b.topic()
    one = alone(b, 9)
    for name, instance in ((one.id, "one"), (one.id, ""), ("", "one"), ("someone", "one")):
        commit(b, v, one.group, [(topic, {0: 2})], member=name, generation=one.generation, instance=instance)
    commit(b, v, one.group, [(topic, {0: 2})], instance="one")


@case("offset-commit/static-member", versions=[6, 7, 8, 9, 10])
def static_member(b, v):
    topic = b.topic()
    one = alone(b, 9, instance="one")
    for name, instance in (
        (one.id, "one"),
        (one.id, None),
        (one.id, "two"),
        ("someone", "one"),
        ("", "one"),
        ("", None),
    ):
        commit(b, v, one.group, [(topic, {0: 2})], member=name, generation=one.generation, instance=instance)
    commit(b, v, one.group, [(topic, {0: 2})], instance="one")
    commit(b, v, one.group, [(topic, {0: 2})], member="someone", instance="one")


@case("offset-commit/before-sync", versions=COMMITS)
def before_sync(b, v):
    topic = b.topic()
    one = Member(b, b.group(), 9)
    one.enter()
    commit(b, v, one.group, [(topic, {0: 2})], member=one.id, generation=one.generation)
    commit(b, v, one.group, [(topic, {0: 2})], member=one.id, generation=one.generation + 1)
    commit(b, v, one.group, [(topic, {0: 2})], member="someone", generation=one.generation)
    commit(b, v, one.group, [(topic, {0: 2})])


@case("offset-commit/emptied-group", versions=COMMITS)
def emptied(b, v):
    """After the last member left."""
    topic = b.topic()
    one = alone(b, 9)
    one.leave()
    for name, generation in ((one.id, one.generation), (one.id, one.generation + 1), ("", -1), ("", 2), ("someone", 2)):
        commit(b, v, one.group, [(topic, {0: 2})], member=name, generation=generation)


RETENTIONS = {"default": -1, "0": 0, "1": 1, "hour": 3600000, "-2": -2, "largest": (1 << 63) - 1}


@case("offset-commit/retention", versions=[2, 3, 4], each=RETENTIONS)
def retention(b, v, ms):
    """Old clients may say how long an offset is kept; until it is looked at again it is there anyway."""
    topic = b.topic()
    commit(b, v, b.group(), [(topic, {0: 2})], retentionTimeMs=ms)
    fetch(b, 3, b.group(), [(topic, [0])])


@case("offset-commit/same-partition-twice", versions=COMMITS)
def same_partition(b, v):
    topic = b.topic()
    fields = commit_fields(b, b.group(), [(topic, {0: 1})])
    entry = fields["topics"][0]["partitions"][0]
    fields["topics"][0]["partitions"] = [entry, dict(entry, committedOffset=2)]
    b.call("OffsetCommit", v, fields)
    fetch(b, fetch_of(v), b.group(), [(topic, [0])])


@case("offset-commit/same-topic-twice", versions=COMMITS)
def same_topic(b, v):
    topic = b.topic(partitions=2)
    commit(b, v, b.group(), [(topic, {0: 1}), (topic, {1: 2})])
    commit(b, v, b.group(), [(topic, {0: 3}), (topic, {0: 4})])
    fetch(b, fetch_of(v), b.group(), [(topic, [0, 1])])


@case("offset-commit/unknown-between", versions=COMMITS)
def unknown_between(b, v):
    """Where the partitions and topics that are not there stand in the answer."""
    one, other = b.topic("a", partitions=2), b.topic("b", partitions=2)
    missing = b.topic_name("missing")
    b.topic_ids[missing] = MISSING_ID
    commit(b, v, b.group(), [(one, {0: 1, 5: 1, 1: 1}), (missing, {0: 1}), (other, {7: 1, 1: 1})])


@case("offset-commit/many-partitions", versions=[2, 8, 10])
def many(b, v):
    topic = b.topic(partitions=20)
    commit(b, v, b.group(), [(topic, {i: i for i in range(20)})])
    fetch(b, fetch_of(v), b.group(), [(topic, range(20))])


@case("offset-commit/deleted-topic", versions=[7, 10])
def deleted_topic(b, v):
    """Its offsets go with it; a topic of the same name has none."""
    topic, other = b.topic("a"), b.topic("b")
    commit(b, v, b.group(), [(topic, {0: 4}), (other, {0: 5})])
    b.ask("DeleteTopics", 5, {"topicNames": [topic], "timeoutMs": 30000})
    b.gone(topic)
    offset = lambda: b.ask("OffsetFetch", 7, fetch_fields(b, 7, b.group(), [(topic, [0])]))["topics"][0]["partitions"][
        0
    ]
    b.until("its offsets gone", lambda: offset()["committedOffset"] == -1)
    fetch(b, 7, b.group(), [(topic, [0]), (other, [0])])
    fetch(b, 10, b.group(), [(topic, [0]), (other, [0])])
    fetch(b, 7, b.group(), None)
    b.topic("a")
    fetch(b, 10, b.group(), [(topic, [0])])
    fetch(b, 7, b.group(), None)


@case("offset-commit/of-a-reader", versions=[2, 7, 9, 10])
def of_reader(b, v):
    """What a member commits need not be what it reads."""
    topic = b.topic()
    one = alone(b, 9, protocols=(("range", subscription(b, b.topic_name("other"))),))
    commit(b, v, one.group, [(topic, {0: 1})], member=one.id, generation=one.generation)
    fetch(b, 7, one.group, None)


# -- OffsetFetch -------------------------------------------------------------------------------------------------------


def filled(b, suffix="g"):
    one, other = b.topic(suffix + "a", partitions=3), b.topic(suffix + "b")
    group = b.group(suffix)
    described = {"committedOffset": 6, "committedLeaderEpoch": 2, "committedMetadata": "mine"}
    set_offsets(
        b, group, [(one, {0: 5, 2: described}), (other, {0: {"committedOffset": 1, "committedMetadata": None}})]
    )
    return group, one, other


@case("offset-fetch/plain", versions=FETCHES)
def fetch_plain(b, v):
    """Committed ones and not, in the order that was asked for."""
    group, one, other = filled(b)
    fetch(b, v, group, [(other, [0]), (one, [2, 1, 0])])
    fetch(b, v, group, [(one, [1])])


@case("offset-fetch/all", versions=FETCHES)
def fetch_all(b, v):
    """Null asks for all from version 2; in the first there is no null."""
    group, _, _ = filled(b)
    if v >= 2:
        fetch(b, v, group, None)
        fetch(b, v, b.group("none"), None)
    else:
        fetch(b, v, group, [])


@case("offset-fetch/no-topics", versions=FETCHES)
def fetch_nothing(b, v):
    group, one, _ = filled(b)
    fetch(b, v, group, [])
    fetch(b, v, group, [(one, [])])
    fetch(b, v, b.group("none"), [])


@case("offset-fetch/null-topics-in-v1")
def null_topics(b):
    """What is null in later versions only."""
    frame = len(b.group()).to_bytes(2, "big") + b.group().encode() + b"\xff\xff\xff\xff"
    b.call("OffsetFetch", 1, {"groupId": b.group(), "topics": []}, body=lambda _: frame)
    b.alive()


@case("offset-fetch/unknown-group", versions=FETCHES)
def fetch_unknown_group(b, v):
    topic = b.topic(partitions=2)
    fetch(b, v, b.group(), [(topic, [0, 1, 9])])
    fetch(b, v, "", [(b.topic("other"), [0])])


@case("offset-fetch/unknown-topic", versions=FETCHES)
def fetch_unknown_topic(b, v):
    """By name it is one without offsets; by id it is unknown."""
    group, one, other = filled(b)
    missing = b.topic_name("missing")
    b.topic_ids[missing] = MISSING_ID
    fetch(b, v, group, [(missing, [0, 1])])
    fetch(b, v, group, [(one, [0]), (missing, [0]), (other, [0])])
    fetch(b, v, b.group("none"), [(missing, [0])])


@case("offset-fetch/unknown-partition", versions=FETCHES)
def fetch_unknown_partition(b, v):
    group, one, _ = filled(b)
    fetch(b, v, group, [(one, [3, 0, -1, 2147483647])])


@case("offset-fetch/zero-id", versions=[10])
def fetch_zero_id(b, v):
    group, one, _ = filled(b)
    zero = {"topicId": ZERO_UUID, "partitionIndexes": [0, 1]}
    fields = fetch_fields(b, v, group, [(one, [0])])
    fields["groups"][0]["topics"].insert(0, zero)
    b.call("OffsetFetch", v, fields)
    fields["groups"][0]["topics"] = [zero, zero]
    b.call("OffsetFetch", v, fields)


@case("offset-fetch/twice", versions=[1, 5, 7, 8, 10])
def fetch_twice(b, v):
    """The same partition, and the same topic."""
    group, one, other = filled(b)
    fetch(b, v, group, [(one, [0, 0, 2])])
    fetch(b, v, group, [(one, [0]), (other, [0]), (one, [2, 0])])


@case("offset-fetch/require-stable", versions=[7, 8, 9, 10])
def require_stable(b, v):
    group, one, _ = filled(b)
    fetch(b, v, group, [(one, [0, 1])], requireStable=True)
    fetch(b, v, group, None, requireStable=True)


@case("offset-fetch/several-groups", versions=[8, 9, 10])
def several_groups(b, v):
    """One result for each group, in the order of the request; none hurts another."""
    one, topic, _ = filled(b)
    other, _, single = filled(b, "h")
    name = lambda t, *p: {"name": t, "topicId": b.id_of(t), "partitionIndexes": list(p)}
    groups = [
        {"groupId": other, "topics": [name(single, 0), name(topic, 0)]},
        {"groupId": b.group("none"), "topics": [name(topic, 0)]},
        {"groupId": one, "topics": None},
        {"groupId": b.group("nothing"), "topics": None},
        {"groupId": "", "topics": [name(single, 0)]},
        {"groupId": one, "topics": []},
        {"groupId": one, "topics": [name(topic, 2)]},
    ]
    for group in groups[:2]:
        group["topics"].sort(key=lambda t: t["name"])
    b.call("OffsetFetch", v, {"groups": groups}, keep=sorted_topics)
    b.call("OffsetFetch", v, {"groups": []})


@case("offset-fetch/member", versions=[9, 10])
def fetch_member(b, v):
    """A group of the classic protocol does not look at who asks."""
    topic = b.topic()
    one = alone(b, 9)
    one.commit([(topic, {0: 3})])
    for member, epoch in (
        (one.id, one.generation),
        (one.id, 9),
        ("someone", 1),
        ("", -1),
        (None, -1),
        (None, 5),
        ("", 0),
    ):
        fetch(b, v, one.group, [(topic, [0])], memberId=member, memberEpoch=epoch)
    fetch(b, v, b.group("none"), [(topic, [0])], memberId="someone", memberEpoch=5)
    fetch(b, v, b.group("none"), [(topic, [0])], memberId="someone", memberEpoch=-1)
    fetch(b, v, b.group("none"), None, memberId="someone", memberEpoch=5)


@case("offset-fetch/during-rebalance", versions=[1, 7, 9])
def fetch_rebalance(b, v):
    topic = b.topic()
    one = Member(b, b.group(), 9)
    one.get_id()
    fetch(b, v, one.group, [(topic, [0])])
    one.join()
    fetch(b, v, one.group, [(topic, [0])])


@case("offset-fetch/of-a-group-that-left", versions=[1, 7, 10])
def fetch_left(b, v):
    """Offsets outlive the members."""
    topic = b.topic()
    one = alone(b, 9)
    one.commit([(topic, {0: 3})])
    one.leave()
    fetch(b, v, one.group, [(topic, [0])])


# -- OffsetDelete ------------------------------------------------------------------------------------------------------


def delete(b, group, *topics):
    """`topics` are (name, partitions)."""
    named = [{"name": t, "partitions": [{"partitionIndex": i} for i in p]} for t, p in topics]
    return b.call("OffsetDelete", 0, {"groupId": group, "topics": named})


@case("offset-delete/plain")
def delete_plain(b):
    group, one, other = filled(b)
    delete(b, group, (one, [2]))
    fetch(b, 7, group, None)
    delete(b, group, (one, [0, 1]), (other, [0]))
    fetch(b, 7, group, None)
    describe(b, group)
    delete(b, group, (one, [0]))


@case("offset-delete/unknown-group")
def delete_unknown_group(b):
    delete(b, b.group(), (b.topic(), [0]))
    delete(b, b.group())
    delete(b, b.group(), (b.topic_name("missing"), [0]))
    delete(b, "", (b.topic("other"), [0]))
    delete(b, "")


@case("offset-delete/unknown-topic")
def delete_unknown_topic(b):
    group, one, other = filled(b)
    delete(b, group, (b.topic_name("missing"), [0, 1]))
    delete(b, group, (one, [0]), (b.topic_name("missing"), [0]), (other, [0]))
    fetch(b, 7, group, None)


@case("offset-delete/unknown-partition")
def delete_unknown_partition(b):
    group, one, _ = filled(b)
    delete(b, group, (one, [3, 0, -1]))
    fetch(b, 7, group, None)


@case("offset-delete/nothing")
def delete_nothing(b):
    group, one, _ = filled(b)
    delete(b, group)
    delete(b, group, (one, []))


@case("offset-delete/twice")
def delete_twice(b):
    group, one, other = filled(b)
    delete(b, group, (one, [0, 0]))
    delete(b, group, (one, [2]), (other, [0]), (one, [2]))
    fetch(b, 7, group, None)


@case("offset-delete/subscribed")
def delete_subscribed(b):
    """What a consumer reads must stay, other topics need not."""
    read, other = b.topic("a", partitions=2), b.topic("b")
    one = alone(b, 9, protocols=(("range", subscription(b, read)),))
    one.commit([(read, {0: 3}), (other, {0: 4})])
    delete(b, one.group, (read, [0, 1]), (other, [0]))
    fetch(b, 7, one.group, None)
    delete(b, one.group, (read, [7]), (b.topic_name("missing"), [0]))
    one.leave()
    delete(b, one.group, (read, [0, 1]))
    fetch(b, 7, one.group, None)


@case("offset-delete/subscribed-by-another-member")
def delete_subscribed_other(b):
    first, second, third = b.topic("a"), b.topic("b"), b.topic("c")
    says = lambda t: {"protocols": (("range", subscription(b, t)),)}
    one, _ = stable(b, 9, first=says(first), others=(says(second),))
    one.commit([(first, {0: 1}), (second, {0: 1}), (third, {0: 1})])
    delete(b, one.group, (first, [0]), (second, [0]), (third, [0]))


@case("offset-delete/subscribed-before-sync")
def delete_before_sync(b):
    read, other = b.topic("a"), b.topic("b")
    set_offsets(b, b.group(), [(read, {0: 1}), (other, {0: 1})])
    one = Member(b, b.group(), 9, protocols=(("range", subscription(b, read)),))
    one.get_id()
    delete(b, one.group, (other, [0]))
    set_offsets(b, b.group(), [(other, {0: 1})])
    one.join()
    delete(b, one.group, (read, [0]), (other, [0]))


SUBSCRIPTIONS = {
    "version-0": lambda b, t: subscription(b, t, version=0),
    "version-3": lambda b, t: subscription(b, t, version=3),
    "version-99": lambda b, t: (99).to_bytes(2, "big") + subscription(b, t, version=3)[2:] + b"more",
    "version-negative": lambda b, t: b"\xff\xff" + subscription(b, t, version=1)[2:],
    "bytes-left-over": lambda b, t: subscription(b, t) + b"more",
    "cut": lambda b, t: subscription(b, t)[:-6],
    "garbage": lambda b, t: b"meta",
    "empty": lambda b, t: b"",
}


@case("offset-delete/subscription", each=SUBSCRIPTIONS)
def delete_subscription(b, make):
    """How a consumer says what it reads; where that cannot be understood."""
    read, other = b.topic("a"), b.topic("b")
    one = alone(b, 9, protocols=(("range", make(b, read)),))
    one.commit([(read, {0: 3}), (other, {0: 4})])
    delete(b, one.group, (read, [0]), (other, [0]))


@case("offset-delete/subscription-that-one-spoils")
def delete_spoilt(b):
    """One member's cannot be understood, the other's can."""
    read, other = b.topic("a"), b.topic("b")
    says = lambda data: {"protocols": (("range", data),)}
    one, _ = stable(b, 9, first=says(subscription(b, read)), others=(says(b"garbage"),))
    one.commit([(read, {0: 3}), (other, {0: 4})])
    delete(b, one.group, (read, [0]), (other, [0]))


@case("offset-delete/other-type")
def delete_other_type(b):
    """Of members that are not consumers nobody knows what they read."""
    topic = b.topic()
    one = alone(b, 9, protocolType="connect", protocols=(("range", subscription(b, topic)),))
    one.commit([(topic, {0: 3})])
    delete(b, one.group, (topic, [0]))
    delete(b, one.group)
    fetch(b, 7, one.group, None)
    one.leave()
    delete(b, one.group, (topic, [0]))


@case("offset-delete/in-preparing")
def delete_preparing(b):
    """The subscription is that of the generation before."""
    read, new, other = b.topic("a"), b.topic("b"), b.topic("c")
    one = alone(b, 9, protocols=(("range", subscription(b, read)),))
    one.commit([(read, {0: 1}), (new, {0: 1}), (other, {0: 1})])
    two = Member(b, one.group, 9, protocols=(("range", subscription(b, new)),))
    (sent,) = preparing(one, two)
    delete(b, one.group, (read, [0]), (new, [0]), (other, [0]))
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)
    delete(b, one.group, (read, [0]), (new, [0]), (other, [0]))
