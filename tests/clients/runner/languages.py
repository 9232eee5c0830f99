"""The clients' languages: what each needs, how its programs are built into the cache, and how they are started."""
import dataclasses
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent.parent
BUILD_SECONDS = 1800  # the first time: librdkafka is built twice, for Node.js and for Rust
_apt_lock = threading.Lock()


def build_environment():
    """The environment without what makes builds parallel: Node's native client cannot be built so, and its tool reads JOBS."""
    return {key: value for key, value in os.environ.items() if key not in ("JOBS", "MAKEFLAGS", "npm_config_jobs")}


class Missing(Exception):
    """This machine cannot run the language; the text says what it needs and what was found."""


class BuildFailed(Exception):
    """The clients could not be built; the text names the log."""


@dataclasses.dataclass(frozen=True)
class Tool:
    """A program that must be there, from some version on."""

    name: str
    command: tuple[str, ...]
    least: tuple[int, ...]

    def found(self):
        """Its version in words, for the stamp. Raises Missing."""
        wanted = f"{self.name} {'.'.join(map(str, self.least))} or newer"
        if not shutil.which(self.command[0]):
            raise Missing(f"needs {wanted}, found none")
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=60)
        said = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)  # Maven's in colour
        version = re.search(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", said)
        if done.returncode or not version:
            raise Missing(f"needs {wanted}, found one that does not tell its version")
        if tuple(int(part or 0) for part in version.groups()) < self.least:
            raise Missing(f"needs {wanted}, found {version[0]}")
        return f"{self.name} {version[0]}"


@dataclasses.dataclass(frozen=True, eq=False)
class Language:
    """The clients of one language. `build` fills the folder `cache/NAME`, `programs` start them from there."""

    name: str
    tools: tuple[Tool, ...]
    packages: tuple[str, ...]  # of Debian
    build: Callable[["Builder"], None]
    programs: dict[str, Callable[[pathlib.Path, str], list[str]]]  # client -> command(folder, bootstrap)
    after_stop: tuple[str, ...] = ()  # clients that read the files of a stopped broker: they get their folder as bootstrap

    @property
    def sources(self):
        return HERE / self.name


class Builder:
    """Builds one language's clients, once for each state of their sources and tools."""

    def __init__(self, language, cache):
        self.language = language
        self.sources = language.sources
        self.folder = cache / language.name
        self.log = cache / "logs" / f"{language.name}-build.txt"

    def prepare(self):
        """Builds what has changed, and returns whether something had. Raises Missing or BuildFailed."""
        tools = [tool.found() for tool in self.language.tools]
        install_packages(self.language.packages, self.log)
        stamp = self.folder / "stamp"
        state = self._state(tools)
        if stamp.exists() and stamp.read_text() == state:
            return False
        stamp.unlink(missing_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        self.language.build(self)
        stamp.write_text(state)
        return True

    def run(self, *command, cwd=None, **env):
        """Runs one step of the build, its output in the log."""
        with self.log.open("a") as log:
            print("$", *command, file=log, flush=True)
            try:
                code = subprocess.run(
                    [str(part) for part in command], cwd=cwd or self.sources, env={**build_environment(), **env},
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, timeout=BUILD_SECONDS).returncode
            except subprocess.TimeoutExpired:
                code = f"no end after {BUILD_SECONDS} s"
        if code:
            raise BuildFailed(f"{pathlib.Path(str(command[0])).name} {command[1]}: {code}, see {self.log}")

    def _state(self, tools):
        digest = hashlib.sha256("\n".join(tools).encode())
        for path in sorted(self.sources.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(self.sources)}\n".encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()


def install_packages(packages, log):
    """Installs the Debian packages that are missing. Raises Missing where that needs more rights than there are."""
    if not packages or not shutil.which("dpkg-query"):
        return
    with _apt_lock:
        listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages],
                                capture_output=True, text=True)
        there = {line.split()[0] for line in listed.stdout.splitlines() if line.endswith(" installed")}
        missing = [package for package in packages if package not in there]
        if not missing:
            return
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        print(f"installing Debian packages: {' '.join(missing)}", flush=True)
        with log.open("a") as out:
            for step in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
                command = [*sudo, "apt-get", "-o", "DPkg::Lock::Timeout=300", *step]
                try:
                    code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode
                except FileNotFoundError:
                    code = 127
                if code:
                    raise Missing(f"needs the Debian packages {' '.join(missing)}, found no way to install them ({log})")


def build_python(b):
    if not (b.folder / "venv/bin/python").exists():
        b.run(sys.executable, "-m", "venv", b.folder / "venv")
    b.run(b.folder / "venv/bin/python", "-m", "pip", "install", "--disable-pip-version-check", "-r", "requirements.txt")


def build_go(b):
    b.run("go", "build", "-buildvcs=false", "-o", f"{b.folder}/", "./franz", "./sarama", "./kafkago", "./crash", "./secure")


