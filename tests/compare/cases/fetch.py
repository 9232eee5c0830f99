"""Fetch in all versions: data, limits, waiting, sessions, epochs."""

import batch
from batch import TIME
from harness import case, fetch_fields
from wire import uuid_to_text

ALL = range(4, 19)
SESSIONS = range(7, 19)


def get(b, v, wanted, **more):
    options = {k: more.pop(k) for k in ("keep", "wait", "on", "tags") if k in more}
    return b.call("Fetch", v, fetch_fields(b, wanted, **more), **options)


def filled(b, suffix="t", count=3, partitions=1, **configs):
    """A topic with `count` batches of two records in each partition."""
    name = b.topic(suffix, partitions, **configs)
    for partition in range(partitions):
        for i in range(count):
            b.fill(name, batch.batch([b"p%d-%d-a" % (partition, i), b"p%d-%d-b" % (partition, i)]), partition)
    return name


@case("fetch/plain", versions=ALL)
def plain(b, v):
    name = filled(b)
    get(b, v, [(name, {0: 0})])
    get(b, v, [(name, {0: 3})])


@case("fetch/empty", versions=ALL)
def empty(b, v):
    get(b, v, [(b.topic(), {0: 0})])


@case("fetch/offsets", versions=[4, 11, 12, 13, 18])
def offsets(b, v):
    """Inside, at the end, above and below."""
    name = filled(b)
    for offset in (0, 1, 5, 6, 7, 100, -1, -2, (1 << 63) - 1):
        get(b, v, [(name, {0: offset})])


@case("fetch/below-log-start", versions=[4, 5, 11, 12, 18])
def below_start(b, v):
    name = filled(b)
    fields = {"topics": [{"name": name, "partitions": [{"partitionIndex": 0, "offset": 3}]}], "timeoutMs": 10000}
    b.ask("DeleteRecords", 2, fields)
    for offset in (0, 2, 3, 6):
        get(b, v, [(name, {0: offset})])


@case("fetch/unknown-topic", versions=range(4, 13))
def unknown_topic(b, v):
    get(b, v, [(b.topic_name("missing"), {0: 0, 1: 0}), (filled(b), {0: 0})])


@case("fetch/unknown-id", versions=range(13, 19))
def unknown_id(b, v):
    name = b.topic_name("missing")
    b.topic_ids[name] = uuid_to_text(bytes(range(1, 17)))
    get(b, v, [(name, {0: 0, 1: 0}), (filled(b), {0: 0})])


@case("fetch/zero-id", versions=[13, 18])
def zero_id(b, v):
    get(b, v, [(b.topic_name("missing"), {0: 0})])


@case("fetch/unknown-partition", versions=ALL)
def unknown_partition(b, v):
    get(b, v, [(filled(b), {1: 0, 0: 0, -1: 0})])


@case("fetch/illegal-name", versions=[4, 12], each={"empty": "", "slash": "a/b"})
def illegal(b, v, name):
    get(b, v, [(name, {0: 0})])


@case("fetch/nothing", versions=ALL)
def nothing(b, v):
    get(b, v, [])
    get(b, v, [(b.topic(), {})])


@case("fetch/several", versions=[4, 7, 12, 13, 18])
def several(b, v):
    one, other = filled(b, "a", partitions=3), filled(b, "b")
    get(b, v, [(other, {0: 2}), (one, {2: 0, 0: 5, 1: 6})])


@case("fetch/same-partition-twice", versions=[4, 7, 12, 18])
def same_twice(b, v):
    name = filled(b)
    fields = fetch_fields(b, [(name, {0: 0})])
    fields["topics"][0]["partitions"].append(dict(fields["topics"][0]["partitions"][0], fetchOffset=4))
    b.call("Fetch", v, fields)


@case("fetch/same-topic-twice", versions=[4, 12, 18])
def same_topic(b, v):
    name = filled(b, partitions=2)
    get(b, v, [(name, {0: 0}), (name, {1: 0})])


