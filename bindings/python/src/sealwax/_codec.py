"""A server's codec."""

from __future__ import annotations

import os
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, overload

from ._errors import InvalidArgument
from ._keys import KeyLike, KeyRing
from ._native import Opaque, Pool, call, ffi, lib, number, optional_text, own, pair, plain, text
from ._view import View

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT = 64

#: Held while a codec takes keys: a fork at that moment would leave the child without a codec.
taking_keys = RLock()
# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=taking_keys.acquire,
        after_in_parent=taking_keys.release,
        after_in_child=taking_keys.release,
    )


class Codec(Opaque):
    """Seals and opens the tokens of one service: keys, an audience and limits.

    Threads may share it. Its keys may change (:meth:`set_keys`), and nothing else. Every replica
    needs the same settings.

    `keys` are a :class:`Key`, key texts, a :class:`KeyRing`, or several of these, of which the
    first seals; ``None``, as ``os.environ.get`` gives it, raises :class:`InvalidKey`.
    :meth:`from_env` takes them from the environment by itself.

    `keys_file`, in place of `keys`, is the path of a file with the text of a ring, such as a
    mounted secret. A thread reads it again every `keys_interval` seconds, in forked processes
    too, until the codec is collected. Replace the file in one step, as ``sealwax keys`` does. While
    it is missing or bad, the codec keeps the keys that it has, and the logger ``sealwax`` says so.

    `audience` names the service,
    best by its public address: tokens of one service never open at another, even under the same
    keys. `payload_limit` is in bytes, 4,096 by default, at most 1 MiB. `clock_tolerance` is the
    number of seconds that another replica's clock may be ahead, 60 by default, at most 300.
    `session_max_age` is the maximum age of a data-layer session in seconds, however often it is
    renewed, 30 days by default.

    >>> import sealwax
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])  # a server has Codec.from_env
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

    __slots__ = (
        "__weakref__",
        "_audience",
        "_codec",
        "_description",
        "_metadata_capacity",
        "_out_params",
        "_views",
        "_watch",
    )

    def __init__(
        self,
        *,
        keys: KeyLike | Iterable[KeyLike] | None = None,
        keys_file: str | os.PathLike[str] | None = None,
        keys_interval: float = 5,
        audience: str,
        payload_limit: int | None = None,
        clock_tolerance: int | None = None,
        session_max_age: int | None = None,
    ) -> None:
        path = None if keys_file is None else os.fspath(keys_file)
        if path is None:
            ring = _ring(keys)
        elif keys is None:
            ring = KeyRing.read(path)
        else:
            raise InvalidArgument("keys: expected keys or keys_file, found both")
        if not 0 < keys_interval <= 86_400:
            raise InvalidArgument("keys_interval: expected over 0 and at most 86,400 seconds")
        name = pair(text("audience", audience))
        numbers = {
            "payload": number("payload_limit", payload_limit),
            "clock_tolerance": number("clock_tolerance", clock_tolerance),
            "session_max_age": number("session_max_age", session_max_age),
        }
        limits = ffi.new("sealwax_limits *", numbers)
        self._codec = self._new(ring._ring, *name, limits)
        self._out_params = Pool(lib.sealwax_token_limit(self._codec))
        #: The views of the last callers: making one takes as long as 64 bytes to seal and open.
        #: Another dictionary for other keys: a thread that makes a view keeps it where it looked.
        self._views: dict[tuple[str | None, ...] | str, View] = {}
        self._metadata_capacity = lib.sealwax_metadata_limit(self._codec)
        self._audience = audience
        self._describe(ring)
        if path is not None:
            # Here, because it loads what logs: that takes half as long as everything else.
            from ._keys_file import Watch

            self._watch = Watch(self, path, keys_interval)

    @classmethod
    def from_env(
        cls,
        *,
        audience: str,
        keys_interval: float = 5,
        payload_limit: int | None = None,
        clock_tolerance: int | None = None,
        session_max_age: int | None = None,
    ) -> Codec:
        """Return a codec with the keys of the environment.

        They are those of the file that ``SEALWAX_KEYS_FILE`` names, which the codec follows, of
        ``SEALWAX_KEYS``, or derived from ``SEALWAX_SECRET`` (:meth:`KeyRing.from_env`). It raises
        :class:`InvalidKey` if none is set, or more than one.
        """
        # Raises for what the environment lacks, in the core's words.
        ring = KeyRing.from_env()
        path = os.environ.get("SEALWAX_KEYS_FILE")
        return cls(
            keys=None if path else ring,
            keys_file=path or None,
            keys_interval=keys_interval,
            audience=audience,
            payload_limit=payload_limit,
            clock_tolerance=clock_tolerance,
            session_max_age=session_max_age,
        )

    def set_keys(self, keys: KeyLike | Iterable[KeyLike]) -> bool:
        """Replace the keys, also of guards with this codec; return whether they are others.

        Views, and requests in progress, keep the keys that they began with: make new views. The
        old keys are wiped from memory when their last view is collected.

        >>> import sealwax
        >>> old, new = (sealwax.Key.generate().to_text() for _ in range(2))
        >>> codec = sealwax.Codec(keys=old, audience="https://mcp.example.com")
        >>> token = codec.view(subject="alice").session().seal(b"kept")
        >>> codec.set_keys(f"{new} {old}")
        True
        >>> codec.view(subject="alice").session().open(token).needs_reseal
        True
        """
        ring, changed = _ring(keys), ffi.new("bool *")
        with taking_keys:
            call(lib.sealwax_codec_set_keys, self._codec, ring._ring, changed)
            if changed[0]:
                self._views = {}
                self._describe(ring)
        return bool(changed[0])

    def _describe(self, ring: KeyRing) -> None:
        self._description = f"<Codec {self._audience!r}, keys {' '.join(ring.ids)}>"

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
        views = self._views
        if anonymous is not False:
            if anonymous is not True:
                raise TypeError(f"anonymous: expected bool, found {type(anonymous).__name__}")
            if not (subject is client is issuer is None):
                raise TypeError("expected a principal or anonymous, found both")
            return views.get("anonymous") or self._keep(
                views, "anonymous", lib.sealwax_view_new_anonymous
            )
        # The text of another class may be equal to that of another caller.
        name = (
            issuer if issuer is None or type(issuer) is str else plain("issuer", issuer),
            client if client is None or type(client) is str else plain("client", client),
            subject if subject is None or type(subject) is str else plain("subject", subject),
        )
        issuer, client, subject = name
        try:
            return views[name]
        except KeyError:
            parts = (
                *pair(optional_text("issuer", issuer)),
                *pair(optional_text("client", client)),
                *pair(optional_text("subject", subject)),
            )
        return self._keep(views, name, lib.sealwax_view_new, *parts)

    def _new(self, *arguments: Any) -> Any:
        """Make the object of the library: on another clock in :mod:`sealwax.testing`."""
        return own("sealwax_codec", lib.sealwax_codec_new, *arguments)

    def _keep(self, views: dict[Any, View], name: Any, function: Any, *parts: Any) -> View:
        view = own("sealwax_view", function, self._codec, *parts)
        # It does not hold the codec: no cycle.
        made = View(view, self._out_params, self._metadata_capacity, self._description)
        if len(views) >= _KEPT:
            views.clear()
        views[name] = made
        return made

    def __repr__(self) -> str:
        return self._description


def _ring(keys: KeyLike | Iterable[KeyLike] | None) -> KeyRing:
    # It refuses None.
    return keys if isinstance(keys, KeyRing) else KeyRing(keys)  # type: ignore[arg-type]
