#!/usr/bin/env python3
"""What a broker says to clients that log in, rightly and wrongly, and that ask about SCRAM users and delegation tokens.

    login_accounts.py HOST:PORT HOST:PORT HOST:PORT > FILE

writes down what a broker says whose listeners these are: PLAINTEXT, SASL_PLAINTEXT, and one named REAUTH with
connections.max.reauth.ms=3000. SETTINGS is what the broker must be started with besides. `logins.json` is what Apache
Kafka 4.4 said; tests/cases asks the same of ours.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "compare"))

from harness import Closed, Connection, Silent, read_answer, request_frame
from wire import Schemas

SCHEMAS = Schemas()
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
USERS = {"alice": "alice-secret", "bob": "bob-secret", "admin": "admin-secret"}
SCRAM_PASSWORD = "carol-secret"
JAAS = f"{PLAIN_MODULE} " + " ".join(f'user_{user}="{password}"' for user, password in USERS.items()) + ";"
SETTINGS = {
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,REAUTH:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    **{f"listener.name.{name}.plain.sasl.jaas.config": JAAS for name in ("sasl_plaintext", "reauth")},
    **{f"listener.name.{name}.scram-sha-{size}.sasl.jaas.config": SCRAM_MODULE
       for name in ("sasl_plaintext", "reauth") for size in (256, 512)},
    "listener.name.reauth.connections.max.reauth.ms": "3000",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:admin",
    "delegation.token.secret.key": "the-secret",
}
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


def plain(user, password, authorization_id=""):
    return f"{authorization_id}\0{user}\0{password}".encode()


class Door:
    """A connection that writes down what comes of each step."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = Connection(host, int(port), 15)
        self.lines = []

    def ask(self, api, version, fields=None):
        """The answer, or None where the connection ends."""
        try:
            self.connection.send_frame(request_frame(SCHEMAS, api, version, fields or {}))
            return read_answer(SCHEMAS, api, version, self.connection.read_frame())[1]
        except (Closed, ConnectionError):
            return None

    def say(self, what, outcome):
        self.lines.append(f"{what}: {outcome}")

    def versions(self, version=0, **fields):
        answer = self.ask("ApiVersions", version, fields)
        self.say(f"ApiVersions {version}", "closed" if answer is None else f"error {answer['errorCode']}")
        return self

    def handshake(self, mechanism, version=1):
        answer = self.ask("SaslHandshake", version, {"mechanism": mechanism})
        self.say(f"SaslHandshake {version} {mechanism}", "closed" if answer is None else
                 f"error {answer['errorCode']} {','.join(sorted(answer['mechanisms']))}")
        return self

    def authenticate(self, token, version=2, what="token"):
        answer = self.ask("SaslAuthenticate", version, {"authBytes": token})
        if answer is None:
            self.say(f"SaslAuthenticate {version} {what}", "closed")
            return None
        lifetime = answer.get("sessionLifetimeMs", 0)
        self.session_ends = time.monotonic() + lifetime / 1000
        # Of texts only those count that are about the login itself.
        text = answer["errorMessage"] if answer["errorCode"] == 58 else "a text" if answer["errorMessage"] else None
        self.say(f"SaslAuthenticate {version} {what}",
                 f"error {answer['errorCode']} text {text} lifetime "
                 f"{'none' if not lifetime else 'at most 3 s' if lifetime <= 3000 else 'longer'}")
        return answer["authBytes"]

    def bare(self, token, what="bare token"):
        try:
            self.connection.send_frame(token)
            answer = self.connection.read_frame()
            self.say(what, f"{len(answer)} bytes" if len(answer) == 0 else "some bytes")
            return answer
        except (Closed, ConnectionError):
            self.say(what, "closed")
            return b""

    def metadata(self):
        answer = self.ask("Metadata", 9, {"topics": []})
        self.say("Metadata", "closed" if answer is None else "served")
        return self

    def raw(self, data, what):
        self.connection.send_raw(data)
        try:
            self.connection.read_frame(5)
            self.say(what, "answered")
        except Closed:
            self.say(what, "closed")
        except Silent:
            self.say(what, "silence")
        return self

    def log_in(self, user, password=None):
        self.handshake("PLAIN")
        self.authenticate(plain(user, USERS.get(user, "") if password is None else password), what="PLAIN")
        return self

    def scram(self, mechanism, user, password, more=b"", gs2=b"n,,", spoil=None, bare=False, version=2):
        """A login by SCRAM; `spoil` changes the final message before it is signed or sent."""
        def step(token, what):
            return (self.bare(token, what) if bare else self.authenticate(token, version, what)) or b""

        first = b"n=" + user + b",r=clientnonce" + more
        challenge = step(gs2 + first, "SCRAM first")
        found = re.fullmatch(rb"r=(clientnonce[^,]+),s=([^,]+),i=(\d+)", challenge)
        if not found:
            return self
        self.say("challenge", f"{found[3].decode()} iterations")
        name = HASHES[mechanism]
        salted = hashlib.pbkdf2_hmac(name, password, base64.b64decode(found[2]), int(found[3]))
        without_proof = b"c=" + base64.b64encode(gs2) + b",r=" + found[1]
        if spoil:
            without_proof = spoil(without_proof)

        def keyed(key, data):
            return hmac.new(key, data, name).digest()

        client_key = keyed(salted, b"Client Key")
        message = first + b"," + challenge + b"," + without_proof
        signature = keyed(hashlib.new(name, client_key).digest(), message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature))
        answer = step(without_proof + b",p=" + base64.b64encode(proof), "SCRAM final")
        if answer:
            expected = b"v=" + base64.b64encode(keyed(keyed(salted, b"Server Key"), message))
            self.say("the server's signature", "right" if answer == expected else "wrong")
        return self


