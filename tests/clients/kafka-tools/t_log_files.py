"""t_log_files.py DATA_DIR LIB: Kafka's DumpLogSegments on the files of a stopped broker.

The tool tells of most faults on its output and not by its exit code, so each line has to be one that is known as good.
"""
import pathlib
import re
import sys

from tools import Tools

from check import Check, need  # beside python/, which tools.py puts on the path

tool = Tools(sys.argv[2])
c = Check("log-files")
data = pathlib.Path(sys.argv[1])
CODECS = {"none", "gzip", "snappy", "lz4", "zstd"}
AT_ONCE = 200  # files named on one command line


def files(suffix):
    """The files of the topics' partitions, without the broker's own topics and those that are being deleted."""
    found = sorted(path for path in data.glob(f"*/*{suffix}")
                   if not path.parent.name.startswith("__") and not path.parent.name.endswith("-delete"))
    need(found, f"no {suffix} below {data}: kafka-tools writes some")
    return found


def dump(suffix, *options):
    """What the tool prints about each file: {path: lines}. What it found wrong stands at the end, with the last file."""
    sections, paths = {}, files(suffix)
    for at in range(0, len(paths), AT_ONCE):
        some = paths[at:at + AT_ONCE]
        lines = None
        for line in tool("DumpLogSegments", *options, "--files", ",".join(map(str, some))).split("\n"):
            if line.startswith("Dumping "):
                lines = sections.setdefault(pathlib.Path(line.removeprefix("Dumping ")), [])
            elif line:
                need(lines is not None, line)
                lines.append(line)
    for path in paths:
        # A segment smaller than index.interval.bytes has no entry in its index, and the tool only says so.
        if path.stat().st_size == 0 and sections.get(path) == [f"{path} is empty."]:
            sections[path] = []
    need(sorted(sections) == paths, "not every file was dumped")
    return sections


def log():
    codecs, records, counted, rolled = set(), 0, 0, 0
    for path, lines in dump(".log", "--deep-iteration", "--print-data-log").items():
        for line in lines:
            if line.startswith("| offset: "):
                records += 1
            elif batch := re.match(r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) ", line):
                need("isvalid: true" in line and "magic: 2" in line, f"{path}: {line}")
                counted += int(batch[3])
                codecs.add(re.search(r"compresscodec: (\w+)", line)[1])
            elif line.startswith("Log starting offset: "):
                need(int(line.split()[-1]) == int(path.stem), f"{path}: {line}")
                rolled += int(path.stem) > 0
            else:
                # Dumping several files the tool takes the first record of each for a gap after offset -1.
                need(re.fullmatch(r"Non-consecutive offsets in .*|  -1 is followed by \d+", line), f"{path}: {line}")
    need(records == counted > 0 and rolled, f"{records} records, {counted} counted by batches, {rolled} rolled segments")
    need(codecs == CODECS, f"codecs {codecs}")


def entries(suffix, pattern):
    """Every entry of an index points at a batch that is there, and the entries rise."""
    total = 0
    for path, lines in dump(suffix).items():
        last = (-1, -1)
        for line in lines:
            entry = re.fullmatch(pattern, line)
            need(entry, f"{path}: {line}")
            this = tuple(map(int, entry.groups()))
            need(this > last, f"{path}: {line} after {last}")
            last = this
        total += len(lines)
    need(total > 1, f"{total} entries")


def sanity(suffix):
    for path, lines in dump(suffix, "--index-sanity-check").items():
        need(lines == [f"{path} passed sanity check."] * bool(path.stat().st_size), f"{path}: {lines}")


def verify(suffix):
    for path, lines in dump(suffix, "--verify-index-only").items():
        need(not lines, f"{path}: {lines}")


c("dump-log", log)
c("dump-index", entries, ".index", r"offset: (\d+) position: (\d+)")
c("dump-timeindex", entries, ".timeindex", r"timestamp: (\d+) offset: (\d+)")
for suffix in (".index", ".timeindex"):
    c(f"sanity-check{suffix.replace('.', '-')}", sanity, suffix)
    c(f"verify{suffix.replace('.', '-')}", verify, suffix)
c.done()