@case(
    "fetch/partition-limit",
    versions=[4, 12, 18],
    each={"0": 0, "1": 1, "100": 100, "200": 200, "-1": -1, "max": 2147483647},
)
def partition_limit(b, v, most):
    """The first batch always comes whole, so that nobody is stuck."""
    name = filled(b)
    get(b, v, [(name, {0: {"partitionMaxBytes": most}})])
    get(b, v, [(name, {0: {"partitionMaxBytes": most, "fetchOffset": 3}})])


@case("fetch/request-limit", versions=[4, 12, 18], each={"0": 0, "1": 1, "100": 100, "300": 300, "500": 500, "-1": -1})
def request_limit(b, v, most):
    name = filled(b, partitions=3)
    get(b, v, [(name, {0: 0, 1: 0, 2: 0})], maxBytes=most)


@case("fetch/limit-skips-empty")
def limit_skips_empty(b):
    """The first partition with data gets its batch, not the first of the request."""
    name = b.topic(partitions=3)
    b.fill(name, batch.batch([b"x" * 1000]), 1)
    b.fill(name, batch.batch([b"y" * 1000]), 2)
    get(b, 12, [(name, {0: 0, 1: 0, 2: 0})], maxBytes=10)
    get(b, 12, [(name, {0: {"partitionMaxBytes": 10}, 1: {"partitionMaxBytes": 10}, 2: {"partitionMaxBytes": 10}})])


@case("fetch/wait-for-nothing", versions=[4, 7, 12, 18])
def wait_nothing(b, v):
    get(b, v, [(b.topic(), {0: 0})], maxWaitMs=1000, wait=1000)


@case("fetch/no-wait", versions=[4, 12], each={"0": 0, "-1": -1})
def no_wait(b, v, ms):
    get(b, v, [(b.topic(), {0: 0})], maxWaitMs=ms)


@case("fetch/min-bytes", each={"0": 0, "1": 1, "-1": -1, "70": 70, "100": 100, "100000": 100000})
def min_bytes(b, least):
    name = filled(b)
    get(b, 12, [(name, {0: 0})], minBytes=least, maxWaitMs=2000, wait=2000)


@case("fetch/min-bytes-empty", each={"0": 0, "1": 1, "-1": -1})
def min_bytes_empty(b, least):
    get(b, 12, [(b.topic(), {0: 0})], minBytes=least, maxWaitMs=2000, wait=2000)


@case("fetch/error-does-not-wait")
def error_at_once(b):
    name = filled(b)
    get(b, 12, [(name, {0: 99})], maxWaitMs=4000, minBytes=1 << 20, wait=4000)
    get(b, 12, [(name, {0: 6, 5: 0})], maxWaitMs=4000, minBytes=1 << 20, wait=4000)
    get(b, 12, [(b.topic_name("missing"), {0: 0}), (name, {0: 6})], maxWaitMs=4000, minBytes=1 << 20, wait=4000)


@case("fetch/woken-by-produce", versions=[4, 12, 18])
def woken(b, v):
    """Parked with nothing to give, answered when a record comes."""
    import threading

    name = b.topic()
    timer = threading.Timer(0.3, lambda: b.fill(name))
    b.connection.send_frame(b._frame("ApiVersions", 0, {}, {})[0])
    b.connection.read_frame()
    timer.start()
    get(b, v, [(name, {0: 0})], maxWaitMs=10000, wait=10000)
    timer.join()


@case("fetch/isolation", versions=[4, 7, 12, 18], each={"0": 0, "1": 1, "2": 2, "-1": -1})
def isolation(b, v, level):
    get(b, v, [(filled(b), {0: 0})], isolationLevel=level)
    b.alive()


@case("fetch/leader-epoch", versions=range(9, 19))
def leader_epoch(b, v):
    name = filled(b)
    for epoch in (-1, 0, 1, 100, -2):
        get(b, v, [(name, {0: {"currentLeaderEpoch": epoch}})])


@case("fetch/last-fetched-epoch", versions=range(12, 19))
def last_fetched_epoch(b, v):
    name = filled(b)
    for epoch in (-1, 0, 1, 5, -2):
        for offset in (0, 4, 6):
            get(b, v, [(name, {0: {"lastFetchedEpoch": epoch, "fetchOffset": offset}})])


@case("fetch/last-fetched-epoch-out-of-range", versions=[12, 18])
def last_fetched_out(b, v):
    name = filled(b)
    for epoch in (0, 1):
        get(b, v, [(name, {0: {"lastFetchedEpoch": epoch, "fetchOffset": 100}})])