ACCOUNTS = {}


def account(name):
    def register(function):
        ACCOUNTS[name] = function
        return function
    return register


class Doors:
    """The three listeners, and how often each is used."""

    def __init__(self, plaintext, sasl, reauth):
        self.addresses = {"PLAINTEXT": plaintext, "SASL_PLAINTEXT": sasl, "REAUTH": reauth}
        self.open = []

    def __call__(self, listener="SASL_PLAINTEXT"):
        door = Door(self.addresses[listener])
        self.open.append(door)
        return door

    def take(self):
        """What was written down, door by door."""
        lines = [line for i, door in enumerate(self.open, 1) for line in (f"-- connection {i}", *door.lines)]
        for door in self.open:
            door.connection.close()
        self.open = []
        return lines


@account("PLAIN, right and wrong")
def by_plain(doors):
    doors().versions(3, clientSoftwareName="x", clientSoftwareVersion="1").log_in("alice").metadata()
    doors().log_in("alice").metadata()
    doors().log_in("alice", "wrong").metadata()
    doors().log_in("nobody", "x")
    doors().log_in("", "x")
    doors().log_in("alice", "")
    for token in (b"", b"alice", b"\0alice", b"\0alice\0alice-secret\0", plain("alice", "alice-secret", "alice"),
                  plain("alice", "alice-secret", "bob"), plain("alice", "wrong", "bob")):
        doors().handshake("PLAIN").authenticate(token, what=repr(token))
    for version in (0, 1, 2):
        door = doors().handshake("PLAIN")
        door.authenticate(plain("alice", "alice-secret"), version)
        door.metadata()


@account("the order of a login")
def order(doors):
    doors().metadata()
    doors().versions().metadata()
    doors().versions().versions()
    doors().versions(3, clientSoftwareName="", clientSoftwareVersion="").versions().handshake("PLAIN")
    doors().authenticate(plain("alice", "alice-secret"))
    doors().handshake("PLAIN").handshake("PLAIN")
    doors().handshake("PLAIN").versions()
    doors().handshake("PLAIN").metadata()
    doors().handshake("GSSAPI").handshake("PLAIN")
    doors().handshake("")
    doors().handshake("plain")
    doors().versions().handshake("PLAIN", 0)
    door = doors().log_in("alice")
    door.handshake("PLAIN")
    door.authenticate(b"")
    door.metadata()
    door = doors("PLAINTEXT").handshake("PLAIN")
    door.authenticate(b"")
    door.metadata()


@account("bare tokens")
def bare(doors):
    door = doors().handshake("PLAIN", 0)
    door.bare(plain("alice", "alice-secret"))
    door.metadata()
    door = doors().handshake("PLAIN", 0)
    door.bare(plain("alice", "wrong"))
    door = doors().handshake("SCRAM-SHA-256", 0)
    door.scram("SCRAM-SHA-256", b"carol", SCRAM_PASSWORD.encode(), bare=True).metadata()
    door = doors().handshake("SCRAM-SHA-256", 0)
    door.scram("SCRAM-SHA-256", b"carol", b"wrong", bare=True)


