"""DescribeLogDirs, of a broker with one log directory."""

import batch
from harness import case

from .acls import ALL, ALTER, DENY, DESCRIBE, on_cluster, put, with_cluster

DESCRIBES = range(1, 6)
ELSEWHERE = "127.0.0.2"


def describe(b, v, topics, **options):
    """`topics` is a list of (name, partitions), or None for all."""
    wanted = None if topics is None else [{"topic": n, "partitions": list(p)} for n, p in topics]
    return b.call("DescribeLogDirs", v, {"topics": wanted}, keep=lambda a: kept(b, a), **options)


def kept(b, answer):
    """Where the directory is and how large its disk is differs; the topics of other cases do too."""

    def one(result):
        result = dict(result, logDir="<absolute>" if result["logDir"].startswith("/") else result["logDir"])
        for field in ("totalBytes", "usableBytes"):
            if field in result:
                result[field] = "<bytes>" if result[field] > 0 else result[field]
        mine = [t for t in result["topics"] if t["name"].startswith(b.prefix)]
        for topic in mine:
            topic["partitions"] = sorted(topic["partitions"], key=lambda p: p["partitionIndex"])
        return dict(result, topics=sorted(mine, key=lambda t: t["name"]))

    return dict(answer, results=[one(r) for r in answer["results"]])


@case("describe-log-dirs/some", versions=DESCRIBES)
def some(b, v):
    one, other = b.topic("a", 3), b.topic("b", 1)
    b.fill(one, partition=1)
    b.fill(other)
    b.fill(other)
    describe(b, v, [(one, [0, 1]), (other, [0])])


@case("describe-log-dirs/all", versions=DESCRIBES)
def everything(b, v):
    name = b.topic(partitions=2)
    b.fill(name, batch.batch([b"x" * 1000] * 5), 1)
    describe(b, v, None)


@case("describe-log-dirs/unknown", versions=DESCRIBES)
def unknown(b, v):
    describe(b, v, [(b.topic_name("missing"), [0]), (b.topic(), [0, 1, -1]), ("", [0]), ("a/b", [0])])


@case("describe-log-dirs/nothing", versions=DESCRIBES)
def nothing(b, v):
    describe(b, v, [])
    describe(b, v, [(b.topic(), [])])


@case("describe-log-dirs/twice", versions=[1, 5])
def twice(b, v):
    name = b.topic(partitions=2)
    describe(b, v, [(name, [0, 0]), (name, [1])])


@case("authorize/log-dirs-denied", each={"altering": ALTER, "describing": DESCRIBE, "all": ALL}, alone=True)
def denied(b, operation):
    name = b.topic()
    elsewhere = b.connect(source=ELSEWHERE)

    def ask():
        put(b, dict(on_cluster(operation), permissionType=DENY, host=ELSEWHERE))
        for v in (1, 2, 3, 5):
            describe(b, v, [(name, [0])], on=elsewhere)

    with_cluster(b, [ALL, ALTER], ask)
