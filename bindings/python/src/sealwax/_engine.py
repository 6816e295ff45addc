"""The guard's engine: steps in the form of docs/engine.md."""

from __future__ import annotations

import json
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from . import _json
from ._errors import InvalidArgument
from ._machine import HEAD, Machine, frame, text_of
from ._native import Opaque, lib, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from . import _documents as documents
    from ._codec import Codec
    from ._documents import Step
    from ._sessions import SessionMetadata
    from ._wire import Principal, TokenFields

    #: A caller as frames have one: flags, and a principal's parts.
    Caller: TypeAlias = tuple[int, list[bytes | None]]

_decode = json.JSONDecoder().decode
_MESSAGE, _RESULT = lib.SEALWAX_MESSAGE, lib.SEALWAX_RESULT
_SEAL_STATE, _WRITE = lib.SEALWAX_SEAL_STATE, lib.SEALWAX_WRITE
_STEP, _DELIVER = lib.SEALWAX_STEP, lib.SEALWAX_DELIVER
_NOTIFICATION, _MODERN = lib.SEALWAX_FLAG_NOTIFICATION, lib.SEALWAX_FLAG_MODERN
_SESSION, _TTL = lib.SEALWAX_FLAG_SESSION, lib.SEALWAX_FLAG_TTL
_CALLER = lib.SEALWAX_FLAG_CALLER
_CAN_BE_ASKED = lib.SEALWAX_FLAG_CAN_BE_ASKED
_ABSENT: list[bytes | None] = [None, None, None]
_NOBODY: Caller = (0, _ABSENT)
_ANONYMOUS: Caller = (_CALLER | lib.SEALWAX_FLAG_ANONYMOUS, _ABSENT)
#: A client's value that is no text: it is not UTF-8.
OTHER = b"\xff"


class Told(NamedTuple):
    """The answer to a question, as JSON, or why there is none: without that, it is late."""

    value: bytes | None = None
    #: What names an error, without its text.
    threw: str | None = None
    #: What is wrong.
    wrong: str | None = None


class Client(NamedTuple):
    """The client of a call, where the guard confirms some."""

    #: Its capabilities, as JSON.
    capabilities: bytes | None
    #: ``params.inputResponses``, as JSON.
    responses: bytes | None
    #: Whether the server can send it a request while the call waits.
    can_be_asked: bool


def seconds(name: str, value: int | None) -> int | None:
    """Return a number of seconds; raise for anything else."""
    number(name, value)
    return value


def client_value(value: Any) -> documents.ClientValue | None:
    """Return a client's value as documents take it: a text, ``True`` for any other, or ``None``."""
    return True if _wire(value) is OTHER else value


def _wire(value: Any) -> bytes | None:
    """Return a client's value as frames take it."""
    try:
        return None if value is None else str.encode(value)
    except (TypeError, UnicodeEncodeError):
        return OTHER


def caller_of(principal: Principal) -> Caller:
    """Return a principal as frames have it; raise for a part that is no text."""
    parts = [*map(_wire, principal)]
    if OTHER in parts:
        at = parts.index(OTHER)
        name, found = principal._fields[at], type(principal[at]).__name__
        raise InvalidArgument(f"principal: expected {name} to be a text, found {found}")
    return _CALLER, parts


def document_of(caller: Principal | Literal["anonymous"] | None) -> Any:
    """Return a caller as a document."""
    if caller is None:
        return None
    return {"anonymous": True} if caller == "anonymous" else caller._asdict()