@case("fetch/log-start-offset-given", versions=[5, 12, 18])
def log_start(b, v):
    """Only a follower's is of interest."""
    name = filled(b)
    for start in (-1, 0, 100):
        get(b, v, [(name, {0: {"logStartOffset": start}})])


@case("fetch/rack", versions=[11, 12, 18], each={"unknown": "nowhere", "long": "r" * 1000})
def rack(b, v, name):
    get(b, v, [(filled(b), {0: 0})], rackId=name)


@case("fetch/cluster-id", versions=[12, 18])
def cluster_id(b, v):
    get(b, v, [(filled(b), {0: 0})], clusterId="another")


@case("fetch/as-follower", versions=[4, 11, 12, 14], each={"1": 1, "2": 2, "-2": -2, "-3": -3})
def as_follower(b, v, replica):
    get(b, v, [(filled(b), {0: 0})], replicaId=replica, maxWaitMs=200)
    b.alive()


@case("fetch/as-follower-new", versions=[15, 18], each={"1": 1, "2": 2})
def as_follower_new(b, v, replica):
    get(b, v, [(filled(b), {0: 0})], replicaState={"replicaId": replica, "replicaEpoch": 1}, maxWaitMs=200)
    b.alive()


@case("fetch/deleted", versions=[4, 12, 13, 18])
def deleted(b, v):
    name = filled(b)
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    get(b, v, [(name, {0: 0})])


@case("fetch/made-again", versions=[12, 13, 18])
def made_again(b, v):
    name = filled(b)
    old = b.id_of(name)
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    filled(b, count=1)
    get(b, v, [(name, {0: 4})])
    b.topic_ids[name] = old
    get(b, v, [(name, {0: 4})])


@case("fetch/old-versions-and-zstd", versions=[4, 9, 10, 11])
def zstd(b, v):
    """Before version 10 a client cannot know zstd."""
    name = b.topic(partitions=2)
    b.fill(name, batch.batch([b"1"], codec=batch.ZSTD))
    b.fill(name, batch.batch([b"2"]), 1)
    get(b, v, [(name, {0: 0, 1: 0})])


@case("fetch/mixed-codecs")
def mixed(b):
    name = b.topic()
    for codec in range(5):
        b.fill(name, batch.batch([b"1", b"22"], codec=codec))
    for offset in (0, 3, 5, 9):
        get(b, 12, [(name, {0: offset})])
    get(b, 9, [(name, {0: 0})])


@case("fetch/headers-and-nulls")
def headers(b):
    name = b.topic()
    b.fill(
        name,
        batch.batch(
            [
                batch.record(None, None),
                batch.record(b"", b"", [(b"", b""), (b"h", None), (b"h", b"2")]),
                batch.record(b"x" * 300, b"k", timestamp=TIME + 100000),
            ]
        ),
    )
    get(b, 12, [(name, {0: 0})])


# -- sessions ----------------------------------------------------------------------------------------------------------


@case("fetch-session/none", versions=SESSIONS)
def no_session(b, v):
    """Epoch -1 asks for no session."""
    name = filled(b)
    get(b, v, [(name, {0: 0})], sessionId=0, sessionEpoch=-1)


@case("fetch-session/incremental", versions=SESSIONS)
def incremental(b, v):
    """After the full answer only what changed is sent: data, a moved high watermark, an error."""
    name = filled(b, partitions=3)
    first = get(b, v, [(name, {0: 0, 1: 6, 2: 6})], sessionEpoch=0)
    session = first["sessionId"]
    get(b, v, [], sessionId=session, sessionEpoch=1)
    get(b, v, [(name, {0: 6})], sessionId=session, sessionEpoch=2)
    get(b, v, [], sessionId=session, sessionEpoch=3)
    b.fill(name, batch.batch([b"new"]), 1)
    get(b, v, [], sessionId=session, sessionEpoch=4)
    get(b, v, [(name, {1: 7})], sessionId=session, sessionEpoch=5)
    get(b, v, [(name, {2: 50})], sessionId=session, sessionEpoch=6)


