"""What administers a cluster, asked of a cluster of one node: elections, reassignments, the quorum, features, and who takes
part."""

import batch
from harness import case
from wire import ZERO_UUID

from .acls import ALL, ALTER, DENY, DESCRIBE, READ, few, guard, on_cluster, put, with_cluster

MISSING = 4711  # no broker, no controller
STRANGER = "ASNFZ4mrze8BI0VniavN7w"  # the id of no directory
UNCLEAN = 1


# -- ElectLeaders ------------------------------------------------------------------------------------------------------


def elect(b, v, topics, **more):
    """`topics` is a list of (name, partitions), or None for all."""
    wanted = None if topics is None else [{"topic": n, "partitions": list(p)} for n, p in topics]
    return b.call("ElectLeaders", v, dict({"topicPartitions": wanted, "timeoutMs": 10000}, **more))


@case("elect-leaders/led-already", versions=range(3))
def led_already(b, v):
    elect(b, v, [(b.topic(partitions=3), [2, 0])])


@case("elect-leaders/types", versions=[1, 2], each={"unclean": 1, "2": 2, "-1": -1, "127": 127})
def election_types(b, v, kind):
    name = b.topic()
    elect(b, v, [(name, [0])], electionType=kind)
    elect(b, v, [], electionType=kind)
    b.alive()


@case("elect-leaders/unknown", versions=range(3))
def elect_unknown(b, v):
    name = b.topic()
    elect(b, v, [(b.topic_name("missing"), [0, 7]), (name, [0, 1, -1, 2147483647])])
    elect(b, v, [("", [0]), ("a/b", [0])])


@case("elect-leaders/unknown-unclean", versions=[1, 2])
def elect_unknown_unclean(b, v):
    elect(b, v, [(b.topic_name("missing"), [0]), (b.topic(), [0, 3])], electionType=UNCLEAN)


@case("elect-leaders/nothing", versions=range(3))
def elect_nothing(b, v):
    elect(b, v, [])
    elect(b, v, [(b.topic(), [])])
    elect(b, v, [(b.topic_name("missing"), [])])


@case("elect-leaders/twice", versions=[0, 2])
def elect_twice(b, v):
    name = b.topic(partitions=2)
    elect(b, v, [(name, [1, 1])])
    elect(b, v, [(name, [1]), (b.topic_name("missing"), [0]), (name, [0])])


@case("elect-leaders/all", versions=range(3))
def elect_all(b, v):
    name = b.topic(partitions=2)

    def mine(answer):
        results = [r for r in answer["replicaElectionResults"] if r["topic"] == name]
        return dict(answer, replicaElectionResults=results)

    wanted = {"topicPartitions": None, "timeoutMs": 10000}
    b.call("ElectLeaders", v, wanted, keep=mine)
    if v >= 1:
        b.call("ElectLeaders", v, dict(wanted, electionType=UNCLEAN), keep=mine)
        b.call("ElectLeaders", v, dict(wanted, electionType=5), keep=mine)


@case("elect-leaders/timeout", versions=[2], each={"0": 0, "-1": -1, "min": -(1 << 31)})
def elect_timeout(b, v, milliseconds):
    elect(b, v, [(b.topic(), [0])], timeoutMs=milliseconds)
    b.alive()


# -- AlterPartitionReassignments, ListPartitionReassignments -----------------------------------------------------------


def reassign(b, v, topics, **more):
    """`topics` is a list of (name, [(partition, replicas)])."""
    wanted = [{"name": n, "partitions": [{"partitionIndex": p, "replicas": r} for p, r in ps]} for n, ps in topics]
    return b.call("AlterPartitionReassignments", v, dict({"topics": wanted, "timeoutMs": 10000}, **more))


def reassignments(b, topics, **more):
    wanted = None if topics is None else [{"name": n, "partitionIndexes": p} for n, p in topics]
    return b.call("ListPartitionReassignments", 0, dict({"topics": wanted, "timeoutMs": 10000}, **more))


REPLICAS = {
    "here": [1],
    "none": [],
    "missing": [MISSING],
    "negative": [-1],
    "here-and-missing": [1, MISSING],
    "missing-and-here": [MISSING, 1],
    "here-and-negative": [1, -1],
    "twice": [1, 1],
    "missing-twice": [MISSING, MISSING],
    "zero": [0],
    "many": [1, 2, 3],
    "cancel": None,
}


