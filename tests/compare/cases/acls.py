"""CreateAcls, DescribeAcls and DeleteAcls, and what requests are answered where an ACL stands in their way.

Whoever asks here is User:ANONYMOUS. What no ACL covers is open to everyone, so a case guards names of its own; those
that guard the cluster run alone."""

import batch
from groups import alone, commit, fetch, join_fields
from harness import SetupFailed, case, fetch_fields, produce_fields

TOPIC, GROUP, CLUSTER, TOKEN, USER = 2, 3, 4, 6, 7
LITERAL, PREFIXED = 3, 4
ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION = range(2, 10)
DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 10, 11, 12
DENY, ALLOW = 2, 3
ME = "User:ANONYMOUS"


def acl(name, operation=READ, permission=ALLOW, **more):
    return dict(
        {
            "resourceType": TOPIC,
            "resourceName": name,
            "resourcePatternType": LITERAL,
            "principal": ME,
            "host": "*",
            "operation": operation,
            "permissionType": permission,
        },
        **more,
    )


def put(b, *acls):
    """Puts ACLs in place, and waits until they are."""
    answer = b.ask("CreateAcls", 3, {"creations": list(acls)})
    if any(r["errorCode"] for r in answer["results"]):
        raise SetupFailed(f"CreateAcls: {answer}")
    for a in acls:
        b.until("the ACL", lambda a=a: b.ask("DescribeAcls", 3, exactly(a))["resources"])


def exactly(a):
    """The filter that matches this ACL alone."""
    return {
        "resourceTypeFilter": a["resourceType"],
        "resourceNameFilter": a["resourceName"],
        "patternTypeFilter": a["resourcePatternType"],
        "principalFilter": a["principal"],
        "hostFilter": a["host"],
        "operation": a["operation"],
        "permissionType": a["permissionType"],
    }


def a_filter(name, **more):
    return dict(
        {
            "resourceTypeFilter": TOPIC,
            "resourceNameFilter": name,
            "patternTypeFilter": 1,
            "principalFilter": None,
            "hostFilter": None,
            "operation": 1,
            "permissionType": 1,
        },
        **more,
    )


# -- the ACLs themselves -----------------------------------------------------------------------------------------------


def create(b, v, *acls):
    return b.call("CreateAcls", v, {"creations": list(acls)})


def show(b, v, wanted):
    return b.call("DescribeAcls", v, wanted)


def delete(b, v, *filters):
    return b.call("DeleteAcls", v, {"filters": list(filters)})


def settled(b, count):
    """Waits until there are as many ACLs about this case's principal."""
    mine = a_filter(None, resourceTypeFilter=1, principalFilter="User:" + b.prefix)
    seen = lambda: b.ask("DescribeAcls", 3, mine)["resources"]
    b.until(f"{count} ACLs", lambda: sum(len(r["acls"]) for r in seen()) == count)


def own(b, name, *rest, **more):
    """An ACL about a principal of this case's own."""
    return acl(name, *rest, principal="User:" + b.prefix, **more)


@case("acls/create-describe-delete", versions=range(1, 4))
def lifecycle(b, v):
    one, two = b.topic_name("a"), b.topic_name("b")
    create(b, v, own(b, one), own(b, one, WRITE, DENY), own(b, two, ALL, resourcePatternType=PREFIXED))
    settled(b, 3)
    show(b, v, a_filter(one))
    show(b, v, a_filter(two))
    create(b, v, own(b, one))
    delete(b, v, a_filter(one, operation=READ), a_filter(b.topic_name("none")))
    settled(b, 2)
    show(b, v, a_filter(one))
    delete(b, v, a_filter(None, principalFilter="User:" + b.prefix))
    settled(b, 0)
    show(b, v, a_filter(one))


@case("acls/create-nothing", versions=range(1, 4))
def create_nothing(b, v):
    create(b, v)
    delete(b, v)


@case("acls/create-twice-in-one")
def create_twice(b):
    create(b, 3, own(b, b.topic_name()), own(b, b.topic_name()))
    settled(b, 1)
    show(b, 3, a_filter(b.topic_name()))


