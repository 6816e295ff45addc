"""The client's helper: against servers of every SDK, on both revisions and transports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import tally
import wire
from carriers import plain, view
from data_layer import KEYS, MODES, Asked, Raw, ask, call, served
from http_sessions import Recording
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from remembering import Remembering

import sealwax
from sealwax.mcp import SESSION_META_KEY, Guard, principal_from_access_token
from sealwax.mcp.client import ClientSessions, session_id_header

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

    from sealwax import SessionMetadata
    from sealwax.mcp.client import ClientSession, Key

pytestmark = pytest.mark.anyio


class OnDisk:
    """A store that outlives a client, and waits."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _at(self, key: Key) -> Path:
        return self._path / "-".join(key)

    async def load(self, key: Key) -> SessionMetadata | None:
        await anyio.sleep(0)
        at = self._at(key)
        return json.loads(at.read_text()) if at.exists() else None

    async def save(self, key: Key, metadata: SessionMetadata) -> None:
        await anyio.sleep(0)
        self._at(key).write_text(json.dumps(metadata))

    async def remove(self, key: Key) -> None:
        self._at(key).unlink(missing_ok=True)


async def value(session: ClientSession, tool: str = "count") -> Any:
    return plain(await session.call_tool(tool))["structuredContent"]["value"]["count"]


async def visit(client: Client, path: Path) -> None:
    sessions = ClientSessions(OnDisk(path))
    first = await sessions.open(client, server="tally", user="alice")
    other = await sessions.open(client, server="tally", user="alice", name="other")
    assert [await value(first) for _ in range(3)] == [1, 2, 3]
    assert await value(other) == 1
    # One after another, though they are asked for at once.
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(value, first)
    assert await value(first, "peek") == 8
    # It is saved, and continues when it is opened again.
    again = await ClientSessions(OnDisk(path)).open(client, server="tally", user="alice")
    assert await value(again) == 9
    # The first did not see that, and so its next write takes its place: the last one wins.
    assert await value(first) == 9
    # Any request may be of a session.
    request: Any = Asked(method="tools/list", params=types.RequestParams())
    listed = plain(await first.request(request, Raw))
    assert listed["_meta"][SESSION_META_KEY] == {
        "sessionId": first.metadata and first.metadata["sessionId"]
    }
    await first.delete()
    assert first.metadata is None
    assert [at.name for at in path.iterdir()] == ["tally-alice-other"]
    for session in (first, again):
        with pytest.raises(MCPError) as refused:
            await session.call_tool("count")
        assert refused.value.error.code == -32043
        assert session.metadata is None
    begun = await sessions.open(client, server="tally", user="alice")
    assert await value(begun) == 1


@pytest.mark.parametrize(
    ("system", "revision"),
    [*((system, "2026-07-28") for system in tally.SYSTEMS), ("fastmcp", "2025-11-25")],
)
async def test_a_host_keeps_sessions_over_http(system: str, revision: str, tmp_path: Path) -> None:
    async with served(system, revision, guard={"accept": Remembering()}) as of:
        await visit(of.client, tmp_path)


@pytest.mark.parametrize(
    ("system", "revision"), [("mcpserver", "2026-07-28"), ("lowlevel", "2025-11-25")]
)
async def test_a_host_keeps_sessions_over_stdio(system: str, revision: str, tmp_path: Path) -> None:
    options: Any = {"program": "tally.py", "mode": MODES[revision]}
    async with wire.over_stdio(system, KEYS, "alice", **options) as client:
        await visit(client, tmp_path)


async def test_a_session_that_the_server_does_not_know_is_dropped(tmp_path: Path) -> None:
    async with served() as of:
        store = OnDisk(tmp_path)
        session = await ClientSessions(store).open(of.client, server="tally", user="alice")
        lost = sealwax.Key.generate().to_text()
        unknown = view(tally.codec(str(lost)), wire.principal("alice")).sessions().create(b"{}")
        (tmp_path / "tally-alice-lost").write_text(json.dumps(unknown))
        lost_session = await ClientSessions(store).open(
            of.client, server="tally", user="alice", name="lost"
        )
        with pytest.raises(MCPError) as refused:
            await lost_session.call_tool("count")
        assert refused.value.error.code == -32043
        assert not (tmp_path / "tally-alice-lost").exists()
        # To delete what the server does not know is to have it deleted.
        (tmp_path / "tally-alice-gone").write_text(json.dumps(unknown))
        gone = await ClientSessions(store).open(
            of.client, server="tally", user="alice", name="gone"
        )
        await gone.delete()
        assert not (tmp_path / "tally-alice-gone").exists()
        # The server's own trouble is no reason to drop one.
        with pytest.raises(MCPError):
            await session.call_tool("fill", {"size": 5_000})
        assert session.metadata is not None
        assert await value(session) == 1


async def test_where_nothing_remembers_an_end_it_is_forgotten_here(
    tmp_path: Path,
) -> None:
    async with served() as of:
        sessions = ClientSessions(OnDisk(tmp_path))
        session = await sessions.open(of.client, server="tally", user="alice")
        kept = session.metadata
        await session.delete()
        assert session.metadata is None
        assert list(tmp_path.iterdir()) == []
        told = await ask(of.client, "sessions/delete", kept)
        assert told["error"]["code"] == types.METHOD_NOT_FOUND
        assert "error" not in await call(of.client, "peek", kept)
        assert of.refusals == []


async def test_the_header_repeats_the_session_for_proxies() -> None:
    recording = Recording()
    hooks: Any = {"request": [session_id_header]}
    async with (
        served() as of,
        wire.over_http(
            of.url, "alice", mode="2026-07-28", transport=recording, event_hooks=hooks
        ) as client,
    ):
        session = await ClientSessions().open(client, server="tally", user="alice")
        assert await value(session) == 1
        assert session.metadata is not None
        for request, _ in recording.seen:
            calls = b'"tools/call"' in request.content
            expected = session.metadata["sessionId"] if calls else None
            assert request.headers.get("mcp-session-id") == expected


async def test_rounds_of_a_tool_keep_each_state() -> None:
    """A tool that asks back writes in each round, and the next round sends what was written."""
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)
    sessions = guard.sessions(initial=lambda _ctx: 0)

    class Rounds:
        @staticmethod
        def mcpserver(_of: Any, **options: Any) -> Any:
            server: MCPServer[Any] = MCPServer("rounds", **options)
            guard.protect(server)

            async def ask(ctx: Any) -> types.CallToolResult | types.InputRequiredResult:
                session = sessions.of(ctx)
                assert session is not None
                session.write(session.value + 1)
                if guard.read_state(ctx) is None:
                    form = types.ElicitRequestFormParams(
                        message="Sure?", requested_schema={"type": "object", "properties": {}}
                    )
                    return types.InputRequiredResult(
                        input_requests={"sure": types.ElicitRequest(params=form)},
                        request_state=guard.write_state(ctx, "asked"),
                    )
                return types.CallToolResult(content=[], structured_content={"is": session.value})

            ask.__annotations__["ctx"] = Context
            server.tool()(ask)
            return server

    async def sure(_ctx: Any, _params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={})

    with wire.listening(wire.app("mcpserver", None, where=Rounds)) as url:
        async with wire.over_http(
            url, "alice", mode="2026-07-28", elicitation_callback=sure
        ) as client:
            session = await ClientSessions().open(client, server="rounds", user="alice")
            told = plain(await session.call_tool("ask"))
            assert told["structuredContent"] == {"is": 2}
