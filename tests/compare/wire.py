"""Kafka messages, encoded and decoded straight from the schemas in schemas/*.json.

This shares nothing with the broker's generated code, so that the two can disagree. Values are plain Python: a struct is
a dict keyed by the field's name with a small first letter, bytes and records are `bytes`, a uuid is its unpadded
URL-safe base64. A tagged field at its default is left out of a decoded value, as is a field that the version lacks.

    python3 wire.py --vectors DIR      compare with reference vectors (requests.jsonl.gz, responses.jsonl.gz, ...)
"""

import argparse
import base64
import gzip
import json
import os
import re
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
# Schemas may hold comments; what stands in quotes stays.
COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*')

_NUMBERS = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "uint16": struct.Struct(">H"),
    "int32": struct.Struct(">i"),
    "uint32": struct.Struct(">I"),
    "int64": struct.Struct(">q"),
    "float64": struct.Struct(">d"),
}


class WireError(Exception):
    """The bytes, or the value, do not fit the schema."""


def uuid_to_bytes(text):
    return base64.urlsafe_b64decode(text + "==")


def uuid_to_text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def write_uvarint(out, value):
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def uvarint(value):
    out = bytearray()
    write_uvarint(out, value)
    return bytes(out)


def varint(value):
    """Zigzag, as used inside records; for any width up to 64 bits."""
    return uvarint((value << 1) ^ (value >> 63) if value < 0 else value << 1)


class Reader:
    """A cursor over bytes that refuses to read past the end."""

    def __init__(self, data, position=0):
        self.data, self.position = data, position

    def left(self):
        return len(self.data) - self.position

    def take(self, size):
        if size < 0 or size > self.left():
            raise WireError(f"{size} bytes wanted, {self.left()} left")
        start = self.position
        self.position += size
        return bytes(self.data[start : self.position])

    def number(self, kind):
        packed = _NUMBERS[kind]
        return packed.unpack(self.take(packed.size))[0]

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise WireError("varint too long")

    def varint(self):
        value = self.uvarint()
        return (value >> 1) ^ -(value & 1)


class Range:
    """A version range such as "3", "0-5", "2+" or "none"."""

    def __init__(self, text):
        if text in (None, "", "none"):
            self.low, self.high = 1, 0
        elif text.endswith("+"):
            self.low, self.high = int(text[:-1]), 1 << 15
        else:
            low, _, high = text.partition("-")
            self.low, self.high = int(low), int(high or low)

    def __contains__(self, version):
        return self.low <= version <= self.high

    def __iter__(self):
        return iter(range(self.low, self.high + 1))

    def __bool__(self):
        return self.low <= self.high


class Field:
    def __init__(self, spec, message):
        name = spec["name"]
        self.name = name[0].lower() + name[1:]
        self.type = spec["type"]
        self.is_array = self.type.startswith("[]")
        self.element = self.type[2:] if self.is_array else self.type
        self.versions = Range(spec.get("versions", spec.get("taggedVersions")))
        self.nullable = Range(spec.get("nullableVersions"))
        self.tagged = Range(spec.get("taggedVersions"))
        self.tag = spec.get("tag")
        self.ignorable = spec.get("ignorable", False)
        self.flexible = Range(spec["flexibleVersions"]) if "flexibleVersions" in spec else message.flexible
        self.fields = None  # of the struct this field holds, set by Message
        self.default_text = spec.get("default")

    def default(self, version):
        text = self.default_text
        if text == "null":
            return None
        if self.is_array:
            return []
        kind = self.element
        if kind == "bool":
            return str(text).lower() == "true"
        if kind in _NUMBERS:
            if text in (None, ""):
                return 0.0 if kind == "float64" else 0
            return float(text) if kind == "float64" else int(str(text), 0)
        if kind == "uuid":
            return ZERO_UUID
        if kind == "string":
            return text or ""
        if kind in ("bytes", "records"):
            return None if kind == "records" else b""
        return {f.name: f.default(version) for f in self.fields if version in f.versions}


