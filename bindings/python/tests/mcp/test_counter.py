"""Logical sessions: the example, as it is run, at two replicas, by official clients."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import wire
from carriers import ask, call, carried, created
from mcp import Client
from processes import example, example_on_stdio

import sealwax

pytestmark = pytest.mark.anyio
EXAMPLE = Path(__file__).parents[4] / "examples/sessions.py"


class Conversation:
    """A session, as a host keeps it for its clients."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        self.metadata = metadata

    async def text(self, client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
        told = await call(client, tool, self.metadata, **arguments)
        self.metadata |= carried(told)
        return told["content"][0]["text"], told["isError"]


async def visit(client: Client, other: Client) -> None:
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


async def test_sessions_at_two_replicas() -> None:
    log: list[str] = []
    with (
        example(EXAMPLE, log, NOTES_JWT_SECRET=wire.SECRET) as url,
        example(EXAMPLE, log, NOTES_JWT_SECRET=wire.SECRET) as other,
    ):
        async with (
            wire.over_http(url, "alice", mode="2026-07-28") as client,
            wire.over_http(other, "alice", mode="legacy") as at_other,
        ):
            await visit(client, at_other)
    calls = [line for line in log if ": session " in line]
    assert all(re.fullmatch(r"\w+: session [0-9a-f]{32}, generation \d+", line) for line in calls)
    assert len({line.split()[2] for line in calls}) == 2
    generations = [int(line.split()[-1]) for line in calls if line.startswith("count:")]
    assert sorted(generations) == [0, 0, 1, 2, 3, 10]
    assert "sess_" not in "".join(log)


async def test_sessions_on_stdio() -> None:
    command = example_on_stdio(EXAMPLE)
    async with (
        Client(command, mode="2026-07-28") as client,
        Client(command, mode="legacy") as other,
    ):
        await visit(client, other)


async def test_sessions_without_users() -> None:
    with example(EXAMPLE) as url:
        async with Client(url) as client:
            await visit(client, client)


def test_it_is_short_enough_to_read() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 150
