"""The examples as they are run, with official clients.

On HTTP with users, and on stdio by clients of both revisions; at replicas `make demo` shows them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
import wire
from carriers import CURSOR, HANDLE, STATE, ask, call, carried, created, outcome, plain
from mcp import Client, StdioServerParameters
from shop import KEYS

import sealwax

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]
NOTES, SESSIONS = ROOT / "examples/notes.py", ROOT / "examples/sessions.py"
ENVIRONMENT = {**os.environ, "SEALWAX_KEYS": KEYS}


@contextmanager
def example(file: Path, **environment: str) -> Iterator[str]:
    """Run an example that serves HTTP; give its address."""
    told = {**ENVIRONMENT, "PORT": "0", **environment}
    command = [sys.executable, str(file)]
    with subprocess.Popen(command, env=told, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/mcp)\n", line)
            assert found, line
            yield found[1]
        finally:
            server.terminate()


def on_stdio(file: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[str(file)], env=ENVIRONMENT)


async def yes(context: Any, params: Any) -> types.ElicitResult:
    assert params.message == "Delete note 7?"
    return types.ElicitResult(action="accept", content={"confirm": True})


async def visit_notes(client: Client, *, deletes: bool = True) -> None:
    """Do all that the server can."""
    if deletes:
        told = plain(await client.call_tool("delete_note", {"id": 7}))
        assert told["content"] == [{"type": "text", "text": "note 7 deleted"}]
    made = plain(await client.call_tool("new_basket", {}))["structuredContent"]
    assert made["items"] == []
    told = plain(await client.call_tool("add_to_basket", {"basket": made["basket"], "item": "tea"}))
    assert json.loads(told["content"][0]["text"]) == told["structuredContent"]
    assert told["structuredContent"]["items"] == ["tea"]
    lost = plain(await client.call_tool("add_to_basket", {"basket": "basket_7", "item": "tea"}))
    assert HANDLE.refused(lost)
    uris: list[str] = []
    page = await client.list_resources()
    while page.next_cursor is not None:
        assert len(page.resources) == 10
        uris += [str(resource.uri) for resource in page.resources]
        page = await client.list_resources(cursor=page.next_cursor)
    uris += [str(resource.uri) for resource in page.resources]
    assert uris == [f"note:///{number}" for number in range(1, 26)]
    assert await CURSOR.present(client, "10") == CURSOR.refusal


async def test_over_http_with_users() -> None:
    with example(NOTES, NOTES_JWT_SECRET=wire.SECRET) as url:
        async with wire.over_http(url, "alice", elicitation_callback=yes) as client:
            await visit_notes(client)
            call = client.session.call_tool("delete_note", {"id": 7}, allow_input_required=True)
            asked = await call
            assert isinstance(asked, types.InputRequiredResult)
        async with wire.over_http(url, "mallory") as client:
            more: Any = {"request_state": asked.request_state, "allow_input_required": True}
            call = client.session.call_tool("delete_note", {"id": 7}, **more)
            assert await outcome(call) == STATE.refusal
        headers: list[dict[str, str]] = [{}]
        for wrong in ({"exp": 1}, {"client_id": None}, {"aud": None}, {"aud": "https://a.example"}):
            headers.append({"Authorization": f"Bearer {wire.bearer('alice', **wrong)}"})
        for given in headers:
            async with wire.http(headers=given) as http:
                assert (await http.post(url, json={})).status_code == 401


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_on_stdio(mode: Any) -> None:
    async with Client(on_stdio(NOTES), mode=mode, elicitation_callback=yes) as client:
        # An older revision has no rounds.
        await visit_notes(client, deletes=mode != "legacy")


class Conversation:
    """A session, as a host keeps it for its clients."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        self.metadata = metadata

    async def text(self, client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
        told = await call(client, tool, self.metadata, **arguments)
        self.metadata |= carried(told)
        return told["content"][0]["text"], told["isError"]


async def visit_sessions(client: Client, other: Client) -> None:
    """Do all that the server can; what a session began at one replica goes on at the other."""
    one = Conversation(await created(client))
    here, there = partial(one.text, client), partial(one.text, other)
    beside = partial(Conversation(await created(client)).text, client)
    for number, text in enumerate((here, there, here, there), 1):
        assert await text("count") == (str(number), False)
    assert await beside("count") == ("1", False)
    for tool in ("read", "end"):
        assert (await here(tool))[1] is True
    assert (await here("write", text="lost"))[1] is True
    assert await here("begin") == ("begun", False)
    assert await there("write", text="lost too") == ("written", False)
    assert await there("begin") == ("begun", False)
    assert await there("write", text="one, ") == ("written", False)
    assert (await beside("read"))[1] is True
    assert await here("write", text="two") == ("written", False)
    assert await there("read") == ("one, two", False)
    assert await here("end") == ("one, two", False)
    assert (await there("read"))[1] is True
    assert await there("count") == ("5", False)
    assert await call(client, "count") == sealwax.answer("data-layer-required")
    # Nothing would record its end.
    told = await ask(client, "sessions/delete", one.metadata)
    assert told["error"]["code"] == types.METHOD_NOT_FOUND


async def test_sessions_on_stdio() -> None:
    command = on_stdio(SESSIONS)
    async with (
        Client(command, mode="2026-07-28") as client,
        Client(command, mode="legacy") as other,
    ):
        await visit_sessions(client, other)
