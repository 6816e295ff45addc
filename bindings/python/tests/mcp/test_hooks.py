"""The contract: where the adapter holds on to the SDKs, and that they are still there.

A failure here is no fault of sealwax's users: an SDK has moved something. The message says what,
and `src/sealwax/mcp/_handler/sdk.py` is where to follow it.
"""

from __future__ import annotations

import dataclasses
import inspect
from importlib import metadata
from typing import TYPE_CHECKING, Any, get_args

import pytest
from fastmcp import Context as FastContext
from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError, ToolError
from fastmcp.server.auth.middleware import RequireAuthMiddleware as FastRequireAuth
from fastmcp.server.low_level import FastMCPServerMiddleware
from mcp.server import MCPServer, _streamable_http_modern, runner
from mcp.server._otel import OpenTelemetryMiddleware
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver.tools.base import Tool
from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateSecurity,
    authenticated_principal,
)
from mcp.server.runner import ServerRunner
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared._context_streams import ContextSendStream
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import InputResponseRequestParams, RequestParams, ServerCapabilities
from mcp_types.methods import CLIENT_REQUESTS, INPUT_REQUIRED_METHODS, MONOLITH_REQUESTS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import AliasChoices, AliasPath, BaseModel
from shop import guard
from starlette.routing import Route

import sealwax
from sealwax.mcp._handler.exchange import Boundary

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

#: The oldest and the newest that the tests of sealwax.mcp have passed with.
PASSED_WITH = {"mcp": ["2.3.0"], "fastmcp": ["4.0.0", "4.2.3"]}


@pytest.mark.parametrize("package", PASSED_WITH)
def test_the_versions_are_those_it_passed_with(package: str) -> None:
    found = metadata.version(package)
    assert found in PASSED_WITH[package], (
        f"these tests passed with {package} {PASSED_WITH[package]}, found {found}: if all others "
        f"pass, write {found} here and in requirements-mcp.txt"
    )


def kinds(middleware: Any) -> list[str]:
    return [type(one).__name__ for one in middleware]


#: The middleware of each kind of server.
EXPECTED = {
    MCPServer: ["OpenTelemetryMiddleware", "RequestStateBoundary"],
    Server: ["OpenTelemetryMiddleware"],
    FastMCP: [FastMCPServerMiddleware.__name__, "RequestStateBoundary"],
}
MAKES = pytest.mark.parametrize("make", EXPECTED)


def test_members_of_servers_are_where_they_were() -> None:
    high: MCPServer[Any] = MCPServer("shop")
    assert _low(high).middleware is high.middleware, "MCPServer.middleware is another list"
    assert _low(high).get_request_handler("tools/call"), "Server.get_request_handler moved"
    assert isinstance(_low(high).middleware[0], OpenTelemetryMiddleware)
    fast: FastMCP[Any] = FastMCP("shop")
    assert fast._request_state_security is None, "FastMCP._request_state_security moved"
    assert issubclass(ToolError, FastMCPError)


def test_the_default_policy_is_known_from_an_authors() -> None:
    server: MCPServer[Any] = MCPServer("shop")
    boundary = next(one for one in server.middleware if isinstance(one, RequestStateBoundary))
    security = getattr(boundary, "_security", None)
    assert isinstance(security, RequestStateSecurity), "RequestStateBoundary._security moved"
    told = (security.ttl, security.audience, security.bind_principal, type(security.codec))
    default = (600.0, None, authenticated_principal, AESGCMRequestStateCodec)
    assert told == default, "the SDK's default policy of requestState changed"
    assert len(security.codec._ring) == 1, "AESGCMRequestStateCodec._ring moved"  # type: ignore[attr-defined]


@MAKES
def test_the_guard_takes_the_place_of_the_boundary(make: Any) -> None:
    server, expected = make("shop"), EXPECTED[make]
    assert kinds(_low(server).middleware) == expected, "the middleware changed"
    guard().protect(server)
    outside = [one for one in expected if one != RequestStateBoundary.__name__]
    assert kinds(_low(server).middleware) == [*outside, Boundary.__name__]
    with pytest.raises(sealwax.InvalidArgument, match="protect it once"):
        guard().protect(server)


def _low(server: Any) -> Server[Any]:
    low = getattr(server, "_lowlevel_server", getattr(server, "_mcp_server", server))
    assert isinstance(low, Server)
    return low


def test_a_request_is_what_the_boundary_takes_it_for() -> None:
    found = {field.name for field in dataclasses.fields(ServerRequestContext)}
    needed = {"session", "method", "params", "request_id", "protocol_version", "request"}
    assert needed <= found, f"ServerRequestContext lost {needed - found}"


def test_the_sdk_and_the_core_agree_on_what_carries_a_request_state() -> None:
    ours = {
        method
        for method in INPUT_REQUIRED_METHODS
        if (rule := sealwax.token_fields(method)) is not None and rule.kind == "request-state"
    }
    assert ours == INPUT_REQUIRED_METHODS, "the SDK has another method that may ask back"


