"""The client of a call by the session of mcp 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ElicitResult, Request

from .._principal import user_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from .._caller import Caller, GuardConfig


class Elicitation(Request[dict[str, Any], Literal["elicitation/create"]]):
    """A form, with no member that only later revisions have."""

    method: Literal["elicitation/create"] = "elicitation/create"


class SdkPeer:
    """The client of a call."""

    def __init__(self, config: GuardConfig, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        # Who answers is not seen here. Over HTTP another user may know the session, unless the SDK
        # binds it to a credential, as it does where it has checked one.
        self._answers_itself = (
            ctx.request is None
            or config.principal == "anonymous"
            or isinstance(user_of(ctx), AuthenticatedUser)
        )

    @property
    def capabilities(self) -> Any:
        """What it said that it can do: in the call, or before 2026-07-28 at ``initialize``."""
        capabilities = self._ctx.session.client_capabilities
        return capabilities and capabilities.model_dump(
            by_alias=True, mode="json", exclude_none=True
        )

    @property
    def can_be_asked(self) -> bool:
        """Whether it can be sent a request while the call waits, and nobody else answers it."""
        return self._answers_itself and self._ctx.session.can_send_request

    async def elicit(self, params: Mapping[str, Any], _caller: Caller) -> Any:
        """Ask its user, on the call's own stream."""
        request: Any = Elicitation(params={**params})
        metadata = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        found = await self._ctx.session.send_request(request, ElicitResult, metadata=metadata)
        return found.model_dump(by_alias=True, mode="json", exclude_none=True)
