"""A server with all features that the official conformance suite tests, from `features.json`.

    build/venv-mcp/bin/python tests/conformance/server.py    # PORT=8000 for a port of one's own

prints `listening on http://127.0.0.1:PORT/mcp` to stderr. With `--bare` no guard protects it; with
`--stateless` it keeps no sessions for older revisions, and the guard does. The keys are made anew at
each start. `build/venv-mcp` is made by `make -C bindings/python mcp`.
"""

import asyncio
import base64
import json
import os
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import sealwax
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.server.mcpserver.resources import BinaryResource, TextResource
from mcp.server.mcpserver.tools import Tool
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    Completion,
    EmptyResult,
    InputRequest,
    InputRequiredResult,
    JSONRPCMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, ConfigDict, TypeAdapter
from sealwax.ledger import Memory
from sealwax.mcp import Guard

FEATURES: dict[str, Any] = json.loads((Path(__file__).parent / "features.json").read_text())
BARE = "--bare" in sys.argv
STATELESS = "--stateless" in sys.argv
SOON = 0.05

codec = sealwax.Codec(keys=sealwax.KeyRing([sealwax.Key.generate()]), audience="https://conformance.example.com")
guard = Guard(codec=codec, principal="anonymous", ledger=Memory())

Answer = CallToolResult | InputRequiredResult
Method = Callable[..., Awaitable[Answer]]
requests: TypeAdapter[InputRequest] = TypeAdapter(InputRequest)


class Whatever(BaseModel):
    """The answer of a client, to be shown."""

    model_config = ConfigDict(extra="allow")


def rounds_over(ctx: Context) -> int | None:
    """Return how many rounds there were: the state is sealed by the guard, or else by the SDK."""
    state = ctx.request_state if BARE else guard.opened(ctx)
    return None if state is None else int(state)


def state_of(ctx: Context, rounds: int) -> str:
    return str(rounds) if BARE else guard.state(ctx, rounds)


