"""Whether a token that is good in itself is to be accepted: asked of what remembers."""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from ._refusal import AcceptUnavailable, Kind, NotAccepted

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .. import Principal


#: The most that the clocks of two replicas may differ by, in seconds, whatever their codecs allow.
LARGEST_SKEW = 300


@dataclass(frozen=True, slots=True)
class Presented:
    """A token that was verified, as `accept` knows it."""

    #: What it is.
    kind: Kind
    #: The token id in hex digits; the ulid of a handle whose state the server keeps.
    id: str
    #: Whose it is; ``None`` is anonymous.
    principal: Principal | None
    #: From when on nothing of it opens anywhere, so that nobody needs to remember it: its end in
    #: Unix seconds, rounded up, plus 300, which is the largest skew. ``None`` where it never ends.
    expires_at: int | None


class Accept(Protocol):
    """Asked before a token is accepted, and told when something ends.

    What is remembered is remembered until the `expires_at` that it came with, and not shorter.

    Both functions may be asynchronous, and those that wait must be. One that raises, or takes
    longer than the guard's `accept_timeout`, has the request refused as the server's own failure,
    so that the client keeps its token. :class:`SingleUse` is one in memory; for a fleet, put a
    store that all replicas share behind the same two functions. It is given nothing that was not
    verified.

    >>> import sealwax.mcp
    >>> class Revoked:
    ...     def __init__(self):
    ...         self.ids = set()
    ...     def accept(self, presented):
    ...         return presented.id not in self.ids
    ...     def ended(self, presented):
    ...         self.ids.add(presented.id)
    >>> accept: sealwax.mcp.Accept = Revoked()
    """

    def accept(self, presented: Presented, /) -> bool | Awaitable[bool]:
        """Return whether to accept it."""
        ...

    def ended(self, presented: Presented, /) -> Awaitable[None] | None:
        """Remember that it ended: it is not to be accepted again."""
        ...


async def ask(accept: Accept | None, presented: Presented, *, timeout: float) -> None:
    """Raise unless it is accepted."""
    if accept is None:
        return
    answer = await _within(timeout, accept.accept, presented)
    if answer is False:
        raise NotAccepted("verified, and then not accepted")
    if answer is not True:
        raise AcceptUnavailable(
            f"expected accept to return True or False, found {type(answer).__name__}"
        )


async def tell(accept: Accept, presented: Presented, *, timeout: float) -> None:
    """Tell that it ended; raise unless that is remembered."""
    await _within(timeout, accept.ended, presented)


async def _within(timeout: float, function: Any, presented: Presented) -> Any:
    name, started = function.__name__, time.monotonic()
    try:
        with anyio.fail_after(timeout):
            answer = function(presented)
            if inspect.isawaitable(answer):
                answer = await answer
    except AcceptUnavailable:
        raise
    except Exception as error:
        found = type(error).__name__
        raise AcceptUnavailable(
            f"expected {name} to answer in {timeout} s, found {found}"
        ) from error
    # What did not let itself be interrupted is late all the same.
    if (took := time.monotonic() - started) > timeout:
        raise AcceptUnavailable(f"expected {name} to answer in {timeout} s, found {took:.1f} s")
    return answer
