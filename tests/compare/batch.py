"""Record batches (format v2) and the older message sets (v0, v1): building, right or deliberately wrong, and reading.

Layout of a batch, sizes in bytes:
    base offset 8 | length 4 | partition leader epoch 4 | magic 1 | crc 4 | attributes 2 | last offset delta 4 |
    base timestamp 8 | max timestamp 8 | producer id 8 | producer epoch 2 | base sequence 4 | record count 4 | records
The crc (CRC-32C) covers everything from the attributes on; the length counts everything behind itself.

    python3 batch.py --vectors DIR      compare with reference vectors (records.jsonl.gz)
"""

import argparse
import gzip
import json
import os
import struct
import sys
import zlib

from wire import ROOT, Reader, WireError, varint

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x08, 0x10, 0x20, 0x40
HEADER_SIZE = 61

# A fixed time in the past: equal in every run, and nowhere near a clock that a broker might read.
TIME = 1_700_000_000_000


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# -- compression -------------------------------------------------------------------------------------------------------
# The standard library has gzip only. For the other codecs a stream that merely stores its bytes is as valid as any.


def _rotate(value, bits):
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF


def _xxh32_short(data):
    """xxHash32 with seed 0 of fewer than 16 bytes, which is all that the header of an LZ4 frame needs."""
    p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    value = (p5 + len(data)) & 0xFFFFFFFF
    position = 0
    while position + 4 <= len(data):
        word = int.from_bytes(data[position : position + 4], "little")
        value = _rotate((value + word * p3) & 0xFFFFFFFF, 17) * p4 & 0xFFFFFFFF
        position += 4
    for byte in data[position:]:
        value = _rotate((value + byte * p5) & 0xFFFFFFFF, 11) * p1 & 0xFFFFFFFF
    value = (value ^ value >> 15) * p2 & 0xFFFFFFFF
    value = (value ^ value >> 13) * p3 & 0xFFFFFFFF
    return value ^ value >> 16


def _snappy_block(data):
    out = bytearray()
    value = len(data)
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    for start in range(0, len(data), 60):
        piece = data[start : start + 60]
        out.append(len(piece) - 1 << 2)
        out += piece
    return bytes(out)


def compress(codec, data):
    if codec == NONE:
        return data
    if codec == GZIP:
        return gzip.compress(data, mtime=0)
    if codec == SNAPPY:
        block = _snappy_block(data)
        return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(block)) + block
    if codec == LZ4:
        descriptor = b"\x60\x40"  # version 1, independent blocks, no checksums; blocks of up to 64 KiB
        out = b"\x04\x22\x4d\x18" + descriptor + bytes([_xxh32_short(descriptor) >> 8 & 0xFF])
        for start in range(0, len(data), 65536):
            piece = data[start : start + 65536]
            out += struct.pack("<I", len(piece) | 1 << 31) + piece
        return out + b"\0\0\0\0"
    if codec == ZSTD:
        # One segment, the content's size in four bytes, raw blocks.
        out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
        pieces = [data[i : i + 65536] for i in range(0, len(data), 65536)] or [b""]
        for index, piece in enumerate(pieces):
            last = 1 if index == len(pieces) - 1 else 0
            out += struct.pack("<I", len(piece) << 3 | last)[:3] + piece
        return out
    raise ValueError(f"no codec {codec}")


def _copy_back(out, distance, length):
    if distance < 1 or distance > len(out):
        raise WireError("a copy reaches before the beginning")
    for _ in range(length):
        out.append(out[-distance])


def _snappy_raw(data):
    reader, out = Reader(data), bytearray()
    size = reader.uvarint()
    while reader.left():
        tag = reader.take(1)[0]
        kind = tag & 3
        if kind == 0:
            length = (tag >> 2) + 1
            if length > 60:
                length = int.from_bytes(reader.take(length - 60), "little") + 1
            out += reader.take(length)
        elif kind == 1:
            _copy_back(out, tag >> 5 << 8 | reader.take(1)[0], (tag >> 2 & 7) + 4)
        else:
            _copy_back(out, int.from_bytes(reader.take(2 if kind == 2 else 4), "little"), (tag >> 2) + 1)
    if len(out) != size:
        raise WireError("snappy: wrong length")
    return bytes(out)


def _lz4_block(data, out):
    reader = Reader(data)

    def length(start):
        total = start
        if start == 15:
            while True:
                byte = reader.take(1)[0]
                total += byte
                if byte < 255:
                    break
        return total

    while reader.left():
        token = reader.take(1)[0]
        out += reader.take(length(token >> 4))
        if reader.left():
            distance = int.from_bytes(reader.take(2), "little")
            _copy_back(out, distance, length(token & 15) + 4)


def _lz4_frame(data):
    reader, out = Reader(data), bytearray()
    if reader.take(4) != b"\x04\x22\x4d\x18":
        raise WireError("lz4: wrong magic")
    flags = reader.take(2)[0]
    reader.take((8 if flags & 8 else 0) + 1)
    while True:
        size = int.from_bytes(reader.take(4), "little")
        if size == 0:
            break
        block = reader.take(size & 0x7FFFFFFF)
        if size >> 31:
            out += block
        else:
            _lz4_block(block, out)
        if flags & 16:
            reader.take(4)
    return bytes(out)


