"""The guard's engine: documents in and documents out, in the form of docs/engine.md."""

from __future__ import annotations

import json
from functools import lru_cache
from threading import Lock
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import _json
from ._errors import InvalidArgument
from ._native import NULL, Opaque, call, call_for_text, fail, ffi, lib, number, own, pair, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ._codec import Codec
    from ._documents import (
        ClientSession,
        ClientValue,
        Event,
        Fault,
        HandleOp,
        Message,
        PrincipalParts,
        Refused,
        Settings,
        Step,
    )
    from ._documents import TransportMessage as Transport
    from ._sessions import SessionMetadata
    from ._wire import Principal, TokenFields

    #: The outcome of a step, and a value beside it as JSON.
    Outcome: TypeAlias = tuple[Event, bytes | None]

_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode
_text = json.encoder.encode_basestring_ascii
#: The outputs of a call: the exchange it begins, what is next, its text, the text's length, and the
#: error.
_OutParams: TypeAlias = "tuple[Any, Any, Any, Any, Any]"
_ABSENT: tuple[Any, int] = (NULL, 0)
#: The parts of a `Principal`.
_PARTS = ("issuer", "client", "subject")
_NOBODY, _ANONYMOUS = (NULL, None), (ffi.new("sealwax_caller *", {"anonymous": True}), None)
_NOTIFICATION, _MODERN = lib.SEALWAX_NOTIFICATION, lib.SEALWAX_MODERN
_STEP, _DELIVER = lib.SEALWAX_NEXT_STEP, lib.SEALWAX_NEXT_DELIVER
_request, _result, _free = (
    lib.sealwax_guard_request,
    lib.sealwax_exchange_result,
    lib.sealwax_exchange_free,
)
#: The free ones. `pop` and `append` are atomic, as those of `Pool` are.
_out_params: list[_OutParams] = []


def seconds(name: str, value: int | None) -> int | None:
    """Return a number of seconds; raise for anything else."""
    number(name, value)
    return value


def client_value(value: object) -> ClientValue | None:
    """Return a client's value as documents take it: a text, ``True`` for any other, or ``None``."""
    if value is None:
        return None
    if not isinstance(value, str):
        return True
    if not value.isascii():
        try:
            str.encode(value)
        except UnicodeEncodeError:
            return True
    return value


def _wire(value: object) -> tuple[Any, int]:
    """Return a client's value as C takes it: bytes that are not UTF-8 for what is no text."""
    if value is None:
        return _ABSENT
    try:
        wire = str.encode(value) if isinstance(value, str) else b"\xff"
    except UnicodeEncodeError:
        wire = b"\xff"
    return wire, len(wire)


def caller_of(principal: Principal) -> tuple[Any, Any]:
    """Return a principal as C takes it, and the texts in it; raise for a part that is no text."""
    parts: list[str | None] = []
    for name, part in zip(_PARTS, principal, strict=True):
        if part is not None and client_value(part) is not part:
            raise InvalidArgument(
                f"principal: expected {name} to be a text, found {type(part).__name__}"
            )
        # The text of another class may be equal to that of another caller.
        parts.append(part if part is None or type(part) is str else plain(name, part))
    return _caller_of(*parts)


@lru_cache(maxsize=64)
def _caller_of(*parts: str | None) -> tuple[Any, Any]:
    caller, texts = ffi.new("sealwax_caller *"), []
    for name, part in zip(_PARTS, parts, strict=True):
        if part is None:
            continue
        texts.append(ffi.from_buffer("char[]", str.encode(part)))
        setattr(caller, name, texts[-1])
        setattr(caller, f"{name}_len", len(texts[-1]))
    return caller, texts


def document_of(caller: Principal | Literal["anonymous"] | None) -> Any:
    """Return a caller as a document."""
    if caller is None:
        return None
    return {"anonymous": True} if caller == "anonymous" else caller._asdict()