class Message:
    """One schema, ready to encode and decode any of its versions."""

    def __init__(self, spec):
        self.name = spec["name"]
        self.type = spec.get("type")
        self.api_key = spec.get("apiKey")
        self.versions = Range(spec.get("validVersions"))
        self.flexible = Range(spec.get("flexibleVersions"))
        self._structs = {}
        for shared in spec.get("commonStructs", []):
            self._structs[shared["name"]] = [Field(f, self) for f in shared["fields"]]
        for shared in spec.get("commonStructs", []):
            self._link(self._structs[shared["name"]], shared["fields"])
        self.fields = [Field(f, self) for f in spec.get("fields", [])]
        self._link(self.fields, spec.get("fields", []))

    def _link(self, fields, specs):
        for field, spec in zip(fields, specs):
            if "fields" in spec:
                # A struct given in place may be named again further on.
                field.fields = [Field(f, self) for f in spec["fields"]]
                self._structs.setdefault(field.element, field.fields)
                self._link(field.fields, spec["fields"])
            elif field.element in self._structs:
                field.fields = self._structs[field.element]
            elif field.element[0].isupper():
                raise WireError(f"{self.name}: no struct {field.element}")

    # -- encoding ------------------------------------------------------------------------------------------------------

    def encode(self, value, version, unknown=(), lenient=False):
        """Bytes of `value`. Fields that are missing take their default; `unknown` holds tagged fields beside the schema
        as {"path", "tag", "hex"}; `lenient` drops what the version cannot carry instead of refusing it."""
        if version not in self.versions:
            raise WireError(f"{self.name} has no version {version}")
        out = bytearray()
        extra = {}
        for entry in unknown:
            extra.setdefault(entry["path"], []).append((entry["tag"], bytes.fromhex(entry["hex"])))
        self._write_struct(out, self.fields, value, version, "", extra, lenient)
        return bytes(out)

    def _write_struct(self, out, fields, value, version, path, extra, lenient):
        names = {f.name for f in fields}
        for key in value:
            if key not in names:
                raise WireError(f"{self.name}: no field {path}{'.' if path else ''}{key}")
        tags = []
        for field in fields:
            where = f"{path}.{field.name}" if path else field.name
            if version not in field.versions:
                if not lenient and not field.ignorable and field.name in value:
                    if value[field.name] != field.default(version):
                        raise WireError(f"{self.name}: {where} is not in version {version}")
                continue
            item = value[field.name] if field.name in value else field.default(version)
            if version in field.tagged:
                if not self._is_default(field, item, version):
                    body = bytearray()
                    self._write_field(body, field, item, version, where, extra, lenient)
                    tags.append((field.tag, bytes(body)))
                continue
            self._write_field(out, field, item, version, where, extra, lenient)
        if version in self.flexible:
            tags = sorted(tags + extra.get(path, []), key=lambda t: t[0])
            self._write_tag_count(out, len(tags))
            for tag, body in tags:
                write_uvarint(out, tag)
                write_uvarint(out, len(body))
                out += body

    def _is_default(self, field, item, version):
        default = field.default(version)
        if isinstance(item, dict) and isinstance(default, dict):
            return all(
                self._is_default(f, item.get(f.name, f.default(version)), version)
                for f in field.fields
                if version in f.versions
            )
        return item == default

    def _write_length(self, out, width, flexible, length):
        """Of an array, a string or bytes; -1 stands for null. A class that wants it wrong overrides this."""
        if flexible:
            write_uvarint(out, length + 1)
        else:
            out += struct.pack(width, length)

    def _write_tag_count(self, out, count):
        write_uvarint(out, count)

    def _write_field(self, out, field, item, version, path, extra, lenient):
        flexible = version in field.flexible
        if item is None and version not in field.nullable and not (field.element == "records" and not field.is_array):
            raise WireError(f"{self.name}: {path} must not be null")
        if not field.is_array:
            self._write_value(out, field, item, version, path, extra, lenient, flexible, version in field.nullable)
            return
        self._write_length(out, ">i", flexible, -1 if item is None else len(item))
        if item is None:
            return
        for index, element in enumerate(item):
            self._write_value(out, field, element, version, f"{path}[{index}]", extra, lenient, flexible, False)

    def _write_value(self, out, field, item, version, path, extra, lenient, flexible, nullable):
        kind = field.element
        if kind in _NUMBERS:
            try:
                out += _NUMBERS[kind].pack(item)
            except struct.error as error:
                raise WireError(f"{self.name}: {path}: {error}") from None
        elif kind == "bool":
            out.append(1 if item else 0)
        elif kind == "uuid":
            out += uuid_to_bytes(item)
        elif kind in ("string", "bytes", "records"):
            width = ">h" if kind == "string" else ">i"
            if item is None:
                data = None
            elif kind == "string":
                data = item.encode("utf-8", "replace")
            else:
                data = base64.b64decode(item) if isinstance(item, str) else item
            self._write_length(out, width, flexible, -1 if data is None else len(data))
            out += data or b""
        else:
            if nullable:
                out += b"\xff" if item is None else b"\x01"
                if item is None:
                    return
            self._write_struct(out, field.fields, item, version, path, extra, lenient)

    # -- decoding ------------------------------------------------------------------------------------------------------

    def decode(self, data, version):
        """(value, unknown tagged fields, bytes left over)."""
        if version not in self.versions:
            raise WireError(f"{self.name} has no version {version}")
        reader, unknown = Reader(data), []
        value = self._read_struct(reader, self.fields, version, "", unknown)
        return value, unknown, reader.left()

    def _read_struct(self, reader, fields, version, path, unknown):
        value, known = {}, {}
        for field in fields:
            if version not in field.versions:
                continue
            where = f"{path}.{field.name}" if path else field.name
            if version in field.tagged:
                known[field.tag] = (field, where)
                continue
            value[field.name] = self._read_field(reader, field, version, where, unknown)
        if version in self.flexible:
            for _ in range(reader.uvarint()):
                tag, size = reader.uvarint(), reader.uvarint()
                body = reader.take(size)
                if tag in known:
                    field, where = known[tag]
                    inner = Reader(body)
                    item = self._read_field(inner, field, version, where, unknown)
                    if inner.left():
                        raise WireError(f"{self.name}: {where} has {inner.left()} bytes too many")
                    if not self._is_default(field, item, version):
                        value[field.name] = item
                else:
                    unknown.append({"path": path, "tag": tag, "hex": body.hex()})
        return value

    def _length(self, reader, width, flexible):
        return reader.uvarint() - 1 if flexible else reader.number(width)

    def _read_field(self, reader, field, version, path, unknown):
        flexible = version in field.flexible
        if not field.is_array:
            return self._read_value(reader, field, version, path, unknown, flexible, version in field.nullable)
        length = self._length(reader, "int32", flexible)
        if length < 0:
            if version in field.nullable:
                return None
            raise WireError(f"{self.name}: {path} must not be null")
        if length > reader.left():
            raise WireError(f"{self.name}: {path} claims {length} elements, {reader.left()} bytes left")
        return [
            self._read_value(reader, field, version, f"{path}[{i}]", unknown, flexible, False) for i in range(length)
        ]

    def _read_value(self, reader, field, version, path, unknown, flexible, nullable):
        kind = field.element
        if kind in _NUMBERS:
            return reader.number(kind)
        if kind == "bool":
            return reader.take(1) != b"\0"
        if kind == "uuid":
            return uuid_to_text(reader.take(16))
        if kind in ("string", "bytes", "records"):
            length = self._length(reader, "int16" if kind == "string" else "int32", flexible)
            if length < 0:
                if nullable or kind == "records":
                    return None
                raise WireError(f"{self.name}: {path} must not be null")
            data = reader.take(length)
            return data.decode("utf-8", "replace") if kind == "string" else data
        if nullable and reader.number("int8") < 0:
            return None
        return self._read_struct(reader, field.fields, version, path, unknown)


