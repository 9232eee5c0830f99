"""Frames, headers and bodies that are odd or wrong, below the level of any one API."""

import struct

import batch
from harness import case, fetch_fields, produce_fields, request_frame
from wire import uvarint

# A plain request to each API, with its newest and oldest version.
APIS = {
    "Produce": (3, 13),
    "Fetch": (4, 18),
    "ListOffsets": (1, 11),
    "Metadata": (0, 13),
    "CreateTopics": (2, 7),
    "DeleteTopics": (1, 6),
    "InitProducerId": (0, 5),
    "OffsetForLeaderEpoch": (2, 4),
    "DescribeConfigs": (1, 4),
    "CreatePartitions": (0, 3),
    "IncrementalAlterConfigs": (0, 1),
    "DescribeCluster": (0, 2),
    "DescribeTopicPartitions": (0, 0),
}
ENDS = {f"{api}-v{v}": (api, v) for api, ends in APIS.items() for v in sorted(set(ends))}


def plain(b, api, topic):
    """Fields that every version of the API can carry and that change nothing."""
    if api == "Produce":
        return produce_fields(b, topic, batch.batch())
    if api == "Fetch":
        return fetch_fields(b, [(topic, {0: 0})], maxWaitMs=0)
    return {
        "ListOffsets": {
            "replicaId": -1,
            "topics": [{"name": topic, "partitions": [{"partitionIndex": 0, "timestamp": -1}]}],
        },
        "Metadata": {"topics": [{"name": topic}]},
        "CreateTopics": {
            "topics": [{"name": topic + "-new", "numPartitions": 1, "replicationFactor": 1}],
            "validateOnly": True,
        },
        "DeleteTopics": {"topics": [{"name": topic + "-no"}], "topicNames": [topic + "-no"], "timeoutMs": 1000},
        "InitProducerId": {"transactionalId": None, "transactionTimeoutMs": 1000},
        "OffsetForLeaderEpoch": {
            "replicaId": -1,
            "topics": [{"topic": topic, "partitions": [{"partition": 0, "leaderEpoch": 0}]}],
        },
        "DescribeConfigs": {
            "resources": [{"resourceType": 2, "resourceName": topic, "configurationKeys": ["retention.ms"]}]
        },
        "CreatePartitions": {
            "topics": [{"name": topic, "count": 2, "assignments": None}],
            "timeoutMs": 1000,
            "validateOnly": True,
        },
        "IncrementalAlterConfigs": {
            "resources": [
                {
                    "resourceType": 2,
                    "resourceName": topic,
                    "configs": [{"name": "retention.ms", "configOperation": 0, "value": "1"}],
                }
            ],
            "validateOnly": True,
        },
        "DescribeCluster": {},
        "DescribeTopicPartitions": {"topics": [{"name": topic}]},
    }[api]


def frame(key, version, correlation_id=1, client=b"compare", flexible=False, body=b""):
    head = struct.pack(">hhi", key, version, correlation_id)
    head += struct.pack(">h", -1) if client is None else struct.pack(">h", len(client)) + client
    data = head + (b"\0" if flexible else b"") + body
    return struct.pack(">i", len(data)) + data


# -- APIs and versions -------------------------------------------------------------------------------------------------


@case("frames/unknown-api", each={str(k): k for k in (-1, -32768, 4, 5, 6, 7, 95, 96, 200, 1000, 32767)})
def unknown_api(b, key):
    b.raw("request", frame(key, 0))
    b.alive()


@case("frames/controller-api", each={str(k): k for k in (52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82)})
def controller_api(b, key):
    """Only controllers serve these."""
    b.raw("request", frame(key, 0, flexible=True, body=b"\0" * 20))
    b.alive()


@case(
    "frames/version",
    each={
        f"{api}-{label}": (api, v)
        for api, (low, high) in APIS.items()
        for label, v in (("below", low - 1), ("above", high + 1), ("negative", -1), ("max", 32767))
    },
)
def version(b, which):
    """A version that the broker does not have ends the connection; only ApiVersions is answered."""
    api, v = which
    key = b.schemas[api + "Request"].api_key
    b.raw("request", frame(key, v, flexible=v > 8, body=b"\0" * 30))
    b.alive()


# -- bodies ------------------------------------------------------------------------------------------------------------


@case("frames/plain", each=ENDS)
def plain_request(b, which):
    """The request that the following cases spoil is a good one."""
    api, v = which
    b.call(api, v, plain(b, api, b.topic()))


@case("frames/body-cut-by-one", each={k: w for k, w in ENDS.items() if w != ("Metadata", 0)})
def cut_one(b, which):
    api, v = which
    b.call(api, v, plain(b, api, b.topic()), body=lambda body: body[:-1])
    b.alive()