CODES = {
    **{f"type-{n}": {"resourceType": n} for n in (-1, 0, 1, 3, 5, 6, 7, 8)},
    **{f"pattern-{n}": {"resourcePatternType": n} for n in (-1, 0, 1, 2, 4, 5)},
    **{f"operation-{n}": {"operation": n} for n in (-1, 0, 1, 2, 14, 15, 16)},
    **{f"permission-{n}": {"permissionType": n} for n in (-1, 0, 1, 4)},
}
TEXTS = {
    "name-empty": {"resourceName": ""},
    "cluster-name": {"resourceType": CLUSTER, "resourceName": "other"},
    "cluster-empty": {"resourceType": CLUSTER, "resourceName": ""},
    "principal-empty": {"principal": ""},
    "principal-without-type": {"principal": "alice"},
    "principal-only-colon": {"principal": ":"},
    "principal-other-type": {"principal": "Group:x:y"},
    "host-empty": {"host": ""},
    "host-name": {"host": "some.host"},
    "host-range": {"host": "10.0.0.0/8"},
    "host-range-v6": {"host": "2001:db8::/32"},
    "host-range-inside": {"host": "10.1.2.3/8"},
    "host-range-33": {"host": "10.0.0.0/33"},
    "host-range-v6-129": {"host": "2001:db8::/129"},
    "host-range-empty": {"host": "/"},
    "host-range-name": {"host": "some.host/8"},
}


@case("acls/create-codes", each=CODES)
def create_codes(b, fields):
    """Numbers that mean nothing, and those that only filters may have."""
    create(b, 3, own(b, b.topic_name("good")), dict(own(b, b.topic_name()), **fields))
    b.alive()


@case("acls/create-texts", each=TEXTS)
def create_texts(b, fields):
    create(b, 3, own(b, b.topic_name("good")), dict(own(b, b.topic_name()), **fields))
    b.alive()


FILTERS = {
    **{f"type-{n}": {"resourceTypeFilter": n} for n in (-1, 0, 1, 6, 8)},
    **{f"pattern-{n}": {"patternTypeFilter": n} for n in (-1, 0, 1, 2, 3, 4, 5)},
    **{f"operation-{n}": {"operation": n} for n in (-1, 0, 2, 3, 15, 16)},
    **{f"permission-{n}": {"permissionType": n} for n in (-1, 0, 2, 3, 4)},
    "host": {"hostFilter": "10.0.0.1"},
    "host-star": {"hostFilter": "*"},
    "host-empty": {"hostFilter": ""},
    "no-name": {"resourceNameFilter": None},
    "no-name-match": {"resourceNameFilter": None, "patternTypeFilter": 2},
    "name-empty": {"resourceNameFilter": ""},
    "name-star": {"resourceNameFilter": "*"},
    "name-star-match": {"resourceNameFilter": "*", "patternTypeFilter": 2},
}


def some(b):
    """ACLs of all kinds of one principal; on users and tokens, since one on every topic would be in the others' way."""
    name = b.topic_name("ab")
    mine = [
        own(b, name),
        own(b, name, WRITE, DENY, host="10.0.0.1"),
        own(b, b.topic_name("a"), ALL, resourcePatternType=PREFIXED),
        own(b, b.topic_name("abc"), READ, resourcePatternType=PREFIXED),
        own(b, "*", DESCRIBE),
    ]
    mine = [dict(a, resourceType=USER) for a in mine]
    mine += [own(b, n, READ, resourceType=TOKEN) for n in (name, "*")]
    put(b, *mine)
    return name


@case("acls/describe", each=FILTERS)
def describe(b, fields):
    wanted = a_filter(some(b), resourceTypeFilter=USER, principalFilter="User:" + b.prefix)
    show(b, 3, dict(wanted, **fields))
    b.alive()


