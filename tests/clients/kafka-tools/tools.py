"""Starts Kafka's own command-line tools: one after the other in one process, since each process takes seconds to come up."""
import pathlib
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from check import LIMIT, need  # noqa: E402 - the harness of the Python clients

JAVA = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]


def until(what, fn):
    """Asks until it is so: what a broker has just done may not show at once, and members of groups come and go in their own time."""
    end = time.monotonic() + 20
    while not fn():
        need(time.monotonic() < end, what)


class Tools:
    """The tools of the jars in one folder, ToolShell in the folder "classes" beside it."""

    def __init__(self, lib):
        lib = pathlib.Path(lib)
        self._java = [*JAVA, "-cp", f"{lib.parent / 'classes'}:{lib}/*"]
        self._shell = None

    def ends(self, tool, *args, stdin=""):
        """Runs a tool to its end: its exit code, and all that it printed."""
        if self._shell is None:
            self._shell = subprocess.Popen([*self._java, "ToolShell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        shell = self._shell
        late = threading.Timer(LIMIT, shell.kill)
        late.start()
        try:
            words = [str(word).encode() for word in (tool, *args)]
            shell.stdin.write(struct.pack(">i", len(words)))
            for word in words:
                shell.stdin.write(struct.pack(">H", len(word)) + word)
            shell.stdin.write(struct.pack(">i", len(stdin.encode())) + stdin.encode())
            shell.stdin.flush()
            head = shell.stdout.read(8)
            need(len(head) == 8, f"{tool}: no end, or the end of the process")
            code, length = struct.unpack(">ii", head)
            return code, shell.stdout.read(length).decode(errors="replace")
        except BaseException:
            shell.kill()  # the next tool gets a process of its own
            self._shell = None
            raise
        finally:
            late.cancel()

    def __call__(self, tool, *args, stdin=""):
        """Runs a tool, which must succeed, and returns what it printed."""
        code, out = self.ends(tool, *args, stdin=stdin)
        need(code == 0, f"{tool} ended with {code}: {' '.join(out.split()[:40])}")
        return out

    def beside(self, tool, *args):
        """Starts a tool in a process of its own, for the caller to end; what it prints comes from its `stdout`."""
        return subprocess.Popen([*self._java, f"org.apache.kafka.tools.{tool}", *map(str, args)], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