class Guard(Opaque):
    """The rules of a server's guard: a codec and settings."""

    __slots__ = ("_guard", "defers")

    def __init__(self, codec: Codec, settings: documents.Settings) -> None:
        given = frame(lib.SEALWAX_GUARD, (_json.dumps("settings", settings),))
        self._guard, made = Machine.new(given, codec=codec._codec)
        #: Whether the exchange of some messages may begin late.
        self.defers = bool(HEAD.unpack_from(made)[1] & lib.SEALWAX_FLAG_DEFERS)

    def message(
        self,
        method: str,
        fields: TokenFields | None = None,
        target: object = None,
        arguments: bytes | None = None,
        token: object = None,
        principal: Principal | Literal["anonymous"] | None = None,
        within_ms: int | None = None,
        notification: bool = False,
        modern: bool = False,
        session: tuple[object, object] | None = None,
        header: str | None = None,
        client: Client | None = None,
    ) -> tuple[Exchange, Step]:
        """Begin the exchange of a message at the SDK's handlers; a session is its id and state."""
        flags, parts = _NOBODY
        if principal is not None:
            flags, parts = _ANONYMOUS if principal == "anonymous" else caller_of(principal)
        flags |= notification * _NOTIFICATION | modern * _MODERN
        texts = [_wire(method), _wire(target), arguments, _wire(token), *parts]
        if session is not None or within_ms is not None or client is not None:
            sent: list[bytes | None] = _ABSENT
            if session is not None:
                flags, sent = flags | _SESSION, [*map(_wire, (header, *session))]
            texts += *sent, None if within_ms is None else b"%d" % within_ms
        if client is not None:
            flags |= client.can_be_asked * _CAN_BE_ASKED
            texts += client.capabilities, client.responses
        return Exchange.begun(frame(_MESSAGE, texts, flags), self._guard, fields)

    def report(self, fault: documents.Fault) -> documents.Refused:
        """Return the entry of the log for a mistake that this side found."""
        given = frame(lib.SEALWAX_REPORT, (_json.document(fault),))
        entry: documents.Refused = _decode(text_of(Machine.new(given, self._guard)[1]))
        return entry

    def revoke(
        self, principal: documents.PrincipalParts, retain_for: int | None
    ) -> tuple[Exchange, Step]:
        """Begin the exchange that revokes whatever a principal was issued until now."""
        period = seconds("retain_for", retain_for)
        digits = None if period is None else b"%d" % period
        given = frame(lib.SEALWAX_REVOCATION, (_json.document(principal), digits))
        return Exchange.begun(given, self._guard)

    def link(self, operation: documents.HandleOp) -> tuple[Exchange, Step]:
        """Begin the exchange that opens a link."""
        return Exchange.begun(frame(lib.SEALWAX_HANDLE, (_json.document(operation),)), self._guard)

    def id_in_use(self) -> Step:
        """Return the answer to a request whose id another in progress has."""
        given = frame(lib.SEALWAX_INVALID, (), lib.SEALWAX_FLAG_ID_IN_USE)
        exchange, step = Exchange.begun(given, self._guard)
        exchange.free()
        return step

    def http(self, method: str, *headers: bytes | None) -> tuple[Exchange, Step]:
        """Begin the exchange of an HTTP request; of several headers of a name, :data:`OTHER`."""
        return Exchange.begun(frame(lib.SEALWAX_HTTP, (_wire(method), *headers)), self._guard)

    def connection(self) -> Connection:
        """Begin a connection on stdio."""
        return Connection.new(frame(lib.SEALWAX_CONNECTION), self._guard)[0]


class Connection(Machine):
    """The connection of one client on stdio."""

    __slots__ = ()

    def line(self, line: bytes) -> tuple[Exchange, Step]:
        """Begin the exchange of a line of the client's."""
        return Exchange.begun(frame(lib.SEALWAX_LINE, (line,)), self)

    def leaves(self, message: bytes, of: bytes | None) -> tuple[Exchange, Step]:
        """Begin the exchange of a message of the SDK's, for the request with an id, as JSON."""
        began = perf_counter_ns()
        exchange, step = Exchange.begun(frame(lib.SEALWAX_LEAVES, (message, of)), self)
        exchange.began = began
        return exchange, step


