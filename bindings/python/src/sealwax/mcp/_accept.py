"""The author's own rule: whether to accept a token that was verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .. import Principal
    from ._hooks import Kind


@dataclass(frozen=True, slots=True)
class Presented:
    """A verified token, as `accept` gets it."""

    #: The kind of token.
    kind: Kind
    #: The token id in hex digits; the ulid of a handle whose state the server keeps.
    id: str
    #: Its principal; ``None`` for an anonymous one, and for the cursor of a public page.
    principal: Principal | None
    #: The time after which no replica opens it, so that its record can be dropped: its end in Unix
    #: seconds, rounded up, plus 300, the largest skew. ``None`` if it never ends.
    expires_at: int | None


class Accept(Protocol):
    """Decides whether to accept a verified token, and records what ends.

    For rules of your own; to record used and ended tokens, use a ledger (:mod:`sealwax.ledger`).
    Keep each record at least until the token's `expires_at`.

    Both functions may be asynchronous; those that wait must be. If one raises, or takes longer
    than the guard's `time_limit`, the request is refused as an internal error, so that the
    client keeps its token.

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
        """Return whether to accept the token."""
        ...

    def ended(self, presented: Presented, /) -> Awaitable[None] | None:
        """Record that the token ended: do not accept it again."""
        ...
