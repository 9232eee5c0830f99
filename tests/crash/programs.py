"""The producers and consumers of three real clients: built as tests/clients builds them, run as processes that note in
a file what was acknowledged, what they read and what they committed."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "clients"))

from runner.languages import LANGUAGES, Builder, BuildFailed, Missing

CACHE = ROOT / "build/clients"
JAVA = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]  # fmt: skip
CRASH_PY = str(HERE.parent / "clients/python/crash.py")
KINDS = {  # client -> (language, its program)
    "java": ("java", lambda folder: [*JAVA, "-cp", f"{folder}/classes:{folder}/lib/*", "Crash"]),
    "librdkafka": ("python", lambda folder: [f"{folder}/venv/bin/python", CRASH_PY]),
    "franz-go": ("go", lambda folder: [f"{folder}/crash"]),
}


class Unbuilt(Exception):
    """A client that this machine cannot run; the text says why."""


def command(kind, cache={}):
    """How the program of a client is started, built when first asked for. Raises Unbuilt and BuildFailed."""
    language, program = KINDS[kind]
    if language not in cache:
        (CACHE / "logs").mkdir(parents=True, exist_ok=True)
        try:
            Builder(LANGUAGES[language], CACHE).prepare()
            cache[language] = None
        except Missing as missing:
            cache[language] = str(missing)
    if cache[language]:
        raise Unbuilt(cache[language])
    return program(CACHE / language)


class Program:
    """One process. `news` gives the lines that it has written since the last call, each as its words."""

    def __init__(self, kind, what, boot, folder, name, *arguments):
        self.kind, self.name = kind, name
        self.path = os.path.join(folder, f"{name}.notes")
        self.errors = os.path.join(folder, f"{name}.err")
        open(self.path, "wb").close()
        with open(self.errors, "wb") as err:
            self.process = subprocess.Popen(
                [*command(kind), what, boot, self.path, *map(str, arguments)], stdin=subprocess.PIPE, stdout=err,
                stderr=err, cwd=folder)  # fmt: skip
        self._file = open(self.path, "rb")
        self._rest = b""
        self.ended = None  # the words of its last line

    def news(self):
        text = self._rest + self._file.read()
        whole, end, self._rest = text.rpartition(b"\n")
        lines = [line.split() for line in whole.decode().splitlines()] if end else []
        if lines and lines[-1][0] == "end":
            self.ended = lines.pop()
        return lines

    def alive(self):
        return self.process.poll() is None

    def finish(self):
        """Asks for the end: it sends what it has, waits for the answers, and leaves."""
        if not self.process.stdin.closed:
            self.process.stdin.close()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def said(self):
        """The end of its error output."""
        with open(self.errors, encoding="utf-8", errors="replace") as file:
            return file.read()[-1500:]

    def close(self):
        self.kill()
        self.finish()
        self._file.close()


__all__ = ["KINDS", "BuildFailed", "Program", "Unbuilt", "command"]
