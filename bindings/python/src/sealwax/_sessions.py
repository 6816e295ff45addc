"""Data-layer sessions, in the draft's own JSON shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict

from . import _identifiers, _json
from ._errors import Malformed
from ._identifiers import SessionId
from ._native import (
    Opaque,
    call,
    call_for_bytes,
    call_for_text,
    data,
    ffi,
    lib,
    own,
    pair,
    untrusted,
)
from ._sealer import Facts, Opened, facts

if TYPE_CHECKING:
    from collections.abc import Mapping

_encode = json.JSONEncoder(default=_json.unknown).encode


class _Required(TypedDict):
    sessionId: str
    state: str


class SessionMetadata(_Required, total=False):
    """The value of ``_meta["io.modelcontextprotocol/session"]``, ready for ``json.dumps``."""

    #: The session's end unless it is renewed, in RFC 3339: a hint for the host.
    expiresAt: str


class Session(Opened):
    """An opened data-layer session: its id and its state, every check passed."""

    __slots__ = ("_id", "_session")

    def __init__(self, payload: bytes, facts: Facts, session_id: str, session: Any) -> None:
        """Hold what :meth:`Sessions.open` opened."""
        super().__init__(payload, facts, lib.SEALWAX_KIND_STATE)
        self._id = session_id
        self._session = session

    @property
    def id(self) -> str:
        """The session id."""
        return self._id

    def _compared(self) -> tuple[Any, ...]:
        return (*super()._compared(), self._id)


class Sessions(Opaque):
    """Data-layer sessions of one principal, with no store.

    A session ends after `ttl` seconds without a renewal, 24 hours by default, or at the codec's
    `session_max_age`, whichever comes first.

    >>> from sealwax import Codec, Key, KeyRing
    >>> codec = Codec(keys=KeyRing([Key.generate()]), audience="https://mcp.example.com")
    >>> sessions = codec.view(subject="alice").sessions()
    >>> sent = sessions.create(b"language=en")  # the result of sessions/create
    >>> session = sessions.open(sent)  # the client sent it back in _meta
    >>> session.payload
    b'language=en'
    >>> sessions.renew(session, b"language=python")["sessionId"] == sent["sessionId"]
    True
    """

    __slots__ = ("_capacity", "_lifetime", "_view")

    def __init__(self, view: Any, metadata_capacity: int, lifetime: Any) -> None:
        """Set the lifetime of a view's sessions, by its C object; a view makes them."""
        self._view = view
        self._capacity = metadata_capacity
        self._lifetime = lifetime

    def create(self, payload: bytes | bytearray | memoryview) -> SessionMetadata:
        """Create a session with a first state."""
        return self._write(lib.sealwax_session_create, *pair(data("payload", payload)))

    def open(self, metadata: Mapping[str, Any]) -> Session:
        """Open a client's metadata: verify the id, then open the state that is bound to it.

        Raises a :class:`Refused` for every session that is not valid here: :class:`Malformed` if
        the state is missing, so that leaving it out does not reset a session.
        """
        try:
            sent = _encode(metadata).encode()
        except (ValueError, RecursionError):
            raise Malformed("expected session metadata that is JSON") from None
        session = own("sealwax_session", lib.sealwax_session_open, self._view, *pair(sent))
        opened = ffi.new("sealwax_opened *")
        payload = call_for_bytes(
            lib.sealwax_session_payload, session, capacity=len(sent), more=(opened,)
        )
        session_id = call_for_text(
            lib.sealwax_session_id, session, capacity=lib.SEALWAX_SESSION_ID_LEN, more=(ffi.NULL,)
        )
        return Session(payload, facts(ffi.buffer(opened)), session_id, session)

    def renew(self, session: Session, payload: bytes | bytearray | memoryview) -> SessionMetadata:
        """Return the metadata of the session with a new state; its id and start are kept."""
        content = pair(data("payload", payload))
        return self._write(lib.sealwax_session_renew, _pointer(session), *content)

    def fork(self, session: Session) -> SessionMetadata:
        """Create a session that begins with the state of another; both continue."""
        return self._write(lib.sealwax_session_fork, _pointer(session))

    def verify(self, session_id: str) -> SessionId:
        """Verify an id alone, as ``sessions/delete`` sends it."""
        wire, identifier = untrusted("session_id", session_id), _identifiers.new()
        call(lib.sealwax_session_verify, self._view, *pair(wire), identifier)
        return SessionId(*_identifiers.facts(identifier), session_id)

    def _write(self, function: Any, *arguments: Any) -> SessionMetadata:
        metadata: SessionMetadata = json.loads(
            call_for_text(function, self._view, self._lifetime, *arguments, capacity=self._capacity)
        )
        return metadata


def _pointer(session: Session) -> Any:
    if not isinstance(session, Session):
        raise TypeError(f"session: expected Session, found {type(session).__name__}")
    return session._session
