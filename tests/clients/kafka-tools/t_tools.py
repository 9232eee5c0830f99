"""t_tools.py BOOTSTRAP LIB: Kafka's own command-line tools against one broker."""
import datetime
import functools
import json
import os
import pathlib
import re
import sys
import tempfile

from tools import Tools, until

from check import Check, Skip, need  # beside python/, which tools.py puts on the path

BOOT = ["--bootstrap-server", sys.argv[1]]
tool = Tools(sys.argv[2])
c = Check("kafka-tools")
topic = c.name("t")
files = c.name("files")  # stays, for log-files to read once the broker is stopped
N = 100


def topics(*args):
    return tool("TopicCommand", *BOOT, *args)


def create():
    need(f"Created topic {topic}." in topics("--create", "--topic", topic, "--partitions", 3), "not created")
    topics("--create", "--topic", files, "--partitions", 2, "--config", "segment.bytes=1048576")


def create_again():
    code, out = tool.ends("TopicCommand", *BOOT, "--create", "--topic", topic, "--partitions", 3)
    need(code == 1 and "already exists" in out, f"exit code {code}: {out}")


def describe():
    out = topics("--describe", "--topic", files)
    need("PartitionCount: 2" in out and "ReplicationFactor: 1" in out and "segment.bytes=1048576" in out, out)
    need(len(re.findall(r"Partition: \d+\s+Leader: 1\s+Replicas: 1\s+Isr: 1", out)) == 2, out)


def alter():
    topics("--alter", "--topic", topic, "--partitions", 5)
    until("still not 5 partitions", lambda: "PartitionCount: 5" in topics("--describe", "--topic", topic))


def list_topics():
    need({topic, files} <= set(topics("--list").split()), "not listed")


def configs_alter():
    entity = ["--entity-type", "topics", "--entity-name", topic]
    tool("ConfigCommand", *BOOT, "--alter", *entity, "--add-config", "retention.ms=3600000")
    until("retention.ms did not change", lambda: "retention.ms=3600000" in tool("ConfigCommand", *BOOT, "--describe", *entity))


def configs_broker():
    out = tool("ConfigCommand", *BOOT, "--describe", "--all", "--entity-type", "brokers", "--entity-name", 1)
    need("log.dirs=" in out and "num.partitions=" in out, out)


def log_dirs():
    """Where the partitions of `files` are, by their names: the folder and what is said of them."""
    out = tool("LogDirsCommand", *BOOT, "--describe", "--topic-list", files)
    (broker,) = json.loads(next(line for line in out.splitlines() if line.startswith("{")))["brokers"]
    need(broker["broker"] == 1 and not any(d["error"] for d in broker["logDirs"]), out)
    found = {p["partition"]: (d["logDir"], p) for d in broker["logDirs"] for p in d["partitions"]}
    need(sorted(found) == [f"{files}-{i}" for i in range(2)], out)
    need(sum(p["size"] for _, p in found.values()) > 0, out)
    need(not any(p["offsetLag"] or p["isFuture"] for _, p in found.values()), out)
    return found


def api_versions():
    out = tool("BrokerApiVersionsCommand", *BOOT)
    need(re.search(r"Produce\(0\): \d+ to \d+", out) and re.search(r"Fetch\(1\): \d+ to \d+", out), out)


def console_producer():
    lines = "".join(f"line-{i}\n" for i in range(N))
    tool("ConsoleProducer", *BOOT, "--topic", topic, stdin=lines)


def perf(codec):
    out = tool("ProducerPerformance", *BOOT, "--topic", files, "--num-records", 2000, "--record-size", 1000,
               "--throughput", -1, "--command-property", f"compression.type={codec}")
    need("2000 records sent" in out, out)


def offsets(spec):
    """What GetOffsetShell prints for a time: {partition: offset}."""
    out = tool("GetOffsetShell", *BOOT, "--topic", topic, "--time", spec)
    found = re.findall(rf"^{re.escape(topic)}:(\d+):(\d+)$", out, re.M)
    need(len(found) == len(out.splitlines()), out)
    return {int(partition): int(offset) for partition, offset in found}


