"""A tool that runs only for a confirmed call, with official clients."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
import shop
import wire
from asgi import posts
from carriers import plain
from fastmcp import Client as FastMCPClient
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp import Client
from mcp.server import MCPServer
from shop import Shop

from sealwax import InvalidArgument
from sealwax.mcp import Guard, Principal, principal_from_access_token
from sealwax.mcp._handler.sdk import low_level

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

pytestmark = pytest.mark.anyio

MODES = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
MOVE = {"id": 7, "to": "a"}
DECLINED = "The user declined. move_note was not run. Do not try again unless the user asks for it."
UNASKED = (
    "move_note was not run: it needs the user's consent, and this client did not ask for it. Tell "
    "the user to use a client that supports elicitation."
)


class Notes(Shop):
    """A server whose tools its guard confirms."""

    def __init__(self, **options: Any) -> None:
        guard = shop.guard(**options)
        guard.confirm("delete_note", "Delete note {id}?")

        @guard.confirm("move_note")
        async def _(id: int, to: str, **_more: object) -> str:
            return f"Move note {id} to {to}?"

        super().__init__(guard, self.delete_note, self.move_note)

    async def delete_note(self, ctx: Any, id: int) -> str:
        self.ran.append(f"delete {id}")
        return "deleted"

    async def move_note(self, ctx: Any, id: int, to: str) -> str:
        self.ran.append(f"move {id} to {to}")
        return "moved"


class User:
    """Makes a choice, and sees what is asked."""

    def __init__(self, choice: str = "yes") -> None:
        self.choice, self.asked = choice, list[str]()

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"choice": self.choice})


async def text_of(client: Client, tool: str, **given: Any) -> str:
    told: str = plain(await client.call_tool(tool, given))["content"][0]["text"]
    return told


@asynccontextmanager
async def over_http(app: Any, user: Any, mode: Any = "legacy") -> AsyncIterator[Client]:
    with wire.listening(posts(app)) as url:
        async with wire.over_http(url, "alice", mode=mode, elicitation_callback=user) as client:
            yield client


@MODES
@pytest.mark.parametrize("system", ["mcpserver", "fastmcp"])
async def test_it_runs_once_the_user_agrees(system: str, mode: Any) -> None:
    user, of = User(), Notes(principal=principal_from_access_token)
    async with over_http(wire.app(system, of, stateless=False), user, mode) as client:
        assert await text_of(client, "delete_note", id=7) == "deleted"
        assert await text_of(client, "move_note", **MOVE) == "moved"
        user.choice = "no"
        assert await text_of(client, "move_note", **MOVE) == DECLINED
    assert of.ran == ["delete 7", "move 7 to a"]
    assert user.asked == ["Delete note 7?", "Move note 7 to a?", "Move note 7 to a?"]


async def by_header(ctx: Any) -> Principal:
    """Return who calls, by what is in front of the server."""
    return Principal(subject=ctx.request.headers["authorization"])


@pytest.mark.parametrize(
    ("how", "user"),
    [({"stateless": True}, User()), ({"json_response": True}, User()), ({}, None)],
    ids=["stateless", "no stream", "no elicitation"],
)
async def test_a_client_that_cannot_be_asked_is_told(how: Any, user: User | None) -> None:
    refusals: list[Any] = []
    of = Notes(principal=principal_from_access_token, on_refused=refusals.append)
    app = wire.app("mcpserver", of, **{"stateless": False, **how})
    async with over_http(app, user) as client:
        assert await text_of(client, "move_note", **MOVE) == UNASKED
    (refusal,) = refusals
    assert refusal.code == "unconfirmed"
    assert refusal.message.endswith("or a connection on which it can be asked, found none")
    assert of.ran == []


@pytest.mark.parametrize(("principal", "runs"), [("anonymous", True), (by_header, False)])
async def test_where_another_user_could_answer_none_is_asked(principal: Any, runs: bool) -> None:
    of, user = Notes(principal=principal), User()
    async with over_http(of.mcpserver().streamable_http_app(), user) as client:
        assert await text_of(client, "move_note", **MOVE) == ("moved" if runs else UNASKED)
    assert len(user.asked) == len(of.ran) == runs


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


@MODES
@pytest.mark.parametrize("make", [MCPServer, FastMCP])
async def test_what_is_marked_is_asked_about(make: Any, mode: Any) -> None:
    guard = shop.guard()
    guard.confirm_destructive()
    server, user = make("notes"), User()
    ran = marking(guard, server)
    async with Client(low_level(server), mode=mode, elicitation_callback=user) as client:
        assert await text_of(client, "show_note", id=7) == "shown"
        assert await text_of(client, "move_note", **MOVE) == "moved"
    assert ran == ["show 7", "move 7 to a"]
    assert user.asked == ['Run Move a note with {"id":7,"to":"a"}?']


@pytest.mark.parametrize("marked", [False, True])
async def test_no_other_server_runs_it_unasked(marked: bool) -> None:
    refusals: list[Any] = []
    guard, user = shop.guard(on_refused=refusals.append), User()
    if marked:
        guard.confirm_destructive()
    else:
        for tool in ("show_note", "move_note", "theirs_move_note"):
            guard.confirm(tool, "Do it with {id}?")
    child, alone, protected = (FastMCP[Any](name) for name in ("child", "alone", "protected"))
    ran = marking(guard, child)
    alone.mount(child)
    protected.mount(child, namespace="theirs")
    guard.protect(protected)
    async with FastMCPClient(alone) as client:
        with pytest.raises(ToolError, match="move_note was not run: it needs the user's consent"):
            await client.call_tool("move_note", MOVE)
    assert (ran, [one.code for one in refusals]) == ([], ["invalid_argument"])
    async with Client(low_level(protected), elicitation_callback=user) as there:
        assert await text_of(there, "theirs_move_note", **MOVE) == "moved"
        told = await text_of(there, "theirs_show_note", id=7)
    # It is confirmed by another name.
    assert told == ("shown" if marked else "show_note was not run: it needs the user's consent.")
    assert ran == ["move 7 to a", "show 7"][: 1 + marked]
    assert len(user.asked) == 1


def test_what_is_no_confirmation_is_refused_at_once() -> None:
    guard: Any = shop.guard()
    for question in ("", "Delete {?", "Delete {}?"):
        with pytest.raises(InvalidArgument, match="confirm"):
            guard.confirm("delete_note", question)
    with pytest.raises(TypeError, match="question: expected a text, found function"):
        guard.confirm("delete_note", by_header)
    with pytest.raises(TypeError, match="tool: expected a text, found function"):
        guard.confirm(by_header)
    with pytest.raises(InvalidArgument, match="fallback refuse or preview"):
        guard.confirm("delete_note", "Delete note {id}?", fallback="model")
    with pytest.raises(InvalidArgument, match="fallback"):
        guard.confirm_destructive(fallback="ask")
    # No server is protected without the question.
    asks: Callable[[Any], Any] = guard.confirm("delete_note")
    with pytest.raises(InvalidArgument, match="confirm 'delete_note': expected a question"):
        guard.protect(MCPServer("notes"))

    @asks
    def asked(id: int) -> str:
        return f"Delete note {id}?"

    guard.protect(MCPServer("notes"))
    assert asked(7) == "Delete note 7?"
    for late in (lambda: guard.confirm("delete_note", "Sure?"), guard.confirm_destructive):
        with pytest.raises(InvalidArgument, match=r"before guard\.protect"):
            late()
