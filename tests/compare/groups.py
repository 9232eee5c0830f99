"""What cases about groups share: members that join, sync, beat and leave, and the requests that go with them."""

import time

# The versions of the other APIs that clients of the time used beside a version of JoinGroup.
SYNC = (0, 1, 1, 2, 2, 3, 4, 5, 5, 5)
HEARTBEAT = (0, 1, 1, 2, 2, 3, 4, 4, 4, 4)
LEAVE = (0, 1, 1, 2, 2, 3, 4, 4, 5, 5)
COMMIT = (2, 3, 4, 5, 6, 7, 8, 8, 9, 9)
FETCH = (1, 2, 3, 4, 5, 6, 7, 8, 9, 9)

# Where the protocol changed: no ids in advance, MEMBER_ID_REQUIRED, static members, protocol type, skipped assignment.
ERAS = [0, 4, 5, 7, 9]
STATIC_ERAS = [5, 7, 8, 9]

MEMBER_ID_REQUIRED = 79
LONG = 30000  # no script takes as long


def subscription(b, *topics, version=1):
    """What a consumer says of itself when it joins."""
    fields = {"topics": list(topics), "userData": None, "ownedPartitions": []}
    return version.to_bytes(2, "big") + b.schemas["ConsumerProtocolSubscription"].encode(fields, version, lenient=True)


def join_fields(group, member="", instance=None, protocols=(("range", b"meta"),), **more):
    fields = {
        "groupId": group,
        "sessionTimeoutMs": LONG,
        "rebalanceTimeoutMs": LONG,
        "memberId": member,
        "groupInstanceId": instance,
        "protocolType": "consumer",
        "protocols": [{"name": n, "metadata": m} for n, m in protocols],
    }
    fields.update(more)
    return fields


def sync_fields(group, member, generation, assignments=(), **more):
    fields = {
        "groupId": group,
        "generationId": generation,
        "memberId": member,
        "protocolType": "consumer",
        "protocolName": "range",
        "assignments": [{"memberId": m, "assignment": a} for m, a in assignments],
    }
    fields.update(more)
    return fields


def heartbeat_fields(group, member, generation, instance=None):
    return {"groupId": group, "generationId": generation, "memberId": member, "groupInstanceId": instance}


def leave_fields(v, group, *members):
    """`members` are (member id, instance id), perhaps with a reason; before version 3 there is only one."""
    if v < 3:
        return {"groupId": group, "memberId": members[0][0]}
    named = [dict(zip(("memberId", "groupInstanceId", "reason"), m)) for m in members]
    return {"groupId": group, "members": named}


def leave(b, v, group, *members):
    return b.call("LeaveGroup", v, leave_fields(v, group, *members))


def heartbeat(b, v, group, member, generation, instance=None):
    return b.call("Heartbeat", v, heartbeat_fields(group, member, generation, instance))


def describe(b, group, v=6):
    return b.call("DescribeGroups", v, {"groups": [group]})


def commit_fields(b, group, offsets, member="", generation=-1, instance=None, **more):
    """`offsets` is a list of (topic, {partition: offset or a dict of fields})."""
    topics = []
    for topic, partitions in offsets:
        entries = []
        for index, given in partitions.items():
            entry = {"partitionIndex": index, "committedOffset": 0, "committedMetadata": ""}
            entry.update(given if isinstance(given, dict) else {"committedOffset": given})
            entries.append(entry)
        topics.append({"name": topic, "topicId": b.id_of(topic), "partitions": entries})
    fields = {
        "groupId": group,
        "generationIdOrMemberEpoch": generation,
        "memberId": member,
        "groupInstanceId": instance,
        "topics": topics,
    }
    fields.update(more)
    return fields


def commit(b, v, group, offsets, **more):
    return b.call("OffsetCommit", v, commit_fields(b, group, offsets, **more))


def set_offsets(b, group, offsets):
    """Commits without recording it."""
    answer = b.ask("OffsetCommit", 8, commit_fields(b, group, offsets))
    if any(p["errorCode"] for t in answer["topics"] for p in t["partitions"]):
        raise KeyError(f"OffsetCommit: {answer}")


def fetch_fields(b, v, group, topics, **more):
    """`topics` is a list of (topic, partitions), or None for all that the group has."""
    named = None
    if topics is not None:
        named = [{"name": t, "topicId": b.id_of(t), "partitionIndexes": list(p)} for t, p in topics]
    if v < 8:
        if named is not None:
            named = [{k: t[k] for k in ("name", "partitionIndexes")} for t in named]
        return dict({"groupId": group, "topics": named}, **more)
    stable = more.pop("requireStable", False)
    return {"groups": [dict({"groupId": group, "topics": named}, **more)], "requireStable": stable}


def sorted_topics(answer):
    """A group's offsets without the order: when all are asked for, Kafka takes it from a hash table."""

    def tidy(topics):
        by_place = lambda p: p["partitionIndex"]
        return sorted(
            (dict(t, partitions=sorted(t["partitions"], key=by_place)) for t in topics),
            key=lambda t: t.get("name") or repr(len(t["partitions"])),
        )

    if "groups" in answer:
        return dict(answer, groups=[dict(g, topics=tidy(g["topics"])) for g in answer["groups"]])
    return dict(answer, topics=tidy(answer["topics"]))


