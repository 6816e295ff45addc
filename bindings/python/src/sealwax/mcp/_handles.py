"""Handles that a language model carries from call to call, for use in tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import _json
from .._engine import seconds, sent
from ._exchange import exchange_of

if TYPE_CHECKING:
    from ._asking import Author


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
class Origin:
    """Where a handle that holds its state comes from."""

    #: The token id in hex digits, as `accept` knows it.
    token_id: str
    #: When the first of its chain was made, in Unix seconds.
    started_at: int
    #: How many came before.
    generation: int
    #: When it was made, in Unix seconds.
    issued_at: int
    #: From when on nothing of it opens anywhere, in Unix seconds; ``None`` where it never ends.
    until: int | None


@dataclass(frozen=True, slots=True)
class OpenedHandle:
    """A handle that holds its state, and came back."""

    #: The state, as it was sealed.
    value: Any = field(repr=False)
    #: When it ends; ``None`` is never.
    expires_at: str | None
    #: What else opening tells, such as when it was first made.
    opened: Origin


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

    def __init__(self, author: Author, handle_type: str, *, max_age: int | None) -> None:
        """Be made by a guard."""
        self._author = author
        self._acts = {"type": handle_type, "maxAge": seconds("max_age", max_age)}

    async def mint(self, ctx: Any) -> ServerHandle:
        """Make one. `ctx` is the context that the tool was given."""
        made = await exchange_of(self._author, ctx).act({"do": "mint", **self._acts})
        return ServerHandle(made["handle"], made["id"], made.get("expiresAt"))

    async def check(self, ctx: Any, handle: str) -> ServerHandle:
        """Verify one that came back, or raise :class:`HandleRefused`."""
        act = {"do": "check", "handle": sent(handle), **self._acts}
        found = await exchange_of(self._author, ctx).act(act)
        return ServerHandle(found["handle"], found["id"], found.get("expiresAt"))

    async def end(self, ctx: Any, handle: str) -> None:
        """Verify one and end it, which takes a ledger or `accept`; its row is yours to delete."""
        act = {"do": "end", "handle": sent(handle), **self._acts}
        await exchange_of(self._author, ctx).act(act)


class HeldHandles:
    """Handles of one type that hold their state, bound to the user; the server keeps nothing.

    A state never changes: what changes it makes the next handle, and the older ones go on to hold
    what they held, for as long as they live; with `single_use` the one that was renewed is refused
    from then on. In a tool:

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

    def __init__(
        self, author: Author, handle_type: str, *, ttl: int | None, single_use: bool
    ) -> None:
        """Be made by a guard."""
        self._author = author
        self._acts = {"type": handle_type, "once": single_use}
        self._ttl = seconds("ttl", ttl)

    async def seal(self, ctx: Any, value: Any) -> HeldHandle:
        """Make one that holds a value of JSON. `ctx` is the context that the tool was given."""
        return await self._sealed(ctx, value, None)

    async def renew(self, ctx: Any, before: OpenedHandle, value: Any) -> HeldHandle:
        """Make the next one: it tells when the first was made, and how many came before.

        With `single_use`, of two that renew the same one the second raises
        :class:`HandleRefused`.
        """
        origin = before.opened
        told = {
            "id": origin.token_id,
            "startedAt": origin.started_at,
            "generation": origin.generation,
            "issuedAt": origin.issued_at,
            "until": origin.until,
        }
        return await self._sealed(ctx, value, told)

    async def open(self, ctx: Any, handle: str) -> OpenedHandle:
        """Open one that came back, or raise :class:`HandleRefused`."""
        act = {"do": "open", "handle": sent(handle), **self._acts}
        found = await exchange_of(self._author, ctx).act(act)
        before = found["before"]
        origin = Origin(
            token_id=before["id"],
            started_at=before["startedAt"],
            generation=before["generation"],
            issued_at=before["issuedAt"],
            until=before["until"],
        )
        value = _json.loads(found["value"].encode())
        return OpenedHandle(value, found.get("expiresAt"), origin)

    async def end(self, ctx: Any, handle: str) -> None:
        """Open one and end it, which takes a ledger or `accept`."""
        act = {"do": "end", "handle": sent(handle), "held": True, **self._acts}
        await exchange_of(self._author, ctx).act(act)

    async def _sealed(self, ctx: Any, value: Any, before: Any) -> HeldHandle:
        exchange = exchange_of(self._author, ctx)
        act = {"do": "seal", "ttl": self._ttl, "before": before, **self._acts}
        made = await exchange.act(act, _json.dumps("value", value))
        return HeldHandle(made["handle"], made.get("expiresAt"))
