"""FindCoordinator for groups, transactions and shares."""

from harness import case
from wire import ZERO_UUID

ALL = range(7)
BATCHED = range(4, 7)
MISSING_ID = "AAAAAAAAAAAAAAAAAAAAAQ"  # no topic has it


def fields(v, kind, *keys):
    return {"keyType": kind, "coordinatorKeys": list(keys)} if v >= 4 else {"key": keys[0], "keyType": kind}


def find(b, v, kind, *keys, **options):
    return b.call("FindCoordinator", v, fields(v, kind, *keys), **options)


def settle(b, v, kind, key):
    """Kafka makes a coordinator's topic when it is first asked for, and says to come back. Cases that have it made run
    alone, and so after the others: what Produce and CreateTopics say depends on these topics."""

    def errors():
        answer = b.ask("FindCoordinator", v, fields(v, kind, key))
        return [c["errorCode"] for c in answer.get("coordinators", [answer])]

    b.until("a coordinator", lambda: not {14, 15, 16} & set(errors()))


@case("find-coordinator/group", versions=ALL)
def group(b, v):
    find(b, v, 0, b.group())


@case("find-coordinator/transaction", versions=range(1, 7), alone=True)
def transaction(b, v):
    settle(b, v, 1, b.group())
    find(b, v, 1, b.group())


@case("find-coordinator/share", versions=range(1, 7), alone=True)
def share(b, v):
    """A share's key is its group, the topic's id and the partition; only version 6 may ask for it."""
    key = f"{b.group()}:{MISSING_ID}:0"
    if v >= 6:
        settle(b, v, 2, key)
    find(b, v, 2, key)
    b.alive()


@case(
    "find-coordinator/share-key",
    versions=[6],
    each={
        "no-colon": "group",
        "one-colon": "group:" + MISSING_ID,
        "four-parts": f"group:{MISSING_ID}:0:0",
        "no-group": f":{MISSING_ID}:0",
        "no-id": "group::0",
        "no-partition": f"group:{MISSING_ID}:",
        "id-too-short": "group:abc:0",
        "id-too-long": f"group:{MISSING_ID}{MISSING_ID}:0",
        "id-not-base64": "group:!!!!!!!!!!!!!!!!!!!!!!:0",
        "id-zero": f"group:{ZERO_UUID}:0",
        "partition-text": f"group:{MISSING_ID}:x",
        "partition-negative": f"group:{MISSING_ID}:-1",
        "partition-huge": f"group:{MISSING_ID}:99999999999",
        "unknown-topic": f"group:{MISSING_ID}:0",
        "empty": "",
    },
    alone=True,
)
def share_key(b, v, key):
    settle(b, v, 2, f"group:{MISSING_ID}:0")
    find(b, v, 2, key)
    b.alive()


@case("find-coordinator/share-keys", versions=[6], alone=True)
def share_keys(b, v):
    """One wrong key among right ones."""
    settle(b, v, 2, f"group:{MISSING_ID}:0")
    find(b, v, 2, f"group:{MISSING_ID}:0", "wrong", f"group:{MISSING_ID}:1")
    find(b, v, 2)


@case("find-coordinator/type", versions=[1, 3, 4, 5, 6], each={"-1": -1, "3": 3, "127": 127})
def wrong_type(b, v, kind):
    find(b, v, kind, b.group())
    b.alive()


@case("find-coordinator/type-and-empty-key", versions=[1, 3, 4, 6], each={"-1": -1, "3": 3})
def wrong_type_empty_key(b, v, kind):
    find(b, v, kind, "")


@case("find-coordinator/type-without-keys", versions=BATCHED, each={"-1": -1, "0": 0, "1": 1, "2": 2, "3": 3})
def no_keys(b, v, kind):
    find(b, v, kind)
    b.alive()


@case("find-coordinator/empty-key", versions=ALL)
def empty_key(b, v):
    find(b, v, 0, "")


@case("find-coordinator/empty-transactional-id", versions=range(1, 7), alone=True)
def empty_transactional_id(b, v):
    settle(b, v, 1, "x")
    find(b, v, 1, "")


@case("find-coordinator/several", versions=BATCHED)
def several(b, v):
    """One answer for each key, in the order of the keys, also for one that is named twice."""
    one, other = b.group("one"), b.group("other")
    find(b, v, 0, other, one)
    find(b, v, 0, one, other, one)
    find(b, v, 0, one, "", other)


@case("find-coordinator/many", versions=[4, 6])
def many(b, v):
    summary = lambda a: {
        "codes": sorted({c["errorCode"] for c in a["coordinators"]}),
        "nodes": sorted({c["nodeId"] for c in a["coordinators"]}),
        "keys": [c["key"] for c in a["coordinators"]] == [str(i) for i in range(1000)],
    }
    find(b, v, 0, *(str(i) for i in range(1000)), keep=summary)


@case(
    "find-coordinator/odd-key",
    versions=[0, 2, 4, 6],
    each={
        "blank": " ",
        "umlaut": "\u00e4\u00f6\u00fc",
        "emoji": "\U0001f600",
        "colons": "a:b:c",
        "nul": "a\0b",
        "long": "x" * 32000,
    },
)
def odd_key(b, v, key):
    short = lambda a: dict(a, coordinators=[dict(c, key=c["key"] == key) for c in a["coordinators"]])
    find(b, v, 0, key, **({"keep": short} if v >= 4 else {}))
