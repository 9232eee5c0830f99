"""How a suite of named tests runs: one PASS, FAIL or SKIP line for each test, and the counts in the last line."""

import argparse
import os
import random
import re
import signal
import sys
import time
import traceback

from node import Closed, Node, NotStarted, Silent, WireError

TESTS = []


class Skipped(Exception):
    """The test cannot be made here, and why."""


class Broken(Exception):
    """Something failed without which the rest of the test means nothing."""


def test(name):
    """Registers a test; its name is a sentence about behaviour."""

    def register(function):
        if any(known == name for known, _ in TESTS):
            raise ValueError(f"two tests named {name}")
        TESTS.append((name, function))
        return function

    return register


class Run:
    """What a test is given. Claims that fail are collected, so that one test can tell of several."""

    def __init__(self, suite, name):
        self.suite, self.name = suite, name
        self.problems, self.notes, self._nodes = [], [], []
        self.random = random.Random(f"{suite.seed} {name}")
        # A topic of its own on a broker that other tests use too.
        self.topic = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] + f"-{len(suite.done)}"

    def claim(self, holds, text):
        if not holds:
            self.problems.append(text)
        return bool(holds)

    def same(self, got, wanted, what):
        return self.claim(got == wanted, f"{what}: {shown(got)}, expected {shown(wanted)}")

    def need(self, holds, text):
        """A claim that the rest of the test stands on."""
        if not holds:
            raise Broken(text)

    def note(self, text):
        """Something worth a word behind PASS."""
        self.notes.append(text)

    def node(self, settings=None, **options):
        """A broker of this test's own, not started yet; it is removed with the test."""
        return self.owns(Node(self.suite.binary, settings, **options))

    def owns(self, node):
        """A node that the test made itself is removed with it, too."""
        self._nodes.append(node)
        return node

    @property
    def shared(self):
        """The broker that all tests share which neither stop nor configure it."""
        return self.suite.shared()

    def finish(self):
        for one in self._nodes:
            one.remove()

    def logs(self):
        nodes = self._nodes or ([self.suite.shared_node] if self.suite.shared_node else [])
        for one in nodes:
            if one.process is not None and hasattr(one, "log_path"):
                yield one.log()


def shown(value):
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "..."


class Suite:
    def __init__(self, binary, seed, shared_settings=None):
        self.binary, self.seed, self.shared_settings = binary, seed, shared_settings
        self.shared_node, self.done = None, []

    def shared(self):
        if self.shared_node is not None and not self.shared_node.alive():
            self.shared_node.remove()
            self.shared_node = None
        if self.shared_node is None:
            self.shared_node = Node(self.binary, self.shared_settings)
            self.shared_node.start()
        return self.shared_node

    def run_one(self, name, function):
        run, began, skipped = Run(self, name), time.monotonic(), None
        was_up = self.shared_node is not None and self.shared_node.alive()
        try:
            function(run)
        except Skipped as reason:
            skipped = str(reason)
        except (Broken, AssertionError, NotStarted) as error:
            run.problems.append(str(error))
        except (Closed, Silent, WireError, OSError) as error:
            run.problems.append(f"{type(error).__name__} {error} at {place(error)}")
        except Exception:
            run.problems.append("the test itself: " + traceback.format_exc())
        finally:
            if was_up and not self.shared_node.alive():
                run.problems.append(f"the shared broker ended: exit code {self.shared_node.process.returncode}")
            # Here a broker that was left running shows what it said; afterwards its folder is gone.
            logs = list(run.logs())
            run.finish()
        seconds = time.monotonic() - began
        if run.problems:
            print(f"FAIL {name} ({seconds:.1f} s)")
            for text in run.problems[:10]:
                print("    " + text.replace("\n", "\n    "))
            if len(run.problems) > 10:
                print(f"    ... and {len(run.problems) - 10} more")
            for log in logs:
                for line in log.splitlines()[-5:]:
                    print(f"    log: {line[:300]}")
        elif skipped:
            print(f"SKIP {name}: {skipped}")
        else:
            print(f"PASS {name} ({'; '.join(run.notes + [f'{seconds:.1f} s'])})")
        sys.stdout.flush()
        self.done.append(name)
        return 1 if run.problems else 2 if skipped else 0


def place(error):
    """Where in the tests an error came up."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/tests/compare/" not in f.filename]
    return ", ".join(f"{os.path.basename(f.filename)}:{f.lineno}" for f in frames[-2:])


def main(doc, shared_settings=None):
    """Runs what was registered; the exit code."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start-thalweg", metavar="BIN", help="the broker's binary")
    parser.add_argument("--only", metavar="REGEX", help="tests whose name matches")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--list", action="store_true", help="name the tests and stop")
    options = parser.parse_args()
    chosen = [(n, f) for n, f in TESTS if not options.only or re.search(options.only, n, re.IGNORECASE)]
    if options.list:
        print("\n".join(n for n, _ in chosen))
        return 0
    if not options.start_thalweg or not os.access(options.start_thalweg, os.X_OK):
        parser.error(f"--start-thalweg needs a binary that can be run, not {options.start_thalweg}")
    # Whoever ends this suite ends its brokers, and their folders go too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"seed {options.seed}", flush=True)
    suite = Suite(options.start_thalweg, options.seed, shared_settings)
    counts = [0, 0, 0]
    try:
        for name, function in chosen:
            counts[suite.run_one(name, function)] += 1
    finally:
        if suite.shared_node is not None:
            suite.shared_node.remove()
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 0 if counts[0] and not counts[1] else 1