def decompress(codec, data):
    """The bytes, or None for zstd streams that hold more than raw blocks: the standard library cannot read those."""
    if codec == NONE:
        return data
    if codec == GZIP:
        return zlib.decompress(data, wbits=31)
    if codec == SNAPPY:
        if not data.startswith(b"\x82SNAPPY\0"):
            return _snappy_raw(data)
        reader, out = Reader(data, 16), b""
        while reader.left():
            out += _snappy_raw(reader.take(reader.number("int32")))
        return out
    if codec == LZ4:
        return _lz4_frame(data)
    if codec == ZSTD and data[:5] == b"\x28\xb5\x2f\xfd\xa0":
        reader, out = Reader(data, 9), b""
        while True:
            head = int.from_bytes(reader.take(3), "little")
            if head >> 1 & 3:
                return None
            out += reader.take(head >> 3)
            if head & 1:
                return out
    return None


# -- building ----------------------------------------------------------------------------------------------------------


def record(value=b"v", key=None, headers=(), timestamp=TIME, attributes=0, offset_delta=None, timestamp_delta=None):
    """One record; `offset_delta` and `timestamp_delta` are computed by `batch` unless given."""
    return {
        "value": value,
        "key": key,
        "headers": list(headers),
        "timestamp": timestamp,
        "attributes": attributes,
        "offset_delta": offset_delta,
        "timestamp_delta": timestamp_delta,
    }


def _sized(data):
    return varint(-1) if data is None else varint(len(data)) + data


def encode_record(item, offset_delta, timestamp_delta, length=None):
    body = bytes([item["attributes"] & 0xFF]) + varint(timestamp_delta) + varint(offset_delta)
    body += _sized(item["key"]) + _sized(item["value"]) + varint(len(item["headers"]))
    for name, value in item["headers"]:
        body += _sized(name) + _sized(value)
    return varint(len(body) if length is None else length) + body


def as_record(item):
    if isinstance(item, dict):
        return item
    if isinstance(item, tuple):
        return record(key=item[0], value=item[1])
    return record(item)


def batch(
    records=(b"v",),
    codec=NONE,
    base_offset=0,
    leader_epoch=-1,
    magic=2,
    attributes=0,
    producer_id=-1,
    producer_epoch=-1,
    sequence=-1,
    base_timestamp=None,
    max_timestamp=None,
    last_offset_delta=None,
    count=None,
    crc=None,
    length=None,
    payload=None,
):
    """A batch of format v2. Records are values, (key, value) pairs or what `record` returns. Whatever is given beyond
    them is written as it stands, so that a batch can be wrong in one thing and right in all others; `payload` replaces
    the encoded (and compressed) records."""
    items = [as_record(r) for r in records]
    if base_timestamp is None:
        base_timestamp = items[0]["timestamp"] if items else -1
    body = b""
    for index, item in enumerate(items):
        offset_delta = index if item["offset_delta"] is None else item["offset_delta"]
        delta = item["timestamp"] - base_timestamp if item["timestamp_delta"] is None else item["timestamp_delta"]
        body += encode_record(item, offset_delta, delta)
    if max_timestamp is None:
        max_timestamp = max((i["timestamp"] for i in items), default=-1)
    if last_offset_delta is None:
        last_offset_delta = max(len(items) - 1, 0)
    covered = struct.pack(
        ">hiqqqhii",
        attributes | codec,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        sequence,
        len(items) if count is None else count,
    )
    covered += compress(codec, body) if payload is None else payload
    crc = crc32c(covered) if crc is None else crc
    length = 9 + len(covered) if length is None else length
    return struct.pack(">qiibI", base_offset, length, leader_epoch, magic, crc) + covered


