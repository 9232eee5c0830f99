"""t_configs.py BOOTSTRAP LIB: what kafka-configs prints for configs.script, beside what it printed of Apache Kafka 4.4.

With --record after LIB it writes configs.expected from the broker that it is given.
"""
import difflib
import pathlib
import re
import subprocess
import sys

from tools import JAVA, Tools

from check import LIMIT, Check, need  # beside python/, which tools.py puts on the path

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "configs.expected"
SEPARATOR = "--\n"
bootstrap, lib = sys.argv[1:3]
recording = "--record" in sys.argv
c = Check("kafka-configs")
NAMES = {"T": c.name("t"), "M": c.name("m"), "G": c.name("g")}


def with_names(text):
    for short, name in NAMES.items():
        text = re.sub(rf"(?<= ){short}(?=[ \n-])", name, text)
    return text


def without_file(line):
    """A key without what the broker's own file says of it, and by name alone where nothing was set at run time."""
    line = re.sub(r"STATIC_BROKER_CONFIG:[^=]+=[^,}]*(, )?", "", line).replace(", }", "}")
    if "sensitive=" in line and "DYNAMIC_" not in line and "CLIENT_METRICS" not in line and "GROUP_CONFIG" not in line:
        line = line.split("=")[0]
    return line


def comparable(printed):
    """Without what differs from broker to broker: files, names, texts of errors, other loggers, and the order of keys."""
    for short, name in NAMES.items():
        printed = printed.replace(name, short)
    sections = []
    for section in printed.split("$ ")[1:]:
        command, *lines, ended = section.strip().split("\n")
        lines = [without_file(line) for line in lines if not line.startswith("\tat ") and "min.insync.replicas" not in line]
        if "broker-logger" in command and ended == "= 0":
            lines = [line for line in lines if not line.startswith("  ") or line.strip() == "root"]
        if ended != "= 0":
            lines = [re.sub(r"^(.*?Exception):? .*", r"\1", line) for line in lines]
            lines = [line for line in lines if "Exception" in line]
        sections.append("\n".join([f"$ {command}", *sorted(lines), ended, ""]))
    return "\n".join(sections)


def run(part):
    """What the tool says to one part of the script."""
    pause = "1000" if recording else "0"
    done = subprocess.run([*JAVA, "-cp", f"{lib}/*", str(HERE / "ConfigScript.java"), bootstrap, pause],
                          input=with_names(part), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=4 * LIMIT)
    need(done.returncode == 0, done.stdout)
    return comparable(done.stdout)


def check(part, want):
    got = run(part)
    diff = difflib.unified_diff(want.split("\n"), got.split("\n"), "Kafka", "here", lineterm="", n=2)
    need(got == want, "\n" + "\n".join(diff))


parts = (HERE / "configs.script").read_text(encoding="utf-8").split("\n\n")
Tools(lib)("TopicCommand", "--bootstrap-server", bootstrap, "--create", "--topic", NAMES["T"])
if recording:
    EXPECTED.write_text(SEPARATOR.join(map(run, parts)), encoding="utf-8")
    sys.exit()
expected = EXPECTED.read_text(encoding="utf-8").split(SEPARATOR)
for name, part, want in zip(("topics", "brokers", "brokers-refused", "broker-loggers", "client-metrics", "groups"), parts, expected, strict=True):
    c(f"configs-{name}", check, part, want)
c.done()
