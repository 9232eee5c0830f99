"""What bench/run measures beside the kit: one sync, many idle partitions, and a disk that is slow to read."""

import json
import os
import pathlib
import statistics
import subprocess
import time


def sync_cost(folder, count=300):
    """Microseconds of a small append and its fdatasync, one after the other: {p50_us, p99_us}."""
    path = pathlib.Path(folder) / "sync-cost"
    took = []
    with path.open("wb", buffering=0) as file:
        for _ in range(count):
            file.write(b"x" * 200)
            start = time.perf_counter_ns()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter_ns() - start) / 1000)
    path.unlink()
    took.sort()
    return {"p50_us": round(statistics.median(took), 1), "p99_us": round(took[count * 99 // 100], 1)}


def idle_partitions(kit_module, kit, broker, count):
    """Resident memory of a fresh broker, then with `count` partitions that have all answered once."""
    topics, each = max(1, count // 5000), min(count, 5000)  # Kafka refuses topics of 10,000
    with broker.running() as (pid, port):
        target = kit_module.Target(broker.name, f"127.0.0.1:{port}", pid)
        before = kit_module.proc_memory(pid)
        start = time.monotonic()
        for n in range(topics):
            kit.run_loadgen(target, "create", topic=f"idle-{n}", partitions=each)
        made_s = time.monotonic() - start
        time.sleep(3)  # what making them took may be given back
        with kit_module.Meter(pid) as meter:
            time.sleep(5)
        after = kit_module.proc_memory(pid)
    return {
        "partitions": topics * each,
        "rss_before_mib": before["rss_mib"],
        "rss_mib": after["rss_mib"],
        "kib_each": round((after["rss_mib"] - before["rss_mib"]) * 1024 / (topics * each), 2),
        "created_s": round(made_s, 1),
        "cpu_percent": round(100 * meter.out["broker_cpu_s"] / meter.out["wall_s"], 2),
    }


# -- a slow disk -------------------------------------------------------------------------------------------------------

COLD = {"topic": "cold", "partitions": 4}
HOT = {"topic": "hot", "partitions": 6, "size": 100, "rate": 1000, "warmup": "2s", "duration": "8s"}
DELAY_MS = 20
COLD_BYTES = 640 << 20  # more than its readers get through: 256 KiB in 20 ms each


def forget(folder, topic):
    """Drops a topic's logs from the page cache, so that the next read of them goes to the disk."""
    os.sync()
    logs = list(pathlib.Path(folder).glob(f"**/{topic}-*/*.log"))
    for path in logs:
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return len(logs)


def slow_disk(kit_module, kit, broker):
    """Latency of one topic's records, alone and while 4 connections fetch another topic from a disk that is slow.

    The broker runs with the shim of slow_disk/, which delays every read that the page cache cannot answer. Each part of
    the other topic is read once, since what was read before is in the cache.
    """
    with broker.running() as (pid, port):
        target = kit_module.Target(broker.name, f"127.0.0.1:{port}", pid)
        for topic in (COLD, HOT):
            kit.run_loadgen(target, "create", topic=topic["topic"], partitions=topic["partitions"])
        written = 0
        while written < COLD_BYTES:
            wrote = kit.run_loadgen(target, "produce", conns=8, records=64, size=1024, duration="2s", **COLD)
            written += wrote["bytes"]
        kit.run_loadgen(target, "latency", **HOT)  # not looked at: it warms up
        if forget(broker.folder, COLD["topic"]) == 0:
            raise kit_module.Failed(f"{broker.name}: no logs of the topic {COLD['topic']} in {broker.folder}")
        alone = kit.run_loadgen(target, "latency", **HOT)
        command = kit.loadgen_command(target, "fetch", {**COLD, "conns": 4, "max_bytes": 256 << 10, "duration": "11s"})
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as reader:
            try:
                beside = kit.run_loadgen(target, "latency", **HOT)
                cold = json.loads(reader.communicate()[0])
            finally:
                reader.kill()
    if cold["p50_us"] < 1000 * DELAY_MS:
        raise kit_module.Failed(f"{broker.name}: the cold reads were not slow: p50 {cold['p50_us']} µs")
    return {"alone_p99_us": alone["p99_us"], "beside_p99_us": beside["p99_us"],
            "cold_p50_us": cold["p50_us"], "cold_mib_s": round(cold.get("mib_s", 0), 1)}  # fmt: skip