def fetch(b, v, group, topics, **more):
    options = {} if topics is not None else {"keep": sorted_topics}
    return b.call("OffsetFetch", v, fetch_fields(b, v, group, topics, **more), **options)


class Member:
    """One client in a group, on a connection of its own. Every request is recorded."""

    def __init__(self, b, group, v=9, instance=None, protocols=(("range", b"meta"),), **more):
        self.b, self.group, self.v, self.instance = b, group, v, instance
        self.protocols, self.more = protocols, more
        self.connection = b.connect()
        self.id, self.generation, self.leads, self.answer = "", -1, False, None

    def start_join(self, **more):
        """Sends JoinGroup, which is answered when all members have sent theirs."""
        given = {"member": self.id, "instance": self.instance, "protocols": self.protocols, **self.more, **more}
        return self.b.send("JoinGroup", self.v, join_fields(self.group, **given), on=self.connection)

    def end_join(self, sent):
        answer = self.answer = self.b.receive(sent)
        if answer and answer["errorCode"] in (0, MEMBER_ID_REQUIRED):
            if not self.id:
                there(self.b, self.group)
            self.id = answer["memberId"]
        if answer and answer["errorCode"] == 0:
            self.generation, self.leads = answer["generationId"], answer["leader"] == self.id
        return answer

    def join(self, **more):
        return self.end_join(self.start_join(**more))

    def get_id(self):
        """Where an id is given out in advance, takes one."""
        if self.v >= 4 and self.instance is None and not self.id:
            self.join()

    def enter(self, **more):
        self.get_id()
        return self.join(**more)

    def start_enter(self):
        self.get_id()
        return self.start_join()

    def start_sync(self, assignments=(), **more):
        fields = dict(groupInstanceId=self.instance, **more)
        pairs = [(m.id if isinstance(m, Member) else m, a) for m, a in assignments]
        return self.b.send(
            "SyncGroup",
            SYNC[self.v],
            sync_fields(self.group, self.id, self.generation, pairs, **fields),
            on=self.connection,
        )

    def sync(self, assignments=(), **more):
        return self.b.receive(self.start_sync(assignments, **more))

    def heartbeat(self):
        fields = heartbeat_fields(self.group, self.id, self.generation, self.instance)
        return self.b.call("Heartbeat", HEARTBEAT[self.v], fields, on=self.connection)

    def leave(self):
        v = LEAVE[self.v]
        return self.b.call("LeaveGroup", v, leave_fields(v, self.group, (self.id, self.instance)), on=self.connection)

    def commit(self, offsets, **more):
        given = {"member": self.id, "generation": self.generation, "instance": self.instance, **more}
        return self.b.call(
            "OffsetCommit", COMMIT[self.v], commit_fields(self.b, self.group, offsets, **given), on=self.connection
        )


def there(b, group):
    """Waits until a group can be seen: a coordinator may answer the join that made it a little earlier. Where it is never
    seen, what is asked next tells."""
    deadline = time.monotonic() + 5
    while b.group_state(group) == "Dead" and time.monotonic() < deadline:
        time.sleep(0.005)


def heartbeat_code(member):
    """The heartbeat's error code, without recording it."""
    fields = {"groupId": member.group, "generationId": member.generation, "memberId": member.id}
    return member.b.ask("Heartbeat", 2, fields)["errorCode"]


def settled(b, group):
    """Where a request that waits changes nothing that can be asked for: so many requests later it has come in."""
    for _ in range(50):
        b.group_state(group)


def alone(b, v=9, suffix="g", assignment=b"all", **more):
    """A group of one member, stable."""
    one = Member(b, b.group(suffix), v, **more)
    one.enter()
    name = one.answer["protocolName"] if one.answer else "range"
    kind = more.get("protocolType", "consumer")
    one.sync([(one, assignment)], protocolName=name, protocolType=kind)
    return one


def preparing(one, *others):
    """Has the others join while the first, who leads a stable group, knows nothing of it; returns their requests."""
    sent = [other.start_enter() for other in others]
    one.b.in_state(one.group, "PreparingRebalance")
    for _ in others[1:]:
        # The first has set off the rebalance; wait for the rest of them too.
        one.b.until(
            "all waiting",
            lambda: len(one.b.ask("DescribeGroups", 5, {"groups": [one.group]})["groups"][0]["members"]) > len(others),
        )
    return sent


ONE = {"protocols": (("range", b"one"),)}
TWO = {"protocols": (("range", b"two"),)}
THREE = {"protocols": (("range", b"three"),)}


def together(b, v=9, suffix="g", first=None, others=(TWO,)):
    """A group of two members (or more) whose join is through; the first leads, nobody has synced."""
    one = alone(b, v, suffix, **(first or ONE))
    rest = [Member(b, one.group, v, **o) for o in others]
    sent = preparing(one, *rest)
    rejoined = one.start_join()
    for member, request in zip(rest, sent):
        member.end_join(request)
    one.end_join(rejoined)
    return [one, *rest]


def stable(b, v=9, suffix="g", first=None, others=(TWO,)):
    """The same, synced."""
    members = together(b, v, suffix, first, others)
    waiting = [m.start_sync() for m in members[1:]]
    members[0].sync([(m, b"part %d" % i) for i, m in enumerate(members)])
    for request in waiting:
        b.receive(request)
    return members
