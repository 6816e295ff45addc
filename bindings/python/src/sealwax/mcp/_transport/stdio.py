"""SEP-1359 on stdio: messages carry the session, so it outlives the process."""

from __future__ import annotations

import json
import os
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from ..._engine import Told
from .._caller import Caller
from .exchange import TransportExchange, served

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from mcp.server.lowlevel import Server
    from mcp.shared._stream_protocols import WriteStream

    from .exchange import Transport


#: The line for which the server works: the SDK serves each in the context that it was read in.
_origin: ContextVar[Caller | None] = ContextVar("sealwax_origin", default=None)


async def run(server: Server[Any], transport: Transport) -> None:
    """Serve stdio until the client leaves."""
    with _standard_input() as stdin:
        await serve(server, transport, anyio.wrap_file(stdin))


async def serve(server: Server[Any], transport: Transport, stdin: Any, stdout: Any = None) -> None:
    """Serve lines, as bytes; the answers go to stdout, or to another stream of lines."""
    conversation = _Conversation(transport)
    async with aclosing(conversation.lines(stdin)) as lines:
        read: Any = lines
        async with stdio_server(stdin=read, stdout=stdout) as (reads, writes):
            conversation.writes = writes
            leaves: Any = conversation
            await server.run(reads, leaves, server.create_initialization_options())


class _Conversation:
    """The client's lines, and the stream that the SDK writes to."""

    #: The stream of messages to the client.
    writes: WriteStream[SessionMessage]

    def __init__(self, transport: Transport) -> None:
        self._config, self._connection = transport.config, transport.engine.connection()
        self._replayed = anyio.Event()
        self._answer: bytes | None = None

    async def lines(self, stdin: Any) -> AsyncGenerator[str, None]:
        """Yield the lines for the SDK."""
        while line := await stdin.readline():
            engine, step = self._connection.line(line)
            exchange = TransportExchange(self._config, engine, message=line)
            _origin.set(exchange.caller)
            served.set(None)
            step = await exchange.drive(step)
            if step["step"] == "ask":
                self._replayed = anyio.Event()
                yield _text(engine.beside)
                await self._replayed.wait()
                step = await exchange.drive(engine.told(Told(self._answer)))
            delivered = _text(engine.beside).split("\n") if step["step"] == "deliver" else []
            if delivered and not _is_message(delivered[-1]):
                broke = "message: expected one that the SDK reads"
                step = await exchange.drive(engine.on({"broke": broke}))
                delivered = []
            if step["step"] == "reply":
                await self._write(engine.beside)
            served.set(exchange if exchange.continues else None)
            for one in delivered:
                yield one
            engine.free()

    async def send(self, item: SessionMessage) -> None:
        """Send a message of the SDK."""
        caller = _origin.get() or Caller(self._config, None)
        message = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        of = None if caller.ctx is None else caller.ctx.request_id
        engine, step = self._connection.leaves(
            message.encode(), None if of is None else json.dumps(of).encode()
        )
        step = await caller.drive(engine, step)
        if step["step"] == "replayed":
            self._answer = engine.beside
            self._replayed.set()
        else:
            await self._write(engine.beside)
        engine.free()

    async def _write(self, line: bytes | None) -> None:
        if line is not None:
            written: Any = _Line(line)
            await self.writes.send(SessionMessage(written))

    async def aclose(self) -> None:
        """Close the stream to the client."""
        await self.writes.aclose()

    async def __aenter__(self) -> _Conversation:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Line(NamedTuple):
    """A message as it is written."""

    line: bytes

    def model_dump_json(self, **_: Any) -> str:
        return self.line.decode()


def _is_message(line: str) -> bool:
    """Return whether the SDK can read it: nobody would hear of a failure."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    return True


def _text(lines: bytes | None) -> str:
    return (lines or b"").decode()


@contextmanager
def _standard_input() -> Iterator[BinaryIO]:
    """Reserve stdin for the protocol, as the SDK reserves stdout."""
    reads, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        # Not closed: a thread may still be reading.
        yield open(reads, "rb", closefd=False)  # noqa: SIM115
    finally:
        os.dup2(reads, 0)