class Exchange(Machine):
    """One message, from its arrival to its answer."""

    __slots__ = ("beside",)

    #: What belongs to the last step, on HTTP and stdio: bytes for the SDK, or for the client.
    beside: bytes | None

    @classmethod
    def begun(
        cls, given: bytes, parent: Machine, fields: TokenFields | None = None
    ) -> tuple[Exchange, Step]:
        """Begin one by a frame; return it and its first step."""
        exchange, answer = cls.new(given, parent)
        return exchange, exchange._step(answer, fields)

    def told(self, told: Told) -> Step:
        """Give the answer to what was asked; return the next step."""
        texts = told.value, _wire(told.threw), _wire(told.wrong)
        return self._step(self.tell(frame(lib.SEALWAX_TOLD, texts)))

    def on(self, event: documents.Event) -> Step:
        """Report what became of a delivered message; return the next step."""
        return self._step(self.tell(frame(lib.SEALWAX_EVENT, (_json.document(event),))))

    def body(self, body: bytes | None) -> Step:
        """Give the body of the request, ``None`` for one that is too large."""
        flags = (body is None) * lib.SEALWAX_FLAG_TOO_LARGE
        return self._step(self.tell(frame(lib.SEALWAX_BODY, (body,), flags)))

    def answer(self, status: int, *headers: bytes | None) -> bool:
        """Give the head of the answer; return whether its body passes here."""
        made = self.tell(frame(lib.SEALWAX_ANSWER, (b"%d" % status, *headers)))
        return bool(HEAD.unpack_from(made)[1] & lib.SEALWAX_FLAG_CHANGES)

    def piece(self, piece: bytes) -> bytes:
        """Give a piece of the answer's body; return what can be sent."""
        return self.tell(frame(lib.SEALWAX_PIECE, (piece,)))[HEAD.size :]

    def answered(self) -> Step:
        """Say that the answer is whole."""
        self.began = perf_counter_ns()
        return self._step(self.tell(frame(lib.SEALWAX_ANSWERED)))

    def result(
        self, result: Mapping[str, Any], fields: TokenFields | None, *, whole: bool | None = False
    ) -> Step:
        """Report the result of a delivered message, the whole if asked; return the next step."""
        self.began = perf_counter_ns()
        token = None if fields is None else result.get(fields.result)
        texts = [_wire(result.get("resultType")), _wire(result.get("cacheScope")), _wire(token)]
        if whole:
            texts.append(_json.document(result))
        has_ttl = result.get("ttlMs") is not None
        return self._step(self.tell(frame(_RESULT, texts, has_ttl * _TTL)), fields)

    def fork(self) -> SessionMetadata:
        """Return the metadata of a new session."""
        metadata: SessionMetadata = _decode(text_of(self.tell(frame(lib.SEALWAX_FORK))))
        return metadata

    def write(self, value: bytes) -> None:
        """Write the session's value, as JSON."""
        self.tell(frame(_WRITE, (value,)))

    def seal_state(self, value: bytes) -> str:
        """Return the token of the next ``requestState``, a value as JSON."""
        return text_of(self.tell(frame(_SEAL_STATE, (value,))))

    def idempotency_key(self) -> str:
        """Return the request's key for another service."""
        return text_of(self.tell(frame(lib.SEALWAX_IDEMPOTENCY_KEY)))

    def handle(
        self, operation: documents.HandleOp, value: bytes | None = None
    ) -> tuple[Exchange, Step]:
        """Begin the exchange of one operation on a handle."""
        began = perf_counter_ns()
        given = frame(lib.SEALWAX_HANDLE, (_json.document(operation), value))
        with self._lock:
            exchange, step = Exchange.begun(given, self)
        exchange.began = began
        return exchange, step

    def _step(self, answer: bytes, fields: TokenFields | None = None) -> Step:
        """Return an answer as a step."""
        kind, _, length, more = HEAD.unpack_from(answer)
        text: Any = None
        end = HEAD.size
        if length >= 0:
            end += length
            text = answer[HEAD.size : end].decode()
        step: Any
        if kind == _STEP:
            self.beside = None if more < 0 else answer[end:]
            step = _decode(text)
            return step  # type: ignore[no-any-return]
        member = fields and fields.result
        if kind == _DELIVER:
            step = {"step": "deliver", "opened": text, "report": member}
        else:
            step = {"step": "respond", "set": text and [((member,), text)]}
        if more >= 0:
            step["events"] = _decode(answer[end:].decode())
        return step  # type: ignore[no-any-return]
