"""The guard between a low-level server of mcp 1 and its streams: what leaves, and to whom."""

import contextlib
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from served import World, low_level
from starlette.requests import Request

import sealwax
from sealwax.mcp import HandleRefused
from sealwax.mcp._former import streams
from sealwax.mcp._handler.exchange import REFERENCE, by_reference

KEYS = sealwax.Key.generate().to_text()
pytestmark = pytest.mark.anyio


class Wire:
    """The client's end of a server's streams."""

    def __init__(self, to_server: Any, from_server: Any) -> None:
        self._to_server, self._from_server = to_server, from_server

    async def send(self, message: Any, user: str = "alice") -> None:
        request = Request({"type": "http", "headers": [(b"x-user", user.encode())]})
        metadata = ServerMessageMetadata(request_context=request)
        await self._to_server.send(SessionMessage(types.JSONRPCMessage(message), metadata))

    async def ask(self, identity: Any, method: str, params: Any = None, **more: Any) -> None:
        request = types.JSONRPCRequest(jsonrpc="2.0", id=identity, method=method, params=params)
        await self.send(request, **more)

    async def call(self, identity: Any, tool: str, given: Any = None, **more: Any) -> None:
        params = {"name": tool, "arguments": given or {}, **more.pop("params", {})}
        await self.ask(identity, "tools/call", params, **more)

    async def note(self, method: str, params: Any = None) -> None:
        await self.send(types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params))

    async def cancel(self, identity: Any) -> None:
        await self.note("notifications/cancelled", {"requestId": identity})

    async def heard(self) -> Any:
        return (await self._from_server.receive()).message.root

    def is_silent(self) -> bool:
        return self._from_server.statistics().current_buffer_used == 0


@contextlib.asynccontextmanager
async def wired(server: Any, *, stateless: bool = True) -> Any:
    """Run a server on streams; give the client's end."""
    to_server, reads = anyio.create_memory_object_stream[Any](10)
    writes, from_server = anyio.create_memory_object_stream[Any](10)
    options = server.create_initialization_options()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: server.run(reads, writes, options, stateless=stateless))
            yield Wire(to_server, from_server)
            assert by_reference == {}
            await to_server.aclose()


def with_prompts(world: World, prompts: Any) -> Any:
    """Return a low-level server, and what its list of prompts does."""
    server = low_level(world)

    async def listed(_request: Any) -> Any:
        await prompts(server.request_context)
        return types.ServerResult(types.ListPromptsResult(prompts=[]))

    server.request_handlers[types.ListPromptsRequest] = listed
    return server


class Slow:
    """What waits until it is told to go on."""

    def __init__(self) -> None:
        self.entered, self.go_on = anyio.Event(), anyio.Event()

    async def __call__(self, _ctx: Any) -> None:
        self.entered.set()
        await self.go_on.wait()


@pytest.mark.parametrize(
    ("second", "ignored"),
    [(1, None), ("1", None), (1, {"requestId": "1"}), (1, {"requestId": 1, "reason": 5})],
)
async def test_an_id_in_progress_is_refused(second: Any, ignored: Any) -> None:
    """Also if it was cancelled in a way that the SDK ignores."""
    world, slow = World(KEYS), Slow()
    async with wired(with_prompts(world, slow)) as wire:
        await wire.ask(1, "prompts/list")
        await slow.entered.wait()
        if ignored is not None:
            await wire.note("notifications/cancelled", ignored)
            await anyio.wait_all_tasks_blocked()
        await wire.ask(second, "prompts/list")
        refused = await wire.heard()
        assert (refused.id, refused.error.code) == (second, types.INVALID_REQUEST)
        slow.go_on.set()
        answered = await wire.heard()
        assert (answered.id, answered.result) == (1, {"prompts": []})
        await anyio.wait_all_tasks_blocked()
        assert wire.is_silent()
    assert world.refused == [("malformed", "session")]


async def test_a_cancelled_request_is_answered_once() -> None:
    slow = Slow()
    async with wired(with_prompts(World(KEYS), slow)) as wire:
        await wire.ask(1, "prompts/list")
        await slow.entered.wait()
        await wire.cancel(1)
        assert (await wire.heard()).error.message == "Request cancelled"
        await anyio.wait_all_tasks_blocked()
        # Nothing of it is left, and the next one is served.
        assert by_reference == {}
        assert wire.is_silent()
        slow.go_on.set()
        await wire.ask(1, "prompts/list")
        assert (await wire.heard()).result == {"prompts": []}


