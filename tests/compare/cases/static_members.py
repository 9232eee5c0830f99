"""Members with a group instance id, which keep their place when they start again."""

from groups import (
    COMMIT,
    HEARTBEAT,
    LEAVE,
    ONE,
    STATIC_ERAS,
    SYNC,
    TWO,
    Member,
    alone,
    commit,
    describe,
    heartbeat,
    join_fields,
    leave,
    leave_fields,
    preparing,
    settled,
    stable,
    sync_fields,
    together,
)
from harness import case

FIRST = dict(ONE, instance="one")
SECOND = dict(TWO, instance="two")


def restarted(member, **more):
    """The same client as a new process: it knows its instance id only."""
    again = Member(member.b, member.group, member.v, member.instance, member.protocols, **{**member.more, **more})
    return again


@case("static-members/life", versions=range(5, 10))
def life(b, v):
    """No MEMBER_ID_REQUIRED for them; the member id begins with the instance id."""
    one = Member(b, b.group(), v, "one")
    one.join()
    one.sync([(one, b"mine")])
    one.heartbeat()
    describe(b, one.group)
    describe(b, one.group, 3)
    describe(b, one.group, 4)
    one.leave()
    describe(b, one.group)
    one.heartbeat()


@case("static-members/leader-restarts", versions=range(5, 10))
def leader_restarts(b, v):
    """Nothing changes for the group. From version 9 the leader is told that it leads, and to skip the assignment."""
    one = alone(b, v, **FIRST)
    again = restarted(one)
    again.join()
    describe(b, one.group)
    one.heartbeat()
    heartbeat(b, HEARTBEAT[v], one.group, one.id, one.generation)
    one.sync()
    one.commit([(b.topic(), {0: 1})])
    one.join()
    again.sync([(again, b"another")])
    again.heartbeat()
    again.leave()


@case("static-members/leader-of-two-restarts", versions=STATIC_ERAS)
def leader_of_two_restarts(b, v):
    one, two = stable(b, v, first=FIRST, others=(SECOND,))
    again = restarted(one)
    again.join()
    two.heartbeat()
    again.sync()
    two.join()
    describe(b, one.group)


@case("static-members/leader-of-a-dynamic-follower-restarts", versions=[5, 9])
def leader_of_dynamic_restarts(b, v):
    one, two = stable(b, v, first=FIRST)
    again = restarted(one)
    again.join()
    two.heartbeat()
    again.heartbeat()


@case("static-members/follower-restarts", versions=STATIC_ERAS)
def follower_restarts(b, v):
    one, two = stable(b, v, first=FIRST, others=(SECOND,))
    again = restarted(two)
    again.join()
    one.heartbeat()
    two.heartbeat()
    again.sync()
    again.heartbeat()
    describe(b, one.group)


@case("static-members/restarts-with-other-metadata", versions=STATIC_ERAS)
def restarts_changed(b, v):
    """Only another choice of protocol would matter."""
    one, two = stable(b, v, first=FIRST, others=(SECOND,))
    again = restarted(two)
    again.protocols = (("range", b"changed"),)
    again.join()
    one.heartbeat()
    describe(b, one.group)
    leader = restarted(one)
    leader.protocols = (("range", b"changed too"), ("sticky", b"one"))
    leader.join()
    two.heartbeat()
    describe(b, one.group)


@case("static-members/restarts-with-another-protocol", versions=STATIC_ERAS)
def restarts_other_protocol(b, v):
    both = (("range", b"r"), ("sticky", b"s"))
    one = alone(b, v, instance="one", protocols=both)
    again = restarted(one)
    again.protocols = both[::-1]
    again.join()
    describe(b, one.group)
    one.heartbeat()
    again.sync([(again, b"x")], protocolName="sticky")


@case("static-members/restarts-with-protocols-nobody-knows", versions=[5, 9])
def restarts_unknown_protocol(b, v):
    one, two = stable(b, v, first=FIRST, others=(SECOND,))
    again = restarted(two)
    again.protocols = (("other", b"x"),)
    again.join()
    two.heartbeat()


@case("static-members/alone-restarts-with-new-protocols", versions=[5, 9])
def alone_new_protocols(b, v):
    one = alone(b, v, **FIRST)
    again = restarted(one)
    again.protocols = (("other", b"x"),)
    again.join()
    describe(b, one.group)
    again = restarted(one, protocolType="else")
    again.join()


@case("static-members/restarts-before-sync", versions=STATIC_ERAS)
def restarts_before_sync(b, v):
    """The assignment that is being made names the old id, so all must join again; the old one is shut out."""
    one, two = together(b, v, first=FIRST, others=(SECOND,))
    waiting = two.start_sync()
    settled(b, one.group)
    again = restarted(two)
    sent = again.start_join()
    b.receive(waiting)
    one.sync([(one, b"too late")])
    two.heartbeat()
    rejoined = one.start_join()
    again.end_join(sent)
    one.end_join(rejoined)


@case("static-members/restarts-while-joining", versions=STATIC_ERAS)
def restarts_while_joining(b, v):
    """The request of the one before is answered: it is fenced."""
    one = alone(b, v, **FIRST)
    two = Member(b, one.group, v, **SECOND)
    (sent,) = preparing(one, two)
    again = restarted(two)
    second = again.start_join()
    two.end_join(sent)
    describe(b, one.group)
    rejoined = one.start_join()
    again.end_join(second)
    one.end_join(rejoined)


@case("static-members/rejoins-with-its-id", versions=STATIC_ERAS)
def rejoins(b, v):
    """Then it is a member like any other."""
    one, two = stable(b, v, first=FIRST, others=(SECOND,))
    two.join()
    one.heartbeat()
    sent = one.start_join()
    b.in_state(one.group, "PreparingRebalance")
    two.join()
    one.end_join(sent)


