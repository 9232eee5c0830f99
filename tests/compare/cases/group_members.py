"""SyncGroup, Heartbeat and LeaveGroup by themselves: right and wrong, in every version."""

import time

from groups import (
    SYNC,
    Member,
    alone,
    commit,
    describe,
    heartbeat,
    heartbeat_fields,
    join_fields,
    leave,
    stable,
    subscription,
    sync_fields,
)
from harness import case

SYNCS, HEARTBEATS, LEAVES = range(6), range(5), range(6)
# A version of JoinGroup of the same time, by the version of each.
OF_SYNC = (1, 2, 4, 5, 6, 9)
OF_HEARTBEAT = (1, 2, 4, 5, 9)


def sync(b, v, group, member, generation, assignments=(), **more):
    return b.call("SyncGroup", v, sync_fields(group, member, generation, assignments, **more))


def joined(b, v, suffix="g", **more):
    """The only member of a group, not synced."""
    one = Member(b, b.group(suffix), v, **more)
    one.enter()
    return one


# -- SyncGroup ---------------------------------------------------------------------------------------------------------


@case("sync-group/wrong", versions=SYNCS)
def sync_wrong(b, v):
    """Group, member and generation, before the group is stable and after."""
    sync(b, v, "", "someone", 1)
    sync(b, v, "", "", -1)
    sync(b, v, b.group("none"), "someone", 1)
    sync(b, v, b.group("none"), "", -1)
    one = joined(b, OF_SYNC[v])
    for _ in ("completing", "stable"):
        sync(b, v, one.group, "someone", one.generation)
        sync(b, v, one.group, "", one.generation)
        for generation in (one.generation - 1, one.generation + 1, -1, 0, 2147483647):
            sync(b, v, one.group, one.id, generation, [(one.id, b"x")])
            sync(b, v, one.group, "someone", generation)
        sync(b, v, one.group, one.id, one.generation, [(one.id, b"mine")])
    describe(b, one.group)


@case("sync-group/empty-group", versions=SYNCS)
def sync_empty(b, v):
    """Without members, or with offsets only."""
    one = alone(b, OF_SYNC[v])
    one.leave()
    sync(b, v, one.group, one.id, one.generation)
    commit(b, 8, b.group("simple"), [(b.topic(), {0: 1})])
    sync(b, v, b.group("simple"), "someone", 0)


@case("sync-group/protocol", versions=[4, 5])
def sync_protocol(b, v):
    """From version 5 both the type and the name must be given and be the group's; before, nobody looks at them."""
    one = joined(b, 9)
    for _ in ("completing", "stable"):
        for kind, name in (
            ("other", "range"),
            ("consumer", "other"),
            ("", "range"),
            ("consumer", ""),
            ("Consumer", "range"),
            (None, None),
            (None, "range"),
            ("consumer", None),
        ):
            sync(b, v, one.group, one.id, one.generation, protocolType=kind, protocolName=name)
        sync(b, v, one.group, one.id, one.generation + 1, protocolType="other", protocolName="range")
        sync(b, v, one.group, "someone", one.generation, protocolType="other", protocolName="range")
        sync(b, v, one.group, "someone", one.generation, protocolType=None, protocolName=None)
        sync(b, v, "", one.id, one.generation, protocolType=None, protocolName=None)
        sync(b, v, one.group, one.id, one.generation, [(one.id, b"x")])


@case("sync-group/instance", versions=[3, 4, 5])
def sync_instance(b, v):
    """An instance id from a member that has none, and from nobody."""
    one = joined(b, 9)
    sync(b, v, one.group, one.id, one.generation, groupInstanceId="one")
    sync(b, v, one.group, "", one.generation, groupInstanceId="one")
    sync(b, v, one.group, one.id, one.generation, groupInstanceId="")
    sync(b, v, one.group, one.id, one.generation)


@case(
    "sync-group/assignment",
    versions=[0, 3, 5],
    each={"empty": b"", "zeros": b"\0" * 4, "long": b"0123456789abcdef" * 20000},
)
def sync_assignment(b, v, data):
    one = joined(b, OF_SYNC[v])
    sync(b, v, one.group, one.id, one.generation, [(one.id, data)])
    describe(b, one.group)
    sync(b, v, one.group, one.id, one.generation)


@case("sync-group/rejoined-generation", versions=[0, 3, 5])
def sync_old_generation(b, v):
    one = alone(b, OF_SYNC[v])
    one.join()
    sync(b, v, one.group, one.id, one.generation - 1, [(one.id, b"old")])
    sync(b, v, one.group, one.id, one.generation, [(one.id, b"new")])


# -- Heartbeat ---------------------------------------------------------------------------------------------------------


@case("heartbeat/wrong", versions=HEARTBEATS)
def heartbeat_wrong(b, v):
    heartbeat(b, v, "", "someone", 1)
    heartbeat(b, v, "", "", -1)
    heartbeat(b, v, b.group("none"), "someone", 1)
    heartbeat(b, v, b.group("none"), "", -1)
    one = joined(b, OF_HEARTBEAT[v])
    for _ in ("completing", "stable"):
        heartbeat(b, v, one.group, "someone", one.generation)
        heartbeat(b, v, one.group, "", one.generation)
        for generation in (one.generation - 1, one.generation + 1, -1, 2147483647, -2147483648):
            heartbeat(b, v, one.group, one.id, generation)
            heartbeat(b, v, one.group, "someone", generation)
        heartbeat(b, v, one.group, one.id, one.generation)
        one.sync([(one, b"x")])


