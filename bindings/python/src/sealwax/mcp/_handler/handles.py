"""Handles that a language model carries from call to call, for use in tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ... import InvalidArgument, _json
from ..._engine import client_value
from .exchange import exchange_of

if TYPE_CHECKING:
    from ..._documents import Predecessor
    from .._options import GuardConfig


@dataclass(frozen=True, slots=True)
class ReferenceHandle:
    """A handle whose state the server keeps, by the handle's ulid."""

    #: The text for the model.
    handle: str = field(repr=False)
    #: 32 hex digits, the same for as long as the handle lives.
    ulid: str
    #: Its end, such as ``2026-11-21T12:00:00Z``, to show the model; ``None`` for never.
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class SelfContainedHandle:
    """A handle that holds its state."""

    #: The text for the model.
    handle: str = field(repr=False)
    #: Its end, such as ``2026-11-21T12:00:00Z``, to show the model; ``None`` for never.
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a handle that holds its state."""

    #: The token id in hex digits, for logs.
    token_id: str
    #: The time at which the first handle of its chain was made, in Unix seconds.
    started_at: int
    #: The number of handles before it in the chain.
    generation: int
    #: The time at which it was made, in Unix seconds.
    issued_at: int
    #: The time after which no replica opens it, in Unix seconds; ``None`` if it never ends.
    until: int | None


@dataclass(frozen=True, slots=True)
class OpenedHandle:
    """An opened handle that holds its state."""

    #: The state, as it was sealed.
    value: Any = field(repr=False)
    #: Its end, such as ``2026-11-21T12:00:00Z``; ``None`` for never.
    expires_at: str | None
    #: Its origin, such as the time at which its chain began.
    opened: Origin
    _type: str = field(repr=False, compare=False)
    _predecessor: Predecessor = field(repr=False, compare=False)


class _Handles:
    """Handles of one type."""

    def __init__(self, config: GuardConfig, settings: dict[str, Any]) -> None:
        """Set what all operations have; a guard makes these."""
        self._config, self._settings = config, settings

    async def end(self, ctx: Any, handle: str) -> None:
        """Verify a handle and end it, which needs a ledger; delete a row of its own yourself."""
        await self._run(ctx, "end", handle)

    async def _run(
        self, ctx: Any, op: str, handle: Any = None, value: bytes | None = None, **more: Any
    ) -> Any:
        operation: Any = {"op": op, "handle": client_value(handle), **self._settings, **more}
        return await exchange_of(self._config, ctx).handle(operation, value)


class ReferenceHandles(_Handles):
    """Handles of one type, bound to the user; the server keeps their state in its own store.

    A handle that is altered, expired, ended or another user's is refused, with a tool result that
    tells the model to make a new one. All agents of a user can use the user's handles. In a tool:

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> baskets = guard.reference_handles("basket", max_age=3600)
    >>> rows, server = {}, MCPServer("shop")
    >>> @server.tool()
    ... async def add(basket: str, item: str, ctx: Context) -> int:
    ...     row = (await baskets.check(ctx, basket)).ulid
    ...     rows.setdefault(row, []).append(item)
    ...     return len(rows[row])
    """

    async def mint(self, ctx: Any) -> ReferenceHandle:
        """Make a handle. `ctx` is the tool's context."""
        return _reference(await self._run(ctx, "mint"))

    async def check(self, ctx: Any, handle: str) -> ReferenceHandle:
        """Verify a handle that came back, or raise :class:`HandleRefused`."""
        return _reference(await self._run(ctx, "check", handle))

    async def mint_short(self, ctx: Any, number: int) -> str:
        """Make the short handle of a number of the user's: ``basket_7_`` and 8 characters.

        `number`, from 0 to 4294967295, is such as the key of a row among the user's own. Its handle
        is the same each time, has no end but that of its row, and is easier for a model to copy.
        Raises :class:`InvalidArgument` for any other number, and :class:`HandleRefused` for an
        anonymous caller.
        """
        is_number = isinstance(number, int) and not isinstance(number, bool)
        # Of any other the engine says what it expects.
        fits = is_number and 0 <= number < 1 << 32
        made = await self._run(ctx, "mintShort", number=number if fits else None)
        return str(made["handle"])

    async def check_short(self, ctx: Any, handle: str) -> int:
        """Verify a short handle, or raise :class:`HandleRefused`; return its number.

        Look for the row among the user's own: other users have the same numbers.
        """
        return int((await self._run(ctx, "checkShort", handle))["value"])


def _reference(done: Any) -> ReferenceHandle:
    return ReferenceHandle(done["handle"], done["id"], done.get("expiresAt"))


class SelfContainedHandles(_Handles):
    """Handles of one type that hold their state, bound to the user; the server keeps nothing.

    A handle's state never changes: :meth:`renew` makes the next handle. The older one keeps its
    state until it expires; with `single_use` it is refused once it was renewed. In a tool:

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> baskets, server = guard.self_contained_handles("basket", ttl=3600), MCPServer("shop")
    >>> @server.tool()
    ... async def add(basket: str, item: str, ctx: Context) -> str:
    ...     found = await baskets.open(ctx, basket)
    ...     return (await baskets.renew(ctx, found, [*found.value, item])).handle
    """

    async def seal(self, ctx: Any, value: Any) -> SelfContainedHandle:
        """Make a handle that holds a JSON value. `ctx` is the tool's context.

        Raises :class:`HandleRefused` for a value over the codec's `payload_limit`, and for one that
        JSON cannot hold.
        """
        return await self._sealed(ctx, value, None)

    async def renew(self, ctx: Any, before: OpenedHandle, value: Any) -> SelfContainedHandle:
        """Make the next handle of a chain, which keeps its start and counts its generation.

        With `single_use` a second renewal of the same handle raises :class:`HandleRefused`. One
        that handles of another type opened is a `TypeError`.
        """
        handle_type = self._settings["type"]
        if before._type != handle_type:
            raise TypeError(f"before: expected one of type {handle_type}, found {before._type}")
        return await self._sealed(ctx, value, before._predecessor)

    async def open(self, ctx: Any, handle: str) -> OpenedHandle:
        """Open a handle that came back, or raise :class:`HandleRefused`."""
        found = await self._run(ctx, "open", handle)
        before = found["predecessor"]
        origin = Origin(
            token_id=before["id"],
            started_at=before["startedAt"],
            generation=before["generation"],
            issued_at=before["issuedAt"],
            until=before["until"],
        )
        value = _json.loads(found["value"].encode())
        return OpenedHandle(value, found.get("expiresAt"), origin, self._settings["type"], before)

    async def _sealed(self, ctx: Any, value: Any, before: Any) -> SelfContainedHandle:
        made = await self._run(ctx, "seal", value=written(value), predecessor=before)
        return SelfContainedHandle(made["handle"], made.get("expiresAt"))


def written(value: Any) -> bytes:
    """Return a value as JSON; the engine refuses, and reports, what JSON cannot hold."""
    try:
        return _json.dumps("value", value)
    except (InvalidArgument, TypeError):
        return b""
