"""What a guard tells its author of each token, and the log of each refusal: the client never."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from pydantic.alias_generators import to_camel

from .. import InvalidArgument, Principal
from .._cause import named
from .._log import write

if TYPE_CHECKING:
    from .. import _documents as documents
    from .._engine import Guard as Engine

logger = logging.getLogger("sealwax.mcp")
_LEVELS = {"warn": logging.WARNING, "error": logging.ERROR}

#: The kinds of things that a guard checks.
Kind: TypeAlias = Literal["request-state", "cursor", "handle-state", "handle", "link", "session"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The argument of `on_refused`. It holds no token, no payload and no key.

    >>> from sealwax.mcp import Refusal
    >>> Refusal(code="expired", kind="cursor", message="expired at 1780000000").code
    'expired'
    """

    #: A code of :class:`sealwax.SealwaxError`; ``invalid_request`` for arguments that no
    #: ``requestState`` can be bound to; ``unauthenticated`` if `principal` returned ``None``; from
    #: a ledger ``used``, ``ended``, ``revoked``, ``unknown``, ``stale`` or ``ledger_unavailable``.
    #: ``ledger_unconfirmed`` is only a warning: a fail-over may lose the record of an end.
    code: str
    #: The kind of what was refused.
    kind: Kind
    #: The reason, for the operator.
    message: str
    #: ``error`` for a fault of the service or its store.
    level: Literal["warn", "error"] = "warn"
    #: When it was refused, such as ``2026-07-28T12:00:00.000Z``.
    time: str = ""
    #: The id of a sealed token; unverified unless the ledger refused it. The ulid of a handle or a
    #: data-layer session, once verified.
    id: str | None = None
    #: The caller; ``None`` if not resolved, or anonymous.
    principal: Principal | None = None
    #: The method of the message.
    method: str | None = None
    #: Whether the method is none of the protocol's: a client may have made it up.
    custom_method: bool = False
    #: The tool, prompt or resource; a client may have invented it, of at most 1,024 bytes.
    target: str | None = None


class TokenEvent(NamedTuple):
    """The argument of `on_event`: what happened to a token that was not refused.

    >>> from sealwax.mcp import TokenEvent
    >>> TokenEvent(event="opened", kind="cursor", micros=40, key_id="cafe0123", age=7).age
    7
    """

    #: ``opened`` passed every check, that of the ledger too; ``sealed`` is in an
    #: answer; ``ended`` and ``revoked`` are recorded.
    event: Literal["opened", "sealed", "ended", "revoked"]
    #: The kind of token.
    kind: Kind
    #: The microseconds since its message, or the handler's result or call, came to the guard, with
    #: what `principal` and the ledger took.
    micros: int
    #: The id of the key, 8 hex digits; ``None`` for a handle whose state the server keeps.
    key_id: str | None = None
    #: The token id, or the ulid of a handle or a data-layer session, in hex digits.
    id: str | None = None
    #: How many seconds ago an opened one was issued.
    age: int | None = None
    #: The caller; ``None`` for an anonymous one.
    principal: Principal | None = None
    #: The method of the message.
    method: str | None = None
    #: Whether the method is none of the protocol's: a client may have made it up.
    custom_method: bool = False
    #: The tool, prompt or resource, as the client named it.
    target: str | None = None


#: The members of each, by the engine's names.
_KEYS: dict[type, list[tuple[str, str]]] = {
    of: [(name, to_camel(name)) for name in of.__annotations__] for of in (Refusal, TokenEvent)
}

#: Called at once with every refusal: a plain function that does not wait.
OnRefused: TypeAlias = Callable[[Refusal], None]
#: Called at once with every event: a plain function that does not wait.
OnEvent: TypeAlias = Callable[[TokenEvent], None]


class Listener(Protocol):
    """Where a guard reports to."""

    on_refused: OnRefused | None
    on_event: OnEvent | None
    #: Words what this side finds, and serves what comes by no message.
    engine: Engine


def report(listener: Listener, entry: documents.Refused) -> None:
    """Log a refusal, and tell the author's hook."""
    _log(entry)
    if (hook := listener.on_refused) is not None:
        _call(listener, "on_refused", hook, Refusal(**_members(Refusal, entry)))


def observe(listener: Listener, event: documents.TokenEvent, micros: int) -> None:
    """Tell the author's hook of an event."""
    if (hook := listener.on_event) is not None:
        told = TokenEvent(micros=micros, **_members(TokenEvent, event))
        _call(listener, "on_event", hook, told)


def report_error(listener: Listener, message: str) -> None:
    """Report a mistake of the author's that the engine did not see."""
    report(listener, listener.engine.report(_fault(message)))


def _call(listener: Listener, name: str, hook: Callable[[Any], None], told: object) -> None:
    try:
        hook(told)
    except (GeneratorExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        expected = f"{name}: expected a function that does not raise, found {named(error)}"
        _log(listener.engine.report(_fault(expected)), error)


def _log(entry: documents.Refused, error: BaseException | None = None) -> None:
    fields = {name: value for name, value in entry.items() if name != "line"}
    write(logger, _LEVELS[entry["level"]], entry["line"], fields, error)


def _fault(message: str) -> documents.Fault:
    return {"code": InvalidArgument.code, "kind": "session", "message": message}


def _members(of: type, entry: Any) -> dict[str, Any]:
    """Return what a hook gets of an entry, by the names in Python."""
    members = {name: entry[key] for name, key in _KEYS[of] if entry.get(key) is not None}
    parts = entry.get("issuer"), entry.get("client"), entry.get("subject")
    return {**members, "principal": Principal(*parts) if any(parts) else None}