def build_node(b):
    installed = b.folder / "installed"
    lock = (b.sources / "package-lock.json").read_text()
    for file in b.sources.iterdir():
        shutil.copy(file, b.folder)
    if installed.exists() and installed.read_text() == lock:
        return
    b.run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=b.folder)
    modules = b.folder / "node_modules"
    # The clients want a newer Node.js than most systems have; the package "node" brings one with its headers.
    b.run("node", "installArchSpecificPackage.js", cwd=modules / "node")
    node = modules / "node/bin"
    headers = next((modules / "node/node_modules").glob("node-*/include")).parent
    # The native client is built here, from the librdkafka that it ships; its makefile cannot take more jobs than one.
    path = f"{modules / '.bin'}:{node}:{os.environ['PATH']}"
    b.run("npm", "run", "install", "--build-from-source", cwd=modules / "@confluentinc/kafka-javascript", PATH=path,
          CKJS_LINKING="dynamic", npm_config_nodedir=str(headers))
    installed.write_text(lock)


def build_java(b):
    """The jars that the pom names, and the programs beside it."""
    shutil.rmtree(b.folder / "lib", ignore_errors=True)
    b.run("mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={b.folder}/lib")
    b.run("javac", "-cp", f"{b.folder}/lib/*", "-d", b.folder / "classes", *sorted(b.sources.glob("*.java")))


def build_rust(b):
    b.run("cargo", "build", "--locked", CARGO_TARGET_DIR=str(b.folder / "target"), CARGO_BUILD_JOBS="2", MAKEFLAGS="-j2")


def no_build(_):
    pass


def tool_program(path):
    # The tools' programs are Python with nothing but the standard library.
    return lambda folder, boot: [sys.executable, str(HERE / path), boot, str(folder / "lib")]


def python_program(name):
    return lambda folder, boot: [str(folder / "venv/bin/python"), str(HERE / "python" / name), boot]


def go_program(name):
    return lambda folder, boot: [str(folder / name), boot]


def node_program(name):
    return lambda folder, boot: [str(folder / "node_modules/node/bin/node"), str(folder / name), boot]


def java_program(name, *more_env):
    def command(folder, boot):
        more = [os.environ[key] for key in more_env] if all(key in os.environ for key in more_env) else []
        return ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp", f"{folder}/classes:{folder}/lib/*", name, boot, *more]
    return command


def rust_program(name):
    return lambda folder, boot: [str(folder / "target/debug" / name), boot]


PYTHON = Tool("Python", (sys.executable, "--version"), (3, 11))
MAVEN = Tool("Maven", ("mvn", "--version"), (3, 6))
CC = Tool("a C++ compiler", ("c++", "-dumpversion"), (10,))
JDK = Tool("JDK", ("javac", "-version"), (17,))
VENV = () if importlib.util.find_spec("ensurepip") else ("python3-venv",)  # Debian keeps it apart

# In the order in which they start: the longest first.
LANGUAGES = {language.name: language for language in (
    Language("kafka-tools", (JDK, MAVEN), (), build_java, {
        "kafka-tools": tool_program("kafka-tools/t_tools.py"),
        "group-tools": tool_program("kafka-tools/t_group_tools.py"),
        "kafka-configs": tool_program("kafka-tools/t_configs.py"),
        "log-files": tool_program("kafka-tools/t_log_files.py"),
    }, after_stop=("log-files",)),
    Language("java", (JDK, MAVEN), (), build_java, {
        # The delegation tokens need a SASL listener, which these name.
        "java": java_program("Clients", "SASL_BOOTSTRAP", "SASL_USER", "SASL_PASSWORD"),
        "java-streams": java_program("Streams"),
    }),
    Language("python", (PYTHON,), VENV, build_python, {
        "confluent-python": python_program("t_confluent.py"),
        "kafka-python": python_program("t_kafka_python.py"),
        "aiokafka": python_program("t_aiokafka.py"),
    }),
    Language("go", (Tool("Go", ("go", "version"), (1, 26)),), (), build_go, {
        "franz-go": go_program("franz"),
        "sarama": go_program("sarama"),
        "kafka-go": go_program("kafkago"),
    }),
    Language("node", (Tool("Node.js", ("node", "--version"), (18,)), Tool("npm", ("npm", "--version"), (9,)), CC, PYTHON),
             ("libcurl4-openssl-dev", "libssl-dev", "libsasl2-dev", "libzstd-dev", "zlib1g-dev", "make"), build_node, {
        "kafkajs": node_program("t_kafkajs.mjs"),
        "platformatic": node_program("t_platformatic.mjs"),
        "confluent-node": node_program("t_confluent.mjs"),
    }),
    Language("rust", (Tool("Rust", ("cargo", "--version"), (1, 85)), CC), ("make",), build_rust, {
        "rdkafka-rust": rust_program("t_rdkafka"),
        "rskafka": rust_program("t_rskafka"),
    }),
    Language("kcat", (), ("kcat",), no_build, {"kcat": tool_program("kcat/t_kcat.py")}),
)}
