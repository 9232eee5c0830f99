"""Logins, SCRAM users and delegation tokens: what clients are told, what lasts, and what must never be written down."""

import base64
import difflib
import json
import os
import re
import resource
import socket
import time

import login_accounts as accounts
from node import until
from suite import test

LISTENERS = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,REAUTH://127.0.0.1:0"
CASES = {"PLAIN, right and wrong": "C01", "the order of a login": "C01", "sizes before the login": "C04",
         "SCRAM, right and wrong": "C33", "logging in again": "C35", "delegation tokens": "C37"}
# What differs, and is meant to: (Kafka's lines, ours) of an account.
MEANT = {
    # Kafka answers whatever comes within a login in its own form, with ILLEGAL_SASL_STATE; we only SaslHandshake and ApiVersions.
    "the order of a login": (["Metadata: served"], ["Metadata: closed"]),
    "logging in again": (["Metadata: served"], ["Metadata: closed"]),
    # Kafka lets a token that has run out log in, for a session that has no end.
    "delegation tokens": (
        ["SaslAuthenticate 2 SCRAM final: error 0 text None lifetime none", "the server's signature: right"],
        ["SaslAuthenticate 2 SCRAM final: error 58 text Authentication failed during authentication due to invalid credentials with SASL "
         "mechanism SCRAM-SHA-256 lifetime none"]),
}


def addresses(node):
    return [":".join(map(str, node.listeners[name])) for name in ("PLAINTEXT", "SASL_PLAINTEXT", "REAUTH")]


def doors_of(node):
    return accounts.Doors(*addresses(node))


def sasl_node(t, settings=None, **options):
    return t.node({**accounts.SETTINGS, "listeners": LISTENERS, **(settings or {})}, **options)


def secrets_of(text):
    """Passwords of the test that stand in a text."""
    return [s for s in (*accounts.USERS.values(), accounts.SCRAM_PASSWORD, accounts.SETTINGS["delegation.token.secret.key"])
            if s in text]


def stored(node):
    """All bytes of the files below the data folder."""
    found = b""
    for folder, _, names in os.walk(node.data):
        for path in (os.path.join(folder, name) for name in names):
            if not os.path.isfile(path):
                continue  # the socket that commands reach the broker by
            with open(path, "rb") as file:
                found += file.read()
    return found


@test("C01 C04 C33 C35 C37 clients that log in are told what Kafka tells them")
def as_kafka(t):
    node = sasl_node(t).start()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "logins.json"), encoding="utf-8") as file:
        kafka = json.load(file)
    ours = accounts.accounts_of(*addresses(node))
    t.same(sorted(ours), sorted(kafka), "accounts")
    for name, lines in kafka.items():
        difference = [line for line in difflib.ndiff(lines, ours[name]) if line[0] in "-+"]
        found = tuple([line[2:] for line in difference if line[0] == sign] for sign in "-+")
        if found != MEANT.get(name, ([], [])):
            t.claim(False, f"{name}, - of Kafka, + of ours:\n" + "\n".join(difference))
    t.note(f"{sum(map(len, kafka.values()))} lines")
    t.same(secrets_of(node.log()), [], "secrets in the log")


@test("C33 a failed login is one line in the log, with who, how and why, and without secrets")
def failed_login(t):
    node = sasl_node(t).start()
    door = doors_of(node)().handshake("SCRAM-SHA-256")
    door.scram("SCRAM-SHA-256", b"carol", b"hunter2-hunter2")
    doors_of(node)().log_in("alice", "hunter2-hunter2")
    lines = until("two lines", lambda: len(re.findall(r"failed to log in", node.log())) >= 2 and node.log())
    t.claim(re.search(r"127\.0\.0\.1:\d+ \(SASL_PLAINTEXT\) failed to log in by SCRAM-SHA-256: no such user", lines), lines[-900:])
    t.claim(re.search(r"127\.0\.0\.1:\d+ \(SASL_PLAINTEXT\) failed to log in by PLAIN: unknown user or wrong password", lines), lines[-900:])
    t.same(len(re.findall("failed to log in", lines)), 2, "lines")
    t.claim("hunter2" not in lines, "a password in the log")


