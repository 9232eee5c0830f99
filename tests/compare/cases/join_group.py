"""JoinGroup by one member at a time, and what it takes to become one."""

from groups import (
    ERAS,
    HEARTBEAT,
    LONG,
    ONE,
    SYNC,
    THREE,
    TWO,
    Member,
    alone,
    commit,
    describe,
    heartbeat,
    join_fields,
    preparing,
    stable,
    subscription,
    sync_fields,
    there,
)
from harness import case

ALL = range(10)


def join(b, v, group, **more):
    return b.call("JoinGroup", v, join_fields(group, **more))


@case("join-group/life", versions=ALL)
def life(b, v):
    """A member's whole life."""
    one = Member(b, b.group(), v)
    one.enter()
    one.heartbeat()
    one.sync([(one, b"mine")])
    one.heartbeat()
    describe(b, one.group)
    one.sync()
    one.leave()
    one.heartbeat()
    describe(b, one.group)


@case("join-group/life-with-type", versions=[0, 5, 7, 9], each={"connect": "connect", "consumer": "consumer"})
def life_with_type(b, v, kind):
    """The protocol type comes back from version 7 on."""
    one = Member(b, b.group(), v, protocolType=kind, protocols=(("first", b"1"), ("second", b"\0\xff")))
    one.enter()
    one.sync([(one, b"")], protocolType=kind, protocolName="first")
    describe(b, one.group)


@case("join-group/empty-group-id", versions=ALL)
def empty_group_id(b, v):
    join(b, v, "")
    join(b, v, "", member="someone")
    join(b, v, "", sessionTimeoutMs=0)


@case(
    "join-group/group-id", versions=[0, 4, 9], each={"blank": " ", "umlaut": "\u00e4", "slash": "/", "long": "x" * 1000}
)
def odd_group_id(b, v, text):
    one = Member(b, b.group() + text, v)
    one.enter()
    one.leave()


TIMEOUTS = {
    "0": 0,
    "-1": -1,
    "999": 999,
    "1000": 1000,
    "1800000": 1800000,
    "1800001": 1800001,
    "max": 2147483647,
    "min": -2147483648,
}


@case("join-group/session-timeout", versions=[0, 3, 4, 5, 9], each=TIMEOUTS)
def session_timeout(b, v, ms):
    one = Member(b, b.group(), v, sessionTimeoutMs=ms, rebalanceTimeoutMs=1800000)
    one.join()
    describe(b, one.group)


@case("join-group/session-timeout-of-a-member", versions=ERAS)
def session_timeout_of_member(b, v):
    """A wrong timeout hurts neither the member that sends it nor the group; the answer names the member."""
    one = alone(b, v)
    one.join(sessionTimeoutMs=1)
    one.heartbeat()
    join(b, v, one.group, member="nobody", sessionTimeoutMs=1)


@case("join-group/rebalance-timeout", versions=[1, 5, 9], each={"max": 2147483647, "1": LONG + 1})
def rebalance_timeout(b, v, ms):
    one = Member(b, b.group(), v, rebalanceTimeoutMs=ms)
    one.enter()
    one.sync([(one, b"x")])


@case("join-group/no-protocols", versions=ALL)
def no_protocols(b, v):
    join(b, v, b.group(), protocols=())
    there(b, b.group())
    describe(b, b.group())
    one = alone(b, v, "there")
    join(b, v, one.group, protocols=())
    one.join(protocols=())
    one.heartbeat()


@case("join-group/no-protocol-type", versions=ALL)
def no_protocol_type(b, v):
    join(b, v, b.group(), protocolType="")
    there(b, b.group())
    describe(b, b.group())
    one = alone(b, v, "there")
    join(b, v, one.group, protocolType="")
    one.join(protocolType="")
    one.heartbeat()


@case("join-group/neither-type-nor-protocols", versions=ERAS)
def neither(b, v):
    join(b, v, b.group(), protocolType="", protocols=())
    join(b, v, b.group("member"), protocolType="", protocols=(), member="someone")


@case("join-group/protocol-name", versions=[0, 4, 7, 9], each={"empty": "", "blank": " ", "long": "x" * 1000})
def protocol_name(b, v, name):
    """From version 7 an empty name comes back as null."""
    one = Member(b, b.group(), v, protocols=[(name, b"x")])
    one.enter()
    one.sync([(one, b"x")], protocolName=name)
    one.sync([(one, b"x")], protocolName=None)
    describe(b, one.group)
    one.join()


@case("join-group/protocol-twice", versions=[0, 4, 9])
def protocol_twice(b, v):
    """The same name with two sets of metadata, which Kafka never answers."""
    one = Member(b, b.group(), v, protocols=[("a", b"1"), ("a", b"2")])
    one.get_id()
    b.call("JoinGroup", v, join_fields(one.group, one.id, None, one.protocols), on=one.connection, timeout=5)


@case("join-group/other-type", versions=ALL)
def other_type(b, v):
    one = alone(b, v)
    join(b, v, one.group, protocolType="other")
    join(b, v, one.group, protocolType="CONSUMER")
    one.join(protocolType="other")
    one.heartbeat()
    describe(b, one.group)


