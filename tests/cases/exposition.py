"""Prometheus' text format, read as strictly as Prometheus reads it, and `promtool` beside it where that is installed."""

import re
import shutil
import subprocess

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"')
TYPES = {"counter", "gauge", "histogram", "summary"}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Family:
    def __init__(self, name, help_text):
        self.name, self.help, self.type = name, help_text, None
        self.samples = {}  # (name, labels as a frozenset of pairs) -> value


def parse(text):
    """{name of the family: Family}. Raises ValueError where Prometheus would refuse the page, or could be misled."""
    families, family, seen = {}, None, set()
    if text and not text.endswith("\n"):
        raise ValueError("the last line has no end")
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            name, _, help_text = line[7:].partition(" ")
            if name in families or not NAME.fullmatch(name) or not help_text:
                raise ValueError(f"help: {line}")
            if re.search(r"\\(?![\\n])", help_text):
                raise ValueError(f"escapes in a help text: {line}")
            family = families[name] = Family(name, help_text)
        elif line.startswith("# TYPE "):
            name, _, kind = line[7:].partition(" ")
            if family is None or family.name != name or family.type or kind not in TYPES:
                raise ValueError(f"type: {line}")
            family.type = kind
        else:
            sample(family, line, seen)
    for one in families.values():
        if not one.type:
            raise ValueError(f"{one.name} has no type")
    return families


def sample(family, line, seen):
    match = re.fullmatch(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)", line)
    if not match or family is None or not family.type:
        raise ValueError(f"sample: {line}")
    name, labels, value = match.groups()
    suffixes = SUFFIXES.get(family.type, ("",))
    if name not in {family.name + s for s in suffixes}:
        raise ValueError(f"{name} stands below {family.name}, a {family.type}")
    pairs, rest = {}, labels or ""
    while rest:
        found = LABEL.match(rest)
        if not found or found[1] in pairs:
            raise ValueError(f"labels: {line}")
        pairs[found[1]] = re.sub(r"\\.", lambda m: UNESCAPED[m[0]], found[2])
        rest = rest[found.end() :]
        if rest and (not rest.startswith(",") or rest == ","):
            raise ValueError(f"labels: {line}")
        rest = rest[1:]
    key = (name, frozenset(pairs.items()))
    if key in seen:
        raise ValueError(f"twice: {line}")
    seen.add(key)
    family.samples[key] = float(value)


def values(families, name):
    """[(labels as a dict, value)] of the samples of that name; of a histogram the name has its suffix."""
    return [
        (dict(labels), value)
        for family in families.values()
        for (sample_name, labels), value in family.samples.items()
        if sample_name == name
    ]


def value(families, name):
    """The value of the only sample of that name."""
    (one,) = values(families, name)
    return one[1]


def promtool(text):
    """What promtool finds wrong with the page, in words; nothing where it is not installed."""
    tool = shutil.which("promtool")
    if not tool:
        return None
    done = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=120)
    # Its other complaints are about taste, such as whether the name of a client's metric has a unit.
    return done.stderr if done.returncode == 1 else None
