"""The harness of the Python clients: every feature prints one PASS, FAIL or SKIP line.

THALWEG_SKIP_FEATURES   comma-separated features that are not run
THALWEG_FEATURE_SECONDS how long one feature may take (default 60)
"""
import os
import sys
import threading
import time
import traceback
import uuid

SKIPPED = set(os.environ.get("THALWEG_SKIP_FEATURES", "").split(","))
LIMIT = float(os.environ.get("THALWEG_FEATURE_SECONDS", "60"))


class Skip(Exception):
    pass


class Check:
    def __init__(self, client):
        self.client = client
        self.failed = 0
        self.run_id = uuid.uuid4().hex[:8]

    def name(self, what):
        return f"interop-{self.client}-{what}-{self.run_id}"

    def say(self, verdict, feature, rest):
        print(verdict, self.client, f"{feature}{rest}", flush=True)

    def __call__(self, feature, fn, *args):
        if feature in SKIPPED:
            self.say("SKIP", feature, " (expected failure)")
            return
        start = time.monotonic()
        outcome = []

        def body():
            try:
                fn(*args)
                outcome.append(None)
            except BaseException as e:  # noqa: BLE001 - one bad feature must not hide the next
                outcome.append(e)

        # In a thread, so that a call which never returns costs its feature and not the run.
        thread = threading.Thread(target=body, name=feature, daemon=True)
        thread.start()
        thread.join(LIMIT)
        error = outcome[0] if outcome else TimeoutError(f"no end after {LIMIT:g} s")
        if error is None:
            self.say("PASS", feature, f" {time.monotonic() - start:.2f}s")
        elif isinstance(error, Skip):
            self.say("SKIP", feature, f": {error}")
        else:
            self.failed += 1
            first = next(iter(str(error).strip().splitlines()), "")[:200]
            self.say("FAIL", feature, f": {type(error).__name__} {first}")
            traceback.print_exception(error, limit=-4, file=sys.stderr)

    def done(self):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1 if self.failed else 0)  # a client left over from a feature that hung must not hold the process


def need(cond, what):
    if not cond:
        raise AssertionError(what)