@pytest.mark.parametrize("make", [MCPServer, FastMCP])
def test_the_endpoint_of_an_app_is_where_the_wrapper_looks(make: Any) -> None:
    server = make("shop")
    served = server.http_app() if make is FastMCP else server.streamable_http_app()
    routes = [route for route in served.routes if isinstance(route, Route)]
    assert [hasattr(route.app, "session_manager") for route in routes].count(True) == 1, (
        "the endpoint of Streamable HTTP has no session_manager, or Route no app"
    )
    assert issubclass(FastRequireAuth, RequireAuthMiddleware)


#: What the adapter relies on, where nothing public tells of it.
SOURCES: list[tuple[Any, list[str], str]] = [
    (RequireAuthMiddleware, ["self.app = app", "await self.app("], "app is not read at a request"),
    (
        StreamableHTTPSessionManager._handle_request,
        ["pv is not None and pv not in HANDSHAKE_PROTOCOL_VERSIONS"],
        "the SDK routes revisions by another rule than the guard",
    ),
    (
        stdio_server,
        ["async for line in stdin", "await stdout.write(", ".message.model_dump_json("],
        "stdio does not read and write what it is given",
    ),
    (
        FastContext._input_response_params,
        ["InputResponseRequestParams.model_validate(dict(params))"],
        "the one reader of params that takes names in Python: such names need not be refused",
    ),
    (
        StreamableHTTPServerTransport._handle_post_request,
        ["pydantic_core.from_json(body)"],
        "bodies before 2026-07-28 are read by another parser than the wrapper's",
    ),
    (
        _streamable_http_modern.handle_modern_request,
        ["json.loads(body)"],
        "bodies from 2026-07-28 on are read by another parser than the wrapper's",
    ),
    # By that a session finds what leaves for it on stdio.
    (ContextSendStream.send, ["copy_context()"], "a message has no context of its own"),
    (JSONRPCDispatcher._spawn, ["sender_ctx.run("], "a message is served in another context"),
    (JSONRPCDispatcher._handle_request, ["await self._write_result("], "another task answers"),
    # A refused handle is one, so that no prefix gets in front of its text.
    (Tool.run, ["except MCPError:"], "MCPServer's tools no longer let MCPError pass"),
]


@pytest.mark.parametrize(
    ("found", "texts", "why"), SOURCES, ids=lambda one: getattr(one, "__name__", "")
)
def test_the_sdk_does_inside_what_the_adapter_relies_on(
    found: Any, texts: list[str], why: str
) -> None:
    source = inspect.getsource(found)
    assert [text for text in texts if text not in source] == [], why


def test_the_sdks_readers_of_params_take_no_names_in_python() -> None:
    for reads in (ServerRunner._on_request, ServerRunner._on_notify, runner._extract_meta):
        text = inspect.getsource(reads)
        assert text.count("model_validate(") == text.count("by_name=False"), reads


def test_revisions_with_sessions_are_those_with_a_handshake() -> None:
    assert HANDSHAKE_PROTOCOL_VERSIONS[-1] == "2025-11-25", "another revision has a handshake"


def names_of(name: str, field: FieldInfo) -> set[str]:
    """Return all names by which a model may take a field."""
    given = field.validation_alias
    choices = given.choices if isinstance(given, AliasChoices) else [given]
    found = [one.path[0] if isinstance(one, AliasPath) else one for one in choices]
    return {name, *(str(one) for one in (*found, field.alias) if one is not None)}


def params_models(make: Any) -> dict[str, set[type[BaseModel]]]:
    """Return the models that a server may read the params of each method by."""
    low, found = _low(make("shop")), dict[str, set[type[BaseModel]]]()
    for method, version in CLIENT_REQUESTS:
        models = found.setdefault(method, {InputResponseRequestParams, RequestParams})
        wire = CLIENT_REQUESTS[method, version].model_fields.get("params")
        monolith = MONOLITH_REQUESTS[method].model_fields["params"]
        for annotation in (wire and wire.annotation, monolith.annotation):
            for one in (annotation, *get_args(annotation)):
                if isinstance(one, type) and issubclass(one, BaseModel):
                    models.add(one)
        entry = low.get_request_handler(method)
        if entry is not None:
            models.add(entry.params_type)
    return found


@MAKES
def test_what_is_carried_has_no_names_but_those_that_are_refused(make: Any) -> None:
    refused = {"requestState": {"request_state"}, "cursor": set[str](), "_meta": {"meta"}}
    seen: set[str] = set()
    for method, models in params_models(make).items():
        rule = sealwax.token_fields(method)
        assert rule is None or rule.param in refused, f"{method} carries {rule}"
        for model in models:
            for name, field in model.model_fields.items():
                names = names_of(name, field)
                for member in refused.keys() & names:
                    seen.add(member)
                    found = names - {member} - refused[member]
                    assert not found, f"{method}: {model} takes {member} as {found} too: refuse it"
    assert seen == refused.keys(), "the SDK's models have other names for what is carried"


def test_sessions_find_their_place() -> None:
    server: MCPServer[Any] = MCPServer("shop")
    for method in ("sessions/create", "sessions/delete"):
        assert _low(server).get_request_handler(method) is None, f"the SDK serves {method} itself"
    assert not ServerCapabilities.model_fields.keys() & {"sessions"}, "the SDK knows sessions"