def say(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a value of `features.json`, with the placeholders of its texts filled in."""
    match template:
        case str():
            return re.sub(r"\{(\w+)\}", lambda name: str(values.get(name[1], name[0])), template)
        case list():
            return [filled(item, values) for item in template]
        case dict():
            return {key: filled(value, values) for key, value in template.items()}
    return template


def in_rounds(name: str, ctx: Context) -> InputRequiredResult | None:
    """Ask round by round, and only for what the client has declared."""
    stateful, asked = FEATURES["rounds"][name]["state"], FEATURES["rounds"][name]["ask"]
    over = rounds_over(ctx) if stateful else 0
    answers = ctx.input_responses or {}
    if over is None:
        over = 0
    elif all(key in answers for key in asked[over]):
        over += 1
    if over == len(asked):
        return None
    declared = ctx.client_capabilities.model_dump(exclude_none=True) if ctx.client_capabilities else {}
    return InputRequiredResult(
        input_requests={
            key: requests.validate_python(FEATURES["asked"][key])
            for key in asked[over]
            if FEATURES["asked"][key]["method"].split("/")[0] in declared
        },
        request_state=state_of(ctx, over) if stateful else None,
    )


def fixed(result: dict[str, Any]) -> Method:
    async def method() -> CallToolResult:
        return CallToolResult.model_validate(result)

    return method


def question(request: dict[str, Any]) -> Method:
    async def method(ctx: Context, prompt: str = "", message: str = "") -> CallToolResult:
        asked = requests.validate_python(filled(request, {"prompt": prompt, "message": message}))
        here = ServerMessageMetadata(related_request_id=ctx.request_id)
        answer = await ctx.session.send_request(asked, Whatever, metadata=here)
        return say(f"the client answered {answer.model_dump_json()}")

    return method


def rounds(name: str) -> Method:
    async def method(ctx: Context) -> Answer:
        return in_rounds(name, ctx) or say("state-ok")

    return method


async def test_tool_with_logging(ctx: Context) -> CallToolResult:
    """Log three times."""
    await ctx.info("Tool execution started")
    await asyncio.sleep(SOON)
    await ctx.info("Tool processing data")
    await asyncio.sleep(SOON)
    await ctx.info("Tool execution completed")
    return say("logged")


async def test_logging_tool(ctx: Context) -> CallToolResult:
    """Log once, for a client that asks for logs."""
    await ctx.info("for a client that asks for logs")
    return say("logged")


async def test_tool_with_progress(ctx: Context) -> CallToolResult:
    """Make progress."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(SOON)
    return say("done")


async def test_reconnection(ctx: Context) -> CallToolResult:
    """Close the stream, and answer afterwards."""
    await ctx.close_sse_stream()
    await asyncio.sleep(SOON)
    return say("this came after the stream was closed")


async def test_missing_capability(ctx: Context) -> CallToolResult:
    """Need a client that samples."""
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "expected a client that samples",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return say("it samples")


async def test_trigger_tool_change(ctx: Context) -> CallToolResult:
    """Tell that the tools have changed."""
    await ctx.notify_tools_changed()
    return say("told")


async def test_trigger_prompt_change(ctx: Context) -> CallToolResult:
    """Tell that the prompts have changed."""
    await ctx.notify_prompts_changed()
    return say("told")


def tools() -> list[Tool]:
    made = []
    for name, tool in FEATURES["tools"].items():
        made.append(Tool.from_function(fixed(tool["result"]), name, description=tool["description"]))
        made[-1].parameters = tool.get("inputSchema", made[-1].parameters)
    for name, tool in FEATURES["questions"].items():
        made.append(Tool.from_function(question(tool["request"]), name, description=tool["description"]))
    for name in FEATURES["rounds"]:
        if not name.endswith("_prompt"):
            made.append(Tool.from_function(rounds(name), name, description="Ask first."))
    others: list[Method] = [
        test_tool_with_logging,
        test_logging_tool,
        test_tool_with_progress,
        test_reconnection,
        test_missing_capability,
        test_trigger_tool_change,
        test_trigger_prompt_change,
    ]
    return made + [Tool.from_function(method) for method in others]


def prompt(name: str, given: dict[str, Any]) -> Prompt:
    async def render(**values: str) -> Any:
        return filled(given["messages"], values)

    about = {"name": name, "description": given["description"]}
    arguments = [{"name": argument, "required": True} for argument in given["arguments"]]
    return Prompt.model_validate({**about, "arguments": arguments, "fn": render})


async def test_input_required_result_prompt(ctx: Context) -> Any:
    """Ask first."""
    return in_rounds("test_input_required_result_prompt", ctx) or "with that context"


async def done(_ctx: Any, _params: Any) -> EmptyResult:
    return EmptyResult()


server = MCPServer("conformance", version="1.0.0", tools=tools())
if not BARE:
    guard.protect(server)

for name, given in FEATURES["prompts"].items():
    server.add_prompt(prompt(name, given))
server.prompt()(test_input_required_result_prompt)

for uri, content in FEATURES["resources"].items():
    about = {"uri": uri, "name": uri, "mime_type": content["mimeType"]}
    if "text" in content:
        server.add_resource(TextResource(**about, text=content["text"]))
    else:
        server.add_resource(BinaryResource(**about, data=base64.b64decode(content["blob"])))


@server.resource(FEATURES["template"]["uriTemplate"], mime_type=FEATURES["template"]["mimeType"])
def template(id: str) -> str:
    return str(filled(FEATURES["template"]["text"], {"id": id}))


async def complete(_ref: Any, argument: Any, _context: Any) -> Completion:
    return Completion(values=[f"{argument.value}is"], total=1, has_more=False)


# The SDK has no types for this one.
completion: Any = server.completion
completion()(complete)


# MCPServer has no other way to serve these.
server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, done)
server._lowlevel_server.add_request_handler("resources/subscribe", SubscribeRequestParams, done)
server._lowlevel_server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, done)


class Events(EventStore):
    """The messages of each stream, for clients that reconnect."""

    def __init__(self) -> None:
        self._sent: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._sent.append((stream_id, message))
        return str(len(self._sent) - 1)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str:
        last = int(last_event_id)
        stream_id = self._sent[last][0]
        for number, (stream, message) in enumerate(self._sent):
            if number > last and stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    port = listening.getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
    if STATELESS:
        app = server.streamable_http_app(stateless_http=True)
    else:
        app = server.streamable_http_app(event_store=Events(), retry_interval=500)
    app = guard.asgi(app) if STATELESS and not BARE else app
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