@case("fetch-session/forgotten", versions=SESSIONS)
def forgotten(b, v):
    name, other = filled(b, partitions=2), filled(b, "other")
    session = get(b, v, [(name, {0: 0, 1: 0}), (other, {0: 0})], sessionEpoch=0)["sessionId"]
    forget = [{"topic": name, "topicId": b.id_of(name), "partitions": [0]}]
    get(b, v, [], sessionId=session, sessionEpoch=1, forgottenTopicsData=forget)
    forget = [
        {"topic": name, "topicId": b.id_of(name), "partitions": [0, 1, 9]},
        {"topic": other, "topicId": b.id_of(other), "partitions": [0]},
    ]
    get(b, v, [], sessionId=session, sessionEpoch=2, forgottenTopicsData=forget)
    get(b, v, [(name, {0: 2})], sessionId=session, sessionEpoch=3)


@case("fetch-session/forgotten-and-wanted", versions=[7, 12, 13, 18])
def forgotten_and_wanted(b, v):
    name = filled(b, partitions=2)
    session = get(b, v, [(name, {0: 0, 1: 0})], sessionEpoch=0)["sessionId"]
    forget = [{"topic": name, "topicId": b.id_of(name), "partitions": [0]}]
    get(b, v, [(name, {0: 4})], sessionId=session, sessionEpoch=1, forgottenTopicsData=forget)
    get(b, v, [], sessionId=session, sessionEpoch=2)


@case("fetch-session/forgotten-in-full-request", versions=[7, 13])
def forgotten_full(b, v):
    name = filled(b)
    forget = [{"topic": name, "topicId": b.id_of(name), "partitions": [0]}]
    get(b, v, [(name, {0: 0})], sessionEpoch=0, forgottenTopicsData=forget)


@case("fetch-session/wrong-epoch", versions=SESSIONS, each={"skipped": 2, "far": 100, "negative": -2})
def wrong_epoch(b, v, epoch):
    name = filled(b)
    session = get(b, v, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, v, [], sessionId=session, sessionEpoch=epoch)
    get(b, v, [], sessionId=session, sessionEpoch=1)


@case("fetch-session/same-epoch-again", versions=[7, 12, 18])
def epoch_again(b, v):
    name = filled(b)
    session = get(b, v, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, v, [], sessionId=session, sessionEpoch=1)
    get(b, v, [], sessionId=session, sessionEpoch=1)
    get(b, v, [], sessionId=session, sessionEpoch=2)


@case("fetch-session/unknown-session", versions=SESSIONS)
def unknown_session(b, v):
    name = filled(b)
    get(b, v, [(name, {0: 0})], sessionId=123456789, sessionEpoch=1)
    get(b, v, [], sessionId=-5, sessionEpoch=3)


@case("fetch-session/no-id-but-epoch", versions=[7, 12, 18], each={"1": 1, "5": 5})
def no_id(b, v, epoch):
    get(b, v, [(filled(b), {0: 0})], sessionId=0, sessionEpoch=epoch)


@case("fetch-session/close", versions=SESSIONS)
def close(b, v):
    """Epoch -1 with an id ends the session and is answered as a plain fetch."""
    name = filled(b)
    session = get(b, v, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, v, [(name, {0: 4})], sessionId=session, sessionEpoch=-1)
    get(b, v, [], sessionId=session, sessionEpoch=1)


@case("fetch-session/close-with-nothing", versions=[7, 12, 18])
def close_nothing(b, v):
    name = filled(b)
    session = get(b, v, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, v, [], sessionId=session, sessionEpoch=-1)
    get(b, v, [], sessionId=session, sessionEpoch=1)