class Guard(Opaque):
    """The rules of a server's guard: a codec and settings."""

    __slots__ = ("_events", "_guard", "defers")

    def __init__(self, codec: Codec, settings: Settings) -> None:
        written = pair(_json.dumps("settings", settings))
        self._guard = own("sealwax_guard", lib.sealwax_guard_new, codec._codec, *written)
        self._events = bool(settings.get("events"))
        #: Whether the exchange of some messages may begin late.
        self.defers: bool = lib.sealwax_guard_defers(self._guard)

    def request(
        self,
        method: str,
        fields: TokenFields | None,
        target: object,
        arguments: bytes | None,
        token: object,
        principal: Principal | Literal["anonymous"] | None,
        within_ms: int | None,
        notification: bool,
        modern: bool,
        session: ClientSession | None = None,
        header: str | None = None,
    ) -> tuple[Exchange, Step]:
        """Begin the exchange of a message, without a document unless it has a session."""
        if session is not None:
            named = client_value(target)
            document: Message = {
                "method": method if client_value(method) is method else "",
                "target": None if named is True else named,
                "token": client_value(token),
                "notification": notification,
                "modern": modern,
                "session": session,
                "header": header,
                "principal": document_of(principal),
                "withinMs": within_ms,
            }
            return self.message(document, arguments)
        caller: tuple[Any, Any] = _NOBODY
        if principal is not None:
            caller = _ANONYMOUS if principal == "anonymous" else caller_of(principal)
        out_params = _new_out_params()
        out, kind, text, length, error = out_params
        if _request(
            self._guard,
            *_wire(method),
            *_wire(target),
            *(_ABSENT if arguments is None else (arguments, len(arguments))),
            *(_ABSENT if token is None else _wire(token)),
            caller[0],
            NULL if within_ms is None else number("within_ms", within_ms),
            notification * _NOTIFICATION | modern * _MODERN,
            *out_params,
        ):
            fail(error)
        exchange = Exchange(out[0], self._events)
        next_is = kind[0]
        step = _next(next_is, text[0], length, fields)
        _out_params.append(out_params)
        return exchange, exchange.with_events(next_is, step)

    def message(self, document: Message, arguments: bytes | None = None) -> tuple[Exchange, Step]:
        """Begin the exchange of a message at the SDK's handlers."""
        begun = _begun(lib.sealwax_guard_message, self._guard, document, *pair(arguments))
        begun[0]._events = self._events
        return begun

    def report(self, fault: Fault) -> Refused:
        """Return the entry of the log for a mistake that this side found."""
        written = _write(fault)
        # The line holds at most 820 characters of others, which take 14 bytes each.
        capacity = len(written) + 16384
        entry: Refused = _decode(
            call_for_text(
                lib.sealwax_guard_report, self._guard, written, len(written), capacity=capacity
            )
        )
        return entry

    def revoke(self, principal: PrincipalParts, retain_for: int | None) -> tuple[Exchange, Step]:
        """Begin the exchange that revokes whatever a principal was issued until now."""
        return _begun(lib.sealwax_guard_revoke, self._guard, principal, retain_for or 0)

    def transport(
        self, document: Transport, initialize: bytes | None = None
    ) -> tuple[Exchange, Step]:
        """Begin the exchange of a message around HTTP or stdio."""
        begun = _begun(lib.sealwax_guard_transport, self._guard, document, *pair(initialize))
        begun[0]._events = self._events
        return begun


