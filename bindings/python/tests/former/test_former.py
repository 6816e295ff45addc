"""Servers of mcp 1, and of FastMCP 2 and 3, with the official client, on each transport."""

import contextlib
import json
import pathlib
import re
import socket
import sys
import threading
import time
from importlib import metadata
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.shared.message import SessionMessage
from served import World, low_level, with_tools
from starlette.applications import Starlette
from starlette.routing import Mount

import sealwax

try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client

    def streamable_http_client(url: str, http_client: httpx.AsyncClient) -> Any:
        return streamablehttp_client(url, headers={"x-user": http_client.headers["x-user"]})


HAS_FASTMCP = "fastmcp" in {one.name for one in metadata.distributions()}
KEYS = sealwax.Key.generate().to_text()
VERSION = types.LATEST_PROTOCOL_VERSION
SESSION = "io.modelcontextprotocol/session"
ACCEPT = "application/json, text/event-stream"
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def fastmcp_app(world: World, *, wrapped: bool = False, stateless_http: bool = False) -> Any:
    """Return the protected application of a FastMCP: of its own package if that is here."""
    if HAS_FASTMCP:
        from fastmcp import Context, FastMCP

        server = with_tools(FastMCP("notes"), world, Context)
        app = server.http_app(stateless_http=stateless_http)
    else:
        from mcp.server.fastmcp import Context, FastMCP

        server = with_tools(FastMCP("notes", stateless_http=stateless_http), world, Context)
        app = server.streamable_http_app()
    world.guard.protect(app)
    return world.guard.asgi(app) if wrapped else app


def low_level_app(world: World, *, wrapped: bool = False, stateless_http: bool = False) -> Any:
    """Return the application of a low-level server, as the SDK's examples make it."""
    manager = StreamableHTTPSessionManager(low_level(world), stateless=stateless_http)
    handle: Any = manager.handle_request
    if wrapped:
        handle = world.guard.asgi(handle)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Any) -> Any:
        async with manager.run():
            yield

    return Starlette(routes=[Mount("/mcp", app=handle)], lifespan=lifespan)


@contextlib.contextmanager
def serving(app: Any) -> Any:
    """Serve an application by uvicorn; give its address."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


@contextlib.asynccontextmanager
async def connected(url: str, user: str = "alice") -> Any:
    """Connect the official client; give its session and how its own session is called."""
    async with (
        httpx.AsyncClient(headers={"x-user": user}, follow_redirects=True) as http,
        streamable_http_client(url, http_client=http) as (reads, writes, session_id),
        ClientSession(reads, writes) as client,
    ):
        await client.initialize()
        yield client, session_id()


async def told(client: ClientSession, tool: str, given: Any = None, meta: Any = None) -> Any:
    """Call a tool; return its result."""
    params: Any = types.CallToolRequestParams(name=tool, arguments=given or {}, _meta=meta)
    request = types.ClientRequest(types.CallToolRequest(method="tools/call", params=params))
    return await client.send_request(request, types.CallToolResult)


def text_of(result: Any) -> str:
    return result.content[0].text


async def assert_baskets(client: ClientSession, other: ClientSession | None) -> None:
    """A handle comes back; altered, or another's, it gets the fixed answer."""
    first = text_of(await told(client, "fill"))
    second = text_of(await told(client, "fill", {"basket": first}))
    assert second.startswith("sw1.")
    assert second != first
    altered = f"{second[:40]}{'A' if second[40] != 'A' else 'B'}{second[41:]}"
    for who, handle in ((client, altered), (other, second)):
        if who is None:
            continue
        refused = await told(who, "fill", {"basket": handle})
        assert refused.isError
        assert text_of(refused).startswith("This handle is not valid")


async def assert_sessions(client: ClientSession, new: Any) -> None:
    """A session of the data layer counts."""
    _meta = {SESSION: {"sessionId": new["sessionId"], "state": new["state"]}}
    for count in ("1", "2"):
        result = await told(client, "count", meta=_meta)
        assert text_of(result) == count
        _meta = {SESSION: result.meta[SESSION]}
    assert text_of(await told(client, "count")) == "no session"


async def posted(url: str, session_id: str | None, method: str, params: Any, user: str) -> Any:
    """Post a request as a client that goes on; return the response."""
    headers = {"x-user": user, "accept": ACCEPT, "mcp-protocol-version": VERSION}
    if session_id is not None:
        headers["mcp-session-id"] = session_id
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with httpx.AsyncClient(follow_redirects=True, timeout=20) as http:
        return await http.post(url, json=body, headers=headers)


def result_of(response: Any) -> Any:
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = next(line for line in text.splitlines() if line.startswith("data: {"))[6:]
    return json.loads(text)


@pytest.mark.parametrize("stateless", [True, False])
@pytest.mark.parametrize("app_of", [fastmcp_app, low_level_app])
async def test_over_http(app_of: Any, stateless: bool) -> None:
    world = World(KEYS)
    with serving(app_of(world, stateless_http=stateless)) as url:
        async with connected(url) as (alice, session_id), connected(url, "mallory") as (mallory, _):
            await assert_baskets(alice, mallory)
            if app_of is low_level_app:
                await assert_cursors(alice, mallory)
        created = None if not stateless else await posted(url, None, "sessions/create", {}, "alice")
        if created is not None:
            new = result_of(created)["result"]["session"]
            async with connected(url) as (alice, session_id):
                await assert_sessions(alice, new)
                assert session_id is None
    assert world.refused[:2] == [
        ("unauthentic", "handle-state"),
        ("principal_mismatch", "handle-state"),
    ]