@case("heartbeat/empty-group", versions=HEARTBEATS)
def heartbeat_empty(b, v):
    one = alone(b, OF_HEARTBEAT[v])
    one.leave()
    heartbeat(b, v, one.group, one.id, one.generation)
    heartbeat(b, v, one.group, one.id, one.generation + 1)
    heartbeat(b, v, one.group, "", -1)
    commit(b, 8, b.group("simple"), [(b.topic(), {0: 1})])
    heartbeat(b, v, b.group("simple"), "someone", 0)
    heartbeat(b, v, b.group("simple"), "", -1)


@case("heartbeat/instance", versions=[3, 4])
def heartbeat_instance(b, v):
    one = alone(b, 9)
    heartbeat(b, v, one.group, one.id, one.generation, "one")
    heartbeat(b, v, one.group, one.id, one.generation, "")
    heartbeat(b, v, one.group, "", one.generation, "one")
    heartbeat(b, v, b.group("none"), "someone", 1, "one")
    b.alive()


@case("heartbeat/many", versions=[0, 4])
def heartbeat_many(b, v):
    """Several in one go are answered in order."""
    one = alone(b, 9)
    for generation in (one.generation, one.generation + 1, one.generation):
        one.b.receive(b.send("Heartbeat", v, heartbeat_fields(one.group, one.id, generation)))
    sent = [b.send("Heartbeat", v, heartbeat_fields(one.group, one.id, g)) for g in (1, 2, 1, 3, 1)]
    for request in sent:
        b.receive(request)


# -- LeaveGroup --------------------------------------------------------------------------------------------------------


@case("leave-group/wrong", versions=LEAVES)
def leave_wrong(b, v):
    leave(b, v, "", ("someone", None))
    leave(b, v, b.group("none"), ("someone", None))
    leave(b, v, b.group("none"), ("", None))
    one = alone(b, 9)
    leave(b, v, one.group, ("someone", None))
    leave(b, v, one.group, ("", None))
    one.heartbeat()


@case("leave-group/twice", versions=LEAVES)
def leave_twice(b, v):
    one = alone(b, 9)
    leave(b, v, one.group, (one.id, None))
    leave(b, v, one.group, (one.id, None))
    describe(b, one.group)


@case("leave-group/simple-group", versions=LEAVES)
def leave_simple(b, v):
    commit(b, 8, b.group(), [(b.topic(), {0: 1})])
    leave(b, v, b.group(), ("someone", None))


@case("leave-group/nobody", versions=[3, 4, 5])
def leave_nobody(b, v):
    """An empty list."""
    leave(b, v, b.group("none"))
    leave(b, v, "")
    one = alone(b, 9)
    leave(b, v, one.group)
    one.heartbeat()


@case("leave-group/batch", versions=[3, 4, 5])
def leave_batch(b, v):
    """Dynamic members, one of them twice, and strangers."""
    one, two = stable(b, 9)
    leave(b, v, one.group, ("someone", None), (two.id, None, "done"), (two.id, None), (two.id, "two"), (one.id, None))
    describe(b, one.group)
    leave(b, v, b.group("none"), ("a", None), ("b", "i"), ("", "i"))


@case("leave-group/only-strangers", versions=[3, 5])
def leave_strangers(b, v):
    """Nobody leaves, so there is no rebalance."""
    one = alone(b, 9)
    leave(b, v, one.group, ("a", None), ("b", "i"), (one.id, "i"), (one.id, ""))
    one.heartbeat()


@case("leave-group/reason", versions=[5], each={"null": None, "empty": "", "long": "x" * 1000})
def leave_reason(b, v, text):
    one = alone(b, 9)
    leave(b, v, one.group, (one.id, None, text))


@case("leave-group/id-only", versions=LEAVES)
def leave_id_only(b, v):
    """A member that has an id but never joined."""
    one = Member(b, b.group(), 9)
    one.join()
    leave(b, v, one.group, (one.id, None))
    one.join()


@case("leave-group/id-only-with-instance", versions=[3, 5])
def leave_id_only_instance(b, v):
    one = Member(b, b.group(), 9)
    one.join()
    leave(b, v, one.group, (one.id, "one"))
    one.join()


@case("leave-group/before-sync", versions=[0, 3, 5])
def leave_before_sync(b, v):
    one = joined(b, 9)
    leave(b, v, one.group, (one.id, None))
    describe(b, one.group)
    sync(b, SYNC[9], one.group, one.id, one.generation, [(one.id, b"x")])


@case("leave-group/forgets-subscription", versions=[5])
def leave_then_delete(b, v):
    """Once empty, the group reads no topic any more."""
    topic = b.topic()
    one = alone(b, 9, protocols=(("range", subscription(b, topic)),))
    commit(b, 8, one.group, [(topic, {0: 4})], member=one.id, generation=one.generation)
    fields = {"groupId": one.group, "topics": [{"name": topic, "partitions": [{"partitionIndex": 0}]}]}
    b.call("OffsetDelete", 0, fields)
    leave(b, v, one.group, (one.id, None))
    b.call("OffsetDelete", 0, fields)


@case("heartbeat/keeps-a-session", versions=[0, 4])
def heartbeat_keeps(b, v):
    """For longer than a session lasts, by heartbeats alone."""
    one = alone(b, 9, sessionTimeoutMs=1000)
    codes, end = set(), time.monotonic() + 1.5
    while time.monotonic() < end:
        codes.add(b.ask("Heartbeat", v, heartbeat_fields(one.group, one.id, one.generation))["errorCode"])
        time.sleep(0.05)
    b.note("codes", sorted(codes))
    b.call("JoinGroup", 9, join_fields(one.group, one.id))