@account("sizes before the login")
def sizes(doors):
    doors().raw(struct.pack(">i", 524289), "a frame of 524289 bytes")
    doors().raw(struct.pack(">i", -1), "a frame of -1 bytes")
    doors().raw(b"\0\0\0\2\0\3", "a frame of two bytes")
    doors().raw(struct.pack(">ihhihb", 11, 17, 2, 1, 0, 0), "SaslHandshake 2")
    doors().raw(struct.pack(">ihhi", 8, 999, 0, 1), "an unknown API")


@account("SCRAM, right and wrong")
def by_scram(doors):
    password = SCRAM_PASSWORD.encode()
    for mechanism in HASHES:
        def door():
            return doors().handshake(mechanism)
        door().scram(mechanism, b"carol", password).metadata()
        door().scram(mechanism, b"carol", b"wrong").metadata()
        door().scram(mechanism, b"carol", password, spoil=lambda m: m + b"x")
        door().scram(mechanism, b"carol", password, spoil=lambda m: m.replace(b"r=client", b"r=Client"))
        door().scram(mechanism, b"carol", password, gs2=b"n,a=carol,")
        door().scram(mechanism, b"carol", password, gs2=b"n,a=bob,")
        door().scram(mechanism, b"carol", password, gs2=b"p=tls-unique,,")
        door().scram(mechanism, b"carol", password, more=b",other=1").metadata()
        for token in (b"", b"n,,", b"n,,n=carol", b"n,,n=,r=x", b"n,,r=x,n=carol", b"x"):
            door().authenticate(token, what=repr(token))


def upsertion(user, mechanism=1, iterations=4096, password=SCRAM_PASSWORD):
    salt = b"some salt of a test"
    name = "sha512" if mechanism == 2 else "sha256"
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, max(iterations, 1))
    return {"name": user, "mechanism": mechanism, "iterations": iterations, "salt": salt, "saltedPassword": salted}


def alter(door, deletions=(), upsertions=()):
    answer = door.ask("AlterUserScramCredentials", 0, {
        "deletions": [{"name": user, "mechanism": mechanism} for user, mechanism in deletions],
        "upsertions": list(upsertions)})
    what = f"alter {list(deletions)} {[(u['name'], u['mechanism'], u['iterations']) for u in upsertions]}"
    door.say(what, "closed" if answer is None else sorted(
        (r["user"], r["errorCode"], "a text" if r["errorMessage"] else r["errorMessage"]) for r in answer["results"]))


def describe(door, users):
    answer = door.ask("DescribeUserScramCredentials", 0, {"users": None if users is None else [{"name": u} for u in users]})
    door.say(f"describe {users}", (answer["errorCode"], "a text" if answer["errorMessage"] else answer["errorMessage"], sorted(
        (r["user"], r["errorCode"], "a text" if r["errorMessage"] else r["errorMessage"],
         sorted((c["mechanism"], c["iterations"]) for c in r["credentialInfos"])) for r in answer["results"])))


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come about")
        time.sleep(0.02)


def set_up(doors):
    """The SCRAM user that others log in as."""
    door = doors("PLAINTEXT")
    for mechanism in (1, 2):
        alter(door, upsertions=[upsertion("carol", mechanism)])
    until(lambda: len(door.ask("DescribeUserScramCredentials", 0, {"users": [{"name": "carol"}]})["results"][0]["credentialInfos"]) == 2)
    doors.take()


