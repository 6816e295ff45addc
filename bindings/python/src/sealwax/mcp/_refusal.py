"""Refusals: reported in full to the server's author, and never to the client."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mcp.shared.exceptions import MCPError

from .. import Principal, Refused, SealwaxError
from .._errors import by_code

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger("sealwax.mcp")

#: The kinds of things that a guard checks.
Kind: TypeAlias = Literal["request-state", "cursor", "handle-state", "handle", "session"]


class NotAccepted(Refused):
    """Verified, but not accepted: used before, or ended.

    The code of the :class:`Refusal` has the ledger's reason.
    """

    code = "not_accepted"


class AcceptUnavailable(SealwaxError):
    """`accept` or the ledger failed to answer: an internal error, not a refusal."""

    code = "accept_unavailable"


_VERDICTS: dict[str, type[SealwaxError]] = {
    **dict.fromkeys(("not_accepted", "used", "ended", "revoked", "unknown"), NotAccepted),
    **dict.fromkeys(("accept_unavailable", "ledger_unavailable"), AcceptUnavailable),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The argument of `on_refused`. It holds no token, no payload and no key.

    >>> from sealwax.mcp import Refusal
    >>> Refusal(code="expired", kind="cursor", message="expired at 1780000000").code
    'expired'
    """

    #: A code of :class:`sealwax.SealwaxError`, or ``not_accepted`` or ``accept_unavailable``;
    #: ``invalid_request`` for arguments that no ``requestState`` can be bound to;
    #: ``unauthenticated`` if `principal` returned ``None``; from a ledger ``used``, ``ended``,
    #: ``revoked``, ``unknown``, ``stale`` or ``ledger_unavailable``.
    #: ``ledger_unconfirmed`` is only a warning: a fail-over may lose the record of an end.
    code: str
    #: The kind of what was refused.
    kind: Kind
    #: The reason, for the operator.
    message: str
    #: The id of a sealed token; unverified unless the code is ``not_accepted`` or
    #: ``accept_unavailable``. The ulid of a handle or a data-layer session, once verified.
    token_id: str | None = None
    #: The caller; ``None`` if not resolved, or anonymous.
    principal: Principal | None = None
    #: The method of the message.
    method: str | None = None
    #: The tool, prompt or resource; a client may have invented it, of at most 1,024 bytes.
    target: str | None = None


#: Called at once with every refusal: a plain function that does not wait.
OnRefused: TypeAlias = Callable[[Refusal], None]


def report(hook: OnRefused | None, refusal: Refusal) -> None:
    """Log a refusal, and call the author's hook; a failure of the hook is logged."""
    caller = refusal.principal
    circumstances = {
        "method": refusal.method,
        "target": refusal.target,
        "principal": caller and (caller.subject or caller.client),
        "token id": refusal.token_id,
    }
    # Others chose these texts.
    known = [f"{name} {text[:64]!a}" for name, text in circumstances.items() if text]
    said = f"{refusal.message} ({', '.join(known)})" if known else refusal.message
    logger.warning("%s: %s: %s", refusal.kind, refusal.code, said)
    if hook is None:
        return
    try:
        hook(refusal)
    except Exception:
        logger.exception("on_refused raised")


def why(step: Mapping[str, Any]) -> SealwaxError | None:
    """Return the last refusal of a step as an exception."""
    refused = step.get("refused")
    if not refused:
        return None
    code, message = refused[-1]["code"], refused[-1]["message"]
    return {**by_code, **_VERDICTS}.get(code, SealwaxError)(message)


def protocol_error(error: Mapping[str, Any]) -> MCPError:
    """Return a JSON-RPC error as the SDK's exception."""
    return MCPError(error["code"], error["message"], error.get("data"))


class HandleRefused(MCPError):
    """A handle was refused. Uncaught, it makes the fixed answer the tool's result.

    A tool may catch it, for example to make a new handle. Its ``__cause__`` is the
    :class:`sealwax.SealwaxError`, for the log. Outside of a tool it becomes a protocol error with
    the same text.

    >>> from sealwax.mcp import HandleRefused
    >>> async def basket(baskets, ctx, handle):
    ...     try:
    ...         return await baskets.check(ctx, handle)
    ...     except HandleRefused:
    ...         return await baskets.mint(ctx)
    """

    #: The profile's fixed answer, as sent.
    tool_result: dict[str, Any]

    def __init__(self, reply: Mapping[str, Any]) -> None:
        error = reply["error"]
        super().__init__(error["code"], error["message"], error.get("data"))
        self.tool_result = reply["tool"]
