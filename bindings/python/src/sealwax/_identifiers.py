"""Session ids and handles: signed identifiers that carry no payload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._native import ffi
from ._sealer import unless_never


@dataclass(frozen=True, slots=True)
class Identifier:
    """What a session id and a handle have in common. Times are in Unix milliseconds."""

    #: When it was made.
    created_at_ms: int
    #: When it ends under the maximum age that was given; ``None`` where none was.
    ends_at_ms: int | None
    #: What makes it unique, 32 hex digits: what logs and a server's store may know it by, for
    #: unlike the text it lets nobody continue a session.
    ulid: str
    #: Whether an older key made it, so that it ends when that key goes.
    needs_reseal: bool


@dataclass(frozen=True, slots=True)
class SessionId(Identifier):
    """A session id that this service issued to the principal at hand.

    It proves nothing about who presents it: possession is not authentication.
    """

    #: The text.
    session_id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Handle(Identifier):
    """A handle that this service issued to the principal at hand."""

    #: The text.
    handle: str = field(repr=False)


def new() -> Any:
    """Return a place for what C tells of an identifier."""
    return ffi.new("sealwax_identifier *")


def facts(identifier: Any) -> tuple[int, int | None, str, bool]:
    """Return the members of :class:`Identifier`."""
    return (
        identifier.created_at_ms,
        unless_never(identifier.ends_at_ms),
        bytes(identifier.ulid).hex(),
        identifier.needs_reseal,
    )
