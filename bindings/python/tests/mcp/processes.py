"""A server with SEP-1359 as a process, line by line."""

from __future__ import annotations

import json
import multiprocessing
import os
from contextlib import contextmanager
from multiprocessing.reduction import DupFd
from typing import IO, TYPE_CHECKING, Any

import tally
import wire
from carriers import view
from http_sessions import (
    KEYS,
    REVISION,
)

import sealwax

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Importing the SDKs takes seconds. One process does it, and each server is a fork of that one.
SERVERS = multiprocessing.get_context("forkserver")
SERVERS.set_forkserver_preload(["fastmcp.server.server", "fastmcp.tools", "sealwax.mcp"])


def refused(session_id: Any, identity: Any = 1) -> dict[str, Any]:
    echoed = session_id if isinstance(session_id, str) else None
    return {"jsonrpc": "2.0", "id": identity, **sealwax.answer("sep-1359", session_id=echoed)}


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

    def initialize(self, **capabilities: Any) -> dict[str, Any]:
        info = {"name": "raw", "version": "0"}
        params = {"protocolVersion": REVISION, "capabilities": capabilities, "clientInfo": info}
        return self.ask("initialize", params=params)


@contextmanager
def on_stdio(system: str) -> Iterator[OnStdio]:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    stdin, to_server = os.pipe()
    from_server, stdout = os.pipe()
    given = [DupFd(stdin), DupFd(stdout)]
    process = SERVERS.Process(target=tally.serve, args=(given, environment, system))
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
    info = {"name": "raw", "version": "0"}
    payload = {
        "protocolVersion": REVISION,
        "clientCapabilities": {},
        "clientInfo": info,
        "serverCapabilities": {},
        **members,
    }
    return view(tally.codec(KEYS), wire.principal("alice")).session().seal_json(payload)
