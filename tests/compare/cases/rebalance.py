"""Groups of two members and more: JoinGroup, SyncGroup, Heartbeat and LeaveGroup as they meet."""

from groups import (
    ERAS,
    LEAVE,
    ONE,
    SYNC,
    THREE,
    TWO,
    Member,
    alone,
    describe,
    join_fields,
    leave,
    preparing,
    settled,
    stable,
    sync_fields,
    together,
)
from harness import case

SOON = 1000  # what is waited for where time must pass


def rejoin(first, *others):
    """All join again; the first leads."""
    sent = [m.start_join() for m in others]
    first.b.in_state(first.group, "PreparingRebalance")
    first_sent = first.start_join()
    for member, request in zip(others, sent):
        member.end_join(request)
    first.end_join(first_sent)


@case("rebalance/two-members", versions=range(10))
def two_members(b, v):
    """From one member to two, and back."""
    one = alone(b, v, **ONE)
    two = Member(b, one.group, v, **TWO)
    (sent,) = preparing(one, two)
    b.held(sent)
    describe(b, one.group)
    one.heartbeat()
    one.sync()
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)
    describe(b, one.group)
    one.heartbeat()
    two.heartbeat()
    waiting = two.start_sync()
    one.sync([(two, b"for two"), (one, b"for one")])
    b.receive(waiting)
    describe(b, one.group)
    one.heartbeat()
    two.heartbeat()
    two.leave()
    one.heartbeat()
    one.join()
    one.sync([(one, b"all of it")])
    one.leave()
    describe(b, one.group)


@case("rebalance/three-members", versions=ERAS)
def three_members(b, v):
    """Two join at once; the leader alone is told who is there."""
    one, two, three = together(b, v, first=ONE, others=(TWO, THREE))
    waiting = two.start_sync(), three.start_sync()
    one.sync([(one, b"1"), (two, b"2"), (three, b"3")])
    for request in waiting:
        b.receive(request)
    describe(b, one.group)
    three.leave()
    two.heartbeat()
    rejoin(one, two)
    describe(b, one.group)


@case("rebalance/sync-before-the-leader", versions=ERAS)
def sync_before(b, v):
    one, two = together(b, v)
    waiting = two.start_sync()
    settled(b, one.group)
    b.held(waiting)
    one.sync([(two, b"two's")])
    b.receive(waiting)


@case("rebalance/sync-after-the-leader", versions=ERAS)
def sync_after(b, v):
    one, two = together(b, v)
    one.sync([(one, b"1"), (two, b"2")])
    two.sync()


@case("rebalance/sync-again", versions=ERAS)
def sync_again(b, v):
    """Once assigned, a generation's assignment stays; what is sent again is not looked at."""
    one, two = stable(b, v)
    one.sync([(one, b"other"), (two, b"other")])
    two.sync()
    two.sync([(two, b"what I want")])
    describe(b, one.group)


@case("rebalance/sync-by-follower-with-assignments", versions=ERAS)
def sync_by_follower(b, v):
    """Only the leader's are taken."""
    one, two = together(b, v)
    waiting = two.start_sync([(one, b"bad"), (two, b"bad")])
    one.sync([(one, b"good"), (two, b"good")])
    b.receive(waiting)


@case("rebalance/sync-without-assignments", versions=ERAS)
def sync_without(b, v):
    one, two = together(b, v)
    waiting = two.start_sync()
    one.sync()
    b.receive(waiting)
    describe(b, one.group)


@case("rebalance/sync-assignments-that-do-not-fit", versions=ERAS)
def sync_odd_assignments(b, v):
    """For a member who is not there, twice for the same, and none for the other."""
    one, two = together(b, v)
    waiting = two.start_sync()
    one.sync([("someone", b"x"), (one, b"first"), (one, b"second"), ("", b"y")])
    b.receive(waiting)
    describe(b, one.group)


