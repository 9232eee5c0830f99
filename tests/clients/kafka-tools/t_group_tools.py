"""t_group_tools.py BOOTSTRAP LIB: Kafka's own tools that consume in a group, look at groups and move their offsets."""
import datetime
import pathlib
import re
import sys
import tempfile

from tools import Tools, until

from check import Check, need  # beside python/, which tools.py puts on the path

BOOT = ["--bootstrap-server", sys.argv[1]]
tool = Tools(sys.argv[2])
c = Check("group-tools")
topic, other = c.name("t"), c.name("other")
group, perf_group, live, absent = c.name("group"), c.name("perf"), c.name("live"), c.name("absent")
N = 60  # records that are written at a time
middle, ends = {}, {}  # of the topic's partitions, once the first and once all records are written
moment = None  # between the two


COMMAND = "consumer.group.ConsumerGroupCommand"


def groups(*args):
    """What the tool prints. It ends with 0 also when it tells of an error."""
    out = tool(COMMAND, *BOOT, *args)
    need("Error:" not in out, out)
    return out


def refused(*args):
    """What the tool prints about a request that is refused."""
    out = tool(COMMAND, *BOOT, *args)
    need("Error:" in out, f"not refused: {out}")
    return out


def rows(out, *columns):
    """The rows of a table behind its head, which names these columns, perhaps among more; as lists of words."""
    lines = [line.split() for line in out.splitlines()]
    at = next((i for i, words in enumerate(lines) if words[:1] == ["GROUP"]), None)
    need(at is not None and set(columns) <= set(lines[at]), f"no table of {' '.join(columns)}: {out}")
    found = []
    for words in lines[at + 1:]:
        if not words:
            break
        found.append(words)
    return found