async def test_a_request_that_is_cancelled_before_its_handler_runs_never_runs() -> None:
    slow = Slow()

    async def principal(ctx: Any) -> sealwax.Principal:
        await slow(ctx)
        return sealwax.Principal(subject="alice")

    async with wired(low_level(World(KEYS, principal=principal))) as wire:
        await wire.call(1, "state")
        await slow.entered.wait()
        await wire.cancel("1")
        await anyio.wait_all_tasks_blocked()
        await wire.call(1, "state")
        assert (await wire.heard()).error.code == types.INVALID_REQUEST
        await wire.cancel(1)
        await anyio.wait_all_tasks_blocked()
        slow.go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert wire.is_silent()
        await wire.call(1, "state")
        assert (await wire.heard()).id == 1


async def test_an_answer_to_no_request_stays() -> None:
    class Talkative(Server):
        async def run(self, reads: Any, writes: Any, *_given: Any, **_options: Any) -> None:
            async with writes:
                for identity in (7, 8):
                    unasked = types.JSONRPCResponse(jsonrpc="2.0", id=identity, result={})
                    await writes.send(SessionMessage(types.JSONRPCMessage(unasked)))
                async for _ in reads:
                    pass

    server = Talkative("talkative")
    World(KEYS).guard.protect(server)
    async with wired(server) as wire:
        await anyio.wait_all_tasks_blocked()
        assert wire.is_silent()


async def test_each_of_two_at_once_has_its_own_user() -> None:
    world = World(KEYS)
    sealed: dict[str, str] = {}
    both = anyio.Event()

    async def seal(ctx: Any) -> None:
        user = ctx.request.headers["x-user"]
        sealed[user] = ""
        if len(sealed) == 2:
            both.set()
        await both.wait()
        sealed[user] = (await world.baskets.seal(ctx, 1)).handle

    async with wired(with_prompts(world, seal)) as wire:
        await wire.ask(1, "prompts/list", user="alice")
        await wire.ask(2, "prompts/list", user="mallory")
        for _ in sealed, both:
            assert (await wire.heard()).result == {"prompts": []}
        for identity, (user, basket) in enumerate(sealed.items(), 3):
            await wire.call(identity, "fill", {"basket": basket}, user=user)
            assert not (await wire.heard()).result.get("isError")
        await wire.call(5, "fill", {"basket": sealed["alice"]}, user="mallory")
        assert (await wire.heard()).result["isError"]
    assert world.refused == [("principal_mismatch", "handle-state")]


@pytest.mark.parametrize("meta", [{REFERENCE: "x"}, None])
async def test_a_reference_of_the_clients_counts_for_nothing(meta: Any) -> None:
    async with wired(low_level(World(KEYS))) as wire:
        await wire.call(1, "state", params={"_meta": meta})
        (content,) = (await wire.heard()).result["content"]
        assert content["text"].startswith("sw1.")


async def test_the_sdk_gets_no_state() -> None:
    world, seen = World(KEYS), []
    server = low_level(world)
    call_tool = server.request_handlers[types.CallToolRequest]

    async def seeing(request: Any) -> Any:
        seen.append(request.params.model_dump().get("requestState"))
        return await call_tool(request)

    server.request_handlers[types.CallToolRequest] = seeing
    async with wired(server) as wire:
        await wire.call(1, "state")
        (content,) = (await wire.heard()).result["content"]
        await wire.call(2, "state", params={"requestState": content["text"]})
        (content,) = (await wire.heard()).result["content"]
        assert content["text"] == "{'asked': 7}"
    assert seen == [None, None]