@case("acls/delete", each=FILTERS)
def delete_some(b, fields):
    wanted = a_filter(some(b), resourceTypeFilter=USER, principalFilter="User:" + b.prefix)
    answer = delete(b, 3, dict(wanted, **fields))
    b.alive()
    if answer is None:
        return
    gone = sum(len(r["matchingAcls"]) for r in answer["filterResults"])
    settled(b, 7 - gone)
    show(b, 3, a_filter(None, resourceTypeFilter=1, principalFilter="User:" + b.prefix))


@case("acls/delete-overlapping")
def overlapping(b):
    name = some(b)
    mine = {"principalFilter": "User:" + b.prefix, "resourceTypeFilter": USER}
    delete(b, 3, a_filter(name, **mine), a_filter(name, operation=READ, **mine), a_filter(name, operation=0, **mine))
    b.alive()


# -- what they decide --------------------------------------------------------------------------------------------------

OTHERS = "User:someone-else"


def rules(operation):
    """What may stand on a resource, and what it means for an operation."""
    return {
        "allowed": [(operation, ALLOW, {})],
        "denied": [(operation, DENY, {}), (ALL, ALLOW, {})],
        "all-denied": [(ALL, DENY, {}), (operation, ALLOW, {})],
        "for-others": [(operation, ALLOW, {"principal": OTHERS})],
        "prefix": [(operation, ALLOW, {"resourcePatternType": PREFIXED})],
        "prefix-denied": [(operation, DENY, {"resourcePatternType": PREFIXED}), (ALL, ALLOW, {})],
        "everyone": [(operation, ALLOW, {"principal": "User:*"})],
        "elsewhere": [(operation, ALLOW, {"host": "10.9.8.7"})],
        "range": [(operation, ALLOW, {"host": "127.0.0.0/8"})],
        "range-denied": [(operation, DENY, {"host": "127.0.0.0/8"}), (ALL, ALLOW, {})],
        "all-but-it": [(o, ALLOW, {}) for o in range(READ, ALTER_CONFIGS + 1) if o not in (operation, CLUSTER_ACTION)],
    }


def few(operation):
    """Those that tell codes apart; who decides is asked of three APIs in full."""
    return {k: v for k, v in rules(operation).items() if k in ("allowed", "denied", "for-others", "prefix")}


def guard(b, name, what, **more):
    """Puts the rules on a topic or a group; a prefix is the name without its last letter."""
    acls = []
    for operation, permission, fields in what:
        a = acl(name, operation, permission, **dict(more, **fields))
        if a["resourcePatternType"] == PREFIXED:
            a["resourceName"] = name[:-1]
        acls.append(a)
    put(b, *acls)
    return name


@case("authorize/produce", versions=[9], each=rules(WRITE))
def produce(b, v, what):
    name = guard(b, b.topic(), what)
    b.call("Produce", v, produce_fields(b, name, batch.batch()))


@case("authorize/produce-codes", versions=[3, 13], each=few(WRITE))
def produce_codes(b, v, what):
    produce(b, v, what)


@case("authorize/produce-unknown", versions=[3, 12])
def produce_unknown(b, v):
    name = guard(b, b.topic_name(), [(WRITE, DENY, {})])
    b.call("Produce", v, produce_fields(b, name, batch.batch()))


@case("authorize/fetch", versions=[12], each=rules(READ))
def fetch_topic(b, v, what):
    name = b.topic()
    b.fill(name)
    guard(b, name, what)
    b.call("Fetch", v, fetch_fields(b, [(name, {0: 0})], maxWaitMs=0))


@case("authorize/fetch-codes", versions=[4, 13, 18], each=few(READ))
def fetch_codes(b, v, what):
    fetch_topic(b, v, what)


@case("authorize/fetch-unknown", versions=[4, 12])
def fetch_unknown(b, v):
    name = guard(b, b.topic_name(), [(READ, DENY, {})])
    b.call("Fetch", v, fetch_fields(b, [(name, {0: 0})], maxWaitMs=0))


@case("authorize/list-offsets", versions=[1, 11], each=few(DESCRIBE))
def list_offsets(b, v, what):
    name = guard(b, b.topic(), what)
    partitions = [{"partitionIndex": 0, "timestamp": -1, "currentLeaderEpoch": -1}]
    topics = [{"name": n, "partitions": partitions} for n in (name, b.topic("open"))]
    b.call("ListOffsets", v, {"replicaId": -1, "isolationLevel": 0, "topics": topics, "timeoutMs": 5000})


