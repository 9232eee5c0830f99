"""The project's targets, row by row, and whether one run of bench/run meets them.

A row compares Thalweg with Kafka at its default, which syncs nothing before it answers. Thalweg is durable there unless
the row says `none` (log.flush.acks=none). Where a share of Kafka's figure lies below the floor of the same run, 1.5
times the floor counts instead.
"""

import statistics

ABOVE_FLOOR = 1.5
# A p99 beside a slow disk up to so many times the p99 alone is called flat.
FLAT = 1.5
DURABLE, NONE, ANY = "durable", "none", "any"

PRODUCE = "produce 1024 B, 6 part., none"
ONE_RECORD = "1-record produce 50 conns"
COMMIT = "OffsetCommit 1000 groups, 50 conns"
BEATS = "heartbeats of 1000 groups x 10 members"
AFTER_ALL = "idle, after load"
IN_TURN = (1, 64, 500, 5000)


class Row:
    """One figure: where it stands among the results, and what is wanted of it.

    share     at most so much of Kafka's figure
    rate      at least so many times Kafka's figure
    limit     at most this, whatever Kafka's
    (none of them: the figure is only stated)
    floor     the floor's workload with the same figure
    policy    which Thalweg: DURABLE, NONE, or ANY where the flush policy plays no part
    """

    def __init__(self, label, workload, key, share=None, rate=None, limit=None, floor=None, policy=ANY):
        self.label, self.workload, self.key, self.floor, self.policy = label, workload, key, floor, policy
        self.share, self.rate, self.limit = share, rate, limit

    def target(self):
        if self.share is not None:
            return f"≤ {self.share:g} × Kafka's"
        if self.rate is not None:
            return f"≥ {self.rate:g} × Kafka's"
        return "stated" if self.limit is None else f"≤ {self.limit:,g}"

    def judge(self, kafka, floor, here):
        """What the target is, with the figures at hand, and whether it is met."""
        target = self.target()
        if here is None:
            return target, "not measured"
        if self.limit is not None:
            return target, met(here <= self.limit)
        if self.share is None and self.rate is None:
            return target, "stated"
        if kafka is None:
            return target, "no Kafka figure"
        if self.rate is not None:
            return target, met(here >= self.rate * kafka)
        most = self.share * kafka
        if floor is not None and most < ABOVE_FLOOR * floor:
            most, target = ABOVE_FLOOR * floor, f"≤ {ABOVE_FLOOR:g} × floor ({target})"
        return target, met(here <= most)


def met(yes):
    return "met" if yes else "MISSED"


ROWS = [
    Row("broker user CPU s/GiB, produce 1 KiB, 6 partitions", PRODUCE, "user_s_per_gib", share=0.2, policy=DURABLE),
    Row("the same, user and system", PRODUCE, "cpu_s_per_gib", share=0.7, floor="raw produce 1 conn", policy=DURABLE),
    *(
        Row(f"raw produce, {n} connections, CPU s/GiB", w, "cpu_s_per_gib", share=0.35, floor=w, policy=DURABLE)
        for n in (50, 500)
        for w in [f"raw produce {n} conns"]
    ),
    Row("consume 1 KiB in a group, CPU s/GiB", "consume 1024 B, 6 part., none", "cpu_s_per_gib", share=0.4,
        floor="raw fetch 1 conn"),
    Row("consume 1 KiB, partitions assigned, CPU s/GiB", "consume assigned 1024 B, 6 part., none", "cpu_s_per_gib",
        share=0.4, floor="raw fetch 1 conn"),
    Row("raw fetch, 50 connections, CPU s/GiB", "raw fetch 50 conns", "cpu_s_per_gib", share=0.4,
        floor="raw fetch 50 conns"),
    Row("CPU µs per 1-record produce, 50 connections, none", ONE_RECORD, "cpu_us_per_request", share=0.4,
        floor=ONE_RECORD, policy=NONE),
    Row("the same, durable", ONE_RECORD, "cpu_us_per_request", policy=DURABLE),
    Row("CPU µs per record at 1,000 records/s, no linger, none", "latency 1000/s", "cpu_us_per_record", share=0.25,
        policy=NONE),
    Row("the same, durable", "latency 1000/s", "cpu_us_per_record", policy=DURABLE),
    Row("CPU µs per ApiVersions, 50 connections", "ApiVersions 50 conns", "cpu_us_per_request", share=0.25,
        floor="ApiVersions 50 conns"),
    Row("CPU µs per Metadata, 50 connections", "Metadata 50 conns", "cpu_us_per_request", share=0.35,
        floor="Metadata 50 conns"),
    Row("p99 µs end to end at 10,000 records/s, none", "latency 10000/s", "p99_us", share=0.5, policy=NONE),
    Row("the same, durable", "latency 10000/s", "p99_us", policy=DURABLE),
    *(Row(f"p99 µs of durable produce, {n:,} partitions in turn", f"produce in turn, {n} part.", "p99_us", floor="sync",
          policy=DURABLE) for n in IN_TURN),
    Row("create 5,000 partitions until all serve, ms", "create 5000 partitions", "served_ms", share=0.1),
    Row("OffsetCommit of 1,000 groups, CPU µs each", COMMIT, "cpu_us_per_request", share=0.5, floor=COMMIT,
        policy=DURABLE),
    Row("the same, commits/s", COMMIT, "requests_s", rate=1.5, policy=DURABLE),
    Row("the same, p99 µs", COMMIT, "p99_us", share=1, policy=DURABLE),
    Row("1,000 groups × 10 members heartbeating, CPU ms/s", BEATS, "cpu_ms_per_s", share=0.25),
    Row("the same, CPU µs per heartbeat", BEATS, "cpu_us_per_request", share=0.25),
    Row("start to first answer, empty, ms", "start-up", "ready_ms", limit=100),
    Row("the same, 1,000 partitions, clean", "start-up, 1000 part., clean", "ready_ms", limit=1000),
    Row("the same, 1,000 partitions, after kill -9", "start-up, 1000 part., killed", "ready_ms", limit=1000),
    Row("resident MiB, idle", "idle, before load", "rss_mib", limit=40),
    Row("resident MiB after the whole kit", AFTER_ALL, "rss_mib", limit=250),
]  # fmt: skip