@case("rebalance/sync-twice-while-waiting", versions=[0, 5, 9])
def sync_twice(b, v):
    """The later request takes the earlier one's place."""
    one, two = together(b, v)
    first = two.start_sync()
    settled(b, one.group)
    twin = Member(b, one.group, v)
    twin.id, twin.generation = two.id, two.generation
    second = twin.start_sync()
    settled(b, one.group)
    one.sync([(one, b"1"), (two, b"2")])
    b.receive(second)
    settled(b, one.group)
    b.held(first)


@case("rebalance/join-twice-while-waiting", versions=[4, 5, 9])
def join_twice(b, v):
    """The same member joins again on another connection, its first request still open."""
    one = alone(b, v, **ONE)
    two = Member(b, one.group, v, **TWO)
    (sent,) = preparing(one, two)
    twin = Member(b, one.group, v, **TWO)
    twin.id = two.id
    second = twin.start_join()
    settled(b, one.group)
    leader = one.start_join()
    twin.end_join(second)
    one.end_join(leader)
    settled(b, one.group)
    b.held(sent)


@case("rebalance/leader-rejoins", versions=ERAS)
def leader_rejoins(b, v):
    """A leader that joins a stable group again wants a rebalance, even with the same metadata."""
    one, two = stable(b, v)
    sent = one.start_join()
    b.in_state(one.group, "PreparingRebalance")
    b.held(sent)
    two.heartbeat()
    two.sync()
    again = two.start_join()
    two.end_join(again)
    one.end_join(sent)
    describe(b, one.group)


@case("rebalance/follower-rejoins", versions=ERAS)
def follower_rejoins(b, v):
    """A follower that changed nothing is told the generation it is in."""
    one, two = stable(b, v)
    two.join()
    two.sync()
    one.heartbeat()
    describe(b, one.group)


@case("rebalance/follower-rejoins-with-other-timeouts", versions=ERAS)
def follower_other_timeouts(b, v):
    one, two = stable(b, v)
    two.join(sessionTimeoutMs=20000, rebalanceTimeoutMs=20000)
    one.heartbeat()


CHANGES = {
    "metadata": [("range", b"changed")],
    "one-more": [("range", b"two"), ("sticky", b"two")],
    "one-more-first": [("sticky", b"two"), ("range", b"two")],
}


@case("rebalance/follower-changes", versions=[0, 4, 9], each=CHANGES)
def follower_changes(b, v, protocols):
    one, two = stable(b, v)
    two.protocols = protocols
    sent = two.start_join()
    b.in_state(one.group, "PreparingRebalance")
    one.heartbeat()
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)


@case("rebalance/follower-changes-order", versions=[0, 4, 9])
def follower_changes_order(b, v):
    both = (("range", b"r"), ("sticky", b"s"))
    one, two = stable(b, v, first={"protocols": (("range", b"one"),)}, others=({"protocols": both},))
    two.protocols = both[::-1]
    sent = two.start_join()
    b.in_state(one.group, "PreparingRebalance")
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)


@case("rebalance/follower-drops-the-protocol", versions=[0, 4, 9])
def follower_drops(b, v):
    """The one that all others know must stay."""
    one, two = stable(b, v)
    two.join(protocols=[("sticky", b"two")])
    two.heartbeat()
    one.heartbeat()


@case("rebalance/rejoin-before-sync", versions=ERAS)
def rejoin_before_sync(b, v):
    """Who lost the answer to a join gets it again; it starts no rebalance."""
    one, two = together(b, v)
    two.join()
    one.join()
    describe(b, one.group)
    waiting = two.start_sync()
    one.sync([(one, b"1"), (two, b"2")])
    b.receive(waiting)


@case("rebalance/rejoin-before-sync-changed", versions=ERAS)
def rejoin_before_sync_changed(b, v):
    """With other metadata it does, and who waits in sync must join again."""
    one, two = together(b, v)
    waiting = two.start_sync()
    settled(b, one.group)
    sent = one.start_join(protocols=[("range", b"changed")])
    b.receive(waiting)
    two.heartbeat()
    two.join()
    one.end_join(sent)


