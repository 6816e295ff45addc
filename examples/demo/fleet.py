"""A fleet: one MCP server, a replica of it in each language, behind a proxy that hands every request to the next.

The replicas share nothing but a file of keys.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jwt
from proxy import RoundRobin
from servers import Server, keygen
from story import faint, paint

#: What signs the users' tokens; the proxy's servers verify them, each with the library of its language.
JWT_SECRET = os.urandom(32).hex()


def bearer(user: str) -> str:
    """Return a token of the user's, as an identity provider makes it."""
    both = ["https://notes.example.com", "https://counter.example.com"]
    until = int(time.time()) + 3600
    claims = {"iss": "https://idp.example.com", "aud": both, "sub": user, "client_id": "demo", "exp": until}
    return jwt.encode(claims, JWT_SECRET, algorithm="HS256")


def groups(arguments: list[str]) -> list[list[str]]:
    """Split a program's arguments at each `--`."""
    found: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "--":
            found.append([])
        else:
            found[-1].append(argument)
    return found


def named(commands: list[str]) -> dict[str, str]:
    """Return what starts each replica, by the name before its `=`."""
    return dict(command.split("=", 1) for command in commands)


class Client:
    """A conversation of one user, by an official client in a process of its own."""

    def __init__(self, name: str, command: str, url: str, user: str, *more: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [*shlex.split(command), url, bearer(user), *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._hear()

    def ask(self, **order: Any) -> Any:
        self.say(order)
        return self._hear()

    def call(self, name: str, **arguments: Any) -> Any:
        return self.ask(call={"name": name, "arguments": arguments})

    def say(self, what: Any) -> None:
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def answer(self, content: dict[str, Any]) -> Any:
        """Answer what a tool asked; the client then retries the call with the state."""
        self.say(content)
        return self._hear()

    def _hear(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended with {self._process.wait()}")
        return json.loads(line)

    def end(self) -> None:
        self._process.stdin.close()
        if self._process.wait(30) != 0:
            sys.exit(f"{self.name} ended badly")


class Fleet:
    def __init__(self, sealwax: str, commands: dict[str, str], **env: str) -> None:
        self.sealwax = sealwax
        self.env = env
        self.commands = commands
        self.running = ExitStack()
        self.file = Path(self.running.enter_context(TemporaryDirectory()), "keys")
        self.write([keygen(sealwax)])
        self.by: list[str] = []
        servers = [self.start(name) for name in commands]
        self.proxy = self.running.enter_context(RoundRobin(servers, self.seen))

    def start(self, name: str) -> Server:
        env = {"SEALWAX_KEYS_FILE": str(self.file), "NOTES_JWT_SECRET": JWT_SECRET, **self.env}
        return self.running.enter_context(Server(name, shlex.split(self.commands[name]), env))

    def write(self, keys: list[str]) -> None:
        """Replace the file of keys in one step: nobody reads a half of it."""
        self.keys = keys
        new = self.file.with_suffix(".new")
        new.write_text("".join(f"{key}\n" for key in keys))
        new.rename(self.file)

    def rotate(self, step: str) -> None:
        """Take a step of a rotation, by the command, and wait until each replica logs that it has the keys."""

        def changes() -> list[int]:
            return [sum("keys_changed" in line for line in server.said) for server in self.proxy.servers]

        before, until = changes(), time.monotonic() + 60
        command = [*shlex.split(self.sealwax), "keys", step, str(self.file)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(faint(f"    sealwax keys {step}: {said.splitlines()[0].replace(str(self.file), 'the file')}"))
        self.keys = [line.split()[0] for line in self.file.read_text().splitlines()]
        while not all(now > then for now, then in zip(changes(), before, strict=True)):
            if time.monotonic() > until:
                sys.exit(f"the replicas did not take the keys: {[server.said for server in self.proxy.servers]}")
            time.sleep(0.05)

    def restart_with(self, keys: list[str]) -> None:
        """Give the replicas other keys, one after another, as a deployment does."""
        self.write(keys)
        for at, old in enumerate(self.proxy.servers):
            self.proxy.servers[at] = self.start(old.name)
            old.kill()

    def seen(self, server: Server, method: str) -> None:
        self.by.append(server.name)

    def told(self, what: str, expected: bool, found: Any) -> None:
        """Tell what came, and who served it."""
        if not expected:
            sys.exit(f"{what}: found {found}")
        print(f"  {paint('32', '✓')} {what:<64} {faint(' → '.join(self.by))}")
        self.by.clear()
