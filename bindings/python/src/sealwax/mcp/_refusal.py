"""What is refused: told to the server's author in full, and to the client not at all."""

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

#: What a guard handles: a token of the protocol, a handle that a model carries, or a session.
Kind: TypeAlias = Literal["request-state", "cursor", "handle-state", "handle", "session"]


class NotAccepted(Refused):
    """Verified, and then not accepted: used before, or ended.

    What the ledger said of it is the code of the :class:`Refusal`.
    """

    code = "not_accepted"


class AcceptUnavailable(SealwaxError):
    """The server could not find out whether to accept it: its own trouble, not the client's."""

    code = "accept_unavailable"


_VERDICTS: dict[str, type[SealwaxError]] = {
    **dict.fromkeys(("not_accepted", "used", "ended", "revoked", "unknown"), NotAccepted),
    **dict.fromkeys(("accept_unavailable", "ledger_unavailable"), AcceptUnavailable),
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What `on_refused` is told. It holds no token, no payload and no key.

    >>> from sealwax.mcp import Refusal
    >>> Refusal(code="expired", kind="cursor", message="expired at 1780000000").code
    'expired'
    """

    #: As in :class:`sealwax.SealwaxError`, or ``not_accepted`` or ``accept_unavailable``; of a
    #: ledger ``used``, ``ended``, ``revoked``, ``unknown``, ``stale`` or ``ledger_unavailable``.
    #: ``ledger_unconfirmed`` refuses nothing: what ended may be forgotten at a fail-over.
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


def why(step: Mapping[str, Any]) -> SealwaxError | None:
    """Return what was refused last on the way to a step, as an exception."""
    refused = step.get("refused")
    if not refused:
        return None
    code, message = refused[-1]["code"], refused[-1]["message"]
    return {**by_code, **_VERDICTS}.get(code, SealwaxError)(message)


def protocol_error(error: Mapping[str, Any]) -> MCPError:
    """Return a JSON-RPC error as the SDK has it."""
    return MCPError(error["code"], error["message"], error.get("data"))


class HandleRefused(MCPError):
    """A handle was refused: let it pass, and the tool's result is the fixed answer.

    A tool that catches it can do otherwise, such as make a new one. Its ``__cause__`` is the
    :class:`sealwax.SealwaxError`, for the log. Raised elsewhere than in a tool it is a protocol
    error with the same text. Made by a guard.

    >>> from sealwax.mcp import HandleRefused
    >>> async def basket(baskets, ctx, handle):
    ...     try:
    ...         return await baskets.check(ctx, handle)
    ...     except HandleRefused:
    ...         return await baskets.mint(ctx)
    """

    #: Nothing but the profile's answer, as it stands on the wire.
    tool_result: dict[str, Any]

    def __init__(self, reply: Mapping[str, Any]) -> None:
        error = reply["error"]
        super().__init__(error["code"], error["message"], error.get("data"))
        self.tool_result = reply["tool"]