@case("rebalance/new-member-before-sync", versions=ERAS)
def new_before_sync(b, v):
    one, two = together(b, v)
    waiting = two.start_sync()
    three = Member(b, one.group, v, **THREE)
    sent = three.start_enter()
    b.receive(waiting)
    one.sync([(one, b"too late")])
    describe(b, one.group)
    again = two.start_join()
    rejoined = one.start_join()
    two.end_join(again)
    three.end_join(sent)
    one.end_join(rejoined)


@case("rebalance/leave-before-sync", versions=ERAS)
def leave_before_sync(b, v):
    """A follower leaves while the others wait for the assignment."""
    one, two = together(b, v)
    two.leave()
    one.sync([(one, b"1"), (two, b"2")])
    one.heartbeat()
    one.join()


@case("rebalance/leader-leaves-before-sync", versions=ERAS)
def leader_leaves_before_sync(b, v):
    one, two = together(b, v)
    waiting = two.start_sync()
    settled(b, one.group)
    one.leave()
    b.receive(waiting)
    two.join()
    two.sync([(two, b"mine now")])
    describe(b, two.group)


@case("rebalance/leader-leaves", versions=ERAS)
def leader_leaves(b, v):
    """The one who is left leads when it joins again."""
    one, two = stable(b, v)
    one.leave()
    two.heartbeat()
    two.sync()
    describe(b, two.group)
    two.join()
    two.sync([(two, b"all")])
    describe(b, two.group)


@case("rebalance/last-awaited-leaves", versions=ERAS)
def last_awaited_leaves(b, v):
    """A rebalance that waits for one member goes on when that one leaves."""
    one = alone(b, v, **ONE)
    two = Member(b, one.group, v, **TWO)
    (sent,) = preparing(one, two)
    one.leave()
    two.end_join(sent)
    two.sync([(two, b"all")])
    describe(b, two.group)


@case("rebalance/leave-while-joining", versions=[4, 5, 7, 9])
def leave_while_joining(b, v):
    """The request that waits is answered too. The id is known since MEMBER_ID_REQUIRED."""
    one = alone(b, v, **ONE)
    two = Member(b, one.group, v, **TWO)
    (sent,) = preparing(one, two)
    leave(b, LEAVE[v], one.group, (two.id, None))
    b.receive(sent)
    one.heartbeat()
    one.join()


@case("rebalance/wrong-requests-while-preparing", versions=ERAS)
def wrong_while_preparing(b, v):
    """The wrong ones are told apart from those that come in time."""
    one = alone(b, v, **ONE)
    two = Member(b, one.group, v, **TWO)
    (sent,) = preparing(one, two)
    for member, generation in (("someone", one.generation), (one.id, one.generation + 1), (one.id, -1), ("", 1)):
        b.call("Heartbeat", 2, {"groupId": one.group, "memberId": member, "generationId": generation})
        b.call("SyncGroup", SYNC[v], sync_fields(one.group, member, generation))
    b.call("JoinGroup", v, join_fields(one.group, member="someone"))
    b.call("JoinGroup", v, join_fields(one.group, protocols=[("sticky", b"")]))
    b.call("JoinGroup", v, join_fields(one.group, protocolType="other"))
    describe(b, one.group)
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)


@case("rebalance/commits", versions=ERAS)
def commits(b, v):
    """A member may commit while a rebalance is prepared, and not while it is completed."""
    topic = b.topic()
    one = alone(b, v, **ONE)
    one.commit([(topic, {0: 1})])
    two = Member(b, one.group, v, **TWO)
    (sent,) = preparing(one, two)
    one.commit([(topic, {0: 2})])
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)
    one.commit([(topic, {0: 3})], generation=one.generation - 1)
    one.commit([(topic, {0: 4})])
    two.commit([(topic, {0: 5})], generation=two.generation - 1)
    one.sync([(one, b"1"), (two, b"2")])
    two.commit([(topic, {0: 6})])
    two.sync()
    b.call("OffsetFetch", 7, {"groupId": one.group, "topics": [{"name": topic, "partitionIndexes": [0]}]})


