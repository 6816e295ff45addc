"""The transcripts of tests/vectors/guard.json, on each kind of server."""

from __future__ import annotations

from typing import Any

import pytest
from environment import at
from playing import MAKERS, Playing
from world import FILE, NOW

pytestmark = pytest.mark.anyio
TRANSCRIPTS = {
    one["name"]: one for one in FILE["transcripts"] if "python" not in one.get("not", {})
}


def test_there_are_enough() -> None:
    assert len(TRANSCRIPTS) >= 300


@pytest.mark.parametrize("name", TRANSCRIPTS)
@pytest.mark.parametrize("system", MAKERS)
async def test_a_server_does_as_the_transcript_says(system: str, name: str) -> None:
    transcript: dict[str, Any] = TRANSCRIPTS[name]
    if system == "fastmcp" and any(event.get("http") == "GET" for event in transcript["events"]):
        pytest.skip("FastMCP has no route for GET where it is stateless")
    with at(NOW * 1000):
        async with Playing(system, transcript) as playing:
            await playing.play(transcript["events"])
