import sys
import time

from confluent_kafka import (Consumer, ConsumerGroupTopicPartitions, IsolationLevel, KafkaError, Producer,
                             TopicCollection, TopicPartition)
from confluent_kafka.admin import (AclBinding, AclBindingFilter, AclOperation, AclPermissionType, AdminClient,
                                   AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic,
                                   OffsetSpec, ResourcePatternType, ResourceType)

from check import Check, Skip, need

BOOT = sys.argv[1]
c = Check("confluent-python")
admin = AdminClient({"bootstrap.servers": BOOT})
topic, gtopic, ttopic = c.name("t"), c.name("g"), c.name("x")
N = 100


def create():
    for f in admin.create_topics([NewTopic(t, 3, 1) for t in (topic, gtopic)] + [NewTopic(ttopic, 1, 1)]).values():
        f.result(20)
    deadline = time.time() + 10
    while time.time() < deadline and len(admin.list_topics(topic, timeout=10).topics[topic].partitions) != 3:
        time.sleep(0.2)


def create_again():
    try:
        list(admin.create_topics([NewTopic(topic, 3, 1)]).values())[0].result(20)
    except Exception as e:
        need(e.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS, e)
    else:
        need(False, "creating a topic twice succeeded")


def describe():
    d = admin.describe_topics(TopicCollection([topic]))[topic].result(10)
    need(len(d.partitions) == 3 and d.partitions[0].leader is not None, "partitions")
    need(d.topic_id is not None, "no topic id")
    cl = admin.describe_cluster().result(10)
    need(cl.cluster_id and cl.nodes, "cluster")


def configs():
    r = ConfigResource(ConfigResource.Type.TOPIC, topic)
    before = admin.describe_configs([r])[r].result(10)
    need("retention.ms" in before, "no retention.ms")
    r2 = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[
        ConfigEntry("retention.ms", "3600000", incremental_operation=AlterConfigOpType.SET)])
    admin.incremental_alter_configs([r2])[r2].result(10)
    deadline = time.time() + 10
    while time.time() < deadline:
        if admin.describe_configs([r])[r].result(10)["retention.ms"].value == "3600000":
            return
        time.sleep(0.2)
    need(False, "retention.ms did not change")


def partitions():
    admin.create_partitions([NewPartitions(gtopic, 4)])[gtopic].result(10)
    deadline = time.time() + 10
    while time.time() < deadline:
        if len(admin.list_topics(gtopic, timeout=10).topics[gtopic].partitions) == 4:
            return
        time.sleep(0.2)
    need(False, "still not 4 partitions")


def produce(codec, idem):
    out = []
    p = Producer({"bootstrap.servers": BOOT, "compression.type": codec, "enable.idempotence": idem, "linger.ms": 5})
    for i in range(N):
        p.produce(topic, f"{codec}-{i}" * 20, key=str(i), headers=[("codec", codec.encode()), ("nil", None)],
                  partition=i % 3, on_delivery=lambda e, m: out.append(e))
    p.flush(20)
    need(len(out) == N and not any(out), [e for e in out if e][:1] or f"{len(out)} reports")


def acks(level):
    out = []
    p = Producer({"bootstrap.servers": BOOT, "acks": level})
    p.produce(topic, b"acks", partition=0, on_delivery=lambda e, m: out.append(e))
    p.flush(20)
    need(out == [None], out)


def poll_n(cons, n, seconds=30):
    got, end = [], time.time() + seconds
    while len(got) < n and time.time() < end:
        m = cons.poll(0.5)
        if m is None:
            continue
        if m.error():
            raise RuntimeError(m.error())
        got.append(m)
    return got


def consume():
    # librdkafka wants a group's name; without commits the group itself is never asked for.
    cons = Consumer({"bootstrap.servers": BOOT, "group.id": c.name("assign"), "auto.offset.reset": "earliest",
                     "enable.auto.commit": False, "check.crcs": True})
    cons.assign([TopicPartition(topic, p, 0) for p in range(3)])
    got = poll_n(cons, N * 6)
    codecs = {dict(m.headers() or [])["codec"] for m in got if m.headers()}
    need(len(got) >= N * 6 and len(codecs) == 5, f"{len(got)} records, codecs {codecs}")
    low, high = cons.get_watermark_offsets(TopicPartition(topic, 1), timeout=10)
    need(low == 0 and high > 0, "watermarks")
    t = cons.offsets_for_times([TopicPartition(topic, 1, 1)], timeout=10)[0]
    need(t.offset == 0, f"offset for time 1 is {t.offset}")
    cons.close()


def fill(t, n=N, parts=1):
    p = Producer({"bootstrap.servers": BOOT})
    for i in range(n):
        p.produce(t, str(i), partition=i % parts)
    need(p.flush(20) == 0, "flush")


