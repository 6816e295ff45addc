"""SEP-1359 on stdio: a session is in its messages, and so outlives the process."""

from __future__ import annotations

import json
import os
import secrets
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import anyio
from mcp.server.stdio import stdio_server
from mcp_types import PROTOCOL_VERSION_META_KEY

from .. import InternalError, SealwaxError
from ._negotiated import (
    ABSENT,
    Negotiated,
    SelfContained,
    put_session,
    read_message,
    refused_answer,
    take_session,
)
from ._refusal import token_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.lowlevel import Server


async def run(server: Server[Any], sessions: SelfContained) -> None:
    """Serve stdio until the client leaves."""
    with _standard_streams() as (stdin, stdout):
        lines = Lines(sessions, anyio.wrap_file(stdin), anyio.wrap_file(stdout))
        one: Any = lines
        async with stdio_server(stdin=one, stdout=one) as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())


class Lines:
    """Both of the files that the SDK reads from and writes to, a message to a line."""

    def __init__(self, sessions: SelfContained, stdin: Any, stdout: Any) -> None:
        self._sessions, self._stdin, self._stdout = sessions, stdin, stdout
        self._writing = anyio.Lock()
        self._ready: deque[str] = deque()
        self._initialized = False
        #: What is asked by those that wait for an answer: initialize, and requests of a session.
        self._initializing: dict[Any, dict[str, Any]] = {}
        self._asked: dict[Any, str] = {}
        self._last: str | None = None
        self._replay = f"sealwax-{secrets.token_hex(8)}"

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        """Return the next line that the SDK is to see."""
        while not self._ready:
            line = await self._stdin.readline()
            if not line:
                raise StopAsyncIteration
            await self._read(line)
        return self._ready.popleft()

    async def _read(self, line: str) -> None:
        message = read_message(line)
        if not isinstance(message, dict) or not _plain(message) or _of_today(message):
            self._ready.append(line)
            return
        session_id, identity = take_session(message), message.get("id")
        if message.get("method") == "initialize":
            self._initialized = True
            self._initializing[identity] = message
        elif session_id is not ABSENT:
            exchange = self._sessions.exchange(message)
            asks = "method" in message and identity is not None
            try:
                session = await self._sessions.open(exchange, session_id)
                if asks and message["method"] == "session/terminate":
                    await self._sessions.end(exchange, session)
                    await self._send({"jsonrpc": "2.0", "id": identity, "result": {}})
                    return
            except SealwaxError as error:
                exchange.report("session", error, token_id(session_id))
                if asks:
                    await self._send(refused_answer(identity, error, session_id))
                return
            self._last = session_id
            if message.get("method") == "notifications/cancelled":
                self._forget(message.get("params"))
            if asks:
                self._asked[identity] = session_id
            self._begin_again(session)
        self._ready.append(line if session_id is ABSENT else json.dumps(message))

    def _forget(self, params: Any) -> None:
        """Expect no answer to a request that was cancelled."""
        cancelled = params.get("requestId") if isinstance(params, dict) else None
        if isinstance(cancelled, str | int):
            self._asked.pop(cancelled, None)

    def _begin_again(self, session: Negotiated) -> None:
        """Tell an SDK that was not there what was negotiated."""
        if self._initialized:
            return
        self._initialized = True
        params = {
            "protocolVersion": session.protocol_version,
            "capabilities": session.client_capabilities,
            "clientInfo": session.client_info,
        }
        initialize = {"id": self._replay, "method": "initialize", "params": params}
        for message in (initialize, {"method": "notifications/initialized"}):
            self._ready.append(json.dumps({"jsonrpc": "2.0", **message}))

    async def write(self, text: str) -> None:
        """Write what the SDK says, with its session."""
        message = read_message(text)
        if not isinstance(message, dict):
            await self._write(text)
            return
        if "method" in message:
            if self._last is not None:
                put_session(message, self._last)
        elif message.get("id") == self._replay:
            return
        else:
            await self._answer(message)
        await self._send(message)

    async def _answer(self, message: dict[str, Any]) -> None:
        identity = message.get("id")
        asked = self._initializing.pop(identity, None)
        session_id = self._asked.pop(identity, None)
        if session_id is not None:
            put_session(message, session_id)
        if asked is None or not isinstance(message.get("result"), dict):
            return
        exchange = self._sessions.exchange(asked)
        try:
            token = await self._sessions.seal(exchange, asked.get("params"), message["result"])
            more = {"sessionId": token, "sessionTimeout": self._sessions.timeout()}
            message["result"].update(more)
        except SealwaxError as error:
            exchange.report("session", error)
            message.pop("result")
            message.update(refused_answer(identity, InternalError(), None))

    async def _send(self, message: dict[str, Any]) -> None:
        await self._write(json.dumps(message, separators=(",", ":")) + "\n")

    async def _write(self, text: str) -> None:
        async with self._writing:
            await self._stdout.write(text)
            await self._stdout.flush()

    async def flush(self) -> None:
        """Do nothing: each line is flushed as it is written."""


def _plain(message: dict[str, Any]) -> bool:
    """Return whether its id is one; of what is not, the SDK tells the client."""
    return isinstance(message.get("id", ""), str | int)


def _of_today(message: dict[str, Any]) -> bool:
    """Return whether it is of revision 2026-07-28, which has no such sessions."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


@contextmanager
def _standard_streams() -> Iterator[tuple[TextIO, TextIO]]:
    """Take stdin and stdout for the wire alone: what a tool prints goes to stderr."""
    reads, writes, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        # Not closed: a thread may still wait to read.
        yield (
            open(reads, encoding="utf-8", errors="replace", closefd=False),  # noqa: SIM115
            open(writes, "w", encoding="utf-8", closefd=False),  # noqa: SIM115
        )
    finally:
        os.dup2(reads, 0)
        os.dup2(writes, 1)