@case("join-group/other-protocols", versions=ALL)
def other_protocols(b, v):
    """None in common with the member that is there, who alone may change its own."""
    one = alone(b, v)
    join(b, v, one.group, protocols=[("roundrobin", b"meta")])
    join(b, v, one.group, protocols=[("Range", b"meta"), ("range ", b"meta")])
    one.heartbeat()
    one.join(protocols=[("roundrobin", b"meta")])
    one.heartbeat()
    describe(b, one.group)


@case("join-group/other-type-in-an-empty-group", versions=ERAS)
def other_type_empty(b, v):
    """A group without members takes any type, and goes on counting its generations."""
    one = alone(b, v)
    one.leave()
    other = Member(b, one.group, v, protocolType="other", protocols=(("mine", b"meta"),))
    other.enter()
    other.sync([(other, b"x")], protocolType="other", protocolName="mine")
    describe(b, one.group)


@case("join-group/member-id-of-nobody", versions=ALL)
def member_of_nobody(b, v):
    join(b, v, b.group(), member="someone")
    describe(b, b.group())
    one = alone(b, v, "there")
    join(b, v, one.group, member="someone")
    one.leave()
    join(b, v, one.group, member="someone")
    join(b, v, one.group, member=one.id)


@case("join-group/member-id-of-another-group", versions=ERAS)
def member_of_another(b, v):
    one, other = alone(b, v), alone(b, v, "other")
    join(b, v, other.group, member=one.id)
    heartbeat(b, HEARTBEAT[v], other.group, one.id, one.generation)
    other.heartbeat()


@case("join-group/again-after-leaving", versions=ERAS)
def again_after_leaving(b, v):
    one = alone(b, v)
    gone = one.id
    one.leave()
    join(b, v, one.group, member=gone)
    one.id = ""
    one.enter()
    one.sync([(one, b"again")])
    describe(b, one.group)


@case("join-group/member-id-required", versions=range(4, 10))
def id_required(b, v):
    """The first answer only gives an id; the group is there, and empty, until the member comes back."""
    one = Member(b, b.group(), v)
    one.join()
    describe(b, one.group)
    one.join()
    describe(b, one.group)
    one.sync([(one, b"x")])


@case("join-group/id-from-a-newer-client", versions=[0, 3])
def id_from_newer(b, v):
    """An id that was given out in advance is good in an older version too."""
    one = Member(b, b.group(), 4)
    one.join()
    join(b, v, one.group, member=one.id)


@case("join-group/id-given-but-not-joined", versions=[4, 6, 9])
def id_not_joined(b, v):
    """What a member that has only an id can do."""
    one = Member(b, b.group(), v)
    one.join()
    group, sync_version = one.group, SYNC[v]
    for generation in (-1, 0, 1):
        heartbeat(b, HEARTBEAT[v], group, one.id, generation)
        b.call("SyncGroup", sync_version, sync_fields(group, one.id, generation))
    commit(b, 8, group, [(b.topic(), {0: 1})], member=one.id, generation=0)
    commit(b, 8, group, [(b.topic("u"), {0: 1})], member=one.id, generation=-1)
    one.join()
    one.sync([(one, b"x")])


@case("join-group/id-given-in-a-stable-group", versions=[4, 6, 9])
def id_not_joined_stable(b, v):
    """It does not disturb the others before it joins."""
    one = alone(b, v)
    two = Member(b, one.group, v)
    two.join()
    one.heartbeat()
    heartbeat(b, HEARTBEAT[v], one.group, two.id, one.generation)
    b.call("SyncGroup", SYNC[v], sync_fields(one.group, two.id, one.generation))
    commit(b, 8, one.group, [(b.topic(), {0: 1})], member=two.id, generation=one.generation)
    describe(b, one.group)


@case("join-group/id-given-then-left", versions=[4, 6, 9])
def id_left(b, v):
    one = Member(b, b.group(), v)
    one.join()
    one.leave()
    one.join()
    one.leave()


@case("join-group/id-given-then-deleted", versions=[4, 9])
def id_deleted(b, v):
    """A group that only gave out ids is empty, so it can be deleted, and the ids with it."""
    one = Member(b, b.group(), v)
    one.join()
    b.call("DeleteGroups", 2, {"groupsNames": [one.group]})
    one.join()
    describe(b, one.group)


@case("join-group/id-given-other-protocols", versions=[4, 9])
def id_other_protocols(b, v):
    """The second request is what counts."""
    one = Member(b, b.group(), v)
    one.join()
    one.join(protocols=())
    one.join(protocolType="")
    one.join(protocolType="other", protocols=[("mine", b"1")])


@case("join-group/id-given-then-static", versions=[5, 9])
def id_then_static(b, v):
    one = Member(b, b.group(), v)
    one.join()
    one.join(instance="a")
    b.alive(one.connection)


@case("join-group/several-ids", versions=[4, 9])
def several_ids(b, v):
    """Each request without an id gets another."""
    one, two = Member(b, b.group(), v), Member(b, b.group(), v)
    one.join()
    two.join()
    b.note("different", one.id != two.id)


