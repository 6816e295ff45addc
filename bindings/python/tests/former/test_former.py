"""Servers of mcp 1, and of FastMCP 2 and 3, with the official client, on each transport."""

import contextlib
import json
import os
import pathlib
import re
import sys
from typing import Any

import anyio
import httpx
import pytest
from asgi import listening, posts
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.memory import create_connected_server_and_client_session
from served import KINDS, MAJOR, World, low_level
from starlette.applications import Starlette
from starlette.routing import Mount

import sealwax
from sealwax.mcp import principal_from_access_token

try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client

    def streamable_http_client(url: str, http_client: httpx.AsyncClient) -> Any:
        return streamablehttp_client(url, headers={"x-user": http_client.headers["x-user"]})


KEYS = sealwax.Key.generate().to_text()
FASTMCPS = [kind for kind in KINDS if kind != "low-level"]
CLIENT = {"name": "client", "version": "1"}
VERSION = types.LATEST_PROTOCOL_VERSION
ACCEPT = "application/json, text/event-stream"
pytestmark = pytest.mark.anyio


def app_of(kind: str, world: World, *, wrapped: bool = False, stateless_http: bool = False) -> Any:
    """Return the application of a server; a low-level one's as the SDK's examples make it."""
    if kind == "low-level":
        manager = StreamableHTTPSessionManager(low_level(world), stateless=stateless_http)
        handle: Any = manager.handle_request
        if wrapped:
            handle = world.guard.asgi(handle)
        routes = [Mount("/mcp", app=handle)]
        return Starlette(routes=routes, lifespan=lambda _app: manager.run())
    if kind == "mcp":
        app = KINDS[kind](world, stateless_http=stateless_http).streamable_http_app()
    else:
        app = KINDS[kind](world).http_app(stateless_http=stateless_http)
    return world.guard.asgi(app) if wrapped else app


@contextlib.asynccontextmanager
async def connected(url: str, user: str = "alice", answers: Any = None) -> Any:
    """Connect the official client; give its session and how its own session is called."""
    async with (
        httpx.AsyncClient(headers={"x-user": user}, follow_redirects=True) as http,
        streamable_http_client(url, http_client=http) as (reads, writes, session_id),
        ClientSession(reads, writes, elicitation_callback=answers) as client,
    ):
        await client.initialize()
        yield client, session_id()


class User:
    """Answers as it is told, and sees what is asked."""

    def __init__(self, answer: Any) -> None:
        self._answer, self.asked = answer, list[Any]()

    async def __call__(self, _ctx: Any, params: Any) -> Any:
        self.asked.append(params)
        if isinstance(self._answer, types.ErrorData):
            return self._answer
        return types.ElicitResult(action="accept", content={"choice": self._answer})


async def told(client: ClientSession, tool: str, given: Any = None) -> Any:
    """Call a tool; return its result."""
    params = types.CallToolRequestParams(name=tool, arguments=given or {})
    request = types.ClientRequest(types.CallToolRequest(method="tools/call", params=params))
    return await client.send_request(request, types.CallToolResult)


def text_of(result: Any) -> str:
    return result.content[0].text


async def assert_baskets(client: ClientSession, other: ClientSession | None = None) -> None:
    """A handle comes back; altered, or another's, it gets the fixed answer."""
    first = text_of(await told(client, "fill"))
    second = text_of(await told(client, "fill", {"basket": first}))
    assert second.startswith("sw1.")
    assert second != first
    altered = f"{second[:40]}{'A' if second[40] != 'A' else 'B'}{second[41:]}"
    for who, handle in ((client, altered), (other, second)):
        if who is not None:
            refused = await told(who, "fill", {"basket": handle})
            assert refused.isError
            assert text_of(refused).startswith("This handle is not valid")


async def posted(url: str, session_id: str | None, method: str, params: Any, user: str) -> Any:
    """Post a request as a client that goes on; return the response."""
    headers = {"x-user": user, "authorization": f"Bearer {user}", "accept": ACCEPT}
    headers["mcp-protocol-version"] = VERSION
    if session_id is not None:
        headers["mcp-session-id"] = session_id
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications/"):
        body["id"] = 1
    async with httpx.AsyncClient(follow_redirects=True, timeout=20) as http:
        return await http.post(url, json=body, headers=headers)


def result_of(response: Any) -> Any:
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = next(line for line in text.splitlines() if line.startswith("data: {"))[6:]
    return json.loads(text)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_session_of_the_transport_goes_on_at_another_replica(kind: str) -> None:
    worlds = [World(KEYS), World(KEYS)]
    with contextlib.ExitStack() as stack:
        urls = []
        for world in worlds:
            app = app_of(kind, world, wrapped=True, stateless_http=True)
            urls.append(stack.enter_context(listening(app)))
        async with (
            connected(urls[0]) as (alice, session_id),
            connected(urls[0], "mallory") as (mallory, _),
        ):
            assert session_id.startswith("sw1.")
            await assert_baskets(alice, mallory)
        codes = ("unauthentic", "principal_mismatch")
        assert worlds[0].refused == [(code, "handle-state") for code in codes]
        call = {"name": "negotiated", "arguments": {}}
        there = await posted(urls[1], session_id, "tools/call", call, "alice")
        assert result_of(there)["result"]["content"][0]["text"] == "mcp"
        for user, given in (("mallory", session_id), ("alice", "x"), ("alice", None)):
            refused = await posted(urls[1], given, "tools/call", call, user)
            assert refused.status_code == (404 if given else 400)


