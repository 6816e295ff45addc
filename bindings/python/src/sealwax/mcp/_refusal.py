"""What is raised of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError

from .. import Refused, SealwaxError
from .._errors import by_code

if TYPE_CHECKING:
    from collections.abc import Mapping


class NotAccepted(Refused):
    """Verified, but not accepted: used before, or ended.

    The code of the :class:`sealwax.mcp.Refusal` has the ledger's reason.
    """

    code = "not_accepted"


class AcceptUnavailable(SealwaxError):
    """`accept` or the ledger failed to answer: an internal error, not a refusal."""

    code = "accept_unavailable"


_VERDICTS: dict[str, type[SealwaxError]] = {
    **dict.fromkeys(("not_accepted", "used", "ended", "revoked", "unknown"), NotAccepted),
    **dict.fromkeys(("accept_unavailable", "ledger_unavailable"), AcceptUnavailable),
}


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
