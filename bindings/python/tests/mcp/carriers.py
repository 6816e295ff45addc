"""What a guard handles, as a client gets, keeps and presents it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

import sealwax
from sealwax.mcp import SESSION_META_KEY

if TYPE_CHECKING:
    from mcp import Client

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


class Carrier:
    """A kind of token, by its answers, and the tools that make and that take one."""

    def __init__(self, kind: Any, makes: str = "", takes: str = "") -> None:
        self.kind, self._makes, self._takes = kind, makes, takes
        answers = [sealwax.answer(kind), sealwax.answer(kind, sealwax.InternalError())]
        self.refusal, self.internal = (one.get("toolResult", one) for one in answers)

    async def good(self, client: Client) -> str:
        made = plain(await client.call_tool(self._makes, {}))["structuredContent"]
        assert len(made["expires_at"]) == len("2026-11-21T12:00:00Z")
        handle: str = made["handle"]
        return handle

    async def present(self, client: Client, token: str | None) -> dict[str, Any]:
        arguments = {} if token is None else {"handle": token}
        return await outcome(client.call_tool(self._takes, arguments))

    def taken(self, told: dict[str, Any]) -> bool:
        return not told.get("isError", "error" in told)

    def refused(self, told: dict[str, Any], *, internal: bool = False) -> bool:
        expected = self.internal if internal else self.refusal
        return bool({name: told.get(name) for name in expected} == expected)


class RequestState(Carrier):
    def __init__(self) -> None:
        super().__init__("request-state")

    async def good(self, client: Client) -> str:
        asked = await client.session.call_tool("ask", {"id": 7}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        assert asked.request_state is not None
        return asked.request_state

    async def present(self, client: Client, token: str | None, **arguments: Any) -> dict[str, Any]:
        more: Any = {"request_state": token, "input_responses": SURE, "allow_input_required": True}
        return await outcome(client.session.call_tool("ask", arguments or {"id": 7}, **more))


class Cursor(Carrier):
    async def good(self, client: Client) -> str:
        page = await client.session.list_resources()
        assert len(page.resources) == 10
        assert page.next_cursor is not None
        return page.next_cursor

    async def present(self, client: Client, token: str | None) -> dict[str, Any]:
        params = types.PaginatedRequestParams(cursor=token)
        return await outcome(client.session.list_resources(params=params))


STATE, CURSOR = RequestState(), Cursor("cursor")
HANDLE, HELD = Carrier("handle", "mint", "check"), Carrier("handle", "seal", "open")


class Raw(types.Result):
    """A result with all that was sent."""

    model_config = types.Result.model_config | {"extra": "allow"}


class Asked(types.Request[types.RequestParams, Any]):
    """A request of any method."""

    method: str
    params: types.RequestParams


def meta(session: Any) -> dict[str, Any]:
    return {"_meta": {SESSION_META_KEY: session}}


async def ask(client: Client, method: str, session: Any = None, **params: Any) -> dict[str, Any]:
    sent = {**params, **({} if session is None else meta(session))}
    request: Any = Asked(method=method, params=types.RequestParams.model_validate(sent))
    if method == "tools/call":
        request = types.CallToolRequest(params=types.CallToolRequestParams.model_validate(sent))
    return await outcome(client.session.send_request(request, Raw))


async def call(client: Client, tool: str, session: Any = None, **arguments: Any) -> dict[str, Any]:
    return await ask(client, "tools/call", session, name=tool, arguments=arguments)


async def created(client: Client) -> dict[str, Any]:
    session: dict[str, Any] = (await ask(client, "sessions/create"))["session"]
    assert set(session) == {"sessionId", "expiresAt", "state"}
    return session


def carried(told: dict[str, Any]) -> dict[str, Any]:
    session: dict[str, Any] = told["_meta"][SESSION_META_KEY]
    return session
