"""Whether a token that is good in itself is to be accepted: asked of what remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .. import Principal
    from ._refusal import Kind


@dataclass(frozen=True, slots=True)
class Presented:
    """A token that was verified, as `accept` knows it."""

    #: What it is.
    kind: Kind
    #: The token id in hex digits; the ulid of a handle whose state the server keeps.
    id: str
    #: Whose it is; ``None`` is anonymous, or anybody's: a cursor of a page that is public.
    principal: Principal | None
    #: From when on nothing of it opens anywhere, so that nobody needs to remember it: its end in
    #: Unix seconds, rounded up, plus 300, which is the largest skew. ``None`` where it never ends.
    expires_at: int | None


class Accept(Protocol):
    """Asked before a token is accepted, and told when something ends.

    What is remembered is remembered until the `expires_at` that it came with, and not shorter.

    Both functions may be asynchronous, and those that wait must be. One that raises, or takes
    longer than the guard's `accept_timeout`, has the request refused as the server's own failure,
    so that the client keeps its token. It is for rules of the author's own: what remembers that
    tokens were used, and what ended, is a ledger (:mod:`sealwax.ledger`). It is given nothing that
    was not verified.

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