@pytest.mark.parametrize("stateless", [True, False])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_is_confirmed_on_its_connection(kind: str, stateless: bool) -> None:
    world, yes, no = World(KEYS), User("yes"), User("no")
    refuses = User(types.ErrorData(code=-32000, message="the client's own"))
    with listening(posts(app_of(kind, world, stateless_http=stateless))) as url:
        texts = []
        for user in (yes, no, refuses, None):
            async with connected(url, answers=user) as (client, _):
                texts.append(text_of(await told(client, "drop", {"what": "tea"})))
    unasked = "drop was not run: it needs the user's consent"
    is_unasked = [text.startswith(unasked) for text in texts]
    assert is_unasked == [stateless, stateless, True, True]
    assert world.refused == [("unconfirmed", "request-state")] * sum(is_unasked)
    if not stateless:
        assert texts[0] == "dropped"
        assert texts[1].startswith("The user declined. drop was not run.")
    assert [one.message for one in yes.asked] == ['Drop "tea"?'] * (not stateless)
    assert world.dropped == ["tea"] * (not stateless)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_the_list_marks_is_asked_about(kind: str) -> None:
    world, yes = World(KEYS), User("yes")
    world.guard.confirm_destructive()
    with listening(posts(app_of(kind, world, stateless_http=False))) as url:
        async with connected(url, answers=yes) as (client, _):
            texts = [
                text_of(await told(client, "drop", {"what": "tea"})),
                text_of(await told(client, "negotiated", {})),
            ]
    assert texts == ["dropped", "nothing"]
    # The low-level server has no list.
    is_low = kind == "low-level"
    quoted = 'Run "negotiated"?' if is_low else "Run negotiated?"
    assert [one.message for one in yes.asked] == ['Drop "tea"?', quoted]
    assert world.refused == [("invalid_argument", "request-state")] * is_low


async def test_another_user_answers_for_nobody() -> None:
    world, where, ids = World(KEYS), dict[str, str](), list[Any]()

    class Robbed(User):
        async def __call__(self, ctx: Any, params: Any) -> Any:
            ids.append(ctx.request_id)
            answer = {"action": "accept", "content": {"choice": "yes"}}
            body = {"jsonrpc": "2.0", "id": ctx.request_id, "result": answer}
            headers = {"accept": ACCEPT, "x-user": "mallory", "mcp-session-id": where["session"]}
            async with httpx.AsyncClient(follow_redirects=True) as http:
                posted = await http.post(where["url"], json=body, headers=headers)
            assert posted.status_code in (202, 404)
            await anyio.sleep(0.2)
            return await super().__call__(ctx, params)

    with listening(app_of("low-level", world)) as where["url"]:
        async with connected(where["url"], answers=Robbed("no")) as (client, where["session"]):
            text = text_of(await told(client, "drop", {"what": "tea"}))
    assert text.startswith("The user declined. drop was not run.")
    assert [one.partition(":")[0] for one in ids] == ["sealwax"]
    assert world.dropped == []


@pytest.mark.parametrize("kind", KINDS)
async def test_on_stdio(kind: str) -> None:
    file = pathlib.Path(__file__).with_name("served.py")
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(file), kind, KEYS], env=dict(os.environ)
    )
    basket = None
    for _ in range(2 if kind == "low-level" else 1):
        async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
            await client.initialize()
            # Of the process before, too.
            basket = text_of(await told(client, "fill", {"basket": basket}))
            assert basket.startswith("sw1.")
            await assert_baskets(client)