class Exchange(Opaque):
    """One message, from its arrival to its answer. Threads may share it until it is freed."""

    __slots__ = ("_events", "_exchange", "_lock", "began")

    def __init__(self, exchange: Any, events: bool = False) -> None:
        """Take ownership of the C object; a guard makes exchanges."""
        self._exchange, self._events = exchange, events
        #: When the handler's result or operation came, if events are wanted, in nanoseconds.
        self.began = 0
        # A text is valid until the next call on the exchange, and cffi releases the GIL.
        self._lock = Lock()

    def on(self, event: Event, value: bytes | None = None) -> Step:
        """Report the outcome of the last step; return the next step."""
        if self._events and "result" in event:
            self.began = perf_counter_ns()
        written = _write(event)
        return _read(self._text(lib.sealwax_exchange_on, written, len(written), *pair(value)))

    def result(self, result: Mapping[str, Any], fields: TokenFields | None) -> Step:
        """Report the result of a delivered message; return the next step."""
        if self._events:
            self.began = perf_counter_ns()
        member = None if fields is None else fields.result
        token = None if member is None else result.get(member)
        out_params = _new_out_params()
        _, kind, text, length, error = out_params
        with self._lock:
            if _result(
                self._living(),
                *_wire(result.get("resultType")),
                *_wire(result.get("cacheScope")),
                *_wire(token),
                result.get("ttlMs") is not None,
                *out_params[1:],
            ):
                fail(error)
            next_is = kind[0]
            step = _next(next_is, text[0], length, fields)
        _out_params.append(out_params)
        return self.with_events(next_is, step)

    def with_events(self, kind: int, step: Step) -> Step:
        """Return a step with its events, which one without a document does not hold."""
        has_text = step.get("opened") is not None or "result" in step
        if self._events and has_text and kind != _STEP:
            step["events"] = _decode(self._text(lib.sealwax_exchange_events).decode())
        return step

    def fork(self) -> SessionMetadata:
        """Return the metadata of a new session."""
        metadata: SessionMetadata = _decode(self._text(lib.sealwax_exchange_fork).decode())
        return metadata

    def write(self, value: bytes) -> None:
        """Write the session's value, as JSON."""
        with self._lock:
            call(lib.sealwax_exchange_write, self._living(), *pair(value))

    def update(self, value: bytes) -> None:
        """Write the session's value as its update functions made it, as JSON."""
        with self._lock:
            call(lib.sealwax_exchange_update, self._living(), *pair(value))

    def seal_state(self, value: bytes) -> str:
        """Return the token of the next ``requestState``, a value as JSON."""
        return self._text(lib.sealwax_exchange_seal_state, *pair(value)).decode()

    def handle(self, operation: HandleOp, value: bytes | None = None) -> tuple[Exchange, Step]:
        """Begin the exchange of one operation on a handle."""
        began = perf_counter_ns() if self._events else 0
        with self._lock:
            begun = _begun(lib.sealwax_exchange_handle, self._living(), operation, *pair(value))
        begun[0].began = began
        return begun

    def free(self) -> None:
        """Free it; this cancels it at any step."""
        with self._lock:
            exchange, self._exchange = self._exchange, None
        if exchange is not None:
            _free(exchange)

    def __del__(self, free: Callable[[Any], None] = _free) -> None:
        if self._exchange is not None:
            free(self._exchange)

    def _text(self, function: Callable[..., int], *arguments: Any) -> bytes:
        out_params = _new_out_params()
        with self._lock:
            if function(self._living(), *arguments, *out_params[2:]):
                fail(out_params[4])
            text: bytes = ffi.unpack(out_params[2][0], out_params[3][0])
        _out_params.append(out_params)
        return text

    def _living(self) -> Any:
        if self._exchange is None:
            raise InvalidArgument(
                "expected a request that is being served, found one that was answered or cancelled"
            )
        return self._exchange


def _new_out_params() -> _OutParams:
    try:
        return _out_params.pop()
    except IndexError:
        return (
            ffi.new("sealwax_exchange **"),
            ffi.new("int32_t *"),
            ffi.new("const char **"),
            ffi.new("size_t *"),
            ffi.new("sealwax_error *"),
        )


def _begun(
    function: Callable[..., int], of: Any, document: object, *more: Any
) -> tuple[Exchange, Step]:
    out_params = _new_out_params()
    written = _write(document)
    if function(of, written, len(written), *more, out_params[0], *out_params[2:]):
        fail(out_params[4])
    exchange = Exchange(out_params[0][0])
    text = ffi.unpack(out_params[2][0], out_params[3][0])
    _out_params.append(out_params)
    return exchange, _read(text)


def _write(document: object) -> bytes:
    return _member(document).encode()


def _member(value: Any) -> str:
    """Return a member of a document as JSON: json.dumps takes 3 µs, this takes 1."""
    if type(value) is str:
        return _text(value)
    if type(value) is dict:
        # An absent member, null and false mean the same.
        kept = [
            f'"{name}":{_member(one)}'
            for name, one in value.items()
            if one is not None and one is not False
        ]
        return f"{{{','.join(kept)}}}"
    return "true" if value is True else _encode(value)


def _read(text: bytes) -> Step:
    step: Step = _decode(text.decode())
    return step


def _next(kind: int, text: Any, length: Any, fields: TokenFields | None) -> Step:
    """Return what is next as a step."""
    said = ffi.unpack(text, length[0]) if text else None
    if said is not None and kind == _STEP:
        return _read(said)
    told = None if said is None else said.decode()
    step: Any = {"step": "respond"}
    if kind == _DELIVER:
        step = {"step": "deliver", "opened": told, "report": fields and fields.result}
    elif told is not None and fields is not None:
        step["result"] = {fields.result: told}
    return step  # type: ignore[no-any-return]
