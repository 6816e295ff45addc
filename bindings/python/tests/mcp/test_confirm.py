"""A tool that runs only for a confirmed call, with official clients."""

from __future__ import annotations

from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import shop
import wire
from carriers import plain
from fastmcp import Client as FastMCPClient
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from guarded import KEYS
from mcp import Client
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from starlette.responses import Response

from sealwax import InvalidArgument
from sealwax.mcp import Guard, Principal, principal_from_access_token
from sealwax.mcp._handler.servers import low_level

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio

MODES = ("2026-07-28", "legacy")
#: A server in memory, and over HTTP, where users have tokens.
SYSTEMS = ("memory", "mcpserver", "fastmcp")
PRINCIPALS: dict[str, Any] = {
    **dict.fromkeys(SYSTEMS, principal_from_access_token),
    "memory": "anonymous",
}
DECLINED = "The user declined. move_note was not run. Do not try again unless the user asks for it."
UNASKED = (
    "move_note was not run: it needs the user's consent, and this client did not ask for it. Tell "
    "the user to use a client that supports elicitation."
)


def make_guard(**more: Any) -> Guard:
    """Return a guard that confirms both tools of :class:`Notes`."""
    guard = Guard(**{"codec": shop.codec(KEYS), "principal": "anonymous", **more})
    guard.confirm("delete_note", "Delete note {id}?")

    @guard.confirm("move_note")
    async def _(id: int, to: str, **_more: object) -> str:
        return f"Move note {id} to {to}?"

    return guard


class Notes:
    """A server, as :func:`wire.app` makes one; `ran` names the tools that ran."""

    def __init__(self, guard: Guard) -> None:
        self._guard, self.ran = guard, list[str]()

    def mcpserver(self, _of: Any = None, **options: Any) -> Any:
        return self._with_tools(MCPServer("notes", **options))

    def fastmcp(self, _of: Any = None, **options: Any) -> Any:
        return self._with_tools(FastMCP("notes", **options))

    def _with_tools(self, server: Any) -> Any:
        def delete_note(id: int) -> str:
            self.ran.append(f"delete {id}")
            return "deleted"

        def move_note(id: int, to: str) -> str:
            self.ran.append(f"move {id} to {to}")
            return "moved"

        for tool in (delete_note, move_note):
            server.tool()(tool)
        self._guard.protect(server)
        return server


class User:
    """Makes a choice, and sees what is asked."""

    def __init__(self, choice: str) -> None:
        self._choice, self.asked = choice, list[str]()

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"choice": self._choice})


async def text_of(client: Client, tool: str, **given: Any) -> str:
    told: str = plain(await client.call_tool(tool, given))["content"][0]["text"]
    return told


def posts(app: Any) -> Any:
    """Return a server without a stream of its own: what it asks is on that of the call."""

    async def served(scope: Any, receive: Any, send: Any) -> None:
        if scope.get("method") == "GET":
            await Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return served


