"""What is refused: told to the server's author in full, and to the client not at all."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from .. import InternalError, Principal, Refused, SealwaxError, answer, inspect

logger = logging.getLogger("sealwax.mcp")

#: What a guard handles: a token of the protocol, a handle that a model carries, or a session.
Kind: TypeAlias = Literal["request-state", "cursor", "handle-state", "handle", "session"]


class NotAccepted(Refused):
    """Verified, and then not accepted: used before, or ended."""

    code = "not_accepted"


class AcceptUnavailable(SealwaxError):
    """The server could not find out whether to accept it: its own trouble, not the client's."""

    code = "accept_unavailable"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What `on_refused` is told. It holds no token, no payload and no key.

    >>> from sealwax.mcp import Refusal
    >>> Refusal(code="expired", kind="cursor", message="expired at 1780000000").code
    'expired'
    """

    #: As in :class:`sealwax.SealwaxError`, or ``not_accepted`` or ``accept_unavailable``.
    code: str
    #: What was refused.
    kind: Kind
    #: Why, for the operator.
    message: str
    #: Of a sealed token, if it was one; unverified unless the code is ``not_accepted`` or
    #: ``accept_unavailable``. Of a handle or a data-layer session, its ulid, once verified.
    token_id: str | None = None
    #: Who presented it; ``None`` where that is not known, or anonymous.
    principal: Principal | None = None


#: Told of every refusal, at once: a plain function that does not wait.
OnRefused: TypeAlias = Callable[[Refusal], None]


def report(hook: OnRefused | None, refusal: Refusal) -> None:
    """Tell the log and the author's hook, whose failure is its own."""
    known = f" (token id {refusal.token_id})" if refusal.token_id else ""
    logger.warning("%s: %s: %s%s", refusal.kind, refusal.code, refusal.message, known)
    if hook is None:
        return
    try:
        hook(refusal)
    except Exception:
        logger.exception("on_refused raised")


def token_id(token: object) -> str | None:
    """Return the id that a refused text claims, if it is a token at all."""
    try:
        return inspect(token).token_id if isinstance(token, str) else None
    except SealwaxError:
        return None


def protocol_error(kind: Kind, *, refused: bool) -> MCPError:
    """Return the one answer to what was refused under a JSON-RPC method, or failed here."""
    return _error(_answer(kind, refused=refused))


def session_error(session_id: object, *, refused: bool) -> MCPError:
    """Return the one answer to a data-layer session that was refused, or failed here."""
    echoed = session_id if isinstance(session_id, str) else None
    error = None if refused else InternalError()
    return _error(answer("data-layer", error, session_id=echoed))


def session_required() -> MCPError:
    """Return the answer to a request that needs a data-layer session and has none."""
    return _error(answer("data-layer-required"))


def _error(told: dict[str, Any]) -> MCPError:
    error = told["error"]
    return MCPError(error["code"], error["message"], error.get("data"))


class HandleRefused(MCPError):
    """A handle was refused: let it pass, and the tool's result is the fixed answer.

    A tool that catches it can do otherwise, such as make a new one. Its ``__cause__`` is the
    :class:`sealwax.SealwaxError`, for the log. Raised elsewhere than in a tool it is a protocol
    error with the same text.

    >>> from sealwax.mcp import HandleRefused
    >>> result = HandleRefused().tool_result
    >>> result["isError"], result["content"][0]["text"][:24]
    (True, 'This handle is not valid')
    """

    #: Nothing but the profile's answer, as it stands on the wire.
    tool_result: dict[str, Any]

    def __init__(self, *, refused: bool = True) -> None:
        self.tool_result = _answer("handle", refused=refused)["toolResult"]
        code = INVALID_PARAMS if refused else INTERNAL_ERROR
        super().__init__(code, self.tool_result["content"][0]["text"])


def _answer(kind: Kind, *, refused: bool) -> dict[str, Any]:
    profile: Literal["handle", "request-state", "cursor"]
    assert kind != "session", "what a refused session is answered depends on the protocol"
    profile = "handle" if kind == "handle-state" else kind
    return answer(profile) if refused else answer(profile, InternalError())
