"""The codec for one principal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _identifiers
from ._identifiers import Handle, SessionId
from ._lifetime import lifetime
from ._native import Opaque, Pool, call, call_for_text, ffi, lib, number, pair, text, untrusted
from ._sealer import Sealer
from ._sessions import Sessions

if TYPE_CHECKING:
    Bytes = bytes | bytearray | memoryview


def check_handle_type(handle_type: str) -> None:
    """Raise for a handle type that minting would refuse."""
    call(lib.sealwax_check_handle_type, *pair(text("handle_type", handle_type)))


class View(Opaque):
    """A :class:`Codec` scoped to one principal: sealers, sessions, session ids and handles."""

    __slots__ = ("_description", "_metadata_capacity", "_out_params", "_view")

    def __init__(self, view: Any, pool: Pool, metadata_capacity: int, codec: str) -> None:
        """Hold the C object; :meth:`Codec.view` makes views."""
        self._view = view
        self._out_params = pool
        self._metadata_capacity = metadata_capacity
        self._description = f"<View of {codec}>"

    def state(self, session_id: str) -> Sealer:
        """Return the sealer of a data-layer session's ``state``; :meth:`sessions` is simpler."""
        return self._sealer(lib.SEALWAX_KIND_STATE, None, session_id)

    def request_state(self, context: Bytes) -> Sealer:
        """Return the sealer of ``requestState`` for one request, by its :func:`request_context`."""
        return self._sealer(lib.SEALWAX_KIND_REQUEST_STATE, None, None, context)

    def session(self) -> Sealer:
        """Return the sealer of ``Mcp-Session-Id`` tokens, which hold the negotiated session."""
        return self._sealer(lib.SEALWAX_KIND_SESSION)

    def cursor(self, method: str) -> Sealer:
        """Return the sealer of the cursors of a list method, such as ``tools/list``."""
        return self._sealer(lib.SEALWAX_KIND_CURSOR, method)

    def handle_state(self, handle_type: str) -> Sealer:
        """Return the sealer of handles of one type that hold their state themselves."""
        return self._sealer(lib.SEALWAX_KIND_HANDLE_STATE, handle_type)

    def custom(
        self, label: str, *, session_id: str | None = None, context: Bytes | None = None
    ) -> Sealer:
        """Return the sealer of the application's own tokens, optionally bound more tightly."""
        return self._sealer(lib.SEALWAX_KIND_CUSTOM, label, session_id, context)

    def sessions(self, *, ttl: int | None = None, no_expiry: bool = False) -> Sessions:
        """Return the data-layer sessions of this principal.

        A session ends after `ttl` seconds without a write, 24 hours by default; with `no_expiry`
        only at the codec's `session_max_age`.
        """
        return Sessions(self._view, self._metadata_capacity, lifetime(ttl, no_expiry=no_expiry))

    def _sealer(
        self,
        kind: int,
        label: str | None = None,
        session_id: str | None = None,
        context: Bytes | None = None,
    ) -> Sealer:
        return Sealer(self._view, self._out_params, kind, label, session_id, context)

    def mint_session_id(self) -> str:
        """Mint a session id: 64 characters, safe in an HTTP header."""
        capacity = lib.SEALWAX_SESSION_ID_LEN
        return call_for_text(
            lib.sealwax_mint_session_id, self._view, capacity=capacity, more=(ffi.NULL,)
        )

    def verify_session_id(self, session_id: str, *, max_age: int | None = None) -> SessionId:
        """Verify a session id that came back.

        With `max_age`, in seconds, an older one has expired.
        """
        wire = pair(untrusted("session_id", session_id))
        limit, identifier = number("max_age", max_age), _identifiers.new()
        call(lib.sealwax_verify_session_id, self._view, *wire, limit, identifier)
        return SessionId(*_identifiers.facts(identifier), session_id)

    def mint_handle(self, handle_type: str) -> str:
        """Mint a handle: its type, an underscore and 42 characters.

        A type is a lowercase letter, then up to 31 lowercase letters or digits.
        """
        kind, capacity = pair(text("handle_type", handle_type)), lib.SEALWAX_HANDLE_MAX
        return call_for_text(
            lib.sealwax_mint_handle, self._view, *kind, capacity=capacity, more=(ffi.NULL,)
        )

    def verify_handle(self, handle_type: str, handle: str, *, max_age: int | None = None) -> Handle:
        """Verify a handle that came back.

        With `max_age`, in seconds, an older one has expired.
        """
        kind = pair(text("handle_type", handle_type))
        wire = pair(untrusted("handle", handle))
        limit, identifier = number("max_age", max_age), _identifiers.new()
        call(lib.sealwax_verify_handle, self._view, *kind, *wire, limit, identifier)
        return Handle(*_identifiers.facts(identifier), handle)

    def __repr__(self) -> str:
        return self._description
