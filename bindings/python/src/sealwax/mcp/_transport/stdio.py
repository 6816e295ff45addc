"""SEP-1359 on stdio: messages carry the session, so it outlives the process."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import anyio
import pydantic_core
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

from .._sdk_json import read_message
from .message import TransportExchange, change, put_session, served, take_session

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from mcp.server.lowlevel import Server
    from mcp.shared._stream_protocols import WriteStream

    from .message import Transport
    from .negotiated import Negotiated

_INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@dataclass(frozen=True, slots=True)
class _Origin:
    """The message for which the server works."""

    #: The session for the messages that leave for it.
    session_id: str | None = None
    #: Its exchange, if it was an ``initialize``.
    initialize: TransportExchange | None = None
    #: Whether it replays an ``initialize`` that another process had answered.
    replayed: bool = False


# The SDK serves each message in the context that it was read in, which gives what leaves its
# origin. An id would not do: a client chooses it and may use it twice.
_origin: ContextVar[_Origin | None] = ContextVar("sealwax_origin", default=None)


async def run(server: Server[Any], transport: Transport) -> None:
    """Serve stdio until the client leaves."""
    with _standard_input() as stdin:
        await serve(server, transport, anyio.wrap_file(stdin))


async def serve(server: Server[Any], transport: Transport, stdin: Any, stdout: Any = None) -> None:
    """Serve a stream of lines; the answers go to stdout, or to another stream of lines."""
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
        self._transport = transport
        self._initialized = False
        self._replayed = anyio.Event()
        self._last: str | None = None

    async def lines(self, stdin: Any) -> AsyncGenerator[str, None]:
        """Yield the lines for the SDK."""
        while line := await stdin.readline():
            _origin.set(_Origin())
            served.set(None)
            message = _read(line)
            if message is None or _of_today(message):
                yield line
                continue
            session_id = take_session(message)
            exchange = TransportExchange(self._transport, message, {"messageSessionId": session_id})
            step = await exchange.entered()
            settled = exchange.negotiated
            if settled is not None or exchange.begins:
                served.set(exchange)
            if settled is not None and not self._initialized:
                _origin.set(_Origin(replayed=True))
                yield self._initialize(settled)
                await self._replayed.wait()
                if self._initialized:
                    yield json.dumps(_INITIALIZED)
                else:
                    step = await exchange.not_resumed()
            if step["step"] != "deliver":
                answer = exchange.replied(step) if step["step"] == "reply" else None
                if answer is not None:
                    await self._answer(answer)
                continue
            if exchange.begins:
                _origin.set(_Origin(initialize=exchange))
            else:
                self._last = step.get("addSessionId") or self._last
                _origin.set(_Origin(step.get("addSessionId")))
            # Not the line, so that the SDK reads the message that was checked.
            yield json.dumps(message)

    def _initialize(self, session: Negotiated) -> str:
        """Return an ``initialize`` that tells a new SDK what was negotiated."""
        params = {
            "protocolVersion": session.protocol_version,
            "capabilities": session.client_capabilities,
            "clientInfo": session.client_info,
        }
        self._replayed = anyio.Event()
        # A random id, so that no client can cancel it.
        identity = secrets.token_hex(16)
        asked = {"jsonrpc": "2.0", "id": identity, "method": "initialize", "params": params}
        return json.dumps(asked)

    async def send(self, item: SessionMessage) -> None:
        """Send a message of the SDK, with its session."""
        origin, message = _origin.get(), item.message
        answers = isinstance(message, JSONRPCResponse | JSONRPCError)
        begins = origin is not None and (origin.replayed or origin.initialize is not None)
        if begins and answers:
            # Not before: the SDK may refuse an `initialize`, or take it for a notification.
            self._initialized = isinstance(message, JSONRPCResponse)
        if origin is not None and origin.replayed and answers:
            self._replayed.set()
            return
        written = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if origin is not None and origin.initialize and isinstance(message, JSONRPCResponse):
            written = await _begun(origin.initialize, written)
        # A message that answers none gets the session of the last message.
        elif session_id := self._last if origin is None else origin.session_id:
            put_session(written, session_id)
        await self._answer(written)

    async def _answer(self, message: dict[str, Any]) -> None:
        written: Any = _Message(message)
        await self.writes.send(SessionMessage(written))

    async def aclose(self) -> None:
        """Close the stream to the client."""
        await self.writes.aclose()

    async def __aenter__(self) -> _Conversation:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def _begun(exchange: TransportExchange, message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to an ``initialize``, with its session."""
    step = await exchange.initialized(message["result"])
    if step["step"] == "reply":
        return exchange.replied(step) or {}
    if step["step"] == "respond":
        change(message, step.get("set") or ())
    return message


@dataclass
class _Message:
    """A message with a member that the SDK's models do not have, as the SDK writes it."""

    message: dict[str, Any]

    def model_dump_json(self, **_: Any) -> str:
        return pydantic_core.to_json(self.message, inf_nan_mode="null").decode()


def _read(line: str) -> dict[str, Any] | None:
    """Read a message, with its id as the SDK reads it; ``None`` for what is no message."""
    message = read_message(line)
    if not isinstance(message, dict):
        return None
    identity = message.get("id")
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        # The SDK takes such a request for a notification, which nobody answers.
        message.pop("id", None)
    return message


def _of_today(message: dict[str, Any]) -> bool:
    """Return whether it is of revision 2026-07-28, which has no transport sessions."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


@contextmanager
def _standard_input() -> Iterator[TextIO]:
    """Reserve stdin for the protocol, as the SDK reserves stdout."""
    reads, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        # Not closed: a thread may still be reading.
        yield open(reads, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    finally:
        os.dup2(reads, 0)
