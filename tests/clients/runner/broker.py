"""A broker of our own for one run: a temporary folder, free ports, stopped at the end."""
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

LISTENING = {name: re.compile(rb"listening on " + name.encode() + rb"://(127\.0\.0\.1:\d+)")
             for name in ("PLAINTEXT", "SASL_PLAINTEXT")}
SASL_USER, SASL_PASSWORD = "clients", "clients-secret"
START_SECONDS = 60  # it takes a moment; this is for a machine that is busy
STOP_SECONDS = 30
PROPERTIES = """\
node.id=1
listeners=PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_plaintext.plain.sasl.jaas.config=\
    org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
delegation.token.secret.key=the clients' key
log.dirs={data}
num.partitions=4
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=3000
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
thalweg.console.listeners=http://127.0.0.1:0
"""


class BrokerError(Exception):
    """The broker did not start or stop as it must; the text says how."""


class Broker:
    """Runs `BINARY serve` in a folder of its own, which stands for {data} in the properties; {user} and {password} stand
    for who may log in by PLAIN."""

    def __init__(self, binary, properties=PROPERTIES):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="thalweg-clients-"))
        self.data = self.folder / "data"
        self.log = self.folder / "broker.log"
        self._binary = binary
        self._properties = properties
        self.sasl = {}  # once started: what tells the clients of the listener with SASL
        self._process = None
        self._stopped = False

    def start(self):
        """Starts the broker and returns the HOST:PORT that it listens on."""
        config = self.folder / "server.properties"
        config.write_text(self._properties.format(data=self.data, user=SASL_USER, password=SASL_PASSWORD))
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [self._binary, "serve", "--config", str(config)], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        listeners = re.search(r"^listeners=(.*)$", self._properties, re.M)[1]
        wanted = [name for name in LISTENING if re.search(rf"\b{name}://", listeners)]
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            log = self.log.read_bytes()
            found = {name: LISTENING[name].search(log) for name in wanted}
            if all(found.values()):
                if "SASL_PLAINTEXT" in found:
                    self.sasl = {"SASL_BOOTSTRAP": found["SASL_PLAINTEXT"][1].decode(), "SASL_USER": SASL_USER,
                                 "SASL_PASSWORD": SASL_PASSWORD}
                return found["PLAINTEXT"][1].decode()
            if (code := self._process.poll()) is not None:
                raise BrokerError(f"ended with exit code {code} while starting, see {self.log}")
            time.sleep(0.01)
        raise BrokerError(f"said no 'listening on …' of its listeners in {START_SECONDS} s, see {self.log}")

    def died(self):
        """Whether the broker ended by itself."""
        return not self._stopped and self._process.poll() is not None

    def stop(self):
        """Stops the broker gracefully. It must end in time and with exit code 0."""
        if self._process.poll() is None and self._terminate():
            self._stopped = True
            return
        raise BrokerError(f"ended with exit code {self._process.returncode}, see {self.log}")

    def _terminate(self):
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_SECONDS) == 0
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise BrokerError(f"did not stop within {STOP_SECONDS} s of SIGTERM, see {self.log}") from None

    def kill(self):
        """Ends the broker at once if it still runs."""
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def remove(self):
        """Removes the folder, once the broker is stopped."""
        shutil.rmtree(self.folder)