@account("SCRAM users, changed and described")
def scram_users(doors):
    door = doors("PLAINTEXT")
    alter(door, upsertions=[upsertion("dave", 1), upsertion("dave", 2)])
    alter(door, upsertions=[upsertion("dave", 1, 4095), upsertion("erin", 2, 16385), upsertion("", 1), upsertion("frank", 0),
                            upsertion("grace", 9)])
    alter(door, [("nobody", 1), ("", 1), ("heidi", 7)])
    alter(door, [("nobody", 1)], [upsertion("nobody", 1)])
    alter(door, upsertions=[upsertion("ivan", 2, 16384), upsertion("judy", 1, 4096)])
    until(lambda: door.ask("DescribeUserScramCredentials", 0, {"users": [{"name": "judy"}]})["results"][0]["errorCode"] == 0)
    describe(door, ["ivan", "judy", "nobody"])
    describe(door, ["ivan", "ivan", "ivan"])
    describe(door, [""])
    describe(door, [])
    alter(door, [("ivan", 1)])
    alter(door, [("ivan", 2), ("ivan", 2)])
    alter(door, [("ivan", 2), ("judy", 1)])
    until(lambda: door.ask("DescribeUserScramCredentials", 0, {"users": [{"name": "judy"}]})["results"][0]["errorCode"] != 0)
    describe(door, None)
    alter(door)
    door = doors().log_in("bob")
    alter(door, [("b", 1), ("a", 1)], [upsertion("c"), upsertion("a")])
    describe(door, ["a"])


@account("logging in again")
def again(doors):
    door = doors("REAUTH").log_in("alice").metadata()
    door.log_in("alice").metadata()
    door.handshake("PLAIN")  # not twice in a second
    door = doors("REAUTH").log_in("alice")
    door.log_in("bob").metadata()
    door = doors("REAUTH").log_in("alice")
    door.handshake("SCRAM-SHA-256").authenticate(b"n,,n=carol,r=x")
    door = doors("REAUTH").log_in("alice")
    door.log_in("alice", "wrong").metadata()
    door = doors("REAUTH").log_in("alice")
    door.handshake("PLAIN").metadata()
    late, too_late = doors("REAUTH").log_in("alice"), doors("REAUTH").log_in("alice")
    until(lambda: time.monotonic() > too_late.session_ends)
    late.log_in("alice").metadata()
    too_late.metadata()


class Tokens:
    """What a client asks about tokens, written down."""

    def __init__(self, door):
        self.door, self.names = door, {}

    def create(self, name, version=3, **fields):
        answer = self.door.ask("CreateDelegationToken", version, {"renewers": [], "maxLifetimeMs": -1, **fields})
        if answer is None:
            self.door.say(f"create {name}", "closed")
            return None
        shown = {key: value for key, value in answer.items() if "rincipal" in key}
        self.door.say(f"create {name} {version} {fields}", f"error {answer['errorCode']} {shown} life "
                      f"{answer['maxTimestampMs'] - answer['issueTimestampMs']} "
                      f"{answer['expiryTimestampMs'] - answer['issueTimestampMs']} issued "
                      f"{answer['issueTimestampMs'] if answer['issueTimestampMs'] < 0 else 'now'} id of {len(answer['tokenId'])} hmac of "
                      f"{len(answer['hmac'])}")
        return answer

    def renew(self, hmac_bytes, period, what, version=2):
        answer = self.door.ask("RenewDelegationToken", version, {"hmac": hmac_bytes, "renewPeriodMs": period})
        self.say_end(f"renew {what} {period}", answer)

    def expire(self, hmac_bytes, period, what, version=2):
        answer = self.door.ask("ExpireDelegationToken", version, {"hmac": hmac_bytes, "expiryTimePeriodMs": period})
        self.say_end(f"expire {what} {period}", answer)
        return answer["expiryTimestampMs"]

    def say_end(self, what, answer):
        end = answer["expiryTimestampMs"]
        said = end if end <= 0 else f"in {round((end - time.time() * 1000) / 60000)} min"
        self.door.say(what, f"error {answer['errorCode']} end {said}")

    def described(self, owners=None, version=3):
        fields = {"owners": None if owners is None else [{"principalType": t, "principalName": n} for t, n in owners]}
        return self.door.ask("DescribeDelegationToken", version, fields)

    def describe(self, owners=None, version=3):
        answer = self.described(owners, version)
        self.door.say(f"describe {owners} {version}", (answer["errorCode"], sorted(
            (t["principalName"], t.get("tokenRequesterPrincipalName", ""), [(r["principalType"], r["principalName"]) for r in t["renewers"]],
             len(t["hmac"])) for t in answer["tokens"])))


