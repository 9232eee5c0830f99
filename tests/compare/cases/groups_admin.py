"""ListGroups, DescribeGroups and DeleteGroups."""

from groups import ONE, TWO, Member, alone, describe, fetch, join_fields, preparing, set_offsets, stable, there
from harness import case

LISTS, DESCRIBES, DELETES = range(6), range(7), range(4)


def listed(b, v, states=(), types=()):
    """This case's own groups only: others run beside it."""
    mine = lambda a: dict(a, groups=[g for g in a["groups"] if g["groupId"].startswith(b.prefix)])
    return b.call("ListGroups", v, {"statesFilter": list(states), "typesFilter": list(types)}, keep=mine)


def one_of_each(b):
    """A group in every state that lasts."""
    set_offsets(b, b.group("simple"), [(b.topic(), {0: 1})])
    left = alone(b, 9, "left")
    left.leave()
    Member(b, b.group("given"), 9).join()
    alone(b, 9, "stable")
    alone(b, 9, "connect", protocolType="connect")
    Member(b, b.group("completing"), 9).enter()
    one = alone(b, 9, "preparing", **ONE)
    preparing(one, Member(b, one.group, 9, **TWO))


ALL_STATES = ("simple", "left", "given", "stable", "connect", "completing", "preparing", "none")


@case("list-groups/all", versions=LISTS)
def list_all(b, v):
    one_of_each(b)
    listed(b, v)


STATES = {
    "stable": ["Stable"],
    "empty": ["Empty"],
    "preparing": ["PreparingRebalance"],
    "completing": ["CompletingRebalance"],
    "dead": ["Dead"],
    "two": ["Stable", "Empty"],
    "twice": ["Stable", "Stable"],
    "lower-case": ["stable"],
    "upper-case": ["EMPTY", "PREPARINGREBALANCE"],
    "with-underscore": ["Completing_Rebalance"],
    "unknown": ["Nonsense"],
    "unknown-and-known": ["Nonsense", "Stable"],
    "empty-text": [""],
    "blank": [" Stable"],
    "of-consumer-groups": ["Assigning", "Reconciling"],
    "not-ready": ["NotReady"],
}


@case("list-groups/states", versions=[4, 5], each=STATES)
def list_states(b, v, states):
    one_of_each(b)
    listed(b, v, states)


TYPES = {
    "classic": ["classic"],
    "consumer": ["consumer"],
    "capital": ["Classic"],
    "upper-case": ["CLASSIC"],
    "share": ["share"],
    "streams": ["streams"],
    "both": ["classic", "consumer"],
    "unknown": ["nonsense"],
    "unknown-and-known": ["nonsense", "classic"],
    "empty-text": [""],
    "unknown-word": ["Unknown"],
}


@case("list-groups/types", versions=[5], each=TYPES)
def list_types(b, v, types):
    one_of_each(b)
    listed(b, v, types=types)
    listed(b, v, ["Stable"], types)


@case("list-groups/deleted", versions=[0, 5])
def list_deleted(b, v):
    set_offsets(b, b.group(), [(b.topic(), {0: 1})])
    listed(b, v)
    b.ask("DeleteGroups", 2, {"groupsNames": [b.group()]})
    listed(b, v)


@case("list-groups/odd-names", versions=[0, 5])
def list_odd(b, v):
    for suffix in (" ", "\u00e4", "a/b", "x" * 500):
        set_offsets(b, b.group(suffix), [(b.topic(f"t{len(suffix)}{ord(suffix[0])}"), {0: 1})])
    listed(b, v)


# -- DescribeGroups ----------------------------------------------------------------------------------------------------


def described(b, v, *groups, **more):
    return b.call("DescribeGroups", v, dict({"groups": list(groups)}, **more))


@case("describe-groups/states", versions=DESCRIBES)
def describe_states(b, v):
    one_of_each(b)
    for suffix in ALL_STATES:
        described(b, v, b.group(suffix))


@case("describe-groups/several", versions=DESCRIBES)
def describe_several(b, v):
    one_of_each(b)
    described(b, v, *(b.group(s) for s in ALL_STATES))


@case("describe-groups/twice", versions=DESCRIBES)
def describe_twice(b, v):
    alone(b)
    described(b, v, b.group(), b.group("none"), b.group(), b.group("none"))