@pytest.mark.parametrize("kind", FASTMCPS)
async def test_the_page_of_the_first_steps(
    kind: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (pathlib.Path(__file__).parents[4] / "docs/start/python.md").read_text()
    (program,) = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    by_import, at_fastmcp, made, at_mcp = re.findall(
        r"`(from fastmcp import .*?|app = .*?|server = FastMCP.*?)`", page
    )
    if kind == "fastmcp":
        program = re.sub("^from mcp.*", by_import, program, flags=re.MULTILINE)
    file = tmp_path / "basket.py"
    file.write_text(program)
    env = {**os.environ, "SEALWAX_KEYS": KEYS}
    parameters = StdioServerParameters(command=sys.executable, args=[str(file)], env=env)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
        await client.initialize()
        assert text_of(await told(client, "new_basket")).startswith("sw1.")
    if kind == "mcp":
        program = re.sub("^server = .*", made, program, flags=re.MULTILINE)
    monkeypatch.setenv("SEALWAX_KEYS", KEYS)
    names: dict[str, Any] = {"__name__": "basket"}
    exec(program + (at_mcp if kind == "mcp" else at_fastmcp), names)
    with listening(names["app"]) as url:
        async with connected(url) as (client, session_id):
            assert session_id.startswith("sw1.")
            assert text_of(await told(client, "new_basket")).startswith("sw1.")


class Token(AccessToken):
    claims: dict[str, Any]


class Verifier:
    async def verify_token(self, token: str) -> AccessToken:
        claims = {"iss": "https://idp.example.com", "sub": token}
        return Token(token=token, client_id="client", scopes=[], claims=claims)


def authenticating(kind: str) -> dict[str, Any]:
    """Return the settings of a FastMCP whose users have a token each."""
    if kind == "mcp":
        url: Any = "http://127.0.0.1"
        return {
            "token_verifier": Verifier(),
            "auth": AuthSettings(issuer_url=url, resource_server_url=url),
        }
    from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

    of = {
        name: {"client_id": "client", "iss": "https://idp.example.com", "sub": name}
        for name in ("alice", "mallory")
    }
    return {"auth": StaticTokenVerifier(of)}


@pytest.mark.parametrize("kind", FASTMCPS)
async def test_a_user_is_that_of_each_request(kind: str) -> None:
    world = World(KEYS, principal=principal_from_access_token)
    server = KINDS[kind](world, **authenticating(kind))
    app = server.streamable_http_app() if kind == "mcp" else server.http_app()
    with listening(app) as url:
        begin = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": CLIENT}
        began = await posted(url, None, "initialize", begin, "alice")
        # A server that keeps its sessions runs all of them in the context of `initialize`.
        session_id = began.headers["mcp-session-id"]
        await posted(url, session_id, "notifications/initialized", None, "alice")
        call: Any = {"name": "fill", "arguments": {}}
        filled = result_of(await posted(url, session_id, "tools/call", call, "alice"))
        basket = filled["result"]["content"][0]["text"]
        assert basket.startswith("sw1.")
        call["arguments"]["basket"] = basket
        theirs = await posted(url, session_id, "tools/call", call, "mallory")
        # Later versions of the SDK know whose session it is.
        assert theirs.status_code == 404 or result_of(theirs)["result"]["isError"]
        assert "sw1." not in theirs.text
        again = result_of(await posted(url, session_id, "tools/call", call, "alice"))
        assert again["result"]["content"][0]["text"].startswith("sw1.")
    if theirs.status_code != 404:
        assert world.refused == [("principal_mismatch", "handle-state")]


@pytest.mark.parametrize("kind", FASTMCPS)
async def test_in_memory(kind: str) -> None:
    server = KINDS[kind](World(KEYS))
    if kind == "mcp":
        low = server.session_manager.app
        async with create_connected_server_and_client_session(low) as client:
            assert text_of(await told(client, "fill")).startswith("sw1.")
        return
    from fastmcp import Client

    if MAJOR == "3":
        # Its low-level server is not known before an application of it has started.
        async with Client(server) as client:
            with pytest.raises(Exception, match=r"call guard\.protect\(server\)"):
                await client.call_tool("fill")
            with pytest.raises(Exception, match="drop was not run: it needs the user's consent"):
                await client.call_tool("drop", {"what": "tea"})
    app = server.http_app()
    async with app.lifespan(app), Client(server) as client:
        assert (await client.call_tool("fill")).data.startswith("sw1.")


@pytest.mark.parametrize("kind", FASTMCPS)
async def test_over_sse(kind: str) -> None:
    world = World(KEYS)
    server = KINDS[kind](world)
    if kind == "fastmcp" and MAJOR == "3":
        with pytest.raises(TypeError, match="expected a low-level Server of mcp 1, a FastMCP"):
            server.http_app(transport="sse")
        return
    app = server.sse_app() if kind == "mcp" else server.http_app(transport="sse")
    with listening(app) as url:
        sse = url.replace("/mcp", "/sse")
        async with (
            sse_client(sse, headers={"x-user": "alice"}) as streams,
            ClientSession(*streams) as client,
        ):
            await client.initialize()
            await assert_baskets(client)


async def test_who_forgot_to_protect_is_told_so() -> None:
    world = World(KEYS)
    server: Any = low_level(World(KEYS))
    context: list[Any] = []

    async def call_tool(_request: Any) -> Any:
        context.append(server.request_context)
        world.state(server.request_context)

    server.request_handlers[types.CallToolRequest] = call_tool
    async with create_connected_server_and_client_session(server) as client:
        with pytest.raises(McpError, match=r"call guard\.protect\(server\)"):
            await told(client, "state")
    with pytest.raises(sealwax.InvalidArgument):
        world.state(context[0])
    for none in (object(), Starlette()):
        with pytest.raises(TypeError, match="expected a low-level Server of mcp 1, a FastMCP"):
            world.guard.protect(none)
    with pytest.raises(sealwax.InvalidArgument, match="protect it once"):
        world.guard.protect(server)
    with pytest.raises(sealwax.InvalidArgument, match=r"expected mcp 2\.3 or later"):
        await world.guard.run_stdio(server)