@functools.cache
def ends():
    """The end of each partition, once the console producer has written."""
    return offsets("latest")


def get_offsets(spec, wanted):
    """`wanted` of the end of each partition is what the tool must say, without the partitions of None."""
    want = {p: wanted(end) for p, end in ends().items()}
    got = offsets(spec)
    need(got == {p: offset for p, offset in want.items() if offset is not None}, got)


def latest():
    need(len(ends()) == 5 and sum(ends().values()) == N, ends())


def max_timestamp():
    filled = {p: end for p, end in ends().items() if end}
    got = offsets("max-timestamp")
    need(filled and got.keys() == filled.keys() and all(got[p] < end for p, end in filled.items()), f"{got}, ends {ends()}")


def console_consumer():
    got = []
    for partition, end in ends().items():
        if end:
            got += consume(partition, "earliest", end)
            need(consume(partition, end - 1, 1) == got[-1:], "the last record by its offset")
    need(sorted(got) == sorted(f"line-{i}" for i in range(N)), f"{len(got)} records")


def consume(partition, offset, count):
    """Reads a partition without a group."""
    out = tool("consumer.ConsoleConsumer", *BOOT, "--topic", topic, "--partition", partition, "--offset", offset,
               "--max-messages", count, "--timeout-ms", 10000)
    return [line for line in out.splitlines() if not line.startswith("Processed a total of")]


def acls(*args):
    return tool("AclCommand", *BOOT, *args)


def acls_add():
    """A prefix and a denial for one principal of this run; what no ACL covers stays open."""
    acls("--add", "--allow-principal", f"User:{topic}", "--operation", "Read", "--operation", "Describe", "--topic", f"{topic}-",
         "--resource-pattern-type", "prefixed")
    acls("--add", "--deny-principal", f"User:{topic}", "--deny-host", "10.0.0.0/8", "--operation", "All", "--group", topic)
    out = acls("--list", "--principal", f"User:{topic}")
    need(f"resourceType=TOPIC, name={topic}-, patternType=PREFIXED" in out, out)
    need(f"principal=User:{topic}, host=*, operation=READ, permissionType=ALLOW" in out, out)
    need(f"resourceType=GROUP, name={topic}, patternType=LITERAL" in out, out)
    need("host=10.0.0.0/8, operation=ALL, permissionType=DENY" in out, out)


def acls_match():
    out = acls("--list", "--topic", f"{topic}-7", "--resource-pattern-type", "match")
    need(f"name={topic}-, patternType=PREFIXED" in out and "GROUP" not in out, out)


def acls_remove():
    acls("--remove", "--force", "--topic", f"{topic}-", "--resource-pattern-type", "prefixed")
    acls("--remove", "--force", "--group", topic)
    until("still listed", lambda: "resourceType" not in acls("--list", "--principal", f"User:{topic}"))


def login(folder, mechanism, user, password, more=""):
    """The options of a tool that logs in, on the listener with SASL."""
    if "SASL_BOOTSTRAP" not in os.environ:
        raise Skip("no SASL address given")
    module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    path = pathlib.Path(folder) / f"{user}.properties"
    path.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\nsasl.jaas.config="
                    f"org.apache.kafka.common.security.{module}LoginModule required username=\"{user}\" "
                    f"password=\"{password}\"{more};\n")
    return ["--bootstrap-server", os.environ["SASL_BOOTSTRAP"], "--command-config", path]


