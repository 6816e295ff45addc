"""Shared by the drivers here: agents, and the commands that a guard would send (LEDGER.md)."""

import json
import os
import queue
import secrets
import shlex
import subprocess
import threading
import time
from dataclasses import dataclass, field

#: The drivers' clock tolerance, in seconds: they share a clock with their stores, and wait it out after each fault.
TOLERANCE = 1
#: Longer than any command takes, its deadline and the machine's load included.
TIMEOUT = 60


class Died(EOFError):
    """An agent ended, or does not answer."""


class Agent:
    """A process that runs commands with the ledger of its language."""

    def __init__(self, language: str, command: str, address: str, env: dict[str, str] | None = None) -> None:
        self.language, self.address = language, address
        # An agent reports a store that is down in its replies.
        self._process = subprocess.Popen(
            [*shlex.split(command), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | (env or {}),
        )
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put(None)

    def send(self, command: dict) -> None:
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise Died(f"{self.language}: {error}") from None

    def receive(self) -> list[str]:
        """Return a reply; for a failure, `failed` and its message."""
        try:
            line = self._replies.get(timeout=TIMEOUT)
        except queue.Empty:
            line = None
        if line is None:
            raise Died(f"{self.language}: no answer, exit code {self._process.poll()}")
        reply = json.loads(line)
        return ["failed", reply["failed"]] if isinstance(reply, dict) else reply

    def ask(self, command: dict) -> list[str]:
        self.send(command)
        return self.receive()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=TIMEOUT)

    @property
    def pid(self) -> int:
        return self._process.pid


def languages(arguments: list[str]) -> dict[str, str]:
    """Read `python=COMMAND typescript=COMMAND …`."""
    return dict(argument.split("=", 1) for argument in arguments)


def with_files(commands: dict[str, str]) -> dict[str, str]:
    """Return the languages that have a ledger in SQLite."""
    return {language: command for language, command in commands.items() if language != "java"}


@dataclass
class Token:
    """A token that a guard opened: see LEDGER.md, `admit`."""

    mode: str
    kind: str
    id: str
    issued: int
    until: int
    started: int | None = None
    details: tuple[str, str, str] = ("", "", "")


def new_id() -> str:
    return secrets.token_hex(16)


def new_attempt() -> str:
    return secrets.token_hex(8)


@dataclass
class Ledger:
    """The commands of one service."""

    name: str = field(default_factory=lambda: secrets.token_hex(8))

    def key(self, *parts: str) -> str:
        return ":".join([f"swl1:{{{self.name}}}", *parts])

    def open(self) -> dict:
        return {"script": "open", "keys": [self.key("began"), self.key("fence")], "args": []}

    def admit(
        self,
        *tokens: Token,
        attempt: str | None = None,
        who: str = "alice",
        tolerance: int = TOLERANCE,
        accept_since: int = 0,
    ) -> dict:
        keys = [self.key("began"), self.key("fence"), self.key("p", who)]
        args = [attempt or new_attempt(), str(tolerance), str(accept_since)]
        for token in tokens:
            ended = self.key("e", token.kind, token.id)
            letter = {"once": "u", "unused": "u", "idle": "i", "head": "h"}.get(token.mode, "e")
            if token.mode in ("end", "force") and token.kind == "s":
                letter = "h"
            keys += [self.key(letter, token.kind, token.id), ended]
            started = token.issued if token.started is None else token.started
            args += [token.mode, str(token.issued), str(started), str(token.until), *token.details]
        return {"script": "admit", "keys": keys, "args": args}

    def commit(self, session: str, seen: tuple[str, int], token: str, until: int, state: str) -> dict:
        keys = [self.key("h", "s", session), self.key("e", "s", session)]
        return {"script": "commit", "keys": keys, "args": [seen[0], str(seen[1]), token, str(until), state]}

    def revoke(self, who: str = "alice", retain_for: int = 0, now: int | None = None) -> dict:
        args = [str(retain_for), str(int(time.time()) if now is None else now)]
        return {"script": "revoke", "keys": [self.key("p", who)], "args": args}


def open_for_good(ledger: Ledger, agent: Agent) -> None:
    """Open it, and wait until tokens that are made now are known to it."""
    for _ in range(20):
        reply = agent.ask(ledger.open())
        if reply[0] == "ok":
            break
    assert reply[0] == "ok", reply
    began = int(reply[1])
    while time.time() < began + TOLERANCE + 1.01:
        time.sleep(0.05)
