"""Session ids and handles: signed identifiers that carry no payload."""

from __future__ import annotations

from typing import Any

from ._native import ffi
from ._sealer import unless_never


class Identifier:
    """What a session id and a handle have in common. Times are in Unix milliseconds.

    Only a view makes one, and nothing changes it.
    """

    # No dataclass: importing those takes longer than the rest of the package.
    __slots__ = ("_facts", "_text")

    def __init__(
        self, created_at_ms: int, ends_at_ms: int | None, ulid: str, needs_reseal: bool, text: str
    ) -> None:
        """Be made by a view."""
        self._facts = (created_at_ms, ends_at_ms, ulid, needs_reseal)
        self._text = text

    @property
    def created_at_ms(self) -> int:
        """When it was made."""
        return self._facts[0]

    @property
    def ends_at_ms(self) -> int | None:
        """When it ends under the maximum age that was given; ``None`` where none was."""
        return self._facts[1]

    @property
    def ulid(self) -> str:
        """What makes it unique, 32 hex digits: what logs and a server's store may know it by.

        Unlike the text it lets nobody continue a session.
        """
        return self._facts[2]

    @property
    def needs_reseal(self) -> bool:
        """Whether an older key made it, so that it ends when that key goes."""
        return self._facts[3]

    def _compared(self) -> tuple[Any, ...]:
        return (self._facts, self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identifier) or type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(created_at_ms={self.created_at_ms}, "
            f"ends_at_ms={self.ends_at_ms}, ulid={self.ulid!r}, needs_reseal={self.needs_reseal})"
        )


class SessionId(Identifier):
    """A session id that this service issued to the principal at hand.

    It proves nothing about who presents it: possession is not authentication.
    """

    __slots__ = ()

    @property
    def session_id(self) -> str:
        """The text."""
        return self._text


class Handle(Identifier):
    """A handle that this service issued to the principal at hand."""

    __slots__ = ()

    @property
    def handle(self) -> str:
        """The text."""
        return self._text


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