@test("C33 SCRAM users come from a file at first, last over restarts, and are not taken back by the file")
def first_users(t):
    node = sasl_node(t)
    path = os.path.join(node.folder, "first-users")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# the first\nSCRAM-SHA-256=[name=carol,password=from-the-file]\n")
    node.arguments = ["--add-scram-file", path]
    node.start()

    def takes(password):
        door = doors_of(node)().handshake("SCRAM-SHA-256")
        door.scram("SCRAM-SHA-256", b"carol", password)
        return door.lines[-1].endswith("right")

    t.claim(takes(b"from-the-file"), "the file's password")
    doors = doors_of(node)
    accounts.alter(doors("PLAINTEXT"), upsertions=[accounts.upsertion("carol", 1, password="changed-since")])
    until("another password", lambda: takes(b"changed-since"))
    node.kill()
    node.start()
    t.claim(takes(b"changed-since"), "the password that was set since")
    t.claim(not takes(b"from-the-file"), "the file takes the password back")
    t.claim("carol has a credential" in node.log(), "not a word about it")
    for word in (b"from-the-file", b"changed-since"):
        t.claim(word not in stored(node), f"{word} is stored")
        t.claim(word.decode() not in node.log(), f"{word} is in the log")
    node.stop()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\nSCRAM-SHA-256=[name=carol,password=hunter2,iterations=1]\n")
    code, _, lines = node.refused()
    t.same((code, len(lines)), (1, 1), f"a bad file: {lines}")
    t.claim(lines[0].endswith(f"--add-scram-file: {path}:2: iterations must be from 4096 to 16384"), lines[0])


@test("C37 delegation tokens outlive a restart but not their secret key, and nobody finds them in the store")
def tokens_last(t):
    node = sasl_node(t, {"delegation.token.expiry.check.interval.ms": "200"}).start()
    alice = accounts.Tokens(doors_of(node)().log_in("alice"))
    token = alice.create("one", maxLifetimeMs=600_000)
    short = alice.create("of a second", maxLifetimeMs=1000)

    def logs_in(one):
        door = doors_of(node)().handshake("SCRAM-SHA-512")
        door.scram("SCRAM-SHA-512", one["tokenId"].encode(), base64.b64encode(one["hmac"]), more=b",tokenauth=true")
        return door.lines[-1].endswith("right")

    def ids():
        return {one["tokenId"] for one in accounts.Tokens(doors_of(node)().log_in("alice")).described()["tokens"]}

    t.claim(logs_in(token) and logs_in(short), "a login by token")
    until("the short one removed", lambda: ids() == {token["tokenId"]})
    node.kill()
    t.claim(token["tokenId"].encode() in stored(node), "the id is not where it is looked for")
    for secret in (token["hmac"], base64.b64encode(token["hmac"]), b"the-secret"):
        t.claim(secret not in stored(node), "an HMAC or the key is stored")
    node.start()
    t.claim(logs_in(token), "a login by token after SIGKILL")
    t.claim(not logs_in(short), "a login by a token that was removed")
    node.stop()
    node.settings["delegation.token.secret.key"] = "another-secret"
    node.start()
    t.claim(not logs_in(token), "a login by a token of another key")
    t.same(node.log().count("delegation.token.secret.key has changed: 1 delegation tokens"), 1, "lines about the other key")
    for word in (base64.b64encode(token["hmac"]).decode(), "the-secret", "another-secret"):
        t.claim(word not in node.log(), "a secret in the log")


@test("C01 five thousand half-open logins keep nobody from logging in")
def half_open(t):
    count = 5000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + 500:
        count = max(hard - 500, 100)
        t.note(f"only {count}, for want of descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 400), hard))
    open_sockets = []
    try:
        node = sasl_node(t).start()
        host, port = node.listeners["SASL_PLAINTEXT"]
        before = node.resident()
        for i in range(count):
            one = socket.create_connection((host, port))
            # Nothing, half a size, half a handshake.
            one.sendall((b"", b"\0\0", b"\0\0\0\x20\0\x11\0\x01\0\0")[i % 3])
            open_sockets.append(one)
        began = time.monotonic()
        for _ in range(20):
            door = doors_of(node)().log_in("alice").metadata()
            t.same(door.lines[-1], "Metadata: served", "a login")
            door.connection.close()
        t.note(f"20 logins beside {count} in {time.monotonic() - began:.2f} s, {(node.resident() - before) // count} bytes each")
        # A third of them hold a block for what they have begun to send.
        t.claim(node.resident() - before < count * 100_000, f"{(node.resident() - before) // count} bytes for each")
    finally:
        for one in open_sockets:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
