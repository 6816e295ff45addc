"""The example, as it is run: on HTTP with users, without, and on stdio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import wire
from carriers import CURSOR, HANDLE, STATE, outcome, plain
from mcp import Client
from processes import example, example_on_stdio

pytestmark = pytest.mark.anyio
NOTES = Path(__file__).parents[4] / "examples/notes.py"


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


async def test_a_note_is_deleted_if_the_user_says_so() -> None:
    """Without users, and for clients of both revisions."""
    with example(NOTES) as url:
        for action, content, text in (
            ("accept", {"confirm": False}, "note 7 kept"),
            ("decline", None, "note 7 kept"),
        ):
            async with Client(url, elicitation_callback=answering(action, content)) as client:
                told = plain(await client.call_tool("delete_note", {"id": 7}))
            assert told["content"] == [{"type": "text", "text": text}]
        async with Client(url, elicitation_callback=YES) as client:
            await visit(client)
        async with Client(url, mode="legacy") as client:
            # Elicitation there needs a session, which a stateless server does not have.
            await visit(client, deletes=False)


async def test_over_http_with_users() -> None:
    with example(NOTES, NOTES_JWT_SECRET=wire.SECRET) as url:
        async with wire.over_http(url, "alice", elicitation_callback=YES) as client:
            await visit(client)
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
    async with Client(example_on_stdio(NOTES), mode=mode, elicitation_callback=YES) as client:
        # An older revision has no rounds.
        await visit(client, deletes=mode != "legacy")


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