def middle(values):
    return statistics.median(values) if values else None


class Results:
    """What one run has measured.

    got      as bench's samples() gives it: {broker: {workload: {figure: [values]}}}
    floor    {workload: [figures of one run, ...]}
    sync_us  what one sync costs
    sides    {DURABLE, NONE, ANY: name of the broker that stands for it, or None}
    whole    whether no workload was left out on demand
    quiet    share of the machine that others may use during an undisturbed run
    """

    def __init__(self, got, floor, sync_us, sides, whole, quiet):
        self.got, self.floor_runs, self.sync_us, self.sides = got, floor, sync_us, sides
        self.whole, self.quiet = whole, quiet

    def figure(self, broker, row):
        return middle(self.got.get(broker, {}).get(row.workload, {}).get(row.key))

    def here(self, row):
        if row.workload == AFTER_ALL and not self.whole:
            return None
        return self.figure(self.sides.get(row.policy), row)

    def label(self, row):
        """The row's label, with a mark where the machine had other things to do whenever its workload ran."""
        for broker in ("kafka", self.sides.get(row.policy)):
            disturbed = self.got.get(broker, {}).get(row.workload, {}).get("disturbed", [0])
            if min(disturbed) > self.quiet:
                return row.label + "*"
        return row.label

    def floor(self, row):
        if row.floor == "sync":
            return self.sync_us
        return middle([run[row.key] for run in self.floor_runs.get(row.floor, []) if row.key in run])


def line(num, label, kafka, floor, here, target, verdict):
    ratio = f"{here / kafka:.2f}" if kafka and here is not None else "-"
    return [label, num(kafka), num(floor), num(here), ratio, target, verdict]


def in_turn(num, results):
    """The p99 with ever more partitions: from one row to the next it may grow only more slowly than their number."""
    rows, before = [], None
    for row, count in zip((r for r in ROWS if r.floor == "sync"), IN_TURN):
        here = results.here(row)
        target, verdict = row.judge(None, None, here)
        if here and before:
            target = f"< {count / before[0]:.1f} × the line above"
            verdict = met(here / before[1] < count / before[0])
        if here:
            before = (count, here)
        kafka, floor = results.figure("kafka", row), results.floor(row)
        rows.append(line(num, results.label(row), kafka, floor, here, target, verdict))
    return rows


def throughput(num, results, shown):
    """One line for all workloads, and one for each that is slower than Kafka."""
    slower, counted = [], 0
    for workload, show in shown.items():
        figure = next(((key, unit) for key, unit, more_is_better in show if more_is_better), None)
        if figure is None or workload == BEATS:  # heartbeats come at a fixed rate
            continue
        row = Row(f"throughput, {workload}, {figure[1]}", workload, figure[0], rate=1, policy=DURABLE)
        kafka, here = results.figure("kafka", row), results.here(row)
        if kafka is None or here is None:
            continue
        counted += 1
        target, verdict = row.judge(kafka, None, here)
        if verdict != "met":
            slower.append(line(num, results.label(row), kafka, None, here, target, verdict))
    if not counted:
        return []
    label = f"throughput: {counted - len(slower)} of {counted} workloads at or above Kafka's"
    return [line(num, label, None, None, None, "all of them", met(not slower)), *slower]


def idle_partitions(num, measured):
    row = Row(f"resident KiB for each of {measured['partitions']:,} idle partitions", "", "", limit=4)
    return [line(num, row.label, None, None, measured["kib_each"], *row.judge(None, None, measured["kib_each"]))]


def slow_disk(num, measured, here_name):
    """{broker: what special.slow_disk gives} -> how many times the p99 of others is beside cold reads."""
    def grown(name):
        one = measured.get(name)
        return one["beside_p99_us"] / one["alone_p99_us"] if one else None
    here = grown(here_name)
    row = Row("p99 of other connections beside a slow disk, × alone", "", "", limit=FLAT)
    return [line(num, row.label, grown("kafka"), None, here, *row.judge(None, None, here))]


def table(kit_module, results, shown, many=None, slow=None):
    """The table: figure, Kafka, floor, here, ratio, target, met or missed."""
    num, rows = kit_module.num, []
    for row in ROWS:
        if row.floor == "sync":
            if row.workload.endswith(f" {IN_TURN[0]} part."):
                rows += in_turn(num, results)
            continue
        kafka, floor, here = results.figure("kafka", row), results.floor(row) if row.floor else None, results.here(row)
        rows.append(line(num, results.label(row), kafka, floor, here, *row.judge(kafka, floor, here)))
    if many:
        rows += idle_partitions(num, many)
    rows += throughput(num, results, shown)
    if slow:
        rows += slow_disk(num, slow, results.sides[ANY])
    head = ["figure", "Kafka", "floor", "here", "ratio", "target", "verdict"]
    return kit_module.table(head, rows)
