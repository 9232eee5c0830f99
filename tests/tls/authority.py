"""Certificates made with the openssl command, in a folder of their own."""

import os
import subprocess

SUBJECT = "/O=Test/OU={unit}/CN={name}"


def openssl(*arguments, folder=None, said=None):
    done = subprocess.run(
        ["openssl", *arguments], cwd=folder, input=said, capture_output=True, timeout=60, check=False
    )
    if done.returncode:
        raise AssertionError(f"openssl {' '.join(arguments)}: {done.stderr.decode()}")
    return done.stdout


class Files:
    """Where a certificate and its key lie: PEM each, and both in one file."""

    def __init__(self, base):
        self.certificate, self.key, self.both = base + ".crt", base + ".key", base + ".pem"


class Authority:
    """One authority and what it signs."""

    def __init__(self, folder, name="root"):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self._base = os.path.join(folder, name)
        self.certificate = self._base + ".crt"
        openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3",
            "-subj", f"/O=Test/CN={name}", "-keyout", self._base + ".key", "-out", self.certificate,
        )  # fmt: skip

    def sign(self, name, unit="clients", days=2, names="", rsa=False, file=None):
        """A certificate of CN=name,OU=unit,O=Test. `names` are subject alternative names."""
        files = Files(os.path.join(self.folder, file or name))
        kind = ["rsa:2048"] if rsa else ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        openssl(
            "req", "-new", "-newkey", *kind, "-nodes", "-subj", SUBJECT.format(unit=unit, name=name),
            "-keyout", files.key, "-out", files.certificate + ".request",
        )  # fmt: skip
        extensions = files.certificate + ".extensions"
        with open(extensions, "w", encoding="utf-8") as out:
            out.write(f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n")
        openssl(
            "x509", "-req", "-in", files.certificate + ".request", "-CA", self.certificate, "-CAkey", self._base + ".key",
            "-CAcreateserial", "-days", str(days), "-extfile", extensions, "-out", files.certificate,
        )  # fmt: skip
        put_together(files.both, files.key, files.certificate)
        return files

    def sign_server(self, **more):
        return self.sign("localhost", unit="brokers", names="DNS:localhost,IP:127.0.0.1", **more)


def put_together(path, *parts):
    """Writes the files one behind the other, and puts the whole in its place at once."""
    with open(path + ".new", "wb") as out:
        for part in parts:
            with open(part, "rb") as file:
                out.write(file.read())
    os.replace(path + ".new", path)
