"""Starts Kafka's own command-line tools."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from check import LIMIT, need  # noqa: E402 - the harness of the Python clients

JAVA = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]


class Tools:
    """The tools of the jars in one folder."""

    def __init__(self, lib):
        self._java = [*JAVA, "-cp", f"{lib}/*"]

    def ends(self, tool, *args, stdin=None):
        """Runs a tool to its end: its exit code, and all that it printed."""
        done = subprocess.run([*self._java, f"org.apache.kafka.tools.{tool}", *map(str, args)], input=stdin,
                              stdin=None if stdin is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT)
        return done.returncode, done.stdout

    def __call__(self, tool, *args, stdin=None):
        """Runs a tool, which must succeed, and returns what it printed."""
        code, out = self.ends(tool, *args, stdin=stdin)
        need(code == 0, f"{tool} ended with {code}: {' '.join(out.split()[:40])}")
        return out
