"""A server with SEP-1359 as a process, line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

HERE = Path(__file__).parent
SEP: Any = {"sep1359": True}


def refused(session_id: Any, identity: Any = 1) -> dict[str, Any]:
    echoed = session_id if isinstance(session_id, str) else None
    return {"jsonrpc": "2.0", "id": identity, **sealwax.answer("sep-1359", session_id=echoed)}


class OnStdio:
    """A server's process, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, method: str, identity: Any = 1, **members: Any) -> dict[str, Any]:
        self.tell(method, id=identity, **members)
        answer = self.hear()
        assert answer["id"] == identity
        return answer

    def tell(self, method: str, **members: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": {}, **members}))

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        heard: dict[str, Any] = json.loads(self._process.stdout.readline())
        return heard

    def initialize(self, **capabilities: Any) -> dict[str, Any]:
        info = {"name": "raw", "version": "0"}
        params = {"protocolVersion": REVISION, "capabilities": capabilities, "clientInfo": info}
        return self.ask("initialize", params=params)


@contextmanager
def on_stdio(
    system: str,
    user: str = "alice",
    ttl: int = 60,
    *,
    remembers: bool = True,
    more: dict[str, str] | None = None,
) -> Iterator[OnStdio]:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS, "SHOP_USER": user, "SEP1359": str(ttl)}
    environment.update(more or {})
    if not remembers:
        environment["FORGETFUL"] = "1"
    args = [sys.executable, str(HERE / "tally.py"), system]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        args, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield OnStdio(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(60) == 0


def agreed(user: str = "alice", **members: Any) -> str:
    """Seal what a client negotiated with another process."""
    info = {"name": "raw", "version": "0"}
    payload = {
        "protocolVersion": REVISION,
        "clientCapabilities": {},
        "clientInfo": info,
        "serverCapabilities": {},
        **members,
    }
    return view(tally.codec(KEYS), wire.principal(user)).session().seal_json(payload)
