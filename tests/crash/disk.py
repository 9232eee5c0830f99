"""Disks that can be filled and emptied while a broker runs on them: one that only says so, and a small file system."""

import errno
import os
import shutil
import subprocess

from node import Node


class PreloadedDisk:
    """A library in front of the system calls says that there is no room; nothing is needed for that but the library."""

    def __init__(self, library):
        self.library = library

    def node(self, t, settings):
        node = t.node(settings)
        self.full = os.path.join(node.folder, "full")
        node.environment = {"LD_PRELOAD": self.library, "THALWEG_FULL_DISK": self.full}
        return node

    def fill(self, node):
        open(self.full, "wb").close()

    def empty(self, node):
        os.unlink(self.full)


class SmallNode(Node):
    """A broker whose data folder is a small file system of its own, which ends with the process."""

    SIZE = "96m"

    def command(self):
        os.makedirs(self.data, exist_ok=True)
        mount = f'mount -t tmpfs -o size={self.SIZE} none "$0" && exec "$@"'
        return [*UNSHARE, "sh", "-c", mount, self.data, *super().command()]


UNSHARE = ["unshare", "--mount", "--map-root-user"]


class SmallDisk:
    """A file system of a few megabytes, filled up by a file beside the broker's."""

    @staticmethod
    def possible():
        """Whether a process may have mounts of its own here."""
        if not shutil.which("unshare"):
            return False
        attempt = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(attempt, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0

    def node(self, t, settings):
        return t.owns(SmallNode(t.suite.binary, settings))

    def filler(self, node):
        # Only the broker's own view of the files has the file system.
        return f"/proc/{node.pid}/root{node.data}/filler"

    def fill(self, node):
        with open(self.filler(node), "ab", buffering=0) as file:
            for piece in (1 << 20, 4096, 1):
                block = b"\0" * piece
                try:
                    while True:
                        file.write(block)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def empty(self, node):
        os.unlink(self.filler(node))
