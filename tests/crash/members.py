"""A group of consumers that come, go and crash: every record must be read, and reading one twice must have a reason."""

import collections

from node import until
from programs import Program

PATIENCE = 180.0


class Assignment:
    """What one member read of a partition, from being given it to losing it."""

    def __init__(self, member, partition, since):
        self.member, self.partition, self.since = member, partition, since
        self.first = self.last = None


class Group:
    """The members of one group and what they noted. Times are microseconds of this machine's clock."""

    def __init__(self, node, topic, partitions, group, assignor, kinds):
        self.node, self.topic, self.partitions, self.group, self.assignor = node, topic, partitions, group, assignor
        self.kinds, self.members, self.gone = list(kinds), [], []
        self.faults, self.started = [], 0
        self.reads = [collections.Counter() for _ in range(partitions)]  # offset -> how often it was read
        self.records = [{} for _ in range(partitions)]  # offset -> what was read there
        self.commits = [[] for _ in range(partitions)]  # (time of the acknowledgement, offset)
        self.assignments = []
        self._open = {}  # (member, partition) -> Assignment

    def add(self, kind=None):
        kind = kind or self.kinds[self.started % len(self.kinds)]
        host, port = self.node.listeners["PLAINTEXT"]
        name = f"{self.group}-{self.started}-{kind}"
        self.started += 1
        arguments = self.topic, self.group, self.assignor
        self.members.append(Program(kind, "consume", f"{host}:{port}", self.node.folder, name, *arguments))
        return self.members[-1]

    def leave(self, member):
        """The member is asked to go, and goes."""
        member.finish()

        def left():
            self.healthy()
            return member.ended

        until(f"{member.name} leaving", left, PATIENCE)
        self._retire(member)

    def crash(self, member):
        member.kill()
        self.take_news()
        self._retire(member)

    def _retire(self, member):
        self.members.remove(member)
        self.gone.append(member)

    def take_news(self):
        for member in self.members:
            for words in member.news():
                self._take(member, words[0], *words[1:])

    def _take(self, member, what, partition, *rest):
        p, key = int(partition), (member.name, int(partition))
        if what == "assigned":
            self._open[key] = Assignment(member.name, p, int(rest[0]))
            self.assignments.append(self._open[key])
        elif what in ("revoked", "lost"):
            self._open.pop(key, None)
        elif what == "read":
            self._read(key, p, int(rest[0]), (rest[1], int(rest[2])))
        elif what == "committed":
            self.commits[p].append((int(rest[1]), int(rest[0])))

    def _read(self, key, partition, offset, record):
        open_ = self._open.get(key)
        if open_ is None:
            self.faults.append(f"{key[0]} read {partition}@{offset}, which it was not assigned")
            return
        if open_.first is None:
            open_.first = offset
        elif offset != open_.last + 1:
            self.faults.append(f"{key[0]} read {partition}@{offset} after {open_.last}")
        open_.last = offset
        self.reads[partition][offset] += 1
        if self.records[partition].setdefault(offset, record) != record:
            known = self.records[partition][offset]
            self.faults.append(f"{key[0]} read {record} at {partition}@{offset}, where {known} was")

    def everyone_reads(self):
        """Waits until every member that is here has been given something, and someone owns every partition."""

        def settled():
            self.healthy()
            here = {member.name for member in self.members}
            owners = [name for name, _ in self._open if name in here]
            owned = {p for name, p in self._open if name in here}
            return here == set(owners) and len(owned) == self.partitions

        until("every member having partitions", settled, PATIENCE)

    def caught_up(self, ends):
        """Waits until every offset below the ends has been read."""

        def all_read():
            self.healthy()
            return all(len(self.reads[p]) >= end for p, end in enumerate(ends))

        try:
            until("every record being read", all_read, PATIENCE)
        except AssertionError:
            for p, end in enumerate(ends):
                missing = [o for o in range(end) if o not in self.reads[p]]
                if missing:
                    self.faults.append(f"{p}: {len(missing)} records of {end} were read by nobody, first {missing[:5]}")

    def healthy(self):
        """Takes the news; whoever should run does."""
        dead = [member for member in self.members if not member.alive()]
        self.take_news()  # of those too, whose last line may have come with their end
        for member in dead:
            if not member.ended:
                raise AssertionError(f"{member.name} ended by itself: {member.said()}")

    def explain(self):
        """Who is given a partition starts behind everything whose commit was acknowledged before that: so only what was
        not committed is read twice."""
        for one in self.assignments:
            if one.first is None:
                continue
            before = max((offset for when, offset in self.commits[one.partition] if when <= one.since), default=0)
            if one.first < before:
                where = f"{one.partition}@{one.first}"
                self.faults.append(f"{one.member} began at {where}, though {before} was committed before that")

    def repeated(self):
        return sum(times - 1 for reads in self.reads for times in reads.values())

    def close(self):
        for member in self.members + self.gone:
            member.close()
