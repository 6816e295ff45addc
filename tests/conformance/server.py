"""What the official conformance suite's scenarios `input-required-result-*` ask of a server.

    build/venv-mcp/bin/python tests/conformance/server.py    # PORT=8000 for a port of one's own

prints `listening on http://127.0.0.1:PORT/mcp` to stderr. The keys are made anew at each start.
`build/venv-mcp` is made by `make -C bindings/python mcp`.
"""

import os
import socket
import sys
from typing import Any

import sealwax
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from sealwax.mcp import Guard

keys = sealwax.KeyRing([sealwax.Key.generate()])
codec = sealwax.Codec(keys=keys, audience="https://conformance.example.com")
guard = Guard(codec=codec, principal="anonymous")
server = MCPServer("conformance")
guard.protect(server)

Answer = CallToolResult | InputRequiredResult


def form(message: str, name: str, kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(text: str, most: int) -> CreateMessageRequest:
    said = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=most))


def ask(ctx: Context, state: Any = None, **requests: InputRequest) -> InputRequiredResult:
    """Ask for all of them; a state goes through the guard."""
    sealed = None if state is None else guard.write_state(ctx, state)
    return InputRequiredResult(input_requests=requests, request_state=sealed)


def say(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


def answered(ctx: Context, *names: str) -> bool:
    return set(names) <= set(ctx.input_responses or {})


NAME = form("What is your name?", "name")


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> Answer:
    answer = (ctx.input_responses or {}).get("user_name")
    if not isinstance(answer, ElicitResult) or not answer.content:
        return ask(ctx, user_name=NAME)
    return say(f"Hello, {answer.content['name']}!")


@server.tool()
async def test_input_required_result_sampling(ctx: Context) -> Answer:
    if not answered(ctx, "capital_question"):
        return ask(ctx, capital_question=sampling("What is the capital of France?", 100))
    return say("Paris, then")


@server.tool()
async def test_input_required_result_list_roots(ctx: Context) -> Answer:
    if not answered(ctx, "client_roots"):
        return ask(ctx, client_roots=ListRootsRequest())
    return say("These roots, then")


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> Answer:
    if guard.read_state(ctx) != {"round": 1}:
        return ask(ctx, {"round": 1}, confirm=form("Please confirm", "ok", "boolean"))
    return say("state-ok")


@server.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    if guard.read_state(ctx) is None:
        return ask(ctx, {"round": 1}, confirm=form("Please confirm", "ok", "boolean"))
    return say("state-ok")


@server.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    if guard.read_state(ctx) is None or not answered(ctx, "user_name", "greeting", "client_roots"):
        return ask(
            ctx,
            {"asked": 3},
            user_name=NAME,
            greeting=sampling("Generate a greeting", 50),
            client_roots=ListRootsRequest(),
        )
    return say("all three")


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> Answer:
    state = guard.read_state(ctx)
    if state is None:
        return ask(ctx, {"round": 1}, step1=form("Step 1: What is your name?", "name"))
    if state["round"] == 1:
        return ask(ctx, {"round": 2}, step2=form("Step 2: What is your favorite color?", "color"))
    return say("three rounds")


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> Answer:
    declared = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if declared and declared.elicitation:
        requests["user_name"] = NAME
    if declared and declared.sampling:
        requests["greeting"] = sampling("Generate a greeting", 50)
    return ask(ctx, **requests)


@server.prompt()
async def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
    if not answered(ctx, "user_context"):
        return ask(ctx, {}, user_context=form("What context should the prompt use?", "context"))
    return "With that context"


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    port = listening.getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
    app = server.streamable_http_app(stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