def marker(kind=1, coordinator_epoch=0, producer_id=1, producer_epoch=0):
    """A control batch that ends a transaction: kind 0 aborts, 1 commits."""
    key = struct.pack(">hh", 0, kind)
    value = struct.pack(">hi", 0, coordinator_epoch)
    return batch(
        [record(value, key)],
        attributes=TRANSACTIONAL | CONTROL,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def message(magic=1, value=b"v", key=None, offset=0, timestamp=TIME, attributes=0, crc=None, length=None):
    """One message of a set in the formats before batches; magic 0 has no timestamp."""
    body = struct.pack(">bb", magic, attributes)
    if magic > 0:
        body += struct.pack(">q", timestamp)
    for part in (key, value):
        body += struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part
    body = struct.pack(">I", zlib.crc32(body) if crc is None else crc) + body
    return struct.pack(">qi", offset, len(body) if length is None else length) + body


# -- reading -----------------------------------------------------------------------------------------------------------


def read_records(data, count, base_offset, base_timestamp):
    reader, records = Reader(data), []
    for _ in range(count):
        inner = Reader(reader.take(reader.varint()))

        def sized(inner=inner):
            size = inner.varint()
            return None if size < 0 else inner.take(size)

        attributes = inner.number("int8")
        timestamp, offset = base_timestamp + inner.varint(), base_offset + inner.varint()
        key, value = sized(), sized()
        headers = [[sized(), sized()] for _ in range(inner.varint())]
        if inner.left():
            raise WireError("a record has bytes left over")
        records.append(
            {
                "offset": offset,
                "timestamp": timestamp,
                "attributes": attributes,
                "key": key,
                "value": value,
                "headers": headers,
            }
        )
    if reader.left():
        raise WireError("bytes left over behind the records")
    return records


def read_batches(data):
    """(batches, bytes left over at the end); every batch is a dict of its fields with "records" or "payload"."""
    batches, position = [], 0
    while len(data) - position >= HEADER_SIZE:
        base_offset, length, leader_epoch, magic, crc = struct.unpack_from(">qiibI", data, position)
        if magic != 2 or length < HEADER_SIZE - 12:
            raise WireError(f"not a batch: magic {magic}, length {length}")
        if position + 12 + length > len(data):
            break
        covered = data[position + 21 : position + 12 + length]
        attributes, delta, base_ts, max_ts, pid, epoch, sequence, count = struct.unpack_from(">hiqqqhii", covered)
        payload = covered[40:]
        item = {
            "baseOffset": base_offset,
            "lastOffset": base_offset + delta,
            "leaderEpoch": leader_epoch,
            "crc": crc,
            "crcValid": crc32c(covered) == crc,
            "attributes": attributes,
            "codec": CODECS[attributes & 7] if attributes & 7 < 5 else attributes & 7,
            "baseTimestamp": base_ts,
            "maxTimestamp": max_ts,
            "producerId": pid,
            "producerEpoch": epoch,
            "baseSequence": sequence,
            "count": count,
            "size": 12 + length,
        }
        plain = decompress(attributes & 7, payload)
        if plain is None:
            item["payload"] = payload
        else:
            item["records"] = read_records(plain, count, base_offset, base_ts)
        batches.append(item)
        position += 12 + length
    return batches, len(data) - position


def check_vectors(path):
    """Build and read what the reference built and read; returns how many lines disagree."""
    built = read = failed = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            vector = json.loads(line)
            build, want = vector.get("build") or {}, vector.get("read", {}).get("batches", [])
            data = bytes.fromhex(vector.get("hex", ""))
            faults = []
            plain_keys = {
                "magic",
                "compression",
                "records",
                "baseOffset",
                "producerId",
                "producerEpoch",
                "baseSequence",
            }
            if build.get("magic") == 2 and build.get("compression") == "none" and build.get("records"):
                if set(build) <= plain_keys | {"partitionLeaderEpoch", "transactional", "lastOffset"}:
                    base = build.get("baseOffset", 0)
                    unhex = lambda text: None if text is None else bytes.fromhex(text)
                    records = [
                        record(
                            unhex(r["value"]),
                            unhex(r["key"]),
                            [(h["key"].encode(), unhex(h["value"])) for h in r.get("headers", [])],
                            r["timestamp"],
                            offset_delta=r["offset"] - base,
                        )
                        for r in build["records"]
                    ]
                    mine = batch(
                        records,
                        base_offset=base,
                        leader_epoch=build.get("partitionLeaderEpoch", -1),
                        attributes=TRANSACTIONAL if build.get("transactional") else 0,
                        producer_id=build.get("producerId", -1),
                        producer_epoch=build.get("producerEpoch", -1),
                        sequence=build.get("baseSequence", -1),
                        last_offset_delta=build.get("lastOffset", build["records"][-1]["offset"]) - base,
                    )
                    built += 1
                    if mine != data:
                        faults.append(f"built {mine.hex()[:200]}")
            if want and all(b.get("magic") == 2 and "error" not in b for b in want) and "error" not in vector["read"]:
                batches, _ = read_batches(data)
                read += 1
                for mine, theirs in zip(batches, want):
                    for key in ("baseOffset", "lastOffset", "crc", "crcValid", "attributes", "maxTimestamp", "count"):
                        if mine[key] != theirs[key]:
                            faults.append(f"{key}: {mine[key]} for {theirs[key]}")
                    if "records" in mine and not theirs.get("control"):
                        pairs = [
                            (r["offset"], r["value"].hex() if r["value"] is not None else None) for r in mine["records"]
                        ]
                        if pairs != [(r["offset"], r["value"]) for r in theirs["records"]]:
                            faults.append("other records")
                if len(batches) != len(want):
                    faults.append(f"{len(batches)} batches for {len(want)}")
            if faults:
                failed += 1
                print(f"{vector['name']}: {'; '.join(faults)[:300]}")
    print(f"{built} batches built and {read} lines read as the reference does, {failed} lines disagree")
    return failed


def main():
    parser = argparse.ArgumentParser(description="Check the batch builder and reader against reference vectors.")
    parser.add_argument("--vectors", default=os.path.join(ROOT, "tests", "vectors"))
    return 1 if check_vectors(os.path.join(parser.parse_args().vectors, "records.jsonl.gz")) else 0


if __name__ == "__main__":
    sys.exit(main())