@case("alter-reassignments/replicas", versions=range(2), each=REPLICAS)
def replicas(b, v, wanted):
    name = b.topic(partitions=2)
    reassign(b, v, [(name, [(1, wanted), (0, [1])])])
    reassignments(b, [(name, [0, 1])])
    b.call("Metadata", 12, {"topics": [{"name": name}]})


@case("alter-reassignments/factor", each=REPLICAS)
def factor(b, wanted):
    name = b.topic()
    reassign(b, 1, [(name, [(0, wanted)])], allowReplicationFactorChange=False)


@case("alter-reassignments/unknown", versions=range(2))
def reassign_unknown(b, v):
    name, missing = b.topic(), b.topic_name("missing")
    reassign(b, v, [(missing, [(0, [1]), (1, None), (2, []), (3, [MISSING])])])
    reassign(b, v, [(name, [(1, [1]), (-1, None), (7, [MISSING])]), ("", [(0, [1])]), ("a/b", [(0, [1])])])


@case("alter-reassignments/nothing", versions=range(2))
def reassign_nothing(b, v):
    reassign(b, v, [])
    reassign(b, v, [(b.topic(), [])])
    reassign(b, v, [(b.topic_name("missing"), [])])


@case("alter-reassignments/twice", versions=range(2))
def reassign_twice(b, v):
    name = b.topic(partitions=2)
    reassign(b, v, [(name, [(0, [1]), (0, [MISSING]), (0, None)]), (name, [(1, [1])])])


@case("alter-reassignments/timeout", each={"0": 0, "-1": -1, "min": -(1 << 31)})
def reassign_timeout(b, milliseconds):
    reassign(b, 1, [(b.topic(), [(0, [1])])], timeoutMs=milliseconds)
    b.alive()


@case("list-reassignments/all")
def list_all(b):
    b.topic()
    reassignments(b, None)


@case("list-reassignments/some")
def list_some(b):
    name = b.topic(partitions=2)
    reassignments(b, [])
    reassignments(b, [(name, []), (b.topic_name("missing"), [0]), (name, [0, 1, 7, -1])])
    reassignments(b, [("", [0]), ("a/b", [0])])


@case("list-reassignments/timeout", each={"0": 0, "-1": -1})
def list_timeout(b, milliseconds):
    reassignments(b, None, timeoutMs=milliseconds)
    b.alive()


# -- DescribeProducers -------------------------------------------------------------------------------------------------


def producers(b, *topics):
    return b.call("DescribeProducers", 0, {"topics": [{"name": n, "partitionIndexes": list(p)} for n, p in topics]})


def sent(b, name, producer, sequence, epoch=0, partition=0, records=3):
    values = [batch.record(b"v", timestamp=batch.TIME + 10 * i) for i in range(records)]
    data = batch.batch(values, producer_id=producer, producer_epoch=epoch, sequence=sequence)
    b.fill(name, data, partition)


@case("describe-producers/none")
def no_producers(b):
    name = b.topic(partitions=2)
    b.fill(name)
    producers(b, (name, [1, 0]))


@case("describe-producers/one")
def one_producer(b):
    name, producer = b.topic(partitions=2), b.producer()
    sent(b, name, producer, 0)
    producers(b, (name, [0, 1]))
    sent(b, name, producer, 3, records=5)
    producers(b, (name, [0]))
    sent(b, name, producer, 0, epoch=1, records=1)
    producers(b, (name, [0]))


@case("describe-producers/several")
def several_producers(b):
    name, one, other = b.topic(), b.producer(), b.producer()
    sent(b, name, other, 0, records=1)
    sent(b, name, one, 0, records=2)
    sent(b, name, other, 1, epoch=0, records=1)
    producers(b, (name, [0]))


@case("describe-producers/unknown")
def unknown_producers(b):
    name = b.topic()
    producers(b, (b.topic_name("missing"), [0, 3]), (name, [1, -1, 2147483647, 0]), ("", [0]), ("a/b", [0]))
    b.alive()


@case("describe-producers/nothing")
def nothing_to_describe(b):
    producers(b)
    producers(b, (b.topic(), []), (b.topic_name("missing"), []))


