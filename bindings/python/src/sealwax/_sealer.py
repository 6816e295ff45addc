"""Sealed tokens: what seals and opens those of one kind, and what opening tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _json
from ._native import (
    Opaque,
    call_for_bytes,
    call_for_text,
    data,
    ffi,
    lib,
    number,
    optional_data,
    optional_text,
    pair,
    untrusted,
)

if TYPE_CHECKING:
    from ._codec import View


@dataclass(frozen=True, slots=True)
class Opened:
    """What an authentic token held, every check passed. Times are in Unix seconds."""

    #: The payload.
    payload: bytes = field(repr=False)
    #: When it was sealed.
    issued_at: int
    #: When its own lifetime ends; ``None`` for no expiry.
    expires_at: int | None
    #: When its session began: kept across renewals.
    started_at: int
    #: How often it was renewed; stops at its maximum.
    generation: int
    #: What a ledger of spent tokens counts by: 32 hex digits, whatever the token's spelling.
    token_id: str
    #: Whether an older key made it, so that it should be sealed anew before that key goes.
    needs_reseal: bool

    def json(self) -> Any:
        """Return the payload as JSON; :class:`Malformed` where it is none."""
        return _json.loads(self.payload)


class Sealer(Opaque):
    """Seals and opens tokens of one kind, for one principal, with the kind's bindings.

    The two sides must be given the same bindings; what differs in any is refused.

    >>> from sealwax import Codec, Key, KeyRing
    >>> codec = Codec(keys=KeyRing([Key.generate()]), audience="https://mcp.example.com")
    >>> cursor = codec.view(subject="alice").cursor("tools/list")
    >>> token = cursor.seal_json({"page": 2}, ttl=3600)
    >>> cursor.open(token).json()
    {'page': 2}
    """

    __slots__ = ("_bound", "_purpose", "_room", "_view")

    def __init__(
        self,
        view: View,
        kind: int,
        *,
        label: str | None = None,
        session_id: str | None = None,
        context: bytes | bytearray | memoryview | None = None,
    ) -> None:
        """Be made by a view."""
        self._view = view._view
        self._room = view._token_room
        self._purpose = ffi.new("sealwax_purpose *", {"kind": kind})
        # The purpose points into these.
        self._bound = (
            self._bind("label", "char[]", optional_text("label", label)),
            self._bind("session_id", "char[]", optional_text("session_id", session_id)),
            self._bind("context", "uint8_t[]", optional_data("context", context)),
        )

    def _bind(self, member: str, array: str, value: bytes | None) -> Any:
        if value is None:
            return None
        bound = ffi.from_buffer(array, value)
        setattr(self._purpose, member, bound)
        setattr(self._purpose, f"{member}_len", len(value))
        return bound

    def seal(
        self,
        payload: bytes | bytearray | memoryview,
        *,
        ttl: int | None = None,
        no_expiry: bool = False,
    ) -> str:
        """Seal a payload: a new life, of generation 0.

        It lives for `ttl` seconds, or the kind's own time, or with `no_expiry` as long as its key
        is in the ring.
        """
        content = data("payload", payload)
        return call_for_text(
            lib.sealwax_seal,
            self._view,
            self._purpose,
            lifetime(ttl, no_expiry=no_expiry),
            *pair(content),
            room=self._room,
        )

    def seal_json(self, value: Any, *, ttl: int | None = None, no_expiry: bool = False) -> str:
        """Seal a value as JSON; :class:`InvalidArgument` where JSON has no such value."""
        return self.seal(_json.dumps("payload", value), ttl=ttl, no_expiry=no_expiry)

    def open(self, token: str, *, max_age: int | None = None) -> Opened:
        """Open what came back: text as it stood on the wire.

        With `max_age`, in seconds, what began longer ago has expired, however often it was
        renewed. Raises every :class:`Refused`.
        """
        wire = untrusted("token", token)
        opened = ffi.new("sealwax_opened *")
        payload = call_for_bytes(
            lib.sealwax_open,
            self._view,
            self._purpose,
            number("max_age", max_age),
            *pair(wire),
            room=len(wire),
            more=(opened,),
        )
        return Opened(payload, *facts(opened))

    def renew(
        self,
        opened: Opened,
        payload: bytes | bytearray | memoryview,
        *,
        ttl: int | None = None,
        no_expiry: bool = False,
    ) -> str:
        """Seal a payload in place of what was opened.

        The start is kept, so that a maximum age holds, and the generation is one more, so that a
        stale token can be told.
        """
        content = data("payload", payload)
        before = {"started_at": opened.started_at, "generation": opened.generation}
        return call_for_text(
            lib.sealwax_renew,
            self._view,
            self._purpose,
            lifetime(ttl, no_expiry=no_expiry),
            ffi.new("sealwax_opened *", before),
            *pair(content),
            room=self._room,
        )


def lifetime(ttl: int | None, *, no_expiry: bool) -> Any:
    """Return what C knows as a lifetime; NULL for the kind's own."""
    if ttl is not None and no_expiry:
        raise TypeError("expected ttl or no_expiry, found both")
    if no_expiry:
        return ffi.new("sealwax_lifetime *", {"no_expiry": True})
    if ttl is None:
        return ffi.NULL
    return ffi.new("sealwax_lifetime *", {"ttl": number("ttl", ttl)[0]})


def facts(opened: Any) -> tuple[int, int | None, int, int, str, bool]:
    """Return the members of :class:`Opened` after the payload."""
    return (
        opened.issued_at,
        unless_never(opened.expires_at),
        opened.started_at,
        opened.generation,
        ffi.buffer(opened.token_id)[:].hex(),
        opened.needs_reseal,
    )


def unless_never(time: int) -> int | None:
    """Return a time, or ``None`` for the one that never comes."""
    return None if time == lib.SEALWAX_NEVER else time