@case("fetch-session/replaced", versions=[7, 12, 18])
def replaced(b, v):
    """Epoch 0 with an id ends the old session and begins another."""
    name = filled(b)
    old = get(b, v, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    new = get(b, v, [(name, {0: 2})], sessionId=old, sessionEpoch=0)["sessionId"]
    b.note("another", old != new)
    get(b, v, [], sessionId=old, sessionEpoch=1)
    get(b, v, [], sessionId=new, sessionEpoch=1)


@case("fetch-session/empty", versions=[7, 12, 18])
def empty_session(b, v):
    """A full request without partitions, then partitions added."""
    name = filled(b)
    session = get(b, v, [], sessionEpoch=0)["sessionId"]
    if session:
        get(b, v, [(name, {0: 0})], sessionId=session, sessionEpoch=1)


@case("fetch-session/with-errors", versions=[7, 12])
def with_errors(b, v):
    name = filled(b)
    session = get(b, v, [(b.topic_name("missing"), {0: 0}), (name, {0: 0})], sessionEpoch=0)["sessionId"]
    for epoch in (1, 2):
        get(b, v, [], sessionId=session, sessionEpoch=epoch)


@case("fetch-session/unknown-id", versions=[13, 18])
def session_unknown_id(b, v):
    missing = b.topic_name("missing")
    b.topic_ids[missing] = uuid_to_text(bytes(range(1, 17)))
    name = filled(b)
    session = get(b, v, [(missing, {0: 0}), (name, {0: 0})], sessionEpoch=0)["sessionId"]
    for epoch in (1, 2):
        get(b, v, [], sessionId=session, sessionEpoch=epoch)


@case("fetch-session/topic-appears", versions=[12])
def topic_appears(b, v):
    missing = b.topic_name("t")
    session = get(b, v, [(missing, {0: 0})], sessionEpoch=0)["sessionId"]
    filled(b)
    get(b, v, [], sessionId=session, sessionEpoch=1)


@case("fetch-session/topic-deleted", versions=[7, 12, 13, 18])
def topic_deleted(b, v):
    name, other = filled(b), filled(b, "other")
    session = get(b, v, [(name, {0: 6}), (other, {0: 6})], sessionEpoch=0)["sessionId"]
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    get(b, v, [], sessionId=session, sessionEpoch=1)
    get(b, v, [], sessionId=session, sessionEpoch=2)


@case("fetch-session/topic-made-again", versions=[12, 13, 18])
def session_made_again(b, v):
    name = filled(b)
    session = get(b, v, [(name, {0: 6})], sessionEpoch=0)["sessionId"]
    b.ask("DeleteTopics", 5, {"topicNames": [name], "timeoutMs": 30000})
    b.gone(name)
    filled(b, count=1)
    get(b, v, [], sessionId=session, sessionEpoch=1)
    get(b, v, [(name, {0: 0})], sessionId=session, sessionEpoch=2)


@case("fetch-session/names-then-ids")
def names_then_ids(b):
    """One session may not mix requests by name and by id."""
    name = filled(b)
    session = get(b, 12, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, 13, [], sessionId=session, sessionEpoch=1)
    get(b, 13, [(name, {0: 2})], sessionId=session, sessionEpoch=2)
    session = get(b, 13, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, 12, [], sessionId=session, sessionEpoch=1)


@case("fetch-session/over-two-connections")
def two_connections(b):
    """A session belongs to its id, not to a connection."""
    name = filled(b)
    session = get(b, 12, [(name, {0: 0})], sessionEpoch=0)["sessionId"]
    get(b, 12, [(name, {0: 2})], sessionId=session, sessionEpoch=1, on=b.connect())


@case("fetch-session/epoch-of-leader-changes")
def epoch_changes(b):
    name = filled(b)
    session = get(b, 12, [(name, {0: {"fetchOffset": 6, "currentLeaderEpoch": 0}})], sessionEpoch=0)["sessionId"]
    get(b, 12, [(name, {0: {"fetchOffset": 6, "currentLeaderEpoch": 4}})], sessionId=session, sessionEpoch=1)
    get(b, 12, [], sessionId=session, sessionEpoch=2)
    get(b, 12, [(name, {0: {"fetchOffset": 0, "currentLeaderEpoch": 0}})], sessionId=session, sessionEpoch=3)


@case("fetch-session/limit-rotates")
def limit_rotates(b):
    """With room for one batch at a time, every partition gets its turn."""
    name = filled(b, partitions=3, count=1)
    session = get(b, 12, [(name, {0: 0, 1: 0, 2: 0})], sessionEpoch=0, maxBytes=10)["sessionId"]
    for epoch in (1, 2, 3):
        get(b, 12, [], sessionId=session, sessionEpoch=epoch, maxBytes=10)
