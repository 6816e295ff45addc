"""The client of a call by the session of mcp 2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ElicitResult, Request

from .._principal import user_of
from .boundary import members_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    from .._caller import Caller, GuardConfig


class Elicitation(Request[dict[str, Any], Literal["elicitation/create"]]):
    """A form, with no member that only later revisions have."""

    method: Literal["elicitation/create"] = "elicitation/create"


class SdkPeer:
    """The client of a call."""

    def __init__(
        self, server: Server[Any], config: GuardConfig, ctx: ServerRequestContext[Any, Any]
    ) -> None:
        self._server, self._ctx = server, ctx
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

    async def list_tools(self, params: Mapping[str, Any]) -> Any:
        """Return a page of the server's own list of tools for this client, around the guard."""
        entry = self._server.get_request_handler("tools/list")
        if entry is None:
            raise LookupError("tools/list")
        given = {**params, "_meta": (self._ctx.params or {}).get("_meta")}
        ctx = replace(self._ctx, method="tools/list", params=given)
        return members_of(await entry.handler(ctx, entry.params_type.model_validate(given)))

    async def elicit(self, params: Mapping[str, Any], _caller: Caller) -> Any:
        """Ask its user, on the call's own stream."""
        request: Any = Elicitation(params={**params})
        metadata = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        found = await self._ctx.session.send_request(request, ElicitResult, metadata=metadata)
        return found.model_dump(by_alias=True, mode="json", exclude_none=True)
