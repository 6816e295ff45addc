"""The cases of tests/vectors/wire.json, byte by byte: around ASGI, and on the lines of stdio."""

from __future__ import annotations

import asyncio
import contextvars
import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
import wire
from lines import agreed
from mcp.shared.message import SessionMessage
from shop import guard, view

from sealwax.mcp._transport.exchange import Transport
from sealwax.mcp._transport.stdio import _Conversation, _Line

pytestmark = pytest.mark.anyio
FILE = Path(__file__).parents[4] / "tests/vectors/wire.json"
CASES = json.loads(FILE.read_text())["cases"]
HTTP = [one for one in CASES if "http" in one]
#: Those of the streams that are for SEP-1359. What the SDK cannot read is not seen there.
STDIO = [
    one
    for one in CASES
    if one["settings"].get("transport", {}).get("sep1359")
    and all(way != "broke" for way, *_ in one.get("lines", [["broke"]]))
]
LIMIT = 10_000
HEADERS = {
    "session": b"mcp-session-id",
    "version": b"mcp-protocol-version",
    "encoding": b"content-encoding",
}


class World:
    """A guard behind which a case's answer is given, and what passes on both sides."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case, self.asked, self.logged = case, list[str](), list[str]()
        token, other = (agreed(clientInfo={"name": "c", "version": "1"}) for _ in range(2))
        self.texts = {"{t}": token, "{u}": other, "{bad}": f"{token[:-2]}AA"}
        self.delivered: bytes | None = None
        self.sent: list[Any] = []
        self.guard = guard(
            principal=self._principal, on_refused=lambda refusal: self.logged.append(refusal.code)
        )
        self.settings = dict(case["settings"].get("transport", {}))

    def _principal(self, _ctx: Any) -> Any:
        self.asked.append("principal")
        return wire.principal("alice")

    def told(self, text: Any) -> bytes:
        if isinstance(text, dict):
            return bytes.fromhex(text["hex"]) if "hex" in text else b"x" * (LIMIT + 1)
        told = re.sub(r"\{\w+\}", lambda name: self.texts.get(name[0], name[0]), text)
        return told.encode()

    async def _app(self, _scope: Any, receive: Any, send: Any) -> None:
        self.delivered = (await receive())["body"]
        if "broke" in self.case:
            raise TypeError
        given = self.case.get("answer", {"status": 202, "body": ""})
        names = {"type": b"content-type", "session": b"mcp-session-id"}
        headers = [(name, given[of].encode()) for of, name in names.items() if of in given]
        body = self.told(given["body"])
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": given["status"], "headers": headers})
        for at in range(len(body)):
            part = {"type": "http.response.body", "body": body[at : at + 1], "more_body": True}
            await send(part)
        await send({"type": "http.response.body"})

    async def ask(self) -> tuple[int, dict[bytes, bytes], bytes]:
        """Return the status, the headers and the body that the client gets."""
        request, headers = self.case["http"], []
        for of, name in HEADERS.items():
            if isinstance(value := request.get(of), str):
                headers.append((name, self.told(value)))
            elif value is not None:
                headers += [(name, self.told("{t}"))] * 2

        whole = self.told(request.get("body", ""))
        pieces = [whole[:7], whole[7:]]

        async def receive() -> Any:
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(part: Any) -> None:
            self.sent.append(part)

        scope: Any = {"type": "http", "method": request["method"], "headers": headers}
        app = self.guard.asgi(self._app, max_request_body_size=LIMIT, **self.settings)
        try:
            await app(scope, receive, send)
        except TypeError:
            assert "broke" in self.case
        start, *parts = self.sent
        body = b"".join(part.get("body", b"") for part in parts)
        return start["status"], dict(start["headers"]), body


@pytest.mark.parametrize("case", HTTP, ids=lambda case: case["name"])
async def test_what_passes_http(case: dict[str, Any]) -> None:
    world = World(case)
    status, headers, body = await world.ask()
    if begun := headers.get(b"mcp-session-id"):
        view().session().open(begun.decode())
        world.texts["{new}"] = begun.decode()
    assert (begun is not None) == ("header" in case)
    if "delivers" in case:
        expected = case["delivers"].get("body", case["http"].get("body", ""))
        assert world.delivered == world.told(expected)
    else:
        assert world.delivered is None
    if reply := case.get("replies") or case.get("instead"):
        assert (status, body) == (reply["status"], world.told(reply.get("body", "")))
        assert headers.get(b"allow") == (reply["allow"].encode() if "allow" in reply else None)
    elif "leaves" in case:
        assert (status, body) == (case["answer"]["status"], world.told(case["leaves"]))
        length = headers.get(b"content-length")
        assert length is None or int(length) == len(body)
    assert world.logged == ([case["logged"]] if "logged" in case else [])
    assert world.asked == [*case.get("asks", ()), *case.get("asked", ())]


class Ends:
    """The client's end of stdio, and the SDK's."""

    def __init__(self) -> None:
        self._lines, self.to_client, self.to_sdk = (asyncio.Queue[Any]() for _ in range(3))
        self.say = self._lines.put
        #: Where the SDK serves each request.
        self.contexts = dict[str, contextvars.Context]()

    async def readline(self) -> bytes:
        line: bytes = await self._lines.get()
        return line

    async def send(self, item: Any) -> None:
        await self.to_client.put(item.message.model_dump_json())

    async def serve(self, lines: Any) -> None:
        async for line in lines:
            message = json.loads(line)
            if isinstance(message, dict):
                self.contexts[json.dumps(message.get("id"))] = contextvars.copy_context()
            await self.to_sdk.put(line)


@pytest.mark.parametrize("case", STDIO, ids=lambda case: case["name"])
async def test_what_passes_stdio(case: dict[str, Any]) -> None:
    world, ends = World(case), Ends()
    settings = {**world.settings, "required": False}
    streams: Any = _Conversation(Transport(world.guard, **settings))
    streams.writes = ends
    serving = asyncio.create_task(ends.serve(streams.lines(ends)))
    with anyio.fail_after(10):
        for way, line, *more in case["lines"]:
            if way == "in":
                await ends.say(world.told(line).rstrip(b"\r\n") + b"\r\n")
            elif way in ("from", "of"):
                context = ends.contexts[line] if more else contextvars.Context()
                written: Any = _Line(world.told(more[0] if more else line))
                sending = streams.send(SessionMessage(written))
                await asyncio.create_task(sending, context=context)
            elif way == "out":
                found = await ends.to_client.get()
                if "{new}" in line:
                    world.texts["{new}"] = json.loads(found)["result"]["sessionId"]
                assert found.encode() == world.told(line)
            else:
                for one in line.split("\n"):
                    found = await ends.to_sdk.get()
                    if way == "replay":
                        world.texts["{id}"] = json.dumps(json.loads(found)["id"])
                    assert found.encode() == world.told(one)
    serving.cancel()
    assert world.logged == ([case["logged"]] if "logged" in case else [])
