"""What is raised of a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.types import INVALID_PARAMS

from .. import InvalidArgument, Refused, SealwaxError
from .._errors import by_code
from ._sdk_types import MCPError

if TYPE_CHECKING:
    from collections.abc import Mapping


class NotAccepted(Refused):
    """Verified, but the ledger refused it.

    Its `code` says why: ``used``, ``ended``, ``revoked``, or ``unknown``, older than the ledger.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class LedgerUnavailable(SealwaxError):
    """The ledger failed to answer: an internal error, not a refusal."""

    code = "ledger_unavailable"


def why(step: Mapping[str, Any]) -> SealwaxError | None:
    """Return the last refusal of a step as an exception."""
    refused = step.get("refused")
    if not refused:
        return None
    code, message = refused[-1]["code"], refused[-1]["message"]
    if code == LedgerUnavailable.code:
        return LedgerUnavailable(message)
    if code in ("used", "ended", "revoked", "unknown"):
        return NotAccepted(message, code)
    if (known := by_code.get(code)) is not None:
        return known(message)
    # The others are of a guard: what is the server's fault there, is its ledger's.
    other = (SealwaxError if code.startswith("ledger_") else Refused)(message)
    other.code = code
    return other


def protocol_error(error: Mapping[str, Any]) -> MCPError:
    """Return a JSON-RPC error as the SDK's exception."""
    return MCPError(error["code"], error["message"], error.get("data"))


class ArgumentsRefused(InvalidArgument, MCPError):  # type: ignore[misc]  # two kinds of `code`
    """Arguments that no state can be bound to: the model hears which, in the tool's result."""

    def __init__(self, why: InvalidArgument) -> None:
        MCPError.__init__(self, INVALID_PARAMS, "Invalid params")
        self._why = str(why)
        content = [{"type": "text", "text": f"Invalid arguments. {why}"}]
        self.tool_result = {"content": content, "isError": True, "resultType": "complete"}

    def __str__(self) -> str:
        return self._why


class HandleRefused(MCPError):
    """A handle or a cursor was refused. Uncaught, it makes the fixed answer the tool's result.

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


class LinkRefused(Exception):
    """A link was refused, or the server failed.

    Its text is for the browser. Its ``__cause__`` is the :class:`sealwax.SealwaxError`, for the
    log.
    """

    #: The status for the browser: 404, or 500 if the fault is the server's.
    status: int

    def __init__(self, status: int) -> None:
        super().__init__("Not found" if status < 500 else "Internal server error")
        self.status = status
