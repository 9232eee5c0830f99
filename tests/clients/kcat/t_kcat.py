"""t_kcat.py BOOTSTRAP: kcat, Debian's own build, against one broker."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from check import LIMIT, Check, need  # noqa: E402 - the harness of the Python clients

c = Check("kcat")
topic = c.name("t")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
N = 200
written = []  # what partition 0 has, in order


def kcat(*args, stdin=""):
    done = subprocess.run(["kcat", "-b", sys.argv[1], *map(str, args)], input=stdin, capture_output=True, text=True,
                          timeout=LIMIT)
    need(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    return done.stdout


def consume(*args, form="%s\n", partition=0):
    return kcat("-C", "-t", topic, "-p", partition, "-q", "-f", form, *args).splitlines()


def produce(codec, *args):
    lines = [f"{codec}-{i} " * 10 for i in range(N)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        kcat("-P", "-t", topic, "-p", 0, "-z", codec, "-l", *args, file.name)
    written.extend(lines)


def metadata():
    brokers = json.loads(kcat("-L", "-J"))["brokers"]
    need(len(brokers) == 1 and brokers[0]["id"] == 1, brokers)
    topics = json.loads(kcat("-L", "-J", "-t", topic))["topics"]
    partitions = topics[0]["partitions"]
    need([p["partition"] for p in partitions] == [0, 1, 2, 3] and all(p["leader"] == 1 for p in partitions), topics)


def consume_all():
    got = consume("-o", "beginning", "-e")
    need(got == written and len(got) == N * len(CODECS), f"{len(got)} records")


def consume_offset():
    need(consume("-o", 333, "-c", 40) == written[333:373], "from offset 333")
    need(consume("-o", -5, "-e") == written[-5:], "the last five")


def produce_acks(acks):
    lines = [f"acks-{acks}-{i}" for i in range(10)]
    kcat("-P", "-t", topic, "-p", 1, "-X", f"acks={acks}", stdin="\n".join(lines) + "\n")
    got = consume("-o", "beginning", "-c", 10 * (1 + ["0", "1", "all"].index(acks)), partition=1)
    need(got[-10:] == lines, got)


def idempotent():
    kcat("-P", "-t", topic, "-p", 2, "-X", "enable.idempotence=true", stdin="one\ntwo\n")
    need(consume("-o", "beginning", "-e", partition=2) == ["one", "two"], "records")


def headers():
    kcat("-P", "-t", topic, "-p", 3, "-k", "key", "-H", "h=v", "-H", "i=w", stdin="value\n")
    need(consume("-o", "beginning", "-e", partition=3, form="%k %h %s\n") == ["key h=v,i=w value"], "key, headers, value")


def query(offset_of):
    out = kcat("-Q", "-t", f"{topic}:0:{offset_of}")
    need(out.startswith(f"{topic} [0] offset "), out)
    return int(out.split()[-1])


def query_ends():
    need((query(-2), query(-1)) == (0, len(written)), "earliest and latest")


def timestamps():
    times = [int(line) for line in consume("-o", "beginning", "-e", form="%T\n")]
    middle = times[len(times) // 2]
    first = next(offset for offset, at in enumerate(times) if at >= middle)
    need(query(middle) == first, f"the first offset at {middle} is {first}, not {query(middle)}")
    need(query(times[-1] + 3_600_000) == -1, "an offset in the future")
    need(consume("-o", f"s@{middle}", "-e") == written[first:], "from a timestamp on")


for codec in CODECS:  # the first of them creates the topic
    c(f"produce-{codec}", produce, codec)
c("metadata", metadata)
c("consume", consume_all)
c("consume-offset", consume_offset)
for acks in ("0", "1", "all"):
    c(f"produce-acks-{acks}", produce_acks, acks)
c("produce-idempotent", idempotent)
c("headers", headers)
c("query-ends", query_ends)
c("query-timestamp", timestamps)
c.done()
