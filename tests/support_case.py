"""A support case, in each language: "Alice, 14:02, Session not found". Who, when and why, from the default log alone.

support_case.py SEALWAX NAME=COMMAND...

By a Python that has PyJWT and a Valkey. SEALWAX is the command; each COMMAND starts examples/sessions in a language.

Alice has a session of the data layer and one of `Mcp-Session-Id`. Her calls come to a replica with another key; later she has ended the
session, and her client uses it still. Others are refused in the same seconds. What a server wrote to stderr, without any set-up of its
log, has to tell the case by her name and the time: one line for each refusal, and no line of it for anybody else.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("driver", "ledger")]

import wire  # noqa: E402
from servers import Valkey  # noqa: E402

SECRET = os.urandom(32).hex()
AUDIENCE = "https://counter.example.com"
META = "io.modelcontextprotocol/session"
#: The default log's line, as docs/refusals.md has it; Go's own log writes the time, the local one, in its way.
LINE = re.compile(
    r"(?P<time>\S+Z|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) (?P<level>WARN|ERROR) sealwax: (?P<code>\w+) kind=(?P<kind>\S+)"
    r'(?: method="(?P<method>[^"]*)")?(?: target="(?P<target>[^"]*)")?'
    r'(?: issuer="(?P<issuer>[^"]*)")?(?: client="(?P<client>[^"]*)")?(?: subject="(?P<subject>[^"]*)")?'
    r'(?: id=(?P<id>[0-9a-f]{32}))? message="(?P<message>[^"]*)"'
)


class Server:
    """A replica of the example, and what it writes to stderr."""

    def __init__(self, command: str, log: Path, **env: str) -> None:
        self.log = log
        with log.open("w") as stderr:
            env = {**os.environ, "PORT": "0", "NOTES_JWT_SECRET": SECRET, **env}
            self._process = subprocess.Popen(shlex.split(command), env=env, stdin=subprocess.DEVNULL, stderr=stderr)
        until = time.monotonic() + 60
        while not (found := re.search(r"listening on (http://\S+)", log.read_text())):
            if self._process.poll() is not None or time.monotonic() > until:
                sys.exit(f"{command}: expected it to listen, found {log.read_text()}")
            time.sleep(0.02)
        self.url = found[1]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class User:
    """A user's client, which sends what it has to whichever replica."""

    def __init__(self, name: str) -> None:
        claims = {"iss": "https://idp.example.com", "aud": AUDIENCE, "sub": name, "client_id": "app"}
        self._bearer = jwt.encode({**claims, "exp": int(time.time()) + 3600}, SECRET, algorithm="HS256")
        self.session: dict[str, str] | None = None
        self._id: str | None = None

    def ask(self, server: Server, method: str, **params: Any) -> Any:
        """Send a request of the later revision, with the session; return the answer's result, or its error."""
        meta = {META: self.session} if self.session else {}
        message = self._post(server, method, {**params, "_meta": meta})["message"]
        if "error" in message:
            return {name: message["error"][name] for name in ("code", "message")}
        result = message["result"]
        if method == "sessions/create":
            self.session = result["session"]
        elif self.session and (next_state := result.get("_meta", {}).get(META)):
            self.session = {**self.session, **next_state}
        return result

    def count(self, server: Server) -> Any:
        return self.ask(server, "tools/call", name="count", arguments={})

    def initialize(self, server: Server) -> None:
        answered = self._post(server, "initialize", wire.INITIALIZE["params"], modern=False)
        self._id = answered["headers"]["mcp-session-id"]

    def tools(self, server: Server) -> int:
        """List the tools by the session of the header; return the status of HTTP."""
        headers = {"MCP-Protocol-Version": wire.LEGACY, "Mcp-Session-Id": str(self._id)}
        return self._post(server, "tools/list", {}, modern=False, **headers)["status"]

    def _post(self, server: Server, method: str, params: Any, *, modern: bool = True, **headers: str) -> Any:
        url = urlsplit(server.url)
        headers = {"Authorization": f"Bearer {self._bearer}", **headers}
        return wire.by_http(url.port, url.path, "POST", headers, {"id": 1, "method": method, "params": params}, modern)


