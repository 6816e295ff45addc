"""A server's codec, and the view of it for one principal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from . import _identifiers
from ._identifiers import Handle, SessionId
from ._keys import KeyRing
from ._native import (
    Desks,
    Opaque,
    call,
    call_for_text,
    ffi,
    lib,
    number,
    optional_text,
    own,
    pair,
    text,
    untrusted,
)
from ._sealer import Sealer
from ._sessions import Sessions

if TYPE_CHECKING:
    Bytes = bytes | bytearray | memoryview


def check_handle_type(handle_type: str) -> None:
    """Raise for a handle type that minting would refuse."""
    call(lib.sealwax_check_handle_type, *pair(text("handle_type", handle_type)))


class Codec(Opaque):
    """Seals and opens the tokens of one service: keys, an audience and limits.

    It is immutable, and threads may share it. Every replica needs the same settings.

    `keys` is a :class:`KeyRing` or its text, as in ``os.environ.get("SEALWAX_KEYS")``; ``None``
    raises :class:`InvalidKey`, which tells how to make a key. `audience` names the service,
    best by its public address: tokens of one service never open at another, even under the same
    keys. `payload_limit` is in bytes, 4,096 by default, at most 1 MiB. `skew` is the number of
    seconds that another replica's clock may be ahead, 60 by default, at most 300.
    `session_max_age` is the maximum age of a data-layer session in seconds, however often it is
    renewed, 30 days by default.

    >>> import sealwax
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])  # a server reads SEALWAX_KEYS
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> token = codec.view(subject="alice").cursor("tools/list").seal(b"page 2")
    >>> codec.view(subject="alice").cursor("tools/list").open(token).payload
    b'page 2'
    >>> try:
    ...     codec.view(subject="mallory").cursor("tools/list").open(token)
    ... except sealwax.Refused as refused:
    ...     print(refused.code)
    principal_mismatch
    """

    __slots__ = ("_codec", "_description", "_desks", "_metadata_room")

    def __init__(
        self,
        *,
        keys: KeyRing | str | None,
        audience: str,
        payload_limit: int | None = None,
        skew: int | None = None,
        session_max_age: int | None = None,
    ) -> None:
        ring = keys if isinstance(keys, KeyRing) else KeyRing.parse(keys)
        name = pair(text("audience", audience))
        numbers = {
            "payload": number("payload_limit", payload_limit),
            "skew": number("skew", skew),
            "session_max_age": number("session_max_age", session_max_age),
        }
        limits = ffi.new("sealwax_limits *", numbers)
        self._codec = own("sealwax_codec", lib.sealwax_codec_new, ring._ring, *name, limits)
        self._desks = Desks(lib.sealwax_token_limit(self._codec))
        self._metadata_room = lib.sealwax_metadata_limit(self._codec)
        self._description = f"<Codec {audience!r}, keys {' '.join(ring.ids)}>"

    @overload
    def view(
        self, *, subject: str | None = None, client: str | None = None, issuer: str | None = None
    ) -> View: ...
    @overload
    def view(self, *, anonymous: Literal[True]) -> View: ...
    def view(
        self,
        *,
        subject: str | None = None,
        client: str | None = None,
        issuer: str | None = None,
        anonymous: bool = False,
    ) -> View:
        """Return this codec scoped to one principal; reuse it for the whole request.

        Take the parts from a verified credential, by the same rule in every replica: of a JWT,
        ``iss``, ``client_id`` or ``azp``, and ``sub``. There is no default: a server without
        authentication passes ``anonymous=True``, and then anyone who holds a token can use it.
        """
        if anonymous:
            if (subject, client, issuer) != (None, None, None):
                raise TypeError("expected a principal or anonymous, found both")
            return View(self, own("sealwax_view", lib.sealwax_view_new_anonymous, self._codec))
        parts = (
            *pair(optional_text("issuer", issuer)),
            *pair(optional_text("client", client)),
            *pair(optional_text("subject", subject)),
        )
        return View(self, own("sealwax_view", lib.sealwax_view_new, self._codec, *parts))

    def __repr__(self) -> str:
        return self._description


class View(Opaque):
    """A :class:`Codec` scoped to one principal: sealers, sessions, session ids and handles."""

    __slots__ = ("_codec", "_desks", "_metadata_room", "_view")

    def __init__(self, codec: Codec, view: Any) -> None:
        """Hold the C object; :meth:`Codec.view` makes views."""
        self._view = view
        self._codec = codec
        self._desks = codec._desks
        self._metadata_room = codec._metadata_room

    def state(self, session_id: str) -> Sealer:
        """Return the sealer of a data-layer session's ``state``; :meth:`sessions` is simpler."""
        return Sealer(self, lib.SEALWAX_KIND_STATE, session_id=session_id)

    def request_state(self, context: Bytes) -> Sealer:
        """Return the sealer of ``requestState`` for one request, by its :func:`request_context`."""
        return Sealer(self, lib.SEALWAX_KIND_REQUEST_STATE, context=context)

    def session(self) -> Sealer:
        """Return the sealer of ``Mcp-Session-Id`` tokens, which hold the negotiated session."""
        return Sealer(self, lib.SEALWAX_KIND_SESSION)

    def cursor(self, method: str) -> Sealer:
        """Return the sealer of the cursors of a list method, such as ``tools/list``."""
        return Sealer(self, lib.SEALWAX_KIND_CURSOR, label=method)

    def handle_state(self, handle_type: str) -> Sealer:
        """Return the sealer of handles of one type that hold their state themselves."""
        return Sealer(self, lib.SEALWAX_KIND_HANDLE_STATE, label=handle_type)

    def custom(
        self, label: str, *, session_id: str | None = None, context: Bytes | None = None
    ) -> Sealer:
        """Return the sealer of the application's own tokens, optionally bound more tightly."""
        return Sealer(
            self, lib.SEALWAX_KIND_CUSTOM, label=label, session_id=session_id, context=context
        )

    def sessions(self, *, ttl: int | None = None, no_expiry: bool = False) -> Sessions:
        """Return the data-layer sessions of this principal.

        A session ends after `ttl` seconds without a write, 24 hours by default; with `no_expiry`
        only at the codec's `session_max_age`.
        """
        return Sessions(self, ttl=ttl, no_expiry=no_expiry)

    def mint_session_id(self) -> str:
        """Mint a session id: 64 characters, safe in an HTTP header."""
        room = lib.SEALWAX_SESSION_ID_LEN
        return call_for_text(lib.sealwax_mint_session_id, self._view, room=room, more=(ffi.NULL,))

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
        kind, room = pair(text("handle_type", handle_type)), lib.SEALWAX_HANDLE_MAX
        return call_for_text(
            lib.sealwax_mint_handle, self._view, *kind, room=room, more=(ffi.NULL,)
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
        return f"<View of {self._codec!r}>"
