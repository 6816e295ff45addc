"""A ``requestState`` from before the guard, which another codec made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mcp.server.request_state import RequestStateBoundary
from mcp.shared.exceptions import MCPError

from .. import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.context import ServerRequestContext
    from mcp.server.request_state import RequestStateSecurity


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """Accepts, until a date, the ``requestState`` tokens that clients have from before the guard.

    `open` verifies such a token, for the context of its request, and returns the text that was
    sealed, or ``None`` to refuse it; :func:`opener_of` makes one for the SDK's own tokens. If it
    raises, or takes longer than the guard's `time_limit`, the request fails with an error of the
    server. From `until` on, a date or Unix seconds, they are refused. None is ever made.

    >>> import sealwax, sealwax.mcp
    >>> from datetime import datetime, timezone
    >>> from mcp.server.request_state import RequestStateSecurity
    >>> before = RequestStateSecurity(keys=["the key that the server had until now"])
    >>> transition = sealwax.mcp.Transition(
    ...     open=sealwax.mcp.opener_of(before, server_name="notes"),
    ...     until=datetime(2027, 1, 15, tzinfo=timezone.utc),
    ... )
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous", transition=transition)
    """

    open: Callable[[str, Any], str | Awaitable[str | None] | None]
    until: datetime | float

    def seconds(self) -> int:
        """Return `until` in Unix seconds."""
        until = self.until.timestamp() if isinstance(self.until, datetime) else self.until
        if isinstance(until, bool) or not isinstance(until, (int, float)) or not 0 <= until < 2**53:
            raise InvalidArgument("until: expected a datetime or Unix seconds")
        return int(until)


def opener_of(
    security: RequestStateSecurity, *, server_name: str | None
) -> Callable[[str, Any], Awaitable[str | None]]:
    """Return the `open` of a :class:`Transition` for the SDK's own ``requestState``.

    `security` is what the server had as `request_state_security`. `server_name` is the name that
    an ``MCPServer`` had, which its tokens are bound to; ``None`` for a low-level server without.
    """
    boundary = RequestStateBoundary(security, default_audience=server_name)

    async def opened(token: str, ctx: ServerRequestContext[Any, Any]) -> str | None:
        found: list[Any] = []

        async def take(inner: ServerRequestContext[Any, Any]) -> dict[str, Any]:
            found.append((inner.params or {}).get("requestState"))
            return {}

        try:
            await boundary(ctx, take)
        except MCPError:
            return None
        return str(found[0])

    return opened
