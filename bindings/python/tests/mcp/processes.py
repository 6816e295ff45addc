"""A server with SEP-1359 as a process, line by line."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from multiprocessing.reduction import DupFd
from typing import IO, TYPE_CHECKING, Any

import anyio
import wire
from mcp import StdioServerParameters
from shop import AUDIENCE, KEYS, Shop, view

import sealwax
from sealwax.ledger import Memory
from sealwax.mcp import Guard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Importing the SDKs takes seconds. One process does it, and each server is a fork of that one.
SERVERS = multiprocessing.get_context("forkserver")
SERVERS.set_forkserver_preload(["fastmcp.server.server", "fastmcp.tools", "sealwax.mcp"])


def serve(pipes: list[Any], keys: str, system: str) -> None:
    """Serve the two pipes as stdio, in a process that was forked."""
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.detach(), number)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stdin = os.fdopen(0)
    guard = Guard(
        codec=sealwax.Codec(keys=keys, audience=AUDIENCE),
        principal=lambda _ctx: wire.principal("alice"),
        ledger=Memory(),
        # Sessions outlive the process, and its memory.
        ledger_options={"accept_issued_since": 1},
    )
    anyio.run(partial(guard.run_stdio, getattr(Shop(guard), system)(), ttl=60))


class OnStdio:
    """A server's process, line by line."""

    def __init__(self, stdin: IO[str] | None, stdout: IO[str] | None) -> None:
        assert stdin is not None
        assert stdout is not None
        self._stdin, self._stdout = stdin, stdout

    def ask(self, method: str, identity: Any = 1, **members: Any) -> dict[str, Any]:
        self.tell(method, id=identity, **members)
        answer = self.hear()
        assert answer["id"] == identity
        return answer

    def tell(self, method: str, **members: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": {}, **members}))

    def say(self, line: str) -> None:
        self._stdin.write(line + "\n")
        self._stdin.flush()

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self._stdout.readline())
        return heard


@contextmanager
def example(file: Path, log: list[str] | None = None, **environment: str) -> Iterator[str]:
    """Run an example that serves HTTP; give its address."""
    told = {**os.environ, "SEALWAX_KEYS": KEYS, "PORT": "0", **environment}
    command = [sys.executable, str(file)]
    with subprocess.Popen(command, env=told, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/mcp)\n", line)
            assert found, line
            yield found[1]
        finally:
            server.terminate()
            if log is not None:
                log += server.stderr.read().splitlines()


def example_on_stdio(file: Path) -> StdioServerParameters:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    return StdioServerParameters(command=sys.executable, args=[str(file)], env=environment)


@contextmanager
def on_stdio(system: str) -> Iterator[OnStdio]:
    stdin, to_server = os.pipe()
    from_server, stdout = os.pipe()
    given = [DupFd(stdin), DupFd(stdout)]
    process = SERVERS.Process(target=serve, args=(given, KEYS, system))
    process.start()
    os.close(stdin)
    os.close(stdout)
    with open(from_server) as heard:
        try:
            with open(to_server, "w") as said:
                yield OnStdio(said, heard)
        finally:
            process.join(60)
            assert process.exitcode == 0


def agreed(**members: Any) -> str:
    """Seal what a client negotiated with another process."""
    payload = {
        "protocolVersion": wire.LEGACY,
        "clientCapabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
        "serverCapabilities": {},
        **members,
    }
    return view().session().seal_json(payload)
