"""The example, as it is run: on HTTP with users, without, and on stdio."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
import wire
from carriers import Cursor, Handle, RequestState, outcome, plain
from mcp import Client, StdioServerParameters

import sealwax

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio
NOTES = Path(__file__).parents[4] / "examples/notes.py"
KEYS = str(sealwax.Key.generate().to_text())


@pytest.fixture(scope="module")
def without_users() -> Iterator[str]:
    """The address of one process for the tests that change nothing that another sees."""
    with running() as url:
        yield url


@contextmanager
def running(**environment: str) -> Iterator[str]:
    told = {**os.environ, "SEALWAX_KEYS": KEYS, "PORT": "0", **environment}
    command = [sys.executable, str(NOTES)]
    with subprocess.Popen(command, env=told, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/mcp)\n", line)
            assert found, line
            yield found[1]
        finally:
            server.terminate()


def answering(action: Any, content: dict[str, Any] | None) -> Any:
    async def answer(_ctx: Any, params: Any) -> types.ElicitResult:
        assert params.message == "Delete note 7?"
        return types.ElicitResult(action=action, content=content)

    return answer


YES = answering("accept", {"confirm": True})


async def visit(client: Client, *, deletes: bool = True) -> None:
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
    assert (lost["content"], lost["isError"]) == (Handle.refusal["content"], True)
    uris: list[str] = []
    page = await client.list_resources()
    while page.next_cursor is not None:
        assert len(page.resources) == 10
        uris += [str(resource.uri) for resource in page.resources]
        page = await client.list_resources(cursor=page.next_cursor)
    uris += [str(resource.uri) for resource in page.resources]
    assert uris == [f"note:///{number}" for number in range(1, 26)]
    assert await Cursor().present(client, "10") == Cursor.refusal


@pytest.mark.parametrize(
    ("action", "content", "text"),
    [
        ("accept", {"confirm": True}, "note 7 deleted"),
        ("accept", {"confirm": False}, "note 7 kept"),
        ("decline", None, "note 7 kept"),
    ],
)
async def test_a_note_is_deleted_if_the_user_says_so(
    action: str, content: dict[str, Any] | None, text: str, without_users: str
) -> None:
    answer = answering(action, content)
    async with Client(without_users, elicitation_callback=answer) as client:
        told = plain(await client.call_tool("delete_note", {"id": 7}))
    assert told["content"] == [{"type": "text", "text": text}]


async def test_over_http_without_users(without_users: str) -> None:
    async with Client(without_users, elicitation_callback=YES) as client:
        await visit(client)


async def test_over_http_with_users() -> None:
    with running(NOTES_JWT_SECRET=wire.SECRET) as url:
        async with wire.over_http(url, "alice", elicitation_callback=YES) as client:
            await visit(client)
            call = client.session.call_tool("delete_note", {"id": 7}, allow_input_required=True)
            asked = await call
            assert isinstance(asked, types.InputRequiredResult)
        async with wire.over_http(url, "mallory") as client:
            call = client.session.call_tool(
                "delete_note",
                {"id": 7},
                request_state=asked.request_state,
                allow_input_required=True,
            )
            assert await outcome(call) == RequestState.refusal
        other = {"aud": "https://other.example.com"}
        for more in ({"exp": 1}, {"client_id": None}, {"aud": None}, other):
            headers = {"Authorization": f"Bearer {wire.bearer('alice', **more)}"}
            async with wire.http(headers=headers) as http:
                assert (await http.post(url, json={})).status_code == 401
        async with wire.http() as http:
            assert (await http.post(url, json={})).status_code == 401


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_on_stdio(mode: Any) -> None:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    command = StdioServerParameters(command=sys.executable, args=[str(NOTES)], env=environment)
    async with Client(command, mode=mode, elicitation_callback=YES) as client:
        # An older revision has no rounds.
        await visit(client, deletes=mode != "legacy")


async def test_a_server_of_an_older_revision(without_users: str) -> None:
    """Elicitation there needs a session, which a stateless server does not have."""
    async with Client(without_users, mode="legacy") as client:
        await visit(client, deletes=False)


def test_without_keys_it_says_how_to_make_one() -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SEALWAX_KEYS")
    }
    run = subprocess.run(
        [sys.executable, str(NOTES)], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "`python -m sealwax keygen` makes a key" in run.stderr


def test_it_is_short_enough_to_read() -> None:
    assert len(NOTES.read_text().splitlines()) < 150
