"""DescribeCluster and DescribeTopicPartitions."""

from harness import case


@case("describe-cluster/plain", versions=range(3))
def plain(b, v):
    b.call("DescribeCluster", v, {})


@case("describe-cluster/operations", versions=range(3))
def operations(b, v):
    b.call("DescribeCluster", v, {"includeClusterAuthorizedOperations": True})


@case("describe-cluster/endpoint-type", versions=[1, 2], each={"controllers": 2, "0": 0, "3": 3, "-1": -1})
def endpoint_type(b, v, kind):
    b.call("DescribeCluster", v, {"endpointType": kind})
    b.alive()


@case("describe-cluster/fenced")
def fenced(b):
    b.call("DescribeCluster", 2, {"includeFencedBrokers": True})
    b.call("DescribeCluster", 2, {"includeFencedBrokers": True, "endpointType": 2})


def describe(b, names, **more):
    return b.call("DescribeTopicPartitions", 0, dict({"topics": [{"name": n} for n in names]}, **more))


@case("describe-topic-partitions/one")
def one(b):
    describe(b, [b.topic(partitions=3)])


@case("describe-topic-partitions/several-sorted")
def several(b):
    first, second = b.topic("b", 2), b.topic("a", 1)
    describe(b, [first, second])


@case("describe-topic-partitions/unknown")
def unknown(b):
    known = b.topic("m")
    describe(b, [b.topic_name("z-missing"), known, b.topic_name("a-missing")])


@case(
    "describe-topic-partitions/illegal-names",
    each={"empty": "", "dot": ".", "dots": "..", "slash": "a/b", "long": "x" * 250},
)
def illegal(b, name):
    describe(b, [name])
    b.alive()


@case("describe-topic-partitions/same-twice")
def same_twice(b):
    name = b.topic()
    describe(b, [name, name])


@case("describe-topic-partitions/limit", each={"1": 1, "2": 2, "3": 3, "5": 5, "6": 6, "100000": 100000})
def limit(b, most):
    names = [b.topic("a", 3), b.topic("b", 2)]
    describe(b, names, responsePartitionLimit=most)


@case("describe-topic-partitions/limit-not-positive", each={"0": 0, "-1": -1})
def limit_not_positive(b, most):
    describe(b, [b.topic("a", 3)], responsePartitionLimit=most)
    b.alive()


@case("describe-topic-partitions/limit-and-unknown")
def limit_and_unknown(b):
    names = [b.topic("a", 1), b.topic_name("b-missing"), b.topic("c", 2)]
    for most in (1, 2, 3):
        describe(b, names, responsePartitionLimit=most)


def cursor(topic, partition):
    return {"topicName": topic, "partitionIndex": partition}


@case("describe-topic-partitions/cursor")
def with_cursor(b):
    names = [b.topic("a", 3), b.topic("b", 2), b.topic("c", 1)]
    for topic, partition in ((names[0], 0), (names[0], 2), (names[0], 3), (names[0], 9), (names[1], 1), (names[2], 0)):
        describe(b, names, cursor=cursor(topic, partition))


@case("describe-topic-partitions/cursor-between")
def cursor_between(b):
    names = [b.topic("a", 1), b.topic("c", 1)]
    for topic in (b.topic_name("b"), b.topic_name("d"), ""):
        describe(b, names, cursor=cursor(topic, 0))


@case("describe-topic-partitions/cursor-negative")
def cursor_negative(b):
    describe(b, [b.topic("a", 2)], cursor=cursor(b.topic_name("a"), -1))
    b.alive()


@case("describe-topic-partitions/cursor-and-limit")
def cursor_and_limit(b):
    names = [b.topic("a", 3), b.topic("b", 3)]
    where = None
    for _ in range(4):
        answer = describe(b, names, responsePartitionLimit=2, cursor=where)
        where = answer and answer["nextCursor"]
        if where is None:
            break


@case("describe-topic-partitions/cursor-of-deleted")
def cursor_of_deleted(b):
    kept, deleted = b.topic("b", 2), b.topic("a", 2)
    b.ask("DeleteTopics", 5, {"topicNames": [deleted], "timeoutMs": 30000})
    b.gone(deleted)
    describe(b, [deleted, kept], cursor=cursor(deleted, 1))
