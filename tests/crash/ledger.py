"""What a topic held when somebody looked, and what each look must agree with.

Producers number their records from 0 on; number N goes to partition N % partitions. So the log itself tells what is
missing or doubled: in a partition each producer's numbers go up by the count of partitions, without gap or repeat.
"""

import ctypes
import ctypes.util
import struct
import threading
import zlib

from node import batches

SHOWN = 20  # faults that are kept; one is enough to fail


def quick_checksums():
    """Batches are checked with the library that the broker's packages bring along: in Python a checksum costs more than
    all else that is done with a record. Without it, or if the two differ, Python's stays."""
    name = ctypes.util.find_library("isal")
    if not name:
        return
    function = ctypes.CDLL(name).crc32_iscsi
    function.argtypes, function.restype = (ctypes.c_char_p, ctypes.c_int, ctypes.c_uint), ctypes.c_uint

    def checksum(data):
        data = bytes(data)
        return function(data, len(data), 0xFFFFFFFF) ^ 0xFFFFFFFF

    sample = bytes(range(256)) * 5
    if checksum(sample) == batches.crc32c(sample):
        batches.crc32c = checksum


quick_checksums()


def raw_batches(data):
    """(base offset, bytes) of each whole batch."""
    position = 0
    while len(data) - position >= batches.HEADER_SIZE:
        base, length = struct.unpack_from(">qi", data, position)
        if len(data) - position < 12 + length:
            return
        yield base, data[position : position + 12 + length]
        position += 12 + length


def filler(seq):
    """How much a record's value is filled up."""
    return 20_000 if seq % 500 == 499 else seq * 7919 % 200


class Ledger:
    """The records of each partition in the order of their offsets, which have no gaps. Several threads add to it."""

    def __init__(self, partitions):
        self.partitions = partitions
        self.records = [[] for _ in range(partitions)]  # (producer, number) at each offset
        self.faults = []
        self.acked = {}  # producer -> how many acknowledgements were found true
        # base offset -> (checksum of the batch as it was first read, the offset behind it)
        self._digests = [{} for _ in range(partitions)]
        self._following = {}  # (producer, partition) -> the number that must come next
        self._waiting = []  # acknowledgements not yet looked for
        self._lock = threading.Lock()

    def fault(self, text):
        if len(self.faults) < SHOWN:
            self.faults.append(text)

    def end(self, partition):
        with self._lock:
            return len(self.records[partition])

    def ends(self):
        return [self.end(p) for p in range(self.partitions)]

    def read(self, partition, data, where):
        """Takes batches as somebody read them, and returns the offset behind them, or None where there is none. New
        ones are decoded and checked; known ones must be the same bytes."""
        following = None
        with self._lock:
            known, digests = self.records[partition], self._digests[partition]
            for base, raw in raw_batches(data):
                digest = zlib.crc32(raw)
                if base in digests and digests[base][0] == digest:
                    following = digests[base][1]
                    continue
                if base in digests:
                    self.fault(f"{where}: {partition}@{base}: other bytes than when it was read before")
                one = batches.read_batches(raw)[0][0]
                if not one["crcValid"]:
                    self.fault(f"{where}: {partition}@{base}: a wrong checksum")
                    return None
                for record in one["records"]:
                    self._record(partition, known, record, where)
                following = one["lastOffset"] + 1
                digests[base] = digest, following
        return following

    def _record(self, partition, known, record, where):
        offset, at = record["offset"], f"{where}: {partition}@{record['offset']}"
        words = record["value"].split(b" ", 2)
        name, seq = (words[0].decode(), int(words[1])) if len(words) == 3 and words[1].isdigit() else (None, -1)
        if name is None or words[2] != b"x" * filler(seq):
            self.fault(f"{at}: a value that nobody sent: {record['value'][:60]!r}")
            return
        if offset < len(known):
            if known[offset] != (name, seq):
                self.fault(f"{at}: is {name} {seq}, was {' '.join(map(str, known[offset]))} when it was read before")
            return
        if offset > len(known):
            self.fault(f"{at}: offsets from {len(known)} on are left out")
            known.extend([None] * (offset - len(known)))
        due = self._following.get((name, partition), partition)
        if seq < due:
            self.fault(f"{at}: {name} {seq} is there again")
        elif seq > due:
            missing = (seq - due) // self.partitions
            self.fault(f"{at}: {name} {seq}, though {due} should come next: {missing} are missing")
        self._following[name, partition] = max(due, seq + self.partitions)
        known.append((name, seq))

    def acknowledged(self, name, seq, partition, offset):
        """A producer was told that its record is there. It is looked for by `check_acks`."""
        self._waiting.append((name, seq, partition, offset))

    def check_acks(self, where):
        """Everything that was acknowledged must have been read by now, at its offset."""
        with self._lock:
            for name, seq, partition, offset in self._waiting:
                known = self.records[partition]
                found = known[offset] if offset < len(known) else None
                if found != (name, seq):
                    there = "nothing" if found is None else " ".join(map(str, found))
                    self.fault(f"{where}: {name} {seq} was acknowledged at {partition}@{offset}, where {there} is")
                self.acked[name] = self.acked.get(name, 0) + 1
            self._waiting.clear()

    def sent(self, name, count):
        """A producer has ended, and all its `count` records were acknowledged: they are there, and no others of it."""
        for partition in range(self.partitions):
            # The first number of this partition that is not below the count.
            due = count + (partition - count) % self.partitions
            found = self._following.get((name, partition), partition)
            if found != due:
                self.fault(f"at the end: {name} sent up to {count - 1}; in partition {partition} {found} would be next")
        if self.acked.get(name, 0) != count:
            self.fault(f"at the end: {name} sent {count} records, {self.acked.get(name, 0)} were acknowledged")
