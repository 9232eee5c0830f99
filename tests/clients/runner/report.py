"""The verdicts: one line a feature as it comes, and the count at the end."""
import dataclasses
import re
import threading

LINE = re.compile(r"(PASS|FAIL|SKIP) (\S+) ([^\s:]+)(.*)")
NOT_RUN = "(expected failure)"  # how a harness says that it left a feature out


@dataclasses.dataclass(frozen=True)
class Owed:
    """A feature that the broker does not have yet."""

    area: str  # the part of the broker that owes it
    hangs: bool  # without that part the client waits instead of failing, so the daily run leaves the feature out


class BadFile(Exception):
    """expected-failures cannot be read; the text names file and line."""


def read_expected(path):
    """Reads expected-failures: {(client, feature): Owed}."""
    expected = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words, _, area = (part.strip() for part in line.partition("#"))
        if not words:
            continue
        match words.split():
            case [client, feature]:
                hangs = False
            case [client, feature, "hangs"]:
                hangs = True
            case _:
                raise BadFile(f"{path}:{number}: wanted 'CLIENT FEATURE [hangs]  # AREA', found '{line}'")
        if not area:
            raise BadFile(f"{path}:{number}: which part of the broker owes {client} {feature}?")
        if (client, feature) in expected:
            raise BadFile(f"{path}:{number}: {client} {feature} stands here twice")
        expected[client, feature] = Owed(area, hangs)
    return expected


class Tally:
    """What one client came to."""

    def __init__(self):
        self.passed = self.failed = self.skipped = self.expected = 0
        self.seconds = 0.0
        self.seen = set()


class Report:
    """Prints verdicts and counts them. Programs report from several threads at a time."""

    def __init__(self, expected):
        self.expected = expected
        self._lock = threading.Lock()
        self._tallies = {}
        self._failures = []
        self._skips = []

    def line(self, text):
        """Takes one line of a client's program, and ignores what is not a verdict."""
        if match := LINE.fullmatch(text.rstrip()):
            self.say(*match.groups())

    def say(self, verdict, client, feature, rest=""):
        """Takes one verdict. `rest` is the seconds of a PASS, or the reason of a FAIL or SKIP."""
        with self._lock:
            tally = self._tallies.setdefault(client, Tally())
            tally.seen.add(feature)
            owed = self.expected.get((client, feature))
            if owed and verdict == "PASS":
                verdict, rest = "FAIL", ": passes now, remove it from expected-failures"
            elif owed:
                why = "" if NOT_RUN in rest else rest
                verdict, rest = "SKIP", f" (expected failure: {owed.area}){why}"
                tally.expected += 1
            line = f"{verdict} {client} {feature}{rest}"
            if verdict == "PASS":
                tally.passed += 1
            elif verdict == "FAIL":
                tally.failed += 1
                self._failures.append(line)
            else:
                tally.skipped += 1
                if not owed:
                    self._skips.append(line)
            print(line, flush=True)

    def took(self, client, seconds):
        """Notes how long a client's program ran."""
        with self._lock:
            self._tallies.setdefault(client, Tally()).seconds += seconds

    def ended(self, client, seconds):
        """A client's program ran to its end. Unless it gave up early, each expected failure of its must have come up."""
        self.took(client, seconds)
        tally = self._tallies[client]
        for owner, feature in self.expected:
            if owner == client and feature not in tally.seen and not tally.failed:
                self.say("FAIL", "expected-failures", f"{client}/{feature}", ": there is no such feature")

    def failed(self):
        return bool(self._failures)

    def close(self):
        """Prints the counts and returns the exit code."""
        total = Tally()
        print(f"\n{'client':18} passed failed skipped seconds")
        for client, tally in sorted(self._tallies.items()):
            print(f"{client:18} {tally.passed:6} {tally.failed:6} {tally.skipped:7} {tally.seconds:7.1f}")
            for key in ("passed", "failed", "skipped", "expected"):
                setattr(total, key, getattr(total, key) + getattr(tally, key))
        for line in self._skips + self._failures:
            print(line)
        print(f"expected failures: {total.expected}")
        print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
        return 0 if total.passed and not total.failed else 1