def committed(name, of=None):
    """The offsets of a group without members: {partition: offset}; checks ends and lags of the topic that is known."""
    out = groups("--describe", "--group", name)
    need(f"Consumer group '{name}' has no active members." in out, out)
    found = {}
    for named, in_topic, partition, offset, end, lag, *member in rows(out, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"):
        need(named == name and member == ["-", "-", "-"], out)
        need(int(end) - int(offset) == int(lag), out)
        if in_topic == topic:
            need(int(end) == ends[int(partition)], out)
        if in_topic == (of or topic):
            found[int(partition)] = int(offset)
    return found


def log_ends(name):
    out = tool("GetOffsetShell", *BOOT, "--topic", name, "--time", "latest")
    return {int(p): int(end) for p, end in re.findall(rf"^{re.escape(name)}:(\d+):(\d+)$", out, re.M)}


def write(name, first, count=N):
    """Records with keys, which spread them over the partitions, and the lines `line-N` from `first` on."""
    lines = "".join(f"{i}:line-{i}\n" for i in range(first, first + count))
    tool("ConsoleProducer", *BOOT, "--topic", name, "--reader-property", "parse.key=true", "--reader-property",
         "key.separator=:", stdin=lines)


def produce():
    global moment
    for name in (topic, other):
        tool("TopicCommand", *BOOT, "--create", "--topic", name, "--partitions", 3)
    write(topic, 0)
    middle.update(log_ends(topic))
    moment = datetime.datetime.now(datetime.timezone.utc)
    write(topic, N)
    ends.update(log_ends(topic))
    write(other, 0, 6)
    need(len(middle) == 3 and sum(middle.values()) == N and all(middle.values()), middle)
    need(sum(ends.values()) == 2 * N and all(ends[p] > middle[p] for p in ends), ends)


def consume(name, *args):
    """What ConsoleConsumer reads in the group."""
    out = tool("consumer.ConsoleConsumer", *BOOT, "--topic", name, "--group", group, "--timeout-ms", 5000, *args)
    return [line for line in out.splitlines() if line.startswith("line-")]


def console_consumer():
    got = consume(topic, "--from-beginning", "--max-messages", 2 * N)
    need(sorted(got) == sorted(f"line-{i}" for i in range(2 * N)), f"{len(got)} records")
    need(committed(group) == ends, committed(group))
    need(len(consume(other, "--from-beginning", "--max-messages", 6)) == 6, "the other topic")


def console_consumer_goes_on():
    """It begins where the group is, also where it is told to begin at the beginning."""
    write(topic, 2 * N, 3)
    ends.update(log_ends(topic))
    got = consume(topic, "--from-beginning", "--max-messages", 3)
    need(sorted(got) == [f"line-{i}" for i in range(2 * N, 2 * N + 3)], got)


def consumer_perf():
    out = tool("ConsumerPerformance", *BOOT, "--topic", topic, "--group", perf_group, "--num-records", 2 * N + 3,
               "--timeout", 10000, "--hide-header")
    need(int(out.splitlines()[-1].split(",")[4]) == 2 * N + 3, out)
    need(committed(perf_group) == ends, committed(perf_group))


def listed(*args):
    """Lines of --list that are about groups of this run."""
    return [line.split() for line in groups("--list", *args).splitlines() if c.run_id in line]


def list_groups():
    need(sorted(listed()) == [[group], [perf_group]], listed())
    need(sorted(listed("--state")) == [[group, "Empty"], [perf_group, "Empty"]], listed("--state"))
    need(sorted(listed("--type", "classic")) == [[group, "Classic"], [perf_group, "Classic"]], listed("--type", "classic"))
    need(not listed("--state", "stable") and not listed("--type", "consumer"), "groups of another kind")


def describe():
    need(committed(group, other) == log_ends(other), committed(group, other))
    for name in (group, perf_group):
        (row,) = rows(groups("--describe", "--group", name, "--state"), "COORDINATOR", "STATE", "#MEMBERS")
        need(row == [name, sys.argv[1], "(1)", "-", "Empty", "0"], row)


def describe_absent():
    out = refused("--describe", "--group", absent)
    need("GroupIdNotFoundException" in out and absent in out, out)


def new_offsets(out, of):
    return {int(p): int(offset) for name, in_topic, p, offset in rows(out, "TOPIC", "PARTITION", "NEW-OFFSET")
            if name == group and in_topic == of}


def reset(*how, wanted):
    """A dry run says what would be and changes nothing; the run says the same and does it."""
    before, ask = committed(group), ["--reset-offsets", "--group", group, "--topic", topic, *how]
    want = {p: wanted(p, before[p]) for p in ends}
    told = new_offsets(groups(*ask, "--dry-run"), topic)
    need(told == want, f"dry run: {told}, wanted {want}")
    need(committed(group) == before, "the dry run has changed offsets")
    told = new_offsets(groups(*ask, "--execute"), topic)
    need(told == want == committed(group), f"{told}, now {committed(group)}, wanted {want}")


def reset_some():
    """Only the partitions that are named."""
    before = committed(group)
    groups("--reset-offsets", "--group", group, "--topic", f"{topic}:0,2", "--to-offset", 2, "--execute")
    need(committed(group) == {0: 2, 1: before[1], 2: 2}, committed(group))


def reset_from_file():
    wanted = {0: 3, 1: 5, 2: 4}
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "offsets.csv"
        plan.write_text("".join(f"{topic},{p},{offset}\n" for p, offset in wanted.items()))
        groups("--reset-offsets", "--group", group, "--from-file", plan, "--execute")
        need(committed(group) == wanted, committed(group))
        out = groups("--reset-offsets", "--group", group, "--topic", topic, "--to-current", "--export", "--dry-run")
        exported = re.findall(rf'^"?{re.escape(topic)}"?,"?(\d+)"?,"?(\d+)"?$', out, re.M)
        need({int(p): int(offset) for p, offset in exported} == wanted, out)


def reset_all_topics():
    out = groups("--reset-offsets", "--group", group, "--all-topics", "--to-earliest", "--execute")
    for name in (topic, other):
        need(new_offsets(out, name) == dict.fromkeys(ends, 0) == committed(group, name), f"{name}: {out}")


def reset_absent():
    """A group comes up by its offsets being set."""
    groups("--reset-offsets", "--group", absent, "--topic", topic, "--to-latest", "--execute")
    need(committed(absent) == ends, committed(absent))


def members():
    """A group with a member, and what must not be done to it."""
    member = tool.beside("consumer.ConsoleConsumer", *BOOT, "--topic", topic, "--group", live, "--command-property",
                         "client.id=walker")
    try:
        until("no stable group", lambda: [live, "Stable"] in listed("--state"))
        (row,) = rows(groups("--describe", "--group", live, "--members", "--verbose"), "CONSUMER-ID", "#PARTITIONS")
        need(row[0] == live and row[1].startswith("walker-") and row[2:5] == ["/127.0.0.1", "walker", "3"], row)
        need(row[5:] == ["-", f"{topic}:0,1,2", "-", "-"], row)  # no epochs in a classic group
        (row,) = rows(groups("--describe", "--group", live, "--state"), "STATE", "#MEMBERS")
        need(row[0] == live and row[-3:] == ["range", "Stable", "1"], row)
        owned = rows(groups("--describe", "--group", live), "CONSUMER-ID")
        need([r[1:3] for r in owned] == [[topic, str(p)] for p in ends], owned)
        need(all(r[-1] == "walker" and r[-2] == "/127.0.0.1" for r in owned), owned)
        out = refused("--delete", "--group", live)
        need("GroupNotEmptyException" in out, out)
        out = refused("--reset-offsets", "--group", live, "--topic", topic, "--to-earliest", "--execute")
        need(f"Assignments can only be reset if the group '{live}' is inactive" in out, out)
        out = refused("--delete-offsets", "--group", live, "--topic", topic)
        need("subscribed" in out, out)
    finally:
        member.terminate()
        member.communicate()
    until("the member stays", lambda: [live, "Empty"] in listed("--state"))
    need(committed(live) == ends, committed(live))


def delete_offsets():
    out = groups("--delete-offsets", "--group", group, "--topic", f"{topic}:0,1")
    need(f"Request succeeded for deleting offsets from group {group}." in out and out.count("Successful") == 2, out)
    need(committed(group).keys() == {2}, committed(group))
    groups("--delete-offsets", "--group", group, "--topic", topic)
    need(committed(group) == {} and committed(group, other), "what is left")


def delete():
    out = groups("--delete", "--group", group, "--group", live)
    need("Deletion of requested consumer groups" in out and "was successful." in out, out)
    need(sorted(listed()) == [[absent], [perf_group]], listed())
    out = refused("--delete", "--group", group)
    need("GroupIdNotFoundException" in out, out)


def clear():
    for name in (topic, other):
        tool("TopicCommand", *BOOT, "--delete", "--topic", name)
    groups("--delete", "--group", perf_group, "--group", absent)
    need(not listed(), listed())


c("topics", produce)
c("console-consumer", console_consumer)
c("console-consumer-goes-on", console_consumer_goes_on)
c("consumer-perf", consumer_perf)
c("list", list_groups)
c("describe", describe)
c("describe-absent", describe_absent)
for name, how, wanted in (
    ("earliest", ["--to-earliest"], lambda p, now: 0),
    ("latest", ["--to-latest"], lambda p, now: ends[p]),
    ("shift-back", ["--shift-by", -4], lambda p, now: now - 4),
    ("current", ["--to-current"], lambda p, now: now),
    ("shift-too-far", ["--shift-by", 100], lambda p, now: ends[p]),
    ("offset", ["--to-offset", 7], lambda p, now: 7),
    ("offset-beyond", ["--to-offset", 100000], lambda p, now: ends[p]),
    ("duration", ["--by-duration", "P1D"], lambda p, now: 0),
    ("duration-none", ["--by-duration", "PT0S"], lambda p, now: ends[p]),
):
    c(f"reset-{name}", lambda how=how, wanted=wanted: reset(*how, wanted=wanted))
c("reset-datetime", lambda: reset("--to-datetime", f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}",
                                  wanted=lambda p, now: middle[p]))
c("reset-partitions", reset_some)
c("reset-from-file", reset_from_file)
c("reset-all-topics", reset_all_topics)
c("reset-absent", reset_absent)
c("members", members)
c("delete-offsets", delete_offsets)
c("delete", delete)
c("clear", clear)
c.done()
