"""Sealed tokens: the sealer of one kind, and the result of opening a token."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _json
from ._lifetime import lifetime, unless_never
from ._native import (
    NULL,
    Opaque,
    Pool,
    call_for_text,
    data,
    fail,
    ffi,
    lib,
    number,
    pair,
    string,
    text,
    untrusted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# Sealing and opening are on the path of every request, so they are inlined below: a C call with
# nine arguments takes 0.6 µs by itself, and each helper in between 0.1 more.
_PURPOSE, _TEXT, _BYTES = map(ffi.typeof, ("sealwax_purpose *", "char[]", "uint8_t[]"))
_seal = lib.sealwax_seal
_open = lib.sealwax_open
Facts: TypeAlias = "tuple[int, int, int, int, bool, bool, bytes]"
# The members of sealwax_opened; a struct never changes within an ABI.
facts: Callable[[Any], Facts] = Struct("QQQI??16s").unpack_from


class Opened:
    """The payload and the facts of a token that passed every check. Times are in Unix seconds.

    Immutable; only opening makes one.
    """

    # The facts stay packed until they are read: as a frozen dataclass this took as long to make
    # as 64 bytes to decrypt (475 ns, now 60).
    __slots__ = ("_facts", "_kind", "_payload")

    def __init__(self, payload: bytes, facts: Facts, kind: int) -> None:
        """Hold what a sealer opened."""
        self._payload = payload
        self._facts = facts
        self._kind = kind

    @property
    def payload(self) -> bytes:
        """The payload."""
        return self._payload

    @property
    def issued_at(self) -> int:
        """The time at which it was sealed."""
        return self._facts[0]

    @property
    def expires_at(self) -> int | None:
        """The end of its lifetime; ``None`` for no expiry."""
        return unless_never(self._facts[1])

    @property
    def started_at(self) -> int:
        """The start of its session: kept across renewals."""
        return self._facts[2]

    @property
    def generation(self) -> int:
        """The number of renewals; stops at its maximum."""
        return self._facts[3]

    @property
    def token_id(self) -> str:
        """The token's id, by which a ledger records its use: 32 hex digits."""
        return self._facts[6].hex()

    @property
    def needs_reseal(self) -> bool:
        """Whether an older key sealed it: seal it anew before that key is removed."""
        return self._facts[4]

    @property
    def needs_renewal(self) -> bool:
        """Whether to seal it anew even though nothing was written.

        Half of its lifetime has passed, or an older key sealed it.
        """
        return self._facts[5]

    def json(self) -> Any:
        """Return the payload read as JSON. Raises :class:`Malformed` if it is not JSON."""
        return _json.loads(self._payload)

    def _compared(self) -> tuple[Any, ...]:
        return (self._payload, self._facts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opened) or type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(issued_at={self.issued_at}, expires_at={self.expires_at}, "
            f"started_at={self.started_at}, generation={self.generation}, "
            f"token_id={self.token_id!r}, needs_reseal={self.needs_reseal})"
        )


class Sealer(Opaque):
    """Seals and opens tokens of one kind, for one principal, with the kind's bindings.

    Opening takes the same bindings as sealing; a difference in any of them is refused.

    >>> from sealwax import Codec, Key, KeyRing
    >>> codec = Codec(keys=KeyRing([Key.generate()]), audience="https://mcp.example.com")
    >>> cursor = codec.view(subject="alice").cursor("tools/list")
    >>> token = cursor.seal_json({"page": 2}, ttl=3600)
    >>> cursor.open(token).json()
    {'page': 2}
    """

    __slots__ = ("_bound", "_kind", "_out_params", "_purpose", "_view")

    def __init__(
        self,
        view: Any,
        pool: Pool,
        kind: int,
        label: str | None = None,
        session_id: str | None = None,
        context: bytes | bytearray | memoryview | None = None,
    ) -> None:
        """Bind a view's C object to a kind and its bindings; a view makes sealers."""
        self._view = view
        self._out_params = pool
        self._kind = kind
        self._purpose = purpose = ffi.new(_PURPOSE)
        purpose.kind = kind
        # The purpose points into these buffers.
        bound: list[Any] = []
        if label is not None:
            bound.append(ffi.from_buffer(_TEXT, text("label", label)))
            purpose.label, purpose.label_len = bound[-1], len(bound[-1])
        if session_id is not None:
            bound.append(ffi.from_buffer(_TEXT, text("session_id", session_id)))
            purpose.session_id, purpose.session_id_len = bound[-1], len(bound[-1])
        if context is not None:
            bound.append(ffi.from_buffer(_BYTES, data("context", context)))
            purpose.context, purpose.context_len = bound[-1], len(bound[-1])
        self._bound = bound

    def seal(
        self,
        payload: bytes | bytearray | memoryview,
        *,
        ttl: int | None = None,
        no_expiry: bool = False,
    ) -> str:
        """Seal a payload as a new token, of generation 0.

        It expires after `ttl` seconds, or the kind's default; with `no_expiry` it lasts as long as
        its key is in the ring.
        """
        content = payload if type(payload) is bytes else data("payload", payload)
        life = NULL if ttl is None and no_expiry is False else lifetime(ttl, no_expiry=no_expiry)
        pool = self._out_params
        try:
            out_params = pool.pop()
        except IndexError:
            out_params = pool.new()
        out, capacity, written, length, _, _, error = out_params
        if _seal(
            self._view, self._purpose, life, content, len(content), out, capacity, length, error
        ):
            fail(error)
        token: str = written[: length[0]].decode()
        pool.append(out_params)
        return token

    def seal_json(self, value: Any, *, ttl: int | None = None, no_expiry: bool = False) -> str:
        """Seal a value as JSON. Raises :class:`InvalidArgument` if JSON cannot hold it."""
        return self.seal(_json.dumps("payload", value), ttl=ttl, no_expiry=no_expiry)

    def open(self, token: str, *, max_age: int | None = None) -> Opened:
        """Open a token, as it came from the client.

        With `max_age`, in seconds, a token whose session began longer ago has expired, however
        often it was renewed. Raises a :class:`Refused` for every token that is not valid here.
        """
        wire = untrusted("token", token)
        limit = NULL if max_age is None else number("max_age", max_age)
        pool = self._out_params
        try:
            out_params = pool.pop()
        except IndexError:
            out_params = pool.new()
        out, capacity, written, length, opened, told, error = out_params
        if _open(
            self._view, self._purpose, limit, wire, len(wire), out, capacity, length, opened, error
        ):
            fail(error)
        found = Opened(written[: length[0]], facts(told), self._kind)
        pool.append(out_params)
        return found

    def renew(
        self,
        opened: Opened,
        payload: bytes | bytearray | memoryview,
        *,
        ttl: int | None = None,
        no_expiry: bool = False,
    ) -> str:
        """Seal a payload in place of an opened token's.

        The start is kept, so that a maximum age holds. The generation is one more, so that a stale
        token can be recognized.
        """
        if not isinstance(opened, Opened):
            raise TypeError(f"opened: expected Opened, found {type(opened).__name__}")
        if opened._kind != self._kind:
            expected, found = map(lib.sealwax_kind_name, (self._kind, opened._kind))
            raise TypeError(
                f"opened: expected one of kind {string(expected)}, found {string(found)}"
            )
        before = ffi.new("sealwax_opened *")
        before.started_at, before.generation = opened.started_at, opened.generation
        return call_for_text(
            lib.sealwax_renew,
            self._view,
            self._purpose,
            lifetime(ttl, no_expiry=no_expiry),
            before,
            *pair(data("payload", payload)),
            capacity=self._out_params.capacity,
        )