def group(proto, gid):
    base = {"bootstrap.servers": BOOT, "group.id": gid, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    base["group.protocol"] = proto
    if proto == "classic":
        base["session.timeout.ms"] = 10000
    a = Consumer(base)
    a.subscribe([gtopic])
    first = poll_n(a, N // 2)
    need(len(first) == N // 2, f"{len(first)} records")
    pos = {}
    for m in first:
        pos[m.partition()] = max(pos.get(m.partition(), 0), m.offset() + 1)
    a.commit(offsets=[TopicPartition(gtopic, p, o) for p, o in pos.items()], asynchronous=False)
    a.close()
    b = Consumer(base)
    b.subscribe([gtopic])
    rest = poll_n(b, N - N // 2)
    extra = poll_n(b, 1, 1.5)
    need(len(rest) == N - N // 2 and not extra, f"resumed with {len(rest)}+{len(extra)} records")
    done = b.committed([TopicPartition(gtopic, p) for p in pos], timeout=10)
    need({t.partition: t.offset for t in done} == pos, "committed offsets")
    d = admin.describe_consumer_groups([gid])[gid].result(10)
    need(d.members and d.members[0].assignment.topic_partitions, "describe group")
    b.close()
    need(any(g.group_id == gid for g in admin.list_consumer_groups().result(10).valid), "list groups")


def rebalance(proto):
    conf = {"bootstrap.servers": BOOT, "group.id": c.name("reb-" + proto), "auto.offset.reset": "earliest",
            "group.protocol": proto}
    if proto == "classic":
        conf["partition.assignment.strategy"] = "cooperative-sticky"
    a, b = Consumer(conf), Consumer(conf)
    a.subscribe([gtopic])
    end = time.time() + 30
    while time.time() < end and len(a.assignment()) != 4:
        a.poll(0.2)
    b.subscribe([gtopic])
    while time.time() < end and not (len(a.assignment()) == 2 and len(b.assignment()) == 2):
        a.poll(0.2)
        b.poll(0.2)
    x, y = len(a.assignment()), len(b.assignment())
    a.close()
    while time.time() < end and len(b.assignment()) != 4:
        b.poll(0.2)
    z = len(b.assignment())
    b.close()
    need((x, y, z) == (2, 2, 4), f"assignments {x}/{y} then {z}")


def offsets_admin(gid):
    r = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(gid)])[gid].result(10)
    need(r.topic_partitions, "no offsets")
    admin.alter_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(gid, [TopicPartition(gtopic, 0, 1)])])[gid].result(10)
    r = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(gid, [TopicPartition(gtopic, 0)])])[gid].result(10)
    need(r.topic_partitions[0].offset == 1, "altered offset")
    admin.delete_consumer_groups([gid])[gid].result(10)


def txn():
    p = Producer({"bootstrap.servers": BOOT, "transactional.id": c.name("txn")})
    p.init_transactions(20)
    p.begin_transaction()
    for i in range(10):
        p.produce(ttopic, f"abort-{i}", partition=0)
    p.flush(10)
    p.abort_transaction(20)
    p.begin_transaction()
    for i in range(10):
        p.produce(ttopic, f"commit-{i}", partition=0)
    p.commit_transaction(20)
    for iso, want in (("read_committed", 10), ("read_uncommitted", 20)):
        cons = Consumer({"bootstrap.servers": BOOT, "group.id": c.name(iso), "isolation.level": iso,
                         "auto.offset.reset": "earliest"})
        cons.assign([TopicPartition(ttopic, 0, 0)])
        got = poll_n(cons, want, 20) + poll_n(cons, 1, 1)
        cons.close()
        need(len(got) == want, f"{iso}: {len(got)} records, want {want}")


def txn_offsets():
    gid = c.name("txn-group")
    cons = Consumer({"bootstrap.servers": BOOT, "group.id": gid, "auto.offset.reset": "earliest",
                     "enable.auto.commit": False, "isolation.level": "read_committed"})
    cons.subscribe([ttopic])
    need(len(poll_n(cons, 10)) == 10, "input")
    p = Producer({"bootstrap.servers": BOOT, "transactional.id": c.name("txn2")})
    p.init_transactions(20)
    p.begin_transaction()
    p.send_offsets_to_transaction(cons.position(cons.assignment()), cons.consumer_group_metadata(), 20)
    p.commit_transaction(20)
    off = cons.committed([TopicPartition(ttopic, 0)], timeout=10)[0].offset
    cons.close()
    need(off >= 20, f"committed {off}")


