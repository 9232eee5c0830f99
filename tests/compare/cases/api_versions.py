"""ApiVersions: the one request that a client sends before it knows anything."""

from harness import case

CLIENT = {"clientSoftwareName": "compare", "clientSoftwareVersion": "1.0"}


def only_itself(answer):
    """The error, the range of ApiVersions itself and how the rest looks in kind: what a client in trouble needs."""
    keys = [k for k in answer["apiKeys"] if k["apiKey"] == 18]
    kept = {k: v for k, v in answer.items() if k not in ("apiKeys", "supportedFeatures", "finalizedFeatures")}
    return dict(kept, apiVersions=keys, more=len(answer["apiKeys"]) > 1)


@case("api-versions/list", versions=range(6))
def whole_list(b, v):
    b.call("ApiVersions", v, CLIENT)


@case("api-versions/too-new", each={"6": 6, "7": 7, "100": 100, "32767": 32767})
def too_new(b, v):
    b.call("ApiVersions", v, CLIENT, answered_as=0, keep=only_itself)
    # The same connection goes on with a version that was in the answer.
    b.call("ApiVersions", 5, CLIENT, keep=only_itself)
    b.call("Metadata", 12, {"topics": []})


@case("api-versions/too-new-list")
def too_new_list(b):
    b.call("ApiVersions", 6, CLIENT, answered_as=0)


@case("api-versions/too-new-with-other-body")
def too_new_body(b):
    """What follows the header of an unknown version cannot be read and must not matter."""
    b.call("ApiVersions", 9, CLIENT, answered_as=0, keep=only_itself, body=lambda body: b"\xff" * 40)
    b.alive()


@case("api-versions/too-new-with-empty-body")
def too_new_empty(b):
    b.call("ApiVersions", 9, CLIENT, answered_as=0, keep=only_itself, body=lambda body: b"")
    b.alive()


@case("api-versions/negative-version", each={"-1": -1, "-32768": -32768})
def negative(b, v):
    b.call("ApiVersions", v, {}, header_version=1, answered_as=0, keep=only_itself)
    b.alive()


NAMES = {
    "empty": "",
    "space": "a b",
    "dash-first": "-a",
    "dash-last": "a-",
    "dot-first": ".a",
    "dot-last": "a.",
    "dot-inside": "a.b",
    "dash-inside": "a-b-c",
    "underscore": "a_b",
    "one-letter": "a",
    "digits": "42",
    "umlaut": "\u00fcber",
    "slash": "a/b",
    "nul": "a\0b",
    "long": "n" * 3000,
}


@case("api-versions/client-name", versions=[3, 4, 5], each=NAMES)
def client_name(b, v, name):
    b.call("ApiVersions", v, dict(CLIENT, clientSoftwareName=name), keep=only_itself)
    b.alive()


@case("api-versions/client-version", versions=[3, 5], each=NAMES)
def client_version(b, v, text):
    b.call("ApiVersions", v, dict(CLIENT, clientSoftwareVersion=text), keep=only_itself)
    b.alive()


@case(
    "api-versions/v5-cluster-and-node",
    each={
        "node": {"nodeId": 1},
        "other-node": {"nodeId": 2},
        "cluster": {"clusterId": "other"},
        "both": {"clusterId": "other", "nodeId": 7},
        "empty-cluster": {"clusterId": ""},
    },
)
def cluster_and_node(b, more):
    b.call("ApiVersions", 5, dict(CLIENT, **more), keep=only_itself)
    b.alive()


@case("api-versions/v5-right-cluster")
def right_cluster(b):
    cluster = b.ask("Metadata", 5, {"topics": []})["clusterId"]
    for node in (-1, 1, 2, -2):
        b.call("ApiVersions", 5, dict(CLIENT, clusterId=cluster, nodeId=node), keep=only_itself)
    b.alive()


@case("api-versions/again")
def again(b):
    for v in (3, 0, 5, 3):
        b.call("ApiVersions", v, CLIENT, keep=only_itself)


@case("api-versions/after-others")
def after_others(b):
    b.call("Metadata", 1, {"topics": []})
    b.call("ApiVersions", 4, CLIENT, keep=only_itself)


@case("api-versions/unknown-tags", versions=[3, 4, 5])
def unknown_tags(b, v):
    tags = [{"path": "", "tag": 3, "hex": "00"}, {"path": "", "tag": 9999, "hex": "aabbcc"}]
    b.call("ApiVersions", v, CLIENT, tags=tags, header_tags=tags, keep=only_itself)


@case("api-versions/truncated", versions=range(3, 6))
def truncated(b, v):
    b.call("ApiVersions", v, CLIENT, body=lambda body: body[:-1], keep=only_itself)


@case("api-versions/trailing", versions=range(6))
def trailing(b, v):
    b.call("ApiVersions", v, CLIENT, body=lambda body: body + b"\0\1\2", keep=only_itself)
    b.alive()
