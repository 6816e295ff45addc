"""Every language against every other: each opens the tokens of each, with the same refusals.

Usage: python3 tests/driver/interop.py ROUNDS SEED NAME=COMMAND [NAME=COMMAND ...]

Each command starts a peer: it reads a request a line on stdin, 12 fields separated by tabs, and answers with
a line on stdout, `ok` and its fields, or `error` and the code. The fields of a request:

    op  ring  audience  principal  kind  label  session_id  context  ttl  payload  token  max_age

Ring, audience, principal, label, session_id, context, payload and token are in hex; a principal is
`issuer NUL client NUL subject`, absent parts empty, or the bare word `anonymous`; ttl is seconds, `none`, or
empty for the kind's own; max_age is seconds or empty.
"""

import base64
import hashlib
import json
import random
import secrets
import sys

from programs import Peer

KINDS = ["state", "request-state", "session", "cursor", "handle-state", "custom"]


class Run:
    def __init__(self, peers, rng):
        self.peers, self.rng, self.checks = peers, rng, 0

    def alike(self, expected, request, **changed):
        """Every peer gives the same answer to a request, with some fields changed; `expected`, where it is known."""
        request = request | changed
        for peer in self.peers:
            answer = peer.ask(**request)
            expected = answer if expected is None else expected
            if answer != expected:
                sys.exit(f"{peer.name} answered {answer}, expected {expected}, to {request}")
            self.checks += 1
        return expected

    def text(self, longest=40):
        return "".join(self.rng.choice("aZ09 -_/:.?=&é例😂") for _ in range(self.rng.randint(1, longest)))

    def base(self):
        old, new = (key_text(self.rng.randbytes(32)) for _ in range(2))
        parts = [self.text() if self.rng.random() < 0.7 else "" for _ in range(2)] + [self.text()]
        principal = "anonymous" if self.rng.random() < 0.2 else "\0".join(parts)
        return {"ring": f"{old} {new}", "audience": self.text(), "principal": principal}, f"{new},{old}", new

    def purpose(self, kind):
        purpose = {"kind": kind}
        if kind in ("cursor", "custom"):
            purpose["label"] = self.text()
        if kind == "handle-state":
            purpose["label"] = "basket"
        if kind == "state" or (kind == "custom" and self.rng.random() < 0.5):
            purpose["session_id"] = self.text()
        if kind == "request-state" or (kind == "custom" and self.rng.random() < 0.5):
            purpose["context"] = self.rng.randbytes(32)
        return purpose

    def tokens(self):
        for kind in KINDS:
            for sealer in self.peers:
                base, rotated, retired = self.base()
                request = {**base, **self.purpose(kind), "ttl": self.rng.choice(["", "none", "60", "4294967295"])}
                payload = self.rng.randbytes(self.rng.choice([0, 1, 2, 3, 64, 1000, 4096]))
                (token,) = sealer.ok(op="seal", payload=payload, **request)
                seal, opening = {**request, "op": "seal"}, {**request, "op": "open", "token": token}
                *_, token_id = self.alike(None, opening)
                self.alike(["ok", payload.hex(), "0", "0", token_id], opening)

                (renewed,) = self.rng.choice(self.peers).ok(**(opening | {"op": "renew", "payload": b"renewed"}))
                self.alike(None, opening, token=renewed)[2] == "1" or sys.exit("renewing counts")

                self.alike(["ok", payload.hex(), "0", "1", token_id], opening, ring=rotated)
                self.alike(["error", "unknown_key"], opening, ring=retired)
                self.alike(["error", "expired"], opening, max_age=0)
                self.alike(["error", "unauthentic"], opening, audience="elsewhere" + base["audience"])
                self.alike(["error", "principal_mismatch"], opening, principal="\0\0mallory")
                at = self.rng.randrange(len(token))
                altered = token[:at] + self.rng.choice("Aa0-é") + token[at + 1 :]
                if altered != token:
                    self.alike(None, opening, token=altered)[0] == "error" or sys.exit(f"{altered} opened")
                self.alike(["error", "malformed"], opening, token=token + "=")
                self.alike(["error", "too_large"], seal, payload=bytes(4097))

    def ids(self):
        for minter in self.peers:
            base, rotated, _ = self.base()
            for what, label in [("session-id", ""), ("handle", "tx" + str(self.rng.randrange(10)))]:
                (text,) = minter.ok(op=f"mint-{what}", label=label, **base)
                verify = {**base, "op": f"verify-{what}", "label": label, "token": text}
                answer = self.alike(None, verify)
                (answer[0] == "ok" and answer[2] == "0") or sys.exit(f"{text}: {answer}")
                self.alike(["ok", answer[1], "1"], verify, ring=rotated)
                self.alike(["error", "expired"], verify, max_age=0)
                code = "principal_mismatch" if what == "session-id" else "unauthentic"
                self.alike(["error", code], verify, principal="\0mallory\0")
                self.alike(["error", "malformed"], verify, token=text[:-1])

    def sessions(self):
        base, _, _ = self.base()
        (metadata,) = self.rng.choice(self.peers).ok(op="session-create", payload=b"0", **base)
        first, opening = json.loads(metadata), {**base, "op": "session-open"}
        for before in range(5):
            self.alike(["ok", str(before).encode().hex(), str(before)], opening, token=metadata)
            renew = {**base, "op": "session-renew", "token": metadata, "payload": str(before + 1)}
            (metadata,) = self.rng.choice(self.peers).ok(**renew)
            if json.loads(metadata)["sessionId"] != first["sessionId"]:
                sys.exit("renewing changed the id")
        (forked,) = self.rng.choice(self.peers).ok(op="session-fork", token=metadata, **base)
        self.alike(["ok", b"5".hex(), "0"], opening, token=forked)
        moved = json.dumps({**json.loads(forked), "sessionId": first["sessionId"]})
        self.alike(["error", "unauthentic"], opening, token=moved)
        self.alike(["error", "malformed"], opening, token=json.dumps({"sessionId": first["sessionId"]}))
        self.alike(["error", "principal_mismatch"], opening, token=forked, principal="\0\0mallory")


def key_text(secret):
    """The key text of a secret, computed as SPEC.md defines it."""
    checksum = hashlib.sha256(b"sealwax/v1/key" + secret).digest()[:4]
    return "swk1_" + base64.urlsafe_b64encode(secret + checksum).decode()


def main(rounds, seed, *commands):
    seed = seed if seed != "random" else secrets.token_hex(4)
    peers = [Peer(*command.split("=", 1)) for command in commands]
    run = Run(peers, random.Random(seed))
    for _ in range(int(rounds)):
        run.tokens()
        run.ids()
        run.sessions()
    print(f"interop of {', '.join(peer.name for peer in peers)}, seed {seed}:")
    print(f"{run.checks} passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
