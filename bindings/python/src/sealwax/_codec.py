"""A server's codec."""

from __future__ import annotations

from typing import Any, Literal, overload

from ._keys import KeyRing
from ._native import Opaque, Pool, ffi, lib, number, optional_text, own, pair, text
from ._view import View

_KEPT = 64


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

    __slots__ = ("_codec", "_description", "_metadata_capacity", "_out_params", "_views")

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
        self._codec = self._new(ring._ring, *name, limits)
        self._out_params = Pool(lib.sealwax_token_limit(self._codec))
        #: The views of the last callers: making one takes as long as 64 bytes to seal and open.
        self._views: dict[tuple[str | None, ...], View] = {}
        self._metadata_capacity = lib.sealwax_metadata_limit(self._codec)
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
        """Return this codec scoped to one principal. Those of the last callers are kept.

        Take the parts from a verified credential, by the same rule in every replica: of a JWT,
        ``iss``, ``client_id`` or ``azp``, and ``sub``. There is no default: a server without
        authentication passes ``anonymous=True``, and then anyone who holds a token can use it.
        """
        if anonymous:
            if (subject, client, issuer) != (None, None, None):
                raise TypeError("expected a principal or anonymous, found both")
            return self._view(lib.sealwax_view_new_anonymous)
        name = (issuer, client, subject)
        try:
            return self._views[name]
        except (KeyError, TypeError):
            # Not known yet, or not texts.
            parts = (
                *pair(optional_text("issuer", issuer)),
                *pair(optional_text("client", client)),
                *pair(optional_text("subject", subject)),
            )
        view = self._view(lib.sealwax_view_new, *parts)
        if len(self._views) >= _KEPT:
            self._views.clear()
        self._views[name] = view
        return view

    def _new(self, *arguments: Any) -> Any:
        """Make the object of the library: on another clock in :mod:`sealwax.testing`."""
        return own("sealwax_codec", lib.sealwax_codec_new, *arguments)

    def _view(self, function: Any, *parts: Any) -> View:
        view = own("sealwax_view", function, self._codec, *parts)
        # It does not hold the codec: no cycle.
        return View(view, self._out_params, self._metadata_capacity, self._description)

    def __repr__(self) -> str:
        return self._description
