"""What FastMCP needs: exceptions, and confirmations of calls that come by another server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware

from ... import InvalidArgument
from .._hooks import report_error
from .._refusal import HandleRefused
from .exchange import exchange_of

if TYPE_CHECKING:
    from .._options import GuardConfig


class FastMCPHandleRefused(HandleRefused, ToolError):
    """A refused handle, which FastMCP turns into a tool result of its text alone."""


class Confirmed(Middleware):
    """Lets no tool run by a way on which the guard confirms none, such as a server's mount."""

    def __init__(self, config: GuardConfig) -> None:
        self._config = config

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Serve one call, of whatever server."""
        tool, questions = context.message.name, self._config.questions
        called = self._called(context)
        is_unseen = self._config.confirms_destructive and called is None
        if is_unseen or (tool in questions and called not in questions):
            report_error(
                self._config,
                f"confirm {tool!r}: expected a call by its own server, which the guard confirms, "
                "found one by another, such as one that it is mounted in: protect that, and "
                "confirm the tool by its name there",
            )
            raise ToolError(f"{tool} was not run: it needs the user's consent.")
        return await call_next(context)

    def _called(self, context: Any) -> object:
        """Return the tool that the client called, if the guard serves the call."""
        try:
            return exchange_of(self._config, context.fastmcp_context).target
        except InvalidArgument:
            return None