class Schemas:
    """All messages of a folder, by name, loaded when first asked for."""

    def __init__(self, folder=None):
        self.folder = folder or os.path.join(ROOT, "schemas")
        self._messages = {}

    def __getitem__(self, name):
        if name not in self._messages:
            path = self._find(name + ".json")
            if path is None:
                raise WireError(f"no schema {name} in {self.folder}")
            with open(path, encoding="utf-8") as file:
                self._messages[name] = Message(json.loads(COMMENT.sub(lambda m: m[1] or "", file.read())))
        return self._messages[name]

    def _find(self, name):
        for folder in ("", "coordinator", "metadata", "raft", "storage"):
            path = os.path.join(self.folder, folder, name)
            if os.path.exists(path):
                return path
        return None

    def request_header_version(self, api, version):
        return 2 if version in self[api + "Request"].flexible else 1

    def response_header_version(self, api, version):
        # A client that does not know the broker yet must be able to read this one answer.
        if api == "ApiVersions":
            return 0
        return 1 if version in self[api + "Response"].flexible else 0


def jsonable(value):
    """The same value with bytes as base64."""
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {k: jsonable(v) for k, v in value.items()}
    if isinstance(value, list):
        return [jsonable(v) for v in value]
    return value


def check_vectors(schemas, folder):
    """Decode and encode every line of the reference vectors; returns how many lines disagree."""

    def by_place(entry):
        return entry["path"], entry["tag"], entry["hex"]

    failed = passed = 0
    for name in ("requests", "responses", "data", "internal"):
        path = os.path.join(folder, name + ".jsonl.gz")
        if not os.path.exists(path):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                vector = json.loads(line)
                try:
                    message = schemas[vector["message"]]
                    data, version = bytes.fromhex(vector["hex"]), vector["version"]
                    value, unknown, rest = message.decode(data, version)
                    fault = None
                    if rest:
                        fault = f"{rest} bytes left"
                    elif jsonable(value) != vector["json"]:
                        fault = f"read {json.dumps(jsonable(value))}"
                    elif sorted(unknown, key=by_place) != sorted(vector.get("unknown", []), key=by_place):
                        fault = f"unknown tags {unknown}"
                    elif message.encode(vector["json"], version, unknown) != data:
                        fault = f"wrote {message.encode(vector['json'], version, unknown).hex()}"
                    elif "hexKnown" in vector and message.encode(value, version).hex() != vector["hexKnown"]:
                        fault = "wrote other bytes without the unknown tags"
                except (WireError, struct.error) as error:
                    fault = str(error)
                if fault:
                    failed += 1
                    if failed <= 20:
                        print(f"{name}:{number} {vector['message']} v{vector['version']}: {fault[:300]}")
                else:
                    passed += 1
    print(f"{passed} lines agree, {failed} lines disagree")
    return failed


def main():
    parser = argparse.ArgumentParser(description="Check the schema-driven codec against reference vectors.")
    parser.add_argument("--schemas", default=os.path.join(ROOT, "schemas"))
    parser.add_argument("--vectors", default=os.path.join(ROOT, "tests", "vectors"))
    options = parser.parse_args()
    return 1 if check_vectors(Schemas(options.schemas), options.vectors) else 0


if __name__ == "__main__":
    sys.exit(main())