async def test_a_refusal_is_the_fixed_answer_unless_the_handler_has_another() -> None:
    world = World(KEYS)

    async def raising(ctx: Any) -> None:
        await world.baskets.open(ctx, "x")

    server = with_prompts(world, raising)

    async def call_tool(request: Any) -> Any:
        quoted = ""
        try:
            await raising(server.request_context)
        except HandleRefused as refused:
            if request.params.name == "raises":
                raise
            if request.params.name == "quotes":
                quoted = refused.tool_result["content"][0]["text"]
        content = [types.TextContent(type="text", text=f"a new one. {quoted}")]
        return types.ServerResult(
            types.CallToolResult(content=content, isError=request.params.name == "fails")
        )

    server.request_handlers[types.CallToolRequest] = call_tool
    async with wired(server) as wire:
        told = {}
        for identity, name in enumerate(("raises", "quotes", "fails"), 1):
            await wire.call(identity, name)
            told[name] = (await wire.heard()).result
        assert told["raises"]["isError"]
        fixed = told["raises"]["content"][0]["text"]
        assert fixed.startswith("This handle is not valid")
        assert told["quotes"]["content"][0]["text"] == f"a new one. {fixed}"
        assert told["fails"]["content"][0]["text"] == "a new one. "
        await wire.ask(4, "prompts/list")
        assert (await wire.heard()).error.code == types.INVALID_PARAMS


async def test_what_the_server_asks_its_client_is_answered() -> None:
    world, found = World(KEYS), []

    async def asks(ctx: Any) -> None:
        found.extend((await ctx.session.list_roots()).roots)

    async def roots(_ctx: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///x"})])

    server = with_prompts(world, asks)
    with anyio.fail_after(20):
        async with create_connected_server_and_client_session(
            server, list_roots_callback=roots
        ) as client:
            await client.list_prompts()
    assert [str(one.uri) for one in found] == ["file:///x"]


@pytest.mark.parametrize("error", [RuntimeError("secret"), sealwax.Expired("secret")])
async def test_a_failure_of_the_guards_own_is_told_to_the_author(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    world = World(KEYS)
    async with wired(low_level(world)) as wire:

        def failing() -> str:
            raise error

        monkeypatch.setattr("sealwax.mcp._former.streams.secrets.token_hex", lambda _: failing())
        await wire.call(1, "state")
        failed = await wire.heard()
        assert failed.error.code == types.INTERNAL_ERROR
        assert "secret" not in f"{failed.error.message}{caplog.text}"
        assert f"expected an answer, found {type(error).__name__}" in caplog.text
    assert world.refused == [("invalid_argument", "session")]


async def test_a_list_that_came_too_late_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    made, world, slow = [], World(KEYS, time_limit=0.05), Slow()

    class Seen(streams.Connection):
        def __init__(self, *given: Any) -> None:
            made.append(self)
            super().__init__(*given)

    monkeypatch.setattr(streams, "Connection", Seen)
    world.guard.confirm_destructive()
    server = low_level(world)

    async def listed(_request: Any) -> Any:
        await slow(None)
        return types.ServerResult(types.ListToolsResult(tools=[]))

    server.request_handlers[types.ListToolsRequest] = listed
    async with wired(server) as wire:
        await wire.call(1, "state")
        assert (await wire.heard()).id == 1
        assert slow.entered.is_set()
        slow.go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert made[0]._waiting == {}
        assert wire.is_silent()


async def test_a_question_ends_with_its_call() -> None:
    world = World(KEYS)
    client = {"capabilities": {"elicitation": {}}, "clientInfo": {"name": "c", "version": "1"}}
    begin = {"protocolVersion": types.LATEST_PROTOCOL_VERSION, **client}
    async with wired(low_level(world), stateless=False) as wire:
        await wire.ask(1, "initialize", begin)
        assert (await wire.heard()).id == 1
        await wire.note("notifications/initialized")
        await wire.call(2, "drop", {"what": "tea"})
        asked = await wire.heard()
        assert (asked.method, asked.params["message"]) == ("elicitation/create", 'Drop "tea"?')
        await wire.cancel(2)
        ended = await wire.heard()
        assert (ended.method, ended.params) == ("notifications/cancelled", {"requestId": asked.id})
        # An answer to it comes too late, and is the SDK's.
        answer = {"action": "accept", "content": {"choice": "yes"}}
        await wire.send(types.JSONRPCResponse(jsonrpc="2.0", id=asked.id, result=answer))
        await wire.ask(3, "ping")
        while getattr(await wire.heard(), "id", None) != 3:
            pass
    assert (world.dropped, world.refused) == ([], [])