@case("describe-producers/twice")
def describe_twice(b):
    name = b.topic(partitions=2)
    producers(b, (name, [0, 0]), (b.topic_name("missing"), [0]), (name, [1]))


@case("authorize/describe-producers", each=few(READ))
def guarded_producers(b, what):
    name = guard(b, b.topic(), what)
    producers(b, (name, [0, 1]), (b.topic("open"), [0]))
    producers(b, (guard(b, b.topic_name("missing"), what), [0]))


# -- DescribeQuorum ----------------------------------------------------------------------------------------------------


def quorum(b, v, *topics):
    wanted = [{"topicName": n, "partitions": [{"partitionIndex": p} for p in ps]} for n, ps in topics]
    return b.call("DescribeQuorum", v, {"topics": wanted}, keep=quorum_facts)


def quorum_facts(answer):
    """The answer with what differs from one moment and one machine to the next told as a sign."""

    def replica(r):
        r = dict(r, logEndOffset="<offset>" if r["logEndOffset"] > 0 else r["logEndOffset"])
        if "replicaDirectoryId" in r:
            r["replicaDirectoryId"] = "zero" if r["replicaDirectoryId"] == ZERO_UUID else "<id>"
        return r

    def partition(p):
        return dict(
            p,
            leaderEpoch="<epoch>" if p["leaderEpoch"] > 0 else p["leaderEpoch"],
            highWatermark="<offset>" if p["highWatermark"] > 0 else p["highWatermark"],
            currentVoters=[replica(r) for r in p["currentVoters"]],
            observers=[replica(r) for r in p["observers"]],
        )

    topics = [dict(t, partitions=[partition(p) for p in t["partitions"]]) for t in answer["topics"]]
    answer = dict(answer, topics=topics)
    if "nodes" in answer:
        answer["nodes"] = [{"nodeId": n["nodeId"], "listeners": len(n["listeners"])} for n in answer["nodes"]]
    return answer


METADATA = "__cluster_metadata"


@case("describe-quorum/plain", versions=range(3))
def quorum_plain(b, v):
    quorum(b, v, (METADATA, [0]))


@case("describe-quorum/other", versions=range(3))
def quorum_other(b, v):
    name = b.topic()
    quorum(b, v, (name, [0]))
    quorum(b, v, (METADATA, [1]))
    quorum(b, v, (METADATA, [-1]))
    quorum(b, v, (METADATA, [0, 1]))
    quorum(b, v, (METADATA, [0, 0]))
    quorum(b, v, (METADATA, [0]), (name, [0]))
    quorum(b, v, (METADATA, [0]), (METADATA, [0]))
    quorum(b, v, (METADATA, []))
    quorum(b, v, (name, []))
    quorum(b, v, ("", [0]))
    quorum(b, v)
    b.alive()


# -- UpdateFeatures ----------------------------------------------------------------------------------------------------

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def update(b, v, *updates, **more):
    """`updates` are (feature, level, type); before version 1 any type but an upgrade allows to go down."""
    wanted = []
    for feature, level, kind in updates:
        one = {"feature": feature, "maxVersionLevel": level}
        one.update({"upgradeType": kind} if v >= 1 else {"allowDowngrade": kind != UPGRADE})
        wanted.append(one)
    return b.call("UpdateFeatures", v, dict({"featureUpdates": wanted, "timeoutMs": 10000}, **more))


FEATURES = {
    "same": ("metadata.version", 33),
    "above": ("metadata.version", 34),
    "far-above": ("metadata.version", 32767),
    "below": ("metadata.version", 32),
    "lowest": ("metadata.version", 7),
    "too-low": ("metadata.version", 6),
    "one": ("metadata.version", 1),
    "zero": ("metadata.version", 0),
    "negative": ("metadata.version", -1),
    "kraft-same": ("kraft.version", 1),
    "kraft-below": ("kraft.version", 0),
    "kraft-above": ("kraft.version", 2),
    "kraft-negative": ("kraft.version", -1),
    "unknown": ("no.such.version", 1),
    "unknown-zero": ("no.such.version", 0),
    "unknown-negative": ("no.such.version", -5),
    "no-name": ("", 1),
}