@case("authorize/leader-epoch", versions=[2, 4], each=few(DESCRIBE))
def leader_epoch(b, v, what):
    name = guard(b, b.topic(), what)
    partitions = [{"partition": 0, "currentLeaderEpoch": -1, "leaderEpoch": 0}]
    b.call("OffsetForLeaderEpoch", v, {"replicaId": -2, "topics": [{"topic": name, "partitions": partitions}]})


def metadata_of(b, v, name, **more):
    return b.call("Metadata", v, dict({"topics": [{"name": name}], "allowAutoTopicCreation": False}, **more))


@case("authorize/metadata", versions=[1, 8, 13], each=few(DESCRIBE))
def metadata(b, v, what):
    name = guard(b, b.topic(), what)
    operations = {"includeTopicAuthorizedOperations": True} if v >= 8 else {}
    metadata_of(b, v, name, **operations)
    b.call("Metadata", v, {"topics": None, "allowAutoTopicCreation": False}, keep=lambda a: only(a, name))


def only(answer, name):
    return {"topics": [t for t in answer["topics"] if t["name"] == name]}


@case("authorize/metadata-by-id", versions=[12], each=few(DESCRIBE))
def metadata_by_id(b, v, what):
    name = guard(b, b.topic(), what)
    topics = [{"name": None, "topicId": b.id_of(name)}]
    b.call("Metadata", v, {"topics": topics, "includeTopicAuthorizedOperations": True})


@case("authorize/metadata-unknown", versions=[4, 12], each=few(DESCRIBE))
def metadata_unknown(b, v, what):
    name = guard(b, b.topic_name(), what)
    metadata_of(b, v, name)


@case("authorize/metadata-creates", versions=[4, 12], each={"denied": DENY, "allowed": ALLOW}, alone=True)
def metadata_creates(b, v, permission):
    """Who may create topics anywhere need not be asked for the name."""
    name = guard(b, b.topic_name(), [(CREATE, permission, {}), (DESCRIBE, ALLOW, {})])
    with_cluster(b, [ALTER, CREATE], lambda: metadata_of(b, v, name + "-any", allowAutoTopicCreation=False))
    with_cluster(b, [ALTER], lambda: answered(b, v, name))


def answered(b, v, name):
    """A topic that may be created is at once, or a little later."""
    fields = {"topics": [{"name": name}], "allowAutoTopicCreation": True}
    code = b.ask("Metadata", v, fields)["topics"][0]["errorCode"]
    b.note("refused", code == 29)
    if code != 29:
        b.until("the topic", lambda: b.ask("Metadata", v, fields)["topics"][0]["errorCode"] == 0)


@case("authorize/metadata-operations", versions=[9], each={str(o): o for o in range(ALL, ALTER_CONFIGS + 1)})
def metadata_operations(b, v, operation):
    """What one rule on a topic that one may describe allows beside."""
    name = guard(b, b.topic(), [(DESCRIBE, ALLOW, {}), (operation, ALLOW, {})])
    metadata_of(b, v, name, includeTopicAuthorizedOperations=True)


@case("authorize/describe-topic-partitions", each=few(DESCRIBE))
def describe_topic_partitions(b, what):
    name = guard(b, b.topic("m"), what)
    topics = [{"name": n} for n in (b.topic("a"), name, b.topic("z"))]
    b.call("DescribeTopicPartitions", 0, {"topics": topics})


@case("authorize/describe-topic-partitions-unknown")
def describe_unknown(b):
    name = guard(b, b.topic_name(), [(DESCRIBE, DENY, {})])
    b.call("DescribeTopicPartitions", 0, {"topics": [{"name": name}]})


def create_topic(b, v, name, **more):
    topic = {"name": name, "numPartitions": 2, "replicationFactor": 1}
    return b.call("CreateTopics", v, dict({"topics": [topic], "timeoutMs": 30000}, **more))