@case("static-members/wrong-ids", versions=STATIC_ERAS)
def wrong_ids(b, v):
    """Each request with an id that does not go with the instance, in a stable group."""
    one = alone(b, v, **FIRST)
    topic = b.topic()
    for member, instance in ((one.id, "two"), ("someone", "one"), ("someone", "two"), ("someone", None), (one.id, "")):
        if instance != "":
            b.call("JoinGroup", v, join_fields(one.group, member, instance))
        b.call("SyncGroup", SYNC[v], sync_fields(one.group, member, one.generation, groupInstanceId=instance))
        heartbeat(b, HEARTBEAT[v], one.group, member, one.generation, instance)
        heartbeat(b, HEARTBEAT[v], one.group, member, one.generation + 7, instance)
        commit(b, COMMIT[v], one.group, [(topic, {0: 1})], member=member, generation=one.generation, instance=instance)
    for member, instance in ((one.id, "two"), ("someone", "one"), ("someone", "two"), ("", "two"), ("", None)):
        leave(b, LEAVE[v], one.group, (member, instance))
    one.heartbeat()


@case("static-members/without-a-member-id", versions=[5, 9])
def without_member_id(b, v):
    """An instance id alone names a member to LeaveGroup only."""
    one = alone(b, v, **FIRST)
    b.call("SyncGroup", SYNC[v], sync_fields(one.group, "", one.generation, groupInstanceId="one"))
    heartbeat(b, HEARTBEAT[v], one.group, "", one.generation, "one")
    commit(b, COMMIT[v], one.group, [(b.topic(), {0: 1})], generation=one.generation, instance="one")
    leave(b, LEAVE[v], one.group, ("", "one"))
    describe(b, one.group)


@case("static-members/as-a-dynamic-one", versions=STATIC_ERAS)
def as_dynamic(b, v):
    """A static member that names its member id only."""
    one = alone(b, v, **FIRST)
    b.call("JoinGroup", v, join_fields(one.group, one.id, None, ONE["protocols"]))
    b.call("JoinGroup", 4, join_fields(one.group, one.id, None, ONE["protocols"]))
    describe(b, one.group)


@case("static-members/same-instance-in-two-groups", versions=[5, 9])
def two_groups(b, v):
    one, other = alone(b, v, **FIRST), alone(b, v, "other", **FIRST)
    one.heartbeat()
    other.heartbeat()


@case("static-members/mixed-with-dynamic", versions=[5, 9])
def mixed(b, v):
    one, two = stable(b, v, first=ONE, others=(SECOND,))
    describe(b, one.group)
    leave(b, LEAVE[v], one.group, ("", "two"))
    one.heartbeat()
    two.heartbeat()
    one.join()


@case("static-members/leave-by-instance", versions=[3, 4, 5])
def leave_by_instance(b, v):
    """As an administrator does; the answer names what was asked for."""
    one, two = stable(b, 9, first=FIRST, others=(SECOND,))
    leave(b, v, one.group, ("", "two", "no longer needed"))
    two.heartbeat()
    leave(b, v, one.group, ("", "two"))
    leave(b, v, one.group, ("", "one"))
    describe(b, one.group)


@case("static-members/leave-batch", versions=[3, 4, 5])
def leave_batch(b, v):
    """Each member has its own result, in the order of the request."""
    one, two = stable(b, 9, first=FIRST, others=(SECOND,))
    named = [
        ("", "nobody"),
        (two.id, "one"),
        ("", "two", "gone"),
        ("someone", None),
        ("", None),
        ("", "two"),
        (one.id, None),
    ]
    leave(b, v, one.group, *named)
    describe(b, one.group)


@case("static-members/leave-old-version", versions=[0, 1, 2])
def leave_old(b, v):
    one = alone(b, 9, **FIRST)
    b.call("LeaveGroup", v, leave_fields(v, one.group, ("", None)))
    b.call("LeaveGroup", v, leave_fields(v, one.group, (one.id, None)))
    describe(b, one.group)


@case("static-members/comes-back-after-leaving", versions=[5, 9])
def comes_back(b, v):
    one = alone(b, v, **FIRST)
    one.leave()
    again = restarted(one)
    again.join()
    again.sync([(again, b"x")])
    one.join()
    describe(b, one.group)


@case("static-members/session-ends", versions=[5, 9])
def session_ends(b, v):
    """A static member's session ends like others."""
    one = alone(b, v, instance="one", sessionTimeoutMs=1000)
    b.in_state(one.group, "Empty")
    one.heartbeat()
    again = restarted(one)
    again.join()


@case("static-members/not-rejoined-in-time", versions=[5, 9])
def not_rejoined(b, v):
    """One that does not join in time stays in the group: only its session can end that."""
    soon = {"rebalanceTimeoutMs": 1000}
    one = alone(b, v, **FIRST, **soon)
    two = Member(b, one.group, v, **SECOND, **soon)
    (sent,) = preparing(one, two)
    two.end_join(sent)
    describe(b, one.group)
    one.heartbeat()
    one.join()
    two.sync([(two, b"2"), (one, b"1")])
    one.sync()


@case("static-members/full", versions=[5, 9])
def full(b, v):
    """A full group turns away its own static member that starts again: without its id it counts as one more."""
    rest = tuple({"protocols": (("range", b"%d" % i),), "instance": f"i{i}"} for i in range(3))
    members = stable(b, v, first=FIRST, others=rest)
    Member(b, members[0].group, v, "new").join()
    again = restarted(members[2])
    again.join()
    Member(b, members[0].group, v).join()