async def assert_cursors(alice: ClientSession, mallory: ClientSession | None) -> None:
    """A cursor is the caller's, of this list."""
    first = await listed(alice)
    assert first.nextCursor.startswith("sw1.")
    assert (await listed(alice, first.nextCursor)).resources[0].name == "page 2"
    for who, cursor in ((mallory, first.nextCursor), (alice, "page 2")):
        if who is not None:
            with pytest.raises(McpError) as refused:
                await listed(who, cursor)
            assert refused.value.error.code == types.INVALID_PARAMS


async def listed(client: ClientSession, cursor: str | None = None) -> Any:
    params = types.PaginatedRequestParams(cursor=cursor)
    request = types.ClientRequest(
        types.ListResourcesRequest(method="resources/list", params=params)
    )
    return await client.send_request(request, types.ListResourcesResult)


@pytest.mark.parametrize("app_of", [fastmcp_app, low_level_app])
async def test_a_session_of_the_transport_goes_on_at_another_replica(app_of: Any) -> None:
    worlds = [World(KEYS), World(KEYS)]
    with contextlib.ExitStack() as stack:
        urls = []
        for world in worlds:
            app = app_of(world, wrapped=True, stateless_http=True)
            urls.append(stack.enter_context(serving(app)))
        async with connected(urls[0]) as (alice, session_id):
            assert session_id.startswith("sw1.")
            await assert_baskets(alice, None)
        call = {"name": "negotiated", "arguments": {}}
        there = await posted(urls[1], session_id, "tools/call", call, "alice")
        assert result_of(there)["result"]["content"][0]["text"] == "mcp"
        for user, given in (("mallory", session_id), ("alice", "x"), ("alice", None)):
            refused = await posted(urls[1], given, "tools/call", call, user)
            assert refused.status_code == (404 if given else 400)


async def test_on_stdio() -> None:
    file = pathlib.Path(__file__).with_name("served.py")
    parameters = StdioServerParameters(command=sys.executable, args=[str(file), KEYS])
    cursors = []
    for _ in range(2):
        async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
            await client.initialize()
            cursors.append((await listed(client)).nextCursor)
            # Of the process before, too.
            assert (await listed(client, cursors[0])).resources[0].name == "page 2"
            await assert_cursors(client, None)
            await assert_baskets(client, None)


async def test_in_memory_with_a_state_of_the_client() -> None:
    world = World(KEYS)
    async with create_connected_server_and_client_session(low_level(world)) as client:
        sealed = text_of(await told(client, "state"))
        assert sealed.startswith("sw1.")
        for state, expected in ((sealed, "{'asked': 7}"), (f"{sealed}x", None)):
            params: Any = types.CallToolRequestParams(
                name="state", arguments={}, **{"requestState": state}
            )
            request = types.ClientRequest(types.CallToolRequest(method="tools/call", params=params))
            if expected is None:
                with pytest.raises(McpError):
                    await client.send_request(request, types.CallToolResult)
            else:
                result = await client.send_request(request, types.CallToolResult)
                assert text_of(result) == expected


async def test_an_id_in_progress_is_refused() -> None:
    entered, go_on = anyio.Event(), anyio.Event()
    world = World(KEYS)
    server: Any = low_level(world)

    async def slow(_request: Any) -> Any:
        entered.set()
        await go_on.wait()
        return types.ServerResult(types.ListPromptsResult(prompts=[]))

    server.request_handlers[types.ListPromptsRequest] = slow
    to_server, reads = anyio.create_memory_object_stream[Any](10)
    writes, from_server = anyio.create_memory_object_stream[Any](10)
    async with anyio.create_task_group() as tasks:
        options = server.create_initialization_options()
        tasks.start_soon(lambda: server.run(reads, writes, options, stateless=True))
        request = types.JSONRPCRequest(jsonrpc="2.0", id=1, method="prompts/list")
        message = SessionMessage(types.JSONRPCMessage(request))
        await to_server.send(message)
        await entered.wait()
        await to_server.send(message)
        refused = (await from_server.receive()).message.root
        assert refused.error.code == types.INVALID_REQUEST
        go_on.set()
        answered = (await from_server.receive()).message.root
        assert answered.result == {"prompts": []}
        await to_server.aclose()
    assert world.refused == [("malformed", "session")]


async def test_the_page_of_the_first_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    page = pathlib.Path(__file__).parents[4] / "docs/start/python.md"
    of_mcp, of_fastmcp = re.findall(
        r"^```py\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE
    )
    monkeypatch.setenv("SEALWAX_KEYS", KEYS)
    names: dict[str, Any] = {}
    exec(of_fastmcp if HAS_FASTMCP else of_mcp, names)
    with serving(names["app"]) as url:
        async with connected(url) as (client, session_id):
            assert session_id.startswith("sw1.")
            assert text_of(await told(client, "new_basket")).startswith("sw1.")


async def test_who_forgot_to_protect_is_told_so() -> None:
    world = World(KEYS)
    server: Any = low_level(World(KEYS))
    context: list[Any] = []

    async def call_tool(_request: Any) -> Any:
        context.append(server.request_context)
        world.count(server.request_context)

    server.request_handlers[types.CallToolRequest] = call_tool
    async with create_connected_server_and_client_session(server) as client:
        with pytest.raises(McpError, match=r"call guard\.protect\(server\)"):
            await told(client, "count")
    with pytest.raises(sealwax.InvalidArgument):
        world.count(context[0])
    for none in (object(), Starlette()):
        with pytest.raises(TypeError, match="expected a low-level Server of mcp 1"):
            world.guard.protect(none)
    with pytest.raises(sealwax.InvalidArgument, match="protect it once"):
        world.guard.protect(server)
    with pytest.raises(sealwax.InvalidArgument, match=r"expected mcp 2\.3 or later"):
        await world.guard.run_stdio(server)