@case("describe-groups/nothing", versions=DESCRIBES)
def describe_nothing(b, v):
    described(b, v)


@case("describe-groups/empty-id", versions=DESCRIBES, alone=True)
def describe_empty_id(b, v):
    described(b, v, "")
    set_offsets(b, "", [(b.topic(), {0: 1})])
    described(b, v, "")
    b.ask("DeleteGroups", 2, {"groupsNames": [""]})


@case("describe-groups/authorized-operations", versions=range(3, 7))
def describe_operations(b, v):
    alone(b)
    set_offsets(b, b.group("simple"), [(b.topic(), {0: 1})])
    for suffix in ("g", "simple", "none"):
        described(b, v, b.group(suffix), includeAuthorizedOperations=True)
    described(b, v, b.group(), b.group("none"), includeAuthorizedOperations=False)


@case("describe-groups/members", versions=DESCRIBES)
def describe_members(b, v):
    """Dynamic and static, stable and not."""
    one, two = stable(b, 9, first=ONE, others=(dict(TWO, instance="two"),))
    described(b, v, one.group)
    sent = one.start_join()
    b.in_state(one.group, "PreparingRebalance")
    described(b, v, one.group)
    two.join()
    one.end_join(sent)
    described(b, v, one.group)


@case("describe-groups/client-id", versions=[0, 6], each={"null": None, "empty": "", "umlaut": "\u00e4"})
def describe_client(b, v, text):
    b.call("JoinGroup", 0, join_fields(b.group()), header={"clientId": text})
    there(b, b.group())
    described(b, v, b.group())


@case("describe-groups/after-another-type", versions=[0, 6])
def describe_other_type(b, v):
    """What an empty group keeps of the members it had."""
    one = alone(b, 9)
    one.leave()
    described(b, v, one.group)
    set_offsets(b, one.group, [(b.topic(), {0: 1})])
    described(b, v, one.group)


# -- DeleteGroups ------------------------------------------------------------------------------------------------------


def deleted(b, v, *groups):
    return b.call("DeleteGroups", v, {"groupsNames": list(groups)})


@case("delete-groups/simple", versions=DELETES)
def delete_simple(b, v):
    """Its offsets go with it."""
    topic = b.topic()
    set_offsets(b, b.group(), [(topic, {0: 1})])
    deleted(b, v, b.group())
    describe(b, b.group())
    fetch(b, 7, b.group(), [(topic, [0])])
    deleted(b, v, b.group())


@case("delete-groups/unknown", versions=DELETES)
def delete_unknown(b, v):
    deleted(b, v, b.group())


@case("delete-groups/empty-id", versions=DELETES, alone=True)
def delete_empty_id(b, v):
    deleted(b, v, "")
    set_offsets(b, "", [(b.topic(), {0: 1})])
    deleted(b, v, b.group(), "")
    describe(b, "", 5)


@case("delete-groups/nothing", versions=DELETES)
def delete_nothing(b, v):
    deleted(b, v)


@case("delete-groups/states", versions=DELETES)
def delete_states(b, v):
    one_of_each(b)
    for suffix in ALL_STATES:
        deleted(b, v, b.group(suffix))
        describe(b, b.group(suffix), 5)


@case("delete-groups/several", versions=DELETES)
def delete_several(b, v):
    """One that cannot be deleted hinders no other."""
    one_of_each(b)
    deleted(b, v, *(b.group(s) for s in ALL_STATES))
    listed(b, 5)


@case("delete-groups/twice", versions=DELETES)
def delete_twice(b, v):
    """The same group named twice."""
    set_offsets(b, b.group(), [(b.topic(), {0: 1})])
    deleted(b, v, b.group(), b.group())
    one = alone(b, 9, "member")
    deleted(b, v, one.group, one.group)


@case("delete-groups/then-again", versions=[0, 2])
def delete_then_again(b, v):
    """A deleted group begins anew, with the first generation."""
    topic = b.topic()
    one = alone(b, 9)
    one.commit([(topic, {0: 3})])
    one.leave()
    deleted(b, v, one.group)
    one.heartbeat()
    one.join()
    one.id = ""
    one.enter()
    fetch(b, 7, one.group, [(topic, [0])])
    describe(b, one.group)