@case("update-features/upgrade", versions=range(3), each=FEATURES)
def upgrade(b, v, what):
    update(b, v, (*what, UPGRADE), **({"validateOnly": True} if v >= 1 else {}))


# Never done in earnest, since a Kafka that has gone down answers otherwise from then on.
@case("update-features/downgrade", versions=[1, 2], each=FEATURES)
def downgrade(b, v, what):
    update(b, v, (*what, SAFE_DOWNGRADE), validateOnly=True)


@case("update-features/unsafe-downgrade", versions=[1, 2], each=FEATURES)
def unsafe_downgrade(b, v, what):
    update(b, v, (*what, UNSAFE_DOWNGRADE), validateOnly=True)


@case("update-features/type", versions=[1, 2], each={"0": 0, "4": 4, "-1": -1})
def update_type(b, v, kind):
    update(b, v, ("metadata.version", 33, kind), validateOnly=True)
    update(b, v, ("no.such.version", 1, kind), validateOnly=True)
    b.alive()


@case("update-features/in-earnest", versions=range(3), each={"same": 33, "above": 34, "zero": 0})
def update_in_earnest(b, v, level):
    update(b, v, ("metadata.version", level, UPGRADE))
    update(b, v, ("kraft.version", 1, UPGRADE))


@case("update-features/several", versions=range(3))
def update_several(b, v):
    update(b, v, ("metadata.version", 33, UPGRADE), ("kraft.version", 1, UPGRADE), ("no.such.version", 1, UPGRADE))
    update(b, v, ("no.such.version", 1, UPGRADE), ("metadata.version", 33, UPGRADE), ("metadata.version", 99, UPGRADE))
    update(b, v, ("metadata.version", 33, UPGRADE), ("metadata.version", 33, UPGRADE))


@case("update-features/nothing", versions=range(3))
def update_nothing(b, v):
    update(b, v)


@case("update-features/timeout", versions=[2], each={"0": 0, "-1": -1})
def update_timeout(b, v, milliseconds):
    update(b, v, ("metadata.version", 33, UPGRADE), timeoutMs=milliseconds)
    b.alive()


# -- who takes part ----------------------------------------------------------------------------------------------------


@case("unregister-broker/unknown", each={"missing": MISSING, "0": 0, "-1": -1, "min": -(1 << 31)})
def unregister_broker(b, broker):
    b.call("UnregisterBroker", 0, {"brokerId": broker})
    b.alive()


@case("unregister-controller/unknown", each={"missing": MISSING, "0": 0, "-1": -1, "min": -(1 << 31)})
def unregister_controller(b, controller):
    b.call("UnregisterController", 0, {"controllerId": controller})
    b.alive()


@case("unregister-controller/itself")
def unregister_itself(b):
    b.call("UnregisterController", 0, {"controllerId": 1})
    b.alive()


def cluster_id(b):
    return b.ask("DescribeCluster", 0, {})["clusterId"]


LISTENER = {"name": "CONTROLLER", "host": "127.0.0.1", "port": 1}
VOTERS = {
    "no-cluster": {"clusterId": None},
    "other-cluster": {"clusterId": "other"},
    "no-listeners": {"listeners": []},
    "other-listener": {"listeners": [dict(LISTENER, name="OTHER")]},
    "negative": {"voterId": -1},
    "itself": {"voterId": 1},
    "itself-no-id": {"voterId": 1, "voterDirectoryId": ZERO_UUID},
    "no-id": {"voterDirectoryId": ZERO_UUID},
    "no-timeout": {"timeoutMs": 0},
    "negative-timeout": {"timeoutMs": -1},
    "plain": {},
    "negative-other-cluster": {"voterId": -1, "clusterId": "other"},
    "itself-other-listener": {"voterId": 1, "listeners": [dict(LISTENER, name="OTHER")]},
}


@case("add-raft-voter", versions=range(2), each=VOTERS, alone=True)
def add_voter(b, v, fields):
    """The controller asks the new voter who it is; nobody is there to answer, so the time runs out."""
    wanted = {
        "clusterId": cluster_id(b),
        "timeoutMs": 1000,
        "voterId": MISSING,
        "voterDirectoryId": STRANGER,
        "listeners": [LISTENER],
    }
    b.call("AddRaftVoter", v, dict(wanted, **fields))
    b.alive()