@account("delegation tokens")
def tokens(doors):
    alice, bob, admin = (Tokens(doors().log_in(user)) for user in ("alice", "bob", "admin"))

    def visible(to, hmac_bytes, there=True):
        until(lambda: any(t["hmac"] == hmac_bytes for t in to.described()["tokens"]) == there)

    first = alice.create("first", maxLifetimeMs=600_000, renewers=[{"principalType": "User", "principalName": "bob"}])
    visible(alice, first["hmac"])
    alice.create("for carol", ownerPrincipalType="User", ownerPrincipalName="carol")
    alice.create("for carol, renewed by a group", ownerPrincipalType="User", ownerPrincipalName="carol",
                 renewers=[{"principalType": "Group", "principalName": "g"}])
    alice.create("renewed by a group", renewers=[{"principalType": "Group", "principalName": "g"}])
    for version in (1, 2):
        alice.create("of an older version", version, maxLifetimeMs=1000)
    short = alice.create("for herself", ownerPrincipalType="User", ownerPrincipalName="alice", maxLifetimeMs=1000)
    second = admin.create("for carol", ownerPrincipalType="User", ownerPrincipalName="carol")
    visible(admin, second["hmac"])
    until(lambda: time.time() * 1000 > short["maxTimestampMs"])
    alice.renew(first["hmac"], -1, "first")
    alice.renew(first["hmac"], 60_000, "first")
    alice.renew(first["hmac"], 600_000_000, "first")
    alice.renew(first["hmac"], 0, "first", 1)
    bob.renew(first["hmac"], -1, "first, of which it is a renewer")
    admin.renew(first["hmac"], -1, "first, as a super user")
    admin.renew(second["hmac"], 60_000, "second, which it asked for")
    alice.renew(second["hmac"], 60_000, "second")
    alice.renew(b"unknown", -1, "unknown")
    alice.renew(b"", -1, "empty")
    for who, name in ((alice, "alice"), (bob, "bob"), (admin, "admin")):
        who.describe([("User", "alice")] if name == "admin" else [("User", "bob")])
        who.describe([])
        who.describe([("User", "nobody")])
    bob.describe()
    bob.describe([("User", "bob"), ("User", "alice")], 1)
    for mechanism in HASHES:
        by_token = doors().handshake(mechanism)
        by_token.scram(mechanism, first["tokenId"].encode(), base64.b64encode(first["hmac"]), more=b",tokenauth=true").metadata()
        asking = Tokens(by_token)
        asking.create("by token")
        asking.renew(first["hmac"], -1, "by token")
        asking.expire(first["hmac"], -1, "by token")
        asking.describe()
    door = doors().handshake("SCRAM-SHA-256")
    door.scram("SCRAM-SHA-256", first["tokenId"].encode(), b"wrong", more=b",tokenauth=true")
    alice.expire(b"unknown", -1, "unknown")
    admin.expire(first["hmac"], -1, "first, as a super user")
    bob.expire(first["hmac"], 120_000, "first, as its renewer")
    alice.expire(first["hmac"], 600_000_000, "first")
    end = alice.expire(first["hmac"], 0, "first")
    until(lambda: time.time() * 1000 > end)
    alice.renew(first["hmac"], -1, "first, run out")
    admin.renew(first["hmac"], -1, "first, run out, by another")
    admin.expire(first["hmac"], 5, "first, run out, by another")
    alice.expire(first["hmac"], 5, "first, run out")
    door = doors().handshake("SCRAM-SHA-256")
    door.scram("SCRAM-SHA-256", first["tokenId"].encode(), base64.b64encode(first["hmac"]), more=b",tokenauth=true")
    alice.expire(first["hmac"], -1, "first, run out")
    visible(alice, first["hmac"], False)
    alice.renew(first["hmac"], -1, "first, deleted")
    admin.expire(second["hmac"], -1, "second")
    nobody = Tokens(doors("PLAINTEXT"))
    nobody.create("on a plain listener", renewers=[{"principalType": "Group", "principalName": "g"}])
    nobody.renew(b"", -1, "on a plain listener")
    nobody.expire(b"", -1, "on a plain listener")
    nobody.describe()


def accounts_of(plaintext, sasl, reauth, only=None):
    """What the broker says, by account."""
    doors = Doors(plaintext, sasl, reauth)
    set_up(doors)
    said = {}
    for name, function in ACCOUNTS.items():
        if only and not re.search(only, name):
            continue
        function(doors)
        said[name] = doors.take()
    return said


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    json.dump(accounts_of(*sys.argv[1:]), sys.stdout, indent=1)
    print()
