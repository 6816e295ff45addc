"""Session ids and handles: signed identifiers that carry no payload."""

from __future__ import annotations

from typing import Any

from ._lifetime import unless_never
from ._native import ffi


class Identifier:
    """The common part of a session id and a handle. Times are in Unix milliseconds.

    Immutable; only a view makes one.
    """

    # Not a dataclass: importing dataclasses takes longer than the rest of the package.
    __slots__ = ("_facts", "_text")

    def __init__(
        self, created_at_ms: int, ends_at_ms: int | None, ulid: str, needs_reseal: bool, text: str
    ) -> None:
        """Hold what a view verified."""
        self._facts = (created_at_ms, ends_at_ms, ulid, needs_reseal)
        self._text = text

    @property
    def created_at_ms(self) -> int:
        """The time at which it was made."""
        return self._facts[0]

    @property
    def ends_at_ms(self) -> int | None:
        """Its end under the given maximum age; ``None`` if none was given."""
        return self._facts[1]

    @property
    def ulid(self) -> str:
        """Its unique part, 32 hex digits: for logs, and as a key in the server's store.

        Unlike the text, it does not let anyone continue a session.
        """
        return self._facts[2]

    @property
    def needs_reseal(self) -> bool:
        """Whether an older key made it: it ends when that key is removed."""
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

    It does not authenticate its sender: possession is not authentication.
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
    """Return an output for C to write an identifier to."""
    return ffi.new("sealwax_identifier *")


def facts(identifier: Any) -> tuple[int, int | None, str, bool]:
    """Return the members of :class:`Identifier`."""
    return (
        identifier.created_at_ms,
        unless_never(identifier.ends_at_ms),
        bytes(identifier.ulid).hex(),
        identifier.needs_reseal,
    )