@case(
    "remove-raft-voter",
    each={
        "unknown": {},
        "no-cluster": {"clusterId": None},
        "other-cluster": {"clusterId": "other"},
        "negative": {"voterId": -1},
        "no-id": {"voterDirectoryId": ZERO_UUID},
        "itself-other-id": {"voterId": 1},
        "itself-no-id": {"voterId": 1, "voterDirectoryId": ZERO_UUID},
    },
    alone=True,
)
def remove_voter(b, fields):
    wanted = {"clusterId": cluster_id(b), "voterId": MISSING, "voterDirectoryId": STRANGER}
    b.call("RemoveRaftVoter", 0, dict(wanted, **fields))
    b.alive()


@case("remove-raft-voter/the-only-one", alone=True)
def remove_the_only_one(b):
    described = b.ask("DescribeQuorum", 2, {"topics": [{"topicName": METADATA, "partitions": [{"partitionIndex": 0}]}]})
    voter = described["topics"][0]["partitions"][0]["currentVoters"][0]
    fields = {"clusterId": cluster_id(b), "voterId": 1, "voterDirectoryId": voter["replicaDirectoryId"]}
    b.call("RemoveRaftVoter", 0, fields)
    b.call("AddRaftVoter", 1, dict(fields, timeoutMs=1000, listeners=[LISTENER]))
    b.alive()


# -- who may -----------------------------------------------------------------------------------------------------------


ELSEWHERE = "127.0.0.2"  # where the machine may also ask from


def ask_all(b, name, **options):
    def call(api, version, fields):
        b.call(api, version, fields, **options)

    elections = [{"topic": name, "partitions": [0, 1]}, {"topic": b.topic_name("missing"), "partitions": [0]}]
    for version in range(3):
        call("ElectLeaders", version, {"topicPartitions": elections, "timeoutMs": 1000})
    call("ElectLeaders", 2, {"topicPartitions": [], "electionType": 5, "timeoutMs": 1000})
    call("ElectLeaders", 2, {"topicPartitions": None, "electionType": 5, "timeoutMs": 1000})
    moves = [{"name": name, "partitions": [{"partitionIndex": 0, "replicas": [1]}]}]
    call("AlterPartitionReassignments", 0, {"topics": moves, "timeoutMs": 1000})
    call("AlterPartitionReassignments", 1, {"topics": moves, "timeoutMs": 1000, "allowReplicationFactorChange": False})
    call("ListPartitionReassignments", 0, {"topics": [], "timeoutMs": 1000})
    call("ListPartitionReassignments", 0, {"topics": [{"name": name, "partitionIndexes": [0]}], "timeoutMs": 1000})
    for version in range(3):
        wanted = [{"topicName": METADATA, "partitions": [{"partitionIndex": 0}]}]
        b.call("DescribeQuorum", version, {"topics": wanted}, keep=quorum_facts, **options)
        kind = {"upgradeType": 0} if version else {}
        call("UpdateFeatures", version, {"featureUpdates": [{"feature": "x", "maxVersionLevel": 1, **kind}]})
    call("UnregisterBroker", 0, {"brokerId": MISSING})
    call("UnregisterController", 0, {"controllerId": MISSING})
    for version in range(2):
        call("AddRaftVoter", version, {"clusterId": "other", "voterId": -1, "listeners": []})
    call("RemoveRaftVoter", 0, {"clusterId": "other", "voterId": -1})


@case("authorize/cluster-admin", each={"altering": [ALTER], "describing": [ALTER, DESCRIBE]}, alone=True)
def cluster_admin(b, allowed):
    name = b.topic()
    with_cluster(b, allowed, lambda: ask_all(b, name))


@case("authorize/cluster-admin-denied", each={"altering": ALTER, "describing": DESCRIBE, "all": ALL}, alone=True)
def cluster_admin_denied(b, operation):
    """What may not be done is asked from another address, so that it can be allowed again from this one."""
    name = b.topic()
    elsewhere = b.connect(source=ELSEWHERE)

    def ask():
        put(b, dict(on_cluster(operation), permissionType=DENY, host=ELSEWHERE))
        ask_all(b, name, on=elsewhere)

    with_cluster(b, [ALL, ALTER], ask)