@case("join-group/ids-hold-up-a-rebalance", versions=[4, 9])
def id_holds_up(b, v):
    """A rebalance waits for those that got an id, as long as their session lasts."""
    one = alone(b, v)
    two = Member(b, one.group, v, sessionTimeoutMs=1000)
    two.join()
    sent = one.start_join()
    b.in_state(one.group, "PreparingRebalance")
    b.held(sent)
    one.end_join(sent)
    two.join()
    describe(b, one.group)


@case("join-group/ids-leave-during-a-rebalance", versions=[4, 9])
def id_leaves_during(b, v):
    """A rebalance goes on when the one it waits for leaves instead."""
    one = alone(b, v)
    two = Member(b, one.group, v)
    two.join()
    sent = one.start_join()
    b.in_state(one.group, "PreparingRebalance")
    two.leave()
    one.end_join(sent)


@case("join-group/reason", versions=[8, 9], each={"null": None, "empty": "", "text": "a reason", "long": "x" * 1000})
def reason(b, v, text):
    one = Member(b, b.group(), v, reason=text)
    one.enter()


@case(
    "join-group/client-id",
    versions=[0, 4, 5, 9],
    each={"null": None, "empty": "", "odd": "a b/\u00e4", "dashes": "a-b-c"},
)
def client_id(b, v, text):
    """It begins the member id, and a static member's instance id does."""
    header = {"clientId": text}
    b.call("JoinGroup", v, join_fields(b.group()), header=header)
    there(b, b.group())
    describe(b, b.group())
    if v >= 5:
        b.call("JoinGroup", v, join_fields(b.group("s"), instance="mine"), header=header)
        there(b, b.group("s"))
        describe(b, b.group("s"))


INSTANCES = {
    "empty": "",
    "dot": ".",
    "dots": "..",
    "slash": "a/b",
    "blank": "a b",
    "umlaut": "\u00e4",
    "249": "x" * 249,
    "250": "x" * 250,
}


@case("join-group/instance-id", versions=[5, 7, 9], each=INSTANCES)
def instance_id(b, v, text):
    join(b, v, b.group(), instance=text)
    b.alive()


@case(
    "join-group/metadata",
    versions=[0, 5, 9],
    each={"empty": b"", "zeros": b"\0" * 8, "long": b"0123456789abcdef" * 8192},
)
def metadata(b, v, data):
    one = Member(b, b.group(), v, protocols=(("range", data),))
    one.enter()
    one.sync([(one, data[::-1])])
    describe(b, one.group)


@case("join-group/full", versions=ERAS)
def full(b, v):
    """A stable group of four members takes no fifth."""
    members = stable(b, v, first=ONE, others=(TWO, THREE, {"protocols": (("range", b"four"),)}))
    five = Member(b, members[0].group, v)
    five.join()
    five.join(member="someone")
    members[0].heartbeat()
    members[3].join()


@case("join-group/full-while-preparing", versions=[4, 9])
def full_preparing(b, v):
    """Ids may be given out to more members than fit; those that join last are turned away, members or not."""
    group = b.group()
    members = [Member(b, group, v, protocols=(("range", b"%d" % i),)) for i in range(6)]
    for member in members:
        member.join()
    members[0].join()
    sent = []
    for i, member in enumerate(members[1:5], 2):
        sent.append(member.start_join())
        b.until("it waits", lambda: len(b.ask("DescribeGroups", 5, {"groups": [group]})["groups"][0]["members"]) == i)
    members[0].join()
    members[5].leave()
    for member, request in zip(members[1:5], sent):
        b.until("an answer", lambda: member.connection.readable())
    # Which of them leads now is chance.
    answers = [b.ask("DescribeGroups", 5, {"groups": [group]})["groups"][0]]
    b.note("members", len(answers[0]["members"]))
    b.note("state", answers[0]["groupState"])
    members[0].heartbeat()


@case("join-group/no-offsets-of-the-group-before", versions=[4, 9])
def simple_group(b, v):
    """A group that only had offsets becomes one with members."""
    group = b.group()
    commit(b, 8, group, [(b.topic(), {0: 5})])
    describe(b, group)
    one = Member(b, group, v)
    one.enter()
    one.sync([(one, b"x")])
    describe(b, group)


@case("join-group/subscription", versions=[0, 5, 9])
def real_subscription(b, v):
    """What a consumer really sends."""
    one = Member(b, b.group(), v, protocols=(("range", subscription(b, b.topic_name())),))
    one.enter()
    one.sync([(one, b"x")])
    describe(b, one.group)


@case("join-group/id-given-in-preparing", versions=[4, 9])
def id_in_preparing(b, v):
    """While a rebalance is prepared, a new id makes it wait longer."""
    one = alone(b, v)
    two = Member(b, one.group, v, protocols=(("range", b"two"),))
    (sent,) = preparing(one, two)
    three = Member(b, one.group, v, protocols=(("range", b"three"),))
    three.join()
    rejoined = one.start_join()
    b.until("it waits", lambda: b.group_state(one.group) == "PreparingRebalance")
    third = three.start_join()
    two.end_join(sent)
    three.end_join(third)
    one.end_join(rejoined)