def scram():
    """A user gets a password for each mechanism, logs in with it, and loses one of the two."""
    entity = ["--entity-type", "users", "--entity-name", topic]
    for credential in "SCRAM-SHA-256=[iterations=8192,password=pencil]", "SCRAM-SHA-512=[password=eraser]":
        tool("ConfigCommand", *BOOT, "--alter", *entity, "--add-config", credential)  # Kafka takes one of a user at a time
    out = tool("ConfigCommand", *BOOT, "--describe", *entity)
    need("SCRAM-SHA-256=iterations=8192" in out and "SCRAM-SHA-512=iterations=4096" in out, out)
    with tempfile.TemporaryDirectory() as folder:
        for mechanism, password in ("SCRAM-SHA-256", "pencil"), ("SCRAM-SHA-512", "eraser"):
            need(topic in tool("TopicCommand", *login(folder, mechanism, topic, password), "--list"), "not listed")
            code, out = tool.ends("TopicCommand", *login(folder, mechanism, topic, "wrong"), "--list")
            need(code == 1 and "SaslAuthenticationException" in out and f"with SASL mechanism {mechanism}" in out, out)
    tool("ConfigCommand", *BOOT, "--alter", *entity, "--delete-config", "SCRAM-SHA-256")
    out = tool("ConfigCommand", *BOOT, "--describe", *entity)
    need("SCRAM-SHA-256" not in out and "SCRAM-SHA-512=iterations=4096" in out, out)


def tokens():
    """A token is made, logs in, is renewed and deleted."""
    with tempfile.TemporaryDirectory() as folder:
        user = os.environ.get("SASL_USER", "")
        plain = login(folder, "PLAIN", user, os.environ.get("SASL_PASSWORD", ""))
        command = functools.partial(tool, "DelegationTokenCommand", *plain)
        out = command("--create", "--max-life-time-period", 600000, "--renewer-principal", f"User:{topic}")
        found = re.search(rf"^(\S+)\s+(\S+==)\s+User:{user}\s+User:{user}\s+\[?User:{topic}\]?\s", out, re.M)
        need(found, out)
        token, hmac = found.groups()
        until("not described", lambda: token in command("--describe", "--owner-principal", f"User:{user}"))
        need(token not in command("--describe", "--owner-principal", "User:somebody"), "described for somebody else")
        by_token = login(folder, "SCRAM-SHA-512", token, hmac, ' tokenauth="true"')
        need(topic in tool("TopicCommand", *by_token, "--list"), "not listed")
        code, out = tool.ends("DelegationTokenCommand", *by_token, "--create", "--max-life-time-period", 1)
        need(code == 1 and "UnsupportedByAuthenticationException" in out, out)
        out = command("--renew", "--renew-time-period", 300000, "--hmac", hmac)
        need("New expiry date" in out and str(datetime.date.today().year) in out, out)
        command("--expire", "--expiry-time-period", -1, "--hmac", hmac)
        until("still described", lambda: token not in command("--describe"))
        code, out = tool.ends("DelegationTokenCommand", *plain, "--renew", "--renew-time-period", -1, "--hmac", hmac)
        need(code == 1 and "DelegationTokenNotFoundException" in out, out)


def delete():
    topics("--delete", "--topic", topic)
    until("still listed", lambda: topic not in topics("--list").split())


c("topics-create", create)
c("topics-create-duplicate", create_again)
c("topics-describe", describe)
c("topics-alter", alter)
c("topics-list", list_topics)
c("configs-alter", configs_alter)
c("configs-broker", configs_broker)
c("api-versions", api_versions)
c("console-producer", console_producer)
for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
    c(f"producer-perf-{codec}", perf, codec)
c("log-dirs", log_dirs)
c("get-offsets-latest", latest)
for spec, wanted in {
    "earliest": lambda end: 0,
    "earliest-local": lambda end: 0,
    "latest-tiered": lambda end: None,  # nothing is on remote storage
    "earliest-pending-upload": lambda end: None,
}.items():
    c(f"get-offsets-{spec}", get_offsets, spec, wanted)
c("get-offsets-timestamp", get_offsets, "1", lambda end: 0 if end else None)
c("get-offsets-future", get_offsets, "4102444800000", lambda end: None)
c("get-offsets-max-timestamp", max_timestamp)
c("console-consumer-partition", console_consumer)
c("acls-add", acls_add)
c("acls-match", acls_match)
c("acls-remove", acls_remove)
c("scram-users", scram)
c("delegation-tokens", tokens)
c("topics-delete", delete)
c.done()