@case("authorize/create-topics", versions=[2, 7], each=few(CREATE), alone=True)
def create_topics(b, v, what):
    name = guard(b, b.topic_name(), what)
    with_cluster(b, [ALTER], lambda: create_topic(b, v, name))


@case("authorize/create-topics-anywhere", versions=[5, 7], each={"describe": DESCRIBE_CONFIGS, "not": READ})
def create_anywhere(b, v, operation):
    """Who may create topics on the cluster may create this one; its configs are another question."""
    name = guard(b, b.topic_name(), [(CREATE, DENY, {}), (operation, ALLOW, {})])
    create_topic(b, v, name)


def delete_topics(b, v, *names, ids=()):
    topics = [{"name": n, "topicId": None} for n in names] if v >= 6 else []
    for topic in topics:
        topic["topicId"] = "AAAAAAAAAAAAAAAAAAAAAA"
    topics += [{"name": None, "topicId": i} for i in ids]
    fields = {"topics": topics} if v >= 6 else {"topicNames": list(names)}
    return b.call("DeleteTopics", v, dict(fields, timeoutMs=30000))


@case("authorize/delete-topics", versions=[1, 6], each=few(DELETE), alone=True)
def delete_by_name(b, v, what):
    name = guard(b, b.topic(), what)
    with_cluster(b, [ALTER], lambda: delete_topics(b, v, name))


@case("authorize/delete-topics-by-id", each=few(DELETE), alone=True)
def delete_by_id(b, what):
    name = guard(b, b.topic(), what)
    with_cluster(b, [ALTER], lambda: delete_topics(b, 6, ids=[b.id_of(name)]))


@case("authorize/delete-topics-by-id-described", alone=True)
def delete_described(b):
    name = guard(b, b.topic(), [(DESCRIBE, ALLOW, {})])
    with_cluster(b, [ALTER], lambda: delete_topics(b, 6, ids=[b.id_of(name)]))


@case("authorize/delete-topics-unknown", versions=[1, 6], alone=True)
def delete_unknown(b, v):
    name = guard(b, b.topic_name(), [(DELETE, DENY, {})])
    with_cluster(b, [ALTER], lambda: delete_topics(b, v, name, b.topic_name("open")))


@case("authorize/delete-topics-anywhere", versions=[1, 6])
def delete_anywhere(b, v):
    name = guard(b, b.topic(), [(DELETE, DENY, {})])
    delete_topics(b, v, name)


@case("authorize/create-partitions", versions=[0, 3], each=few(ALTER))
def create_partitions(b, v, what):
    name = guard(b, b.topic(), what)
    topics = [{"name": name, "count": 2, "assignments": None}]
    b.call("CreatePartitions", v, {"topics": topics, "timeoutMs": 30000, "validateOnly": True})


@case("authorize/describe-configs", versions=[1, 4], each=few(DESCRIBE_CONFIGS))
def describe_configs(b, v, what):
    name = guard(b, b.topic(), what)
    keys = ["retention.ms"]
    resources = [{"resourceType": t, "resourceName": name, "configurationKeys": keys} for t in (2, 32)]
    b.call("DescribeConfigs", v, {"resources": resources})


@case("authorize/describe-configs-implied", each={str(o): o for o in range(ALL, ALTER_CONFIGS + 1)})
def describe_configs_implied(b, operation):
    name = guard(b, b.topic(), [(operation, ALLOW, {})])
    resources = [{"resourceType": 2, "resourceName": name, "configurationKeys": ["retention.ms"]}]
    b.call("DescribeConfigs", 4, {"resources": resources})


CONFIG_KEYS = {
    2: "retention.ms",
    4: "log.retention.ms",
    8: "root",
    16: "interval.ms",
    32: "share.session.timeout.ms",
}


def replace_configs(b, v, kind, name, value="50000", twice=False):
    configs = [{"name": CONFIG_KEYS[kind], "value": value}] * (2 if twice else 1)
    resources = [{"resourceType": kind, "resourceName": name, "configs": configs}]
    return b.call("AlterConfigs", v, {"resources": resources, "validateOnly": True})


