"""Handles that a language model carries from call to call, for use in tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from .. import Handle, Malformed, Opened, SealwaxError, _json
from ._exchange import Exchange, exchange_of

if TYPE_CHECKING:
    from ._guard import Guard


@dataclass(frozen=True, slots=True)
class ServerHandle:
    """A handle whose state the server keeps: the ulid is the key of its row."""

    #: The text, for the model.
    handle: str = field(repr=False)
    #: 32 hex digits, the same for as long as the handle lives.
    ulid: str
    #: When it ends, such as ``2026-11-21T12:00:00Z``, for the model to see; ``None`` is never.
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class HeldHandle:
    """A handle that holds its state."""

    #: The text, for the model.
    handle: str = field(repr=False)
    #: When it ends, for the model to see; ``None`` is never.
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class OpenedHandle:
    """A handle that holds its state, and came back."""

    #: The state, as it was sealed.
    value: Any = field(repr=False)
    #: When it ends; ``None`` is never.
    expires_at: str | None
    #: What else opening tells, such as when it was first made.
    opened: Opened


class ServerHandles:
    """Handles of one type, bound to the user; what they stand for is in the server's own store.

    All agents of one user share what they have handles of; who wants it apart makes another. Ids
    of rows are safe in them: a handle that was misremembered, expired, ended or another user's is
    refused, with a tool result that tells the model to make a new one. In a tool:

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> baskets, rows, server = guard.handles("basket", max_age=3600), {}, MCPServer("shop")
    >>> @server.tool()
    ... async def add(basket: str, item: str, ctx: Context) -> int:
    ...     row = (await baskets.check(ctx, basket)).ulid
    ...     rows.setdefault(row, []).append(item)
    ...     return len(rows[row])
    """

    def __init__(self, guard: Guard, handle_type: str, *, max_age: int | None) -> None:
        """Be made by a guard."""
        self._guard, self._type, self._max_age = guard, handle_type, max_age

    async def mint(self, ctx: Any) -> ServerHandle:
        """Make one. `ctx` is the context that the tool was given."""
        exchange = exchange_of(self._guard, ctx)
        try:
            view = await exchange.view()
            return self._told(view._new_handle(self._type, max_age=self._max_age))
        except SealwaxError as error:
            exchange.fail_handle("handle", error)

    async def check(self, ctx: Any, handle: str) -> ServerHandle:
        """Verify one that came back, or raise :class:`HandleRefused`."""
        exchange, ulid = exchange_of(self._guard, ctx), None
        try:
            found = await self._verified(exchange, handle)
            ulid = found.ulid
            await exchange.accept("handle", ulid, _end(found))
            return self._told(found)
        except SealwaxError as error:
            exchange.refuse_handle("handle", error, handle, ulid)

    async def end(self, ctx: Any, handle: str) -> None:
        """Verify one, and have `accept` told that it ended; its row is yours to delete."""
        exchange, ulid = exchange_of(self._guard, ctx), None
        try:
            found = await self._verified(exchange, handle)
            ulid = found.ulid
            await exchange.ended("handle", ulid, _end(found))
        except SealwaxError as error:
            exchange.refuse_handle("handle", error, handle, ulid)

    async def _verified(self, exchange: Exchange, handle: str) -> Handle:
        view = await exchange.view()
        return view.verify_handle(self._type, _text(handle), max_age=self._max_age)

    def _told(self, found: Handle) -> ServerHandle:
        end = _end(found)
        # Rounded down: what the model is told is good until then.
        return ServerHandle(found.handle, found.ulid, _rfc3339(None if end is None else int(end)))


class HeldHandles:
    """Handles of one type that hold their state, bound to the user; the server keeps nothing.

    A state never changes: what changes it makes the next handle, and the older ones go on to hold
    what they held, for as long as they live. In a tool:

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> baskets, server = guard.held_handles("basket", ttl=3600), MCPServer("shop")
    >>> @server.tool()
    ... async def add(basket: str, item: str, ctx: Context) -> str:
    ...     found = await baskets.open(ctx, basket)
    ...     return (await baskets.renew(ctx, found, [*found.value, item])).handle
    """

    def __init__(self, guard: Guard, handle_type: str, *, ttl: int | None) -> None:
        """Be made by a guard."""
        self._guard, self._type, self._ttl = guard, handle_type, ttl

    async def seal(self, ctx: Any, value: Any) -> HeldHandle:
        """Make one that holds a value of JSON. `ctx` is the context that the tool was given."""
        return await self._sealed(ctx, value, None)

    async def renew(self, ctx: Any, before: OpenedHandle, value: Any) -> HeldHandle:
        """Make the next one: it tells when the first was made, and how many came before."""
        return await self._sealed(ctx, value, before.opened)

    async def open(self, ctx: Any, handle: str) -> OpenedHandle:
        """Open one that came back, or raise :class:`HandleRefused`."""
        exchange = exchange_of(self._guard, ctx)
        try:
            opened = await self._opened(exchange, handle)
            value = opened.json()
            await exchange.accept("handle-state", opened.token_id, opened.expires_at)
            return OpenedHandle(value, _rfc3339(opened.expires_at), opened)
        except SealwaxError as error:
            exchange.refuse_handle("handle-state", error, handle)

    async def end(self, ctx: Any, handle: str) -> None:
        """Open one, and have `accept` told that it ended."""
        exchange = exchange_of(self._guard, ctx)
        try:
            opened = await self._opened(exchange, handle)
            await exchange.ended("handle-state", opened.token_id, opened.expires_at)
        except SealwaxError as error:
            exchange.refuse_handle("handle-state", error, handle)

    async def _opened(self, exchange: Exchange, handle: str) -> Opened:
        return (await exchange.view()).handle_state(self._type).open(_text(handle))

    async def _sealed(self, ctx: Any, value: Any, before: Opened | None) -> HeldHandle:
        exchange = exchange_of(self._guard, ctx)
        payload = _json.dumps("value", value)
        try:
            sealer = (await exchange.view()).handle_state(self._type)
            token = sealer._seal_token(payload, ttl=self._ttl, before=before)
            return HeldHandle(token.text, _rfc3339(token.expires_at))
        except SealwaxError as error:
            exchange.fail_handle("handle-state", error)


def _text(handle: object) -> str:
    if not isinstance(handle, str):
        raise Malformed(f"handle: expected a text, found {type(handle).__name__}")
    return handle


def _end(found: Handle) -> float | None:
    return None if found.ends_at_ms is None else found.ends_at_ms / 1000


def _rfc3339(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