@case("rebalance/protocol-choice", versions=[0, 4, 7, 9])
def protocol_choice(b, v):
    """What all know, by the votes of all; the leader is shown what the members said about that one."""
    for suffix, mine, theirs in (
        ("only-common", ["a", "b"], ["b", "c"]),
        ("both-prefer-second", ["b", "a"], ["b", "a"]),
        ("more-votes", ["c", "b", "a"], ["c", "a", "b"]),
    ):
        said = lambda who, names: {"protocols": [(n, f"{who} on {n}".encode()) for n in names]}
        one = alone(b, v, suffix, **said("one", mine))
        two = Member(b, one.group, v, **said("two", theirs))
        (sent,) = preparing(one, two)
        rejoined = one.start_join()
        two.end_join(sent)
        one.end_join(rejoined)
        one.sync([(one, b"1")], protocolName=one.answer["protocolName"])
        describe(b, one.group)


@case("rebalance/protocol-majority", versions=[0, 9])
def protocol_majority(b, v):
    """Two of three prefer it."""
    said = lambda who, *names: {"protocols": [(n, f"{who} on {n}".encode()) for n in names]}
    first, others = said("one", "a", "b"), (said("two", "b", "a"), said("three", "b", "c", "a"))
    one, _, _ = together(b, v, "g", first, others)
    b.note("chosen", one.answer["protocolName"])


@case("rebalance/mixed-versions")
def mixed_versions(b):
    """Members of one group that speak different versions."""
    one = alone(b, 0, **ONE)
    two = Member(b, one.group, 9, **TWO)
    (sent,) = preparing(one, two)
    rejoined = one.start_join()
    two.end_join(sent)
    one.end_join(rejoined)
    waiting = two.start_sync()
    one.sync([(one, b"1"), (two, b"2")])
    b.receive(waiting)
    two.heartbeat()
    one.heartbeat()


# -- where time must pass ----------------------------------------------------------------------------------------------


@case("rebalance/session-ends", versions=[0, 9])
def session_ends(b, v):
    one = alone(b, v, sessionTimeoutMs=SOON)
    b.in_state(one.group, "Empty")
    one.heartbeat()
    one.sync()
    one.join()
    describe(b, one.group)


@case("rebalance/session-of-a-follower-ends", versions=[0, 9])
def follower_ends(b, v):
    one, two = stable(b, v, first=ONE, others=(dict(TWO, sessionTimeoutMs=SOON),))
    b.in_state(one.group, "PreparingRebalance")
    one.heartbeat()
    two.heartbeat()
    one.join()
    describe(b, one.group)


@case("rebalance/not-rejoined-in-time", versions=[4, 9])
def not_rejoined(b, v):
    """Who does not join within the longest rebalance timeout is out; the others go on."""
    one = alone(b, v, rebalanceTimeoutMs=SOON, **ONE)
    two = Member(b, one.group, v, rebalanceTimeoutMs=SOON, **TWO)
    (sent,) = preparing(one, two)
    two.end_join(sent)
    one.heartbeat()
    two.sync([(two, b"mine")])
    describe(b, two.group)


@case("rebalance/not-synced-in-time", versions=[4, 9])
def not_synced(b, v):
    """Nor may a member keep the others waiting with its sync."""
    one = Member(b, b.group(), v, rebalanceTimeoutMs=SOON)
    one.enter()
    b.in_state(one.group, "Empty")
    one.heartbeat()
    one.join()
    describe(b, one.group)


@case("rebalance/follower-not-synced-in-time", versions=[4, 9])
def follower_not_synced(b, v):
    """Even when the group is stable for the others."""
    soon = {"rebalanceTimeoutMs": SOON}
    one, two = together(b, v, "g", dict(ONE, **soon), (dict(TWO, **soon),))
    one.sync([(one, b"1"), (two, b"2")])
    b.in_state(one.group, "PreparingRebalance")
    two.heartbeat()
    one.heartbeat()
    one.join()
    describe(b, one.group)


@case("rebalance/id-not-used-in-time", versions=[4, 9])
def id_not_used(b, v):
    one = alone(b, v)
    two = Member(b, one.group, v, sessionTimeoutMs=SOON)
    two.join()
    # It holds up the rebalance until it is forgotten.
    one.join()
    two.join()