def fenced():
    conf = {"bootstrap.servers": BOOT, "transactional.id": c.name("fence")}
    a, b = Producer(conf), Producer(conf)
    a.init_transactions(20)
    a.begin_transaction()
    a.produce(ttopic, b"zombie", partition=0)
    a.flush(10)
    b.init_transactions(20)
    try:
        a.commit_transaction(20)
    except Exception as e:
        need(e.args[0].fatal() or e.args[0].txn_requires_abort(), e)
    else:
        need(False, "the fenced producer committed")


def list_offsets():
    tp = TopicPartition(topic, 0)
    e = admin.list_offsets({tp: OffsetSpec.earliest()})[tp].result(10)
    h = admin.list_offsets({tp: OffsetSpec.latest()}, isolation_level=IsolationLevel.READ_COMMITTED)[tp].result(10)
    m = admin.list_offsets({tp: OffsetSpec.max_timestamp()})[tp].result(10)
    need(e.offset == 0 and h.offset > 0 and m.timestamp > 0, f"{e.offset} {h.offset} {m.timestamp}")


def delete_records():
    tp = TopicPartition(topic, 0, 5)
    r = admin.delete_records([tp])
    low = list(r.values())[0].result(10).low_watermark
    need(low == 5, f"low watermark {low}")


def acls():
    name = c.name("acl")  # not a topic of the other features: an ACL for somebody else shuts this client out of it
    b = AclBinding(ResourceType.TOPIC, name, ResourcePatternType.LITERAL, "User:interop", "*",
                   AclOperation.READ, AclPermissionType.ALLOW)
    f = AclBindingFilter(ResourceType.TOPIC, name, ResourcePatternType.LITERAL, None, None,
                         AclOperation.ANY, AclPermissionType.ANY)
    try:
        admin.create_acls([b])[b].result(10)
    except Exception as e:
        if "SECURITY_DISABLED" in str(e) or "No Authorizer" in str(e):
            raise Skip("broker has no authorizer")
        raise
    deadline = time.time() + 10
    while time.time() < deadline and not admin.describe_acls(f).result(10):
        time.sleep(0.2)
    need(len(admin.describe_acls(f).result(10)) == 1, "describe")
    need(len(admin.delete_acls([f])[f].result(10)) == 1, "delete")


def scram():
    from confluent_kafka.admin import (ScramCredentialInfo, ScramMechanism, UserScramCredentialDeletion,
                                       UserScramCredentialUpsertion)
    user = c.name("user")
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    admin.alter_user_scram_credentials([UserScramCredentialUpsertion(user, info, b"pw")])[user].result(10)
    deadline = time.time() + 10
    while True:
        try:
            d = admin.describe_user_scram_credentials([user])[user].result(10)
            break
        except Exception:
            if time.time() > deadline:
                raise
            time.sleep(0.2)
    need(d.scram_credential_infos[0].iterations == 4096, "iterations")
    admin.alter_user_scram_credentials(
        [UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_256)])[user].result(10)


def share():
    import confluent_kafka
    if not hasattr(confluent_kafka, "ShareConsumer"):
        raise Skip("this client has no share consumer")
    gid = c.name("share")
    r = ConfigResource(ConfigResource.Type.GROUP, gid, incremental_configs=[
        ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)])
    admin.incremental_alter_configs([r])[r].result(10)
    s = confluent_kafka.ShareConsumer({"bootstrap.servers": BOOT, "group.id": gid})
    s.subscribe([gtopic])
    got, end = 0, time.time() + 30
    while got < N and time.time() < end:
        got += sum(1 for m in s.poll(1.0) if not m.error())
    s.close()
    need(got >= N, f"{got} records")


def delete():
    for f in admin.delete_topics([topic, gtopic, ttopic]).values():
        f.result(10)
    deadline = time.time() + 10
    while time.time() < deadline and topic in admin.list_topics(timeout=10).topics:
        time.sleep(0.2)
    need(topic not in admin.list_topics(timeout=10).topics, "topic is still listed")


c("admin-create", create)
c("admin-create-duplicate", create_again)
c("admin-describe", describe)
c("admin-configs", configs)
c("admin-partitions", partitions)
for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
    c("produce-" + codec, produce, codec, False)
c("produce-idempotent", produce, "none", True)
for a in ("0", "1", "all"):
    c("produce-acks-" + a, acks, a)
c("consume", consume)
fill(gtopic, N, 4)
for proto in ("classic", "consumer"):
    c("group-commit-" + proto, group, proto, c.name("group-" + proto))
    c("group-rebalance-" + proto, rebalance, proto)
c("group-offsets-admin", offsets_admin, c.name("group-classic"))
c("txn-commit-abort", txn)
c("txn-offsets", txn_offsets)
c("txn-fencing", fenced)
c("admin-list-offsets", list_offsets)
c("admin-delete-records", delete_records)
c("admin-acls", acls)
c("admin-scram", scram)
c("share-group", share)
c("admin-delete", delete)
c.done()