def alter_configs(b, v, kind, name):
    configs = [{"name": CONFIG_KEYS[kind], "configOperation": 1, "value": None}]
    resources = [{"resourceType": kind, "resourceName": name, "configs": configs}]
    return b.call("IncrementalAlterConfigs", v, {"resources": resources, "validateOnly": True})


@case("authorize/alter-configs", versions=[0, 1], each=few(ALTER_CONFIGS))
def alter_topic_configs(b, v, what):
    name = guard(b, b.topic(), what)
    alter_configs(b, v, 2, name)
    alter_configs(b, v, 2, guard(b, b.topic_name("missing"), what))


@case("authorize/replace-configs", versions=[0, 2], each=few(ALTER_CONFIGS))
def replace_topic_configs(b, v, what):
    name = guard(b, b.topic(), what)
    replace_configs(b, v, 2, name)
    replace_configs(b, v, 2, guard(b, b.topic_name("missing"), what))


@case("authorize/replace-group-configs", each=few(ALTER_CONFIGS))
def replace_group_configs(b, what):
    replace_configs(b, 2, 32, guard(b, b.group(), what, resourceType=GROUP))


@case("authorize/configs-checked-first", each={"topic": 2, "group": 32})
def configs_checked_first(b, kind):
    """What is wrong with a request by itself is told to those too who may do nothing; the rest is not."""
    more = {} if kind == 2 else {"resourceType": GROUP}
    name = guard(b, b.topic(), [(ALTER_CONFIGS, DENY, {})], **more)
    replace_configs(b, 2, kind, name, value=None)
    replace_configs(b, 2, kind, name, twice=True)
    replace_configs(b, 2, kind, name, value="soon")
    replace_configs(b, 2, kind, name)


@case("authorize/alter-group-configs", each=few(ALTER_CONFIGS))
def alter_group_configs(b, what):
    alter_configs(b, 1, 32, guard(b, b.group(), what, resourceType=GROUP))


# -- groups ------------------------------------------------------------------------------------------------------------