@asynccontextmanager
async def connected(
    system: str, of: Notes, user: Any, mode: str = "legacy", **how: bool
) -> AsyncIterator[Client]:
    """Give a client of a server in memory, or of one over HTTP."""
    if system == "memory":
        async with Client(of.mcpserver(), mode=mode, elicitation_callback=user) as client:
            yield client
        return
    with wire.listening(
        posts(wire.app(system, None, where=of, **{"stateless": False, **how}))
    ) as url:
        async with wire.over_http(url, "alice", mode=mode, elicitation_callback=user) as client:
            yield client


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("system", SYSTEMS)
async def test_it_runs_once_the_user_agrees(system: str, mode: str) -> None:
    of, user = Notes(make_guard(principal=PRINCIPALS[system])), User("yes")
    async with connected(system, of, user, mode) as client:
        assert await text_of(client, "delete_note", id=7) == "deleted"
        assert await text_of(client, "move_note", id=7, to="a") == "moved"
    assert of.ran == ["delete 7", "move 7 to a"]
    assert user.asked == ["Delete note 7?", "Move note 7 to a?"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("system", SYSTEMS)
async def test_it_does_not_run_if_the_user_chooses_no(system: str, mode: str) -> None:
    of = Notes(make_guard(principal=PRINCIPALS[system]))
    async with connected(system, of, User("no"), mode) as client:
        assert await text_of(client, "move_note", id=7, to="a") == DECLINED
    assert of.ran == []


async def by_header(ctx: Any) -> Principal:
    """Return who calls, by what is in front of the server."""
    return Principal(subject=ctx.request.headers["authorization"])


@pytest.mark.parametrize(
    ("how", "user"),
    [({"stateless": True}, User("yes")), ({"json_response": True}, User("yes")), ({}, None)],
    ids=["stateless", "no stream", "no elicitation"],
)
async def test_a_client_that_cannot_be_asked_is_told(how: Any, user: User | None) -> None:
    refusals: list[Any] = []
    of = Notes(make_guard(principal=principal_from_access_token, on_refused=refusals.append))
    async with connected("mcpserver", of, user, **how) as client:
        assert await text_of(client, "move_note", id=7, to="a") == UNASKED
    (refusal,) = refusals
    assert refusal.code == "unconfirmed"
    assert refusal.message.endswith("or a connection on which it can be asked, found none")
    assert of.ran == []


@pytest.mark.parametrize(("principal", "runs"), [("anonymous", True), (by_header, False)])
async def test_where_another_user_could_answer_none_is_asked(principal: Any, runs: bool) -> None:
    of, user = Notes(make_guard(principal=principal)), User("yes")
    with wire.listening(of.mcpserver().streamable_http_app()) as url:
        async with wire.over_http(url, "alice", mode="legacy", elicitation_callback=user) as client:
            told = await text_of(client, "move_note", id=7, to="a")
    assert told == ("moved" if runs else UNASKED)
    assert len(user.asked) == len(of.ran) == runs


async def test_no_other_server_runs_it_unasked() -> None:
    refusals: list[Any] = []
    guard = make_guard(on_refused=refusals.append)
    guard.confirm("theirs_move_note", "Move {id}?")
    of, user = Notes(guard), User("yes")
    child, alone, protected = of.fastmcp(), FastMCP[Any]("alone"), FastMCP[Any]("protected")
    alone.mount(child)
    protected.mount(child, namespace="theirs")
    guard.protect(protected)
    given = {"id": 7, "to": "a"}
    async with FastMCPClient(alone) as client:
        with pytest.raises(ToolError, match="move_note was not run: it needs the user's consent"):
            await client.call_tool("move_note", given)
    assert (of.ran, [one.code for one in refusals]) == ([], ["invalid_argument"])
    with wire.listening(protected.http_app()) as url:
        async with wire.over_http(url, "alice", elicitation_callback=user) as there:
            assert await text_of(there, "theirs_move_note", **given) == "moved"
            told = await text_of(there, "theirs_delete_note", id=7)
    assert told == "delete_note was not run: it needs the user's consent."
    assert (of.ran, user.asked) == (["move 7 to a"], ["Move 7?"])


def marking(guard: Guard, server: Any) -> list[str]:
    """Add two tools, of which one only reads; return the names of those that ran."""
    ran = list[str]()

    def show_note(id: int) -> str:
        ran.append(f"show {id}")
        return "shown"

    def move_note(id: int, to: str) -> str:
        ran.append(f"move {id} to {to}")
        return "moved"

    server.tool(annotations=types.ToolAnnotations(read_only_hint=True))(show_note)
    server.tool(title="Move a note")(move_note)
    guard.protect(server)
    return ran


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_what_is_marked_is_asked_about(make: Any, mode: str) -> None:
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    guard.confirm_destructive()
    with pytest.raises(InvalidArgument, match="fallback"):
        guard.confirm_destructive(fallback="ask")  # type: ignore[arg-type]
    server, user = make("notes"), User("yes")
    asks: Any = user
    ran = marking(guard, server)
    async with Client(low_level(server), mode=mode, elicitation_callback=asks) as client:
        assert await text_of(client, "show_note", id=7) == "shown"
        assert await text_of(client, "move_note", id=7, to="a") == "moved"
    assert ran == ["show 7", "move 7 to a"]
    assert user.asked == ['Run Move a note with {"id":7,"to":"a"}?']
    with pytest.raises(InvalidArgument, match="before guard"):
        guard.confirm_destructive()


async def test_no_other_server_runs_what_is_marked() -> None:
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    guard.confirm_destructive()
    child, alone, protected = (FastMCP[Any](name) for name in ("child", "alone", "protected"))
    ran, user = marking(guard, child), User("yes")
    asks: Any = user
    alone.mount(child)
    protected.mount(child, namespace="theirs")
    guard.protect(protected)
    given = {"id": 7, "to": "a"}
    async with FastMCPClient(alone) as client:
        with pytest.raises(ToolError, match="move_note was not run: it needs the user's consent"):
            await client.call_tool("move_note", given)
    assert ran == []
    async with Client(low_level(protected), elicitation_callback=asks) as there:
        assert await text_of(there, "theirs_show_note", id=7) == "shown"
        assert await text_of(there, "theirs_move_note", **given) == "moved"
    assert ran == ["show 7", "move 7 to a"]
    assert len(user.asked) == 1


async def test_a_list_that_hangs_is_not_waited_for() -> None:
    refusals: list[Any] = []
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous", on_refused=refusals.append)
    guard.confirm_destructive()
    server, user = MCPServer("notes"), User("yes")
    asks: Any = user
    ran = marking(guard, server)

    async def hangs(ctx: Any, params: Any) -> Any:
        if not refusals:
            # The guard asks.
            await anyio.sleep_forever()
        return await entry.handler(ctx, params)

    entry: Any = low_level(server).get_request_handler("tools/list")
    low_level(server).add_request_handler("tools/list", entry.params_type, hangs)
    async with Client(low_level(server), mode="legacy", elicitation_callback=asks) as client:
        assert await text_of(client, "show_note", id=7) == "shown"
    assert ran == ["show 7"]
    assert (user.asked, [one.code for one in refusals]) == (
        ['Run "show_note" with {"id":7}?'],
        ["invalid_argument"],
    )


@pytest.mark.parametrize("given", [{"id": 7}, {"id": "x", "to": None, "other": 1}])
async def test_a_question_gets_what_the_client_sent(given: dict[str, Any]) -> None:
    of, user = Notes(make_guard()), User("no")
    async with connected("memory", of, user, "2026-07-28") as client:
        if "to" in given:
            assert await text_of(client, "move_note", **given) == DECLINED
        else:
            with pytest.raises(MCPError, match="Internal error"):
                await client.call_tool("move_note", given)
    assert user.asked == (["Move note x to None?"] if "to" in given else [])
    assert of.ran == []


def test_what_is_no_confirmation_is_refused_at_once() -> None:
    guard: Any = Guard(codec=shop.codec(KEYS), principal="anonymous")
    for question in ("", "Delete {?", "Delete {}?"):
        with pytest.raises(InvalidArgument, match="confirm"):
            guard.confirm("delete_note", question)
    with pytest.raises(TypeError, match="question: expected a text, found function"):
        guard.confirm("delete_note", by_header)
    with pytest.raises(TypeError, match="tool: expected a text, found function"):
        guard.confirm(by_header)
    with pytest.raises(InvalidArgument, match="confirm_ttl"):
        Guard(codec=shop.codec(KEYS), principal="anonymous", confirm_ttl=0)
    with pytest.raises(InvalidArgument, match="fallback refuse or preview"):
        guard.confirm("delete_note", "Delete note {id}?", fallback="model")
    guard.protect(MCPServer("notes"))
    with pytest.raises(InvalidArgument, match=r"before guard\.protect"):
        guard.confirm("delete_note", "Delete note {id}?")


def test_no_server_is_protected_without_the_question() -> None:
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    asks = guard.confirm("delete_note")
    with pytest.raises(InvalidArgument, match="confirm 'delete_note': expected a question"):
        guard.protect(MCPServer("notes"))

    @asks
    def question(id: int) -> str:
        return f"Delete note {id}?"

    guard.protect(MCPServer("notes"))
    assert question(7) == "Delete note 7?"