@case("frames/body-halved", each=ENDS)
def halved(b, which):
    api, v = which
    b.call(api, v, plain(b, api, b.topic()), body=lambda body: body[: len(body) // 2])
    b.alive()


@case("frames/body-missing", each=ENDS)
def missing(b, which):
    api, v = which
    b.call(api, v, {} if api != "Produce" else {"acks": -1}, body=lambda body: b"")
    b.alive()


@case("frames/body-too-long", each=ENDS)
def too_long(b, which):
    """Bytes behind the body."""
    api, v = which
    b.call(api, v, plain(b, api, b.topic()), body=lambda body: body + b"\0\1\2")
    b.alive()


@case(
    "frames/body-unknown-tags",
    each={k: w for k, w in ENDS.items() if w[1] not in (0, 1, 2, 3, 4) or w[0].startswith("Describe")},
)
def unknown_tags(b, which):
    api, v = which
    if v not in b.schemas[api + "Request"].flexible:
        b.note("not flexible", True)
        return
    tags = [{"path": "", "tag": 77, "hex": "010203"}, {"path": "", "tag": 100000, "hex": ""}]
    b.call(api, v, plain(b, api, b.topic()), tags=tags, header_tags=tags)
    b.alive()


BODIES = {
    "array-negative": (1, struct.pack(">i", -2)),
    "array-min": (1, struct.pack(">i", -(1 << 31))),
    "array-longer-than-frame": (1, struct.pack(">i", 5) + b"\0\1a"),
    "array-huge": (1, struct.pack(">i", 0x7FFFFFFF)),
    "string-negative": (1, struct.pack(">ih", 1, -2)),
    "string-null": (1, struct.pack(">ih", 1, -1)),
    "string-longer-than-frame": (1, struct.pack(">ih", 1, 100) + b"abc"),
    "compact-array-huge": (9, uvarint(0x7FFFFFFF) + b"\0\0\0\0"),
    "compact-array-max": (9, b"\xff\xff\xff\xff\x0f" + b"\0\0\0\0"),
    "compact-array-longer": (9, uvarint(6) + b"\2a\0"),
    "compact-string-null": (9, b"\2\0\0" + b"\0\0\0\0"),
    "compact-string-longer": (9, b"\2\x50a\0" + b"\0\0\0\0"),
    "varint-six-bytes": (9, b"\xff\xff\xff\xff\xff\x01" + b"\0\0\0\0"),
    "varint-overlong": (9, b"\x81\x80\x80\x80\x00" + b"\1\0\0\0"),
    "tag-count-huge": (9, b"\1\1\0\0" + b"\xff\xff\xff\xff\x07"),
    "tag-count-beyond-frame": (9, b"\1\1\0\0" + b"\x05\x01\x00"),
    "tag-size-beyond-frame": (9, b"\1\1\0\0" + b"\x01\x07\x7f\x00"),
    "tags-not-rising": (9, b"\1\1\0\0" + b"\x02\x09\x01a\x08\x01b"),
    "tag-twice": (9, b"\1\1\0\0" + b"\x02\x09\x01a\x09\x01b"),
    "not-utf8": (4, struct.pack(">ih", 1, 3) + b"a\xff\xfe" + b"\0"),
    "surrogate": (4, struct.pack(">ih", 1, 3) + b"\xed\xa0\x80" + b"\0"),
    "overlong-utf8": (4, struct.pack(">ih", 1, 2) + b"\xc0\xaf" + b"\0"),
}


@case("frames/metadata-body", each=BODIES)
def bodies(b, given):
    version, body = given
    b.call("Metadata", version, {"topics": []}, body=lambda _: body, keep=b.mine)
    b.alive()


# -- headers -----------------------------------------------------------------------------------------------------------


CLIENTS = {
    "null": None,
    "empty": "",
    "long": "c" * 30000,
    "umlaut": "\u00fc\u6f22\U0001f600",
    "nul": "a\0b",
    "quotes": 'a"b,c=d',
}


@case("frames/client-id", versions=[1, 12], each=CLIENTS)
def client_id(b, v, name):
    b.call("Metadata", v, {"topics": []}, header={"clientId": name})
    b.alive()


@case(
    "frames/client-id-spoilt",
    each={
        "minus-2": struct.pack(">h", -2),
        "too-long": struct.pack(">h", 500) + b"abc",
        "not-utf8": struct.pack(">h", 2) + b"\xff\xfe",
    },
)
def client_id_spoilt(b, spoilt):
    head = struct.pack(">hhi", 3, 1, 7) + spoilt + struct.pack(">i", 0)
    b.raw("Metadata v1", struct.pack(">i", len(head)) + head, "Metadata", 1, 7)
    b.alive()


HEADER_TAGS = {
    "one": [(5, b"abc")],
    "many": [(i, b"x" * i) for i in range(50)],
    "large": [(1, b"x" * 60000)],
    "empty-value": [(0, b"")],
    "tag-max": [(2147483647, b"1")],
}


@case("frames/header-tags", each=HEADER_TAGS)
def header_tags(b, tags):
    b.call("Metadata", 12, {"topics": []}, header_tags=[{"path": "", "tag": t, "hex": d.hex()} for t, d in tags])
    b.alive()


HEADER_BYTES = {
    "falling": b"\x02\x05\x01a\x04\x01b",
    "twice": b"\x02\x05\x01a\x05\x01b",
    "count-beyond": b"\x05\x05\x01a",
    "count-huge": b"\xff\xff\xff\xff\x07",
    "size-beyond": b"\x01\x05\x7fa",
    "missing": b"",
}


@case("frames/header-tag-bytes", each=HEADER_BYTES)
def header_tag_bytes(b, tags):
    head = struct.pack(">hhih", 3, 12, 7, 1) + b"c" + tags
    body = b"" if tags == b"" else b"\1\1\0\0"
    b.raw("Metadata v12", struct.pack(">i", len(head + body)) + head + body, "Metadata", 12, 7)
    b.alive()


@case("frames/old-header-for-new-version")
def old_header(b):
    """Version 12 with the header of version 8: the first byte of the body is taken for the header's tags."""
    b.call("Metadata", 12, {"topics": []}, header_version=1)
    b.alive()


@case("frames/correlation-id", each={"0": 0, "-1": -1, "max": 2147483647, "min": -2147483648})
def correlation(b, number):
    b.call("Metadata", 1, {"topics": []}, header={"correlationId": number})
    b.call("Metadata", 12, {"topics": []}, header={"correlationId": number})
    b.call(
        "ApiVersions",
        3,
        {"clientSoftwareName": "a", "clientSoftwareVersion": "1"},
        header={"correlationId": number},
        keep=lambda a: a["errorCode"] and a or {},
    )


@case("frames/size", each={str(n): n for n in (0, 1, 2, 4, 7, 8, 9)})
def size(b, number):
    """Too small for a header."""
    b.raw("frame", struct.pack(">i", number) + (struct.pack(">hhih", 3, 1, 7, 0) + b"\0" * 4)[:number], "Metadata", 1)
    b.alive()


@case("frames/size-negative", each={"-1": -1, "min": -(1 << 31)})
def size_negative(b, number):
    b.raw("frame", struct.pack(">i", number) + b"\0" * 20)
    b.alive()


@case("frames/size-above-limit", each={"one-above": 104857601, "2GiB": 0x7FFFFFFF})
def size_above(b, number):
    b.raw("frame", struct.pack(">i", number) + b"\0" * 20)
    b.alive()


@case("frames/size-is-http")
def http(b):
    b.raw("GET", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    b.alive()


@case("frames/size-is-tls")
def tls(b):
    b.raw("client hello", bytes.fromhex("160301020001000001fc0303") + b"\x11" * 60)
    b.alive()


# -- order and pieces --------------------------------------------------------------------------------------------------


@case("frames/pipelined")
def pipelined(b):
    """Answers come in the order of the requests, also when the first one has to wait."""
    name = b.topic()
    slow = request_frame(b.schemas, "Fetch", 12, fetch_fields(b, [(name, {0: 0})], maxWaitMs=700), 101)
    frames = [slow]
    for i in range(5):
        frames.append(request_frame(b.schemas, "Metadata", 12, {"topics": [{"name": name}]}, 102 + i))
    frames.append(request_frame(b.schemas, "ApiVersions", 0, {}, 107))
    b.connection.send_raw(b"".join(struct.pack(">i", len(f)) + f for f in frames))
    b.note("order", [struct.unpack(">i", b.connection.read_frame()[:4])[0] for _ in frames])


@case("frames/pipelined-then-broken")
def pipelined_broken(b):
    """What came before the bad request is answered first."""
    good = request_frame(b.schemas, "Metadata", 12, {"topics": []}, 5)
    bad = frame(999, 0)
    b.raw("three", struct.pack(">i", len(good)) + good + bad + struct.pack(">i", len(good)) + good, "Metadata", 12, 5)
    b.raw("after", b"")


@case("frames/byte-by-byte")
def byte_by_byte(b):
    data = request_frame(b.schemas, "Metadata", 12, {"topics": [{"name": b.topic()}]}, 9)
    whole = struct.pack(">i", len(data)) + data
    for i in range(len(whole) - 1):
        b.connection.send_raw(whole[i : i + 1])
    b.raw("last byte", whole[-1:], "Metadata", 12, 9)


@case("frames/large-request")
def large(b):
    """A request of some megabytes, most of it names of topics that are not."""
    wanted = [{"name": b.topic_name("n" * 150 + str(i))} for i in range(10000)]
    b.call(
        "Metadata",
        12,
        {"topics": wanted, "allowAutoTopicCreation": False},
        keep=lambda a: {"topics": len(a["topics"]), "codes": sorted({t["errorCode"] for t in a["topics"]})},
    )