@case("authorize/find-coordinator", versions=[0, 3, 4, 6], each=few(DESCRIBE))
def find_coordinator(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    if v >= 4:
        b.call("FindCoordinator", v, {"keyType": 0, "coordinatorKeys": [group, b.group("open")]})
    else:
        b.call("FindCoordinator", v, {"key": group, **({"keyType": 0} if v else {})})


@case("authorize/join-group", versions=[9], each=rules(READ))
def join_group(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    b.call("JoinGroup", v, join_fields(group))


@case("authorize/sync-group", versions=[0, 3, 5], each={"denied": [(READ, DENY, {})]})
def sync_group(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    b.call("SyncGroup", v, {"groupId": group, "generationId": 1, "memberId": "m", "assignments": []})


@case("authorize/heartbeat", versions=[0, 4], each=few(READ))
def heartbeat(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    b.call("Heartbeat", v, {"groupId": group, "generationId": 1, "memberId": "m"})


@case("authorize/leave-group", versions=[0, 2, 3, 5], each={"denied": [(READ, DENY, {})]})
def leave_group(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    who = {"memberId": "m"} if v < 3 else {"members": [{"memberId": "m", "groupInstanceId": None}]}
    b.call("LeaveGroup", v, {"groupId": group, **who})


@case("authorize/offset-commit-group", versions=[2, 9], each=few(READ))
def commit_group(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    commit(b, v, group, [(b.topic(), {0: 1})])


@case("authorize/offset-commit-topic", versions=[2, 10], each=few(READ))
def commit_topic(b, v, what):
    name = guard(b, b.topic(), what)
    commit(b, v, b.group(), [(name, {0: 1}), (b.topic("open"), {0: 1})])


@case("authorize/offset-fetch-group", versions=[1, 2, 8], each=few(DESCRIBE))
def offsets_of_group(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    fetch(b, v, group, [(b.topic(), [0])])


@case("authorize/offset-fetch-topic", versions=[1, 8, 10], each=few(DESCRIBE))
def offsets_of_topic(b, v, what):
    name = guard(b, b.topic(), what)
    fetch(b, v, b.group(), [(name, [0]), (b.topic("open"), [0])])


@case("authorize/offset-delete", each={"denied": [(DELETE, DENY, {})], "allowed": [(DELETE, ALLOW, {})]})
def offset_delete(b, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    topics = [{"name": b.topic(), "partitions": [{"partitionIndex": 0}]}]
    b.call("OffsetDelete", 0, {"groupId": group, "topics": topics})


@case("authorize/describe-groups", versions=[0, 6], each=few(DESCRIBE))
def describe_groups(b, v, what):
    group = alone(b, 5, "g").group
    guard(b, group, what, resourceType=GROUP)
    operations = {"includeAuthorizedOperations": True} if v >= 3 else {}
    b.call("DescribeGroups", v, {"groups": [group], **operations})


@case("authorize/delete-groups", versions=[0, 2], each=few(DELETE))
def delete_groups(b, v, what):
    group = guard(b, b.group(), what, resourceType=GROUP)
    b.call("DeleteGroups", v, {"groupsNames": [group, b.group("open")]})


# -- the cluster -------------------------------------------------------------------------------------------------------


def on_cluster(operation):
    return acl("kafka-cluster", operation, resourceType=CLUSTER)


def with_cluster(b, allowed, ask):
    """Asks while only these operations on the cluster are allowed. One of them is ALTER, so that this can end. Kafka's
    broker talks to its controller as the same principal, which takes CLUSTER_ACTION."""
    acls = [on_cluster(o) for o in [CLUSTER_ACTION, *allowed]]
    put(b, *acls)
    try:
        ask()
    finally:
        every = a_filter("kafka-cluster", resourceTypeFilter=CLUSTER)
        b.ask("DeleteAcls", 3, {"filters": [every]})
        b.until("an open cluster", lambda: not b.ask("DescribeAcls", 3, every)["resources"])


CLUSTER_RULES = {
    "nothing": [ALTER],
    "describe-configs": [ALTER, DESCRIBE_CONFIGS],
    "idempotent-write": [ALTER, IDEMPOTENT_WRITE],
    "all": [ALL, ALTER],
}


@case("authorize/cluster", each=CLUSTER_RULES, alone=True)
def cluster(b, allowed):
    def ask():
        b.call("DescribeCluster", 1, {"includeClusterAuthorizedOperations": True})
        b.call("Metadata", 9, {"topics": [], "includeClusterAuthorizedOperations": True})
        b.call("InitProducerId", 4, {"transactionalId": None, "transactionTimeoutMs": 60000}, keep=code)
        resources = [{"resourceType": 4, "resourceName": "1", "configurationKeys": ["log.segment.bytes"]}]
        b.call("DescribeConfigs", 4, {"resources": resources})
        alter_configs(b, 1, 4, "1")
        alter_configs(b, 1, 8, "2")
        alter_configs(b, 1, 16, b.topic_name("metrics"))
        replace_configs(b, 2, 4, "1")
        replace_configs(b, 2, 4, "1", value="soon")
        replace_configs(b, 2, 4, "2")
        replace_configs(b, 2, 4, "1", value=None)
        replace_configs(b, 2, 4, "1", twice=True)
        for kind, key in ((4, "log.retention.ms"), (8, "root"), (16, "interval.ms")):
            for name, changes in (("1", [(key, 0, None)]), ("1", [(key, 1, None)] * 2), ("2", [(key, 0, "5")])):
                configs = [{"name": k, "configOperation": o, "value": value} for k, o, value in changes]
                resources = [{"resourceType": kind, "resourceName": name, "configs": configs}]
                b.call("IncrementalAlterConfigs", 1, {"resources": resources, "validateOnly": True})
        replace_configs(b, 2, 16, b.topic_name("metrics"))
        b.call("ListConfigResources", 1, {"resourceTypes": [4]})
        b.call("DescribeAcls", 3, a_filter(b.topic_name()))

    with_cluster(b, allowed, ask)


def code(answer):
    return {"errorCode": answer["errorCode"]}