def told(server: Server, subject: str, start: datetime, end: datetime) -> list[dict[str, str]]:
    """Return what the log tells of a user between two times: all that somebody on support knows."""
    found = []
    for line in server.log.read_text().splitlines():
        if (match := LINE.fullmatch(line)) and match["subject"] == subject:
            when = datetime.fromisoformat(match["time"].replace("Z", "+00:00").replace("/", "-")).astimezone(UTC)
            if start <= when <= end:
                found.append({name: value for name, value in match.groupdict().items() if value})
    return found


def expect(what: str, expected: Any, found: Any) -> None:
    if found != expected:
        raise AssertionError(f"{what}: expected {expected}, found {found}")


def solve(language: str, command: str, valkey: str, keys: list[str], folder: Path) -> None:
    with ExitStack() as running:

        def server(name: str, key: str) -> Server:
            made = Server(command, folder / f"{language} {name}.log", SEALWAX_KEYS=key, SEALWAX_LEDGER=valkey)
            running.callback(made.kill)
            return made

        ours, other = server("a", keys[0]), server("b", keys[1])
        running.push(shown(ours, other))
        alice, bob = User("alice"), User("bob")
        for user in (alice, bob):
            user.ask(ours, "sessions/create")
            user.initialize(ours)
            expect(f"{language}: the tools", 200, user.tools(ours))
            expect(f"{language}: a count", "1", user.count(ours)["content"][0]["text"])

        start = datetime.now(UTC).replace(microsecond=0)
        missing = {"code": -32043, "message": "Session not found"}
        expect(f"{language}: her session, elsewhere", missing, alice.count(other))
        expect(f"{language}: her header, elsewhere", 404, alice.tools(other))
        # Somebody else at the same time: the same mistake, and a stolen session.
        expect(f"{language}: his session, elsewhere", missing, bob.count(other))
        alices, bobs = alice.session, bob.session
        bob.session = alices
        expect(f"{language}: her session, by him", missing, bob.count(ours))
        bob.session = bobs
        expect(f"{language}: her session ends", None, alice.ask(ours, "sessions/delete").get("code"))
        expect(f"{language}: her session, ended", missing, alice.count(ours))
        end = datetime.now(UTC)

        who = {"issuer": "https://idp.example.com", "client": "app", "subject": "alice", "level": "WARN"}
        call = {"kind": "session", "method": "tools/call", "target": "count", **who}
        hers = [{**call, "code": "unknown_key"}, {**call, "code": "unknown_key", "method": "tools/list"}]
        del hers[1]["target"]
        expect(f"{language}: why, at the one", hers, [why(one) for one in told(other, "alice", start, end)])
        ended = told(ours, "alice", start, end)
        expect(f"{language}: why, at the other", [{**call, "code": "ended"}], [why(one) for one in ended])
        # The line names the session as the tools log it, and as `sealwax ledger end` takes it.
        if ended[0]["id"] not in re.findall(r"count\b.*?([0-9a-f]{32})", ours.log.read_text()):
            sys.exit(f"{language}: expected the ulid of her session, found {ended[0]['id']}")
        stolen = told(ours, "bob", start, end)
        expect(f"{language}: his", ["principal_mismatch"], [one["code"] for one in stolen])
        for one in (*told(other, "alice", start, end), *ended):
            print(f"  {language:<10} {one['time']} {one['subject']} {one['method']}: {one['code']}: {one['message']}")


def shown(*servers: Server) -> Any:
    """Return what shows the logs if the case was not solved."""

    def show(_type: object, error: object, _traceback: object) -> None:
        if error is not None:
            print(*(server.log.read_text() for server in servers), sep="\n--\n", file=sys.stderr)

    return show


def why(line: dict[str, str]) -> dict[str, str]:
    """Return a line without what differs each time."""
    return {name: value for name, value in line.items() if name not in ("time", "id", "message")}


def main(sealwax: str, *servers: str) -> None:
    def run(*command: str) -> str:
        return subprocess.run([sealwax, *command], capture_output=True, text=True, check=True).stdout.strip()

    keys = [run("keygen"), run("keygen")]
    with tempfile.TemporaryDirectory() as folder, Valkey(appendonly="yes") as valkey:
        # So that it is older than what the servers seal.
        run("ledger", "begin", valkey.address, "--audience", AUDIENCE)
        for server in servers:
            language, command = server.split("=", 1)
            solve(language, command, valkey.address, keys, Path(folder))
    print(f"the support case: {len(servers)} passed, 0 failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
