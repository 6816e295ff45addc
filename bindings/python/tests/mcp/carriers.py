"""The four things that a guard handles, as a client gets, keeps and presents them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mcp_types as types
from mcp.shared.exceptions import MCPError

import sealwax

if TYPE_CHECKING:
    from mcp import Client

    from sealwax.mcp import Principal

SURE: types.InputResponses = {"sure": types.ElicitResult(action="accept", content={"sure": True})}


async def outcome(answer: Any) -> dict[str, Any]:
    """Return all that a client is told: the JSON-RPC error, or the result, as it stands in JSON."""
    try:
        return plain(await answer)
    except MCPError as error:
        return {"error": plain(error.error)}


def plain(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


class RequestState:
    kind = "request-state"
    refusal = sealwax.answer("request-state")
    internal = sealwax.answer("request-state", sealwax.InternalError())

    async def good(self, client: Client) -> str:
        asked = await client.session.call_tool("ask", {"id": 7}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        assert asked.request_state is not None
        return asked.request_state

    async def present(self, client: Client, token: str | None, id: int = 7) -> dict[str, Any]:
        call = client.session.call_tool(
            "ask",
            {"id": id},
            input_responses=SURE,
            request_state=token,
            allow_input_required=True,
        )
        return await outcome(call)

    def taken(self, told: dict[str, Any]) -> bool:
        return bool(told["structuredContent"] == {"id": 7, "state": {"asked": 7, "pad": ""}})


class Cursor:
    kind = "cursor"
    refusal = sealwax.answer("cursor")
    internal = sealwax.answer("cursor", sealwax.InternalError())

    async def good(self, client: Client) -> str:
        page = await client.session.list_resources()
        assert len(page.resources) == 10
        assert page.next_cursor is not None
        return page.next_cursor

    async def present(self, client: Client, token: str | None) -> dict[str, Any]:
        params = types.PaginatedRequestParams(cursor=token)
        return await outcome(client.session.list_resources(params=params))

    def taken(self, told: dict[str, Any]) -> bool:
        return bool(told["resources"][0]["uri"] == "item:///10" and len(told["resources"]) == 10)


class Handle:
    kind = "handle"
    refusal = sealwax.answer("handle")["toolResult"]
    internal = sealwax.answer("handle", sealwax.InternalError())["toolResult"]
    mint, check, end = "mint", "check", "end"
    arguments: ClassVar[dict[str, Any]] = {}

    async def good(self, client: Client) -> str:
        made = plain(await client.call_tool(self.mint, self.arguments))["structuredContent"]
        assert made["expiresAt"].endswith("Z")
        assert len(made["expiresAt"]) == len("2026-11-21T12:00:00Z")
        handle: str = made["handle"]
        return handle

    async def present(self, client: Client, token: str | None) -> dict[str, Any]:
        arguments = {} if token is None else {"handle": token}
        return await outcome(client.call_tool(self.check, arguments))

    def taken(self, told: dict[str, Any]) -> bool:
        return len(told["structuredContent"]["ulid"]) == 32


class HandleState(Handle):
    kind = "handle-state"
    mint, check, end = "seal", "open", "end_order"
    arguments: ClassVar[dict[str, Any]] = {"items": ["tea"]}

    def taken(self, told: dict[str, Any]) -> bool:
        return bool(told["structuredContent"] == {"items": ["tea"], "generation": 0})


CARRIERS: tuple[RequestState | Cursor | Handle, ...] = (
    RequestState(),
    Cursor(),
    Handle(),
    HandleState(),
)


def view(codec: sealwax.Codec, principal: Principal) -> sealwax.View:
    return codec.view(**principal._asdict())


def altered(text: str) -> str:
    middle = len(text) // 2
    return text[:middle] + ("a" if text[middle] != "a" else "b") + text[middle + 1 :]
