"""Data-layer sessions for the official client: keeps and sends their metadata.

Only the server seals and opens a session; here its metadata is opaque.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter

from ._caller import awaited
from ._handler.session import SESSION_META_KEY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import httpx2
    from mcp import Client

    from .. import SessionMetadata

ResultT = TypeVar("ResultT", bound=BaseModel)

#: The error code for a session that is unknown, or has ended.
SESSION_NOT_FOUND = -32043
#: The error codes for an older state: no handler ran; or its result was discarded.
_STALE, _STALE_AND_RAN = -32044, -32045
#: The member of a tool's ``_meta`` that says the same.
_STALE_META_KEY = "io.github.sealwax/stale"
#: The number of tries for a request whose session is written concurrently.
_STALE_TRIES = 4
_ANYTHING: Any = TypeAdapter(dict[str, Any])


class Key(NamedTuple):
    """The name of a session in a store."""

    #: The server that made it; never send it to another.
    server: str
    #: The user of the host.
    user: str
    #: The session among the user's, such as a conversation.
    name: str


class SessionStore(Protocol):
    """Stores the metadata of sessions. Each function may be asynchronous.

    The metadata is JSON. Protect it as a credential: a reader can continue the session.
    """

    def load(self, key: Key, /) -> SessionMetadata | Awaitable[SessionMetadata | None] | None:
        """Return the saved metadata."""
        ...

    def save(self, key: Key, metadata: SessionMetadata, /) -> Awaitable[None] | None:
        """Save the metadata, in place of the previous."""
        ...

    def remove(self, key: Key, /) -> Awaitable[None] | None:
        """Remove the metadata."""
        ...


class InMemory:
    """Stores sessions in the memory of the process."""

    def __init__(self) -> None:
        self._kept: dict[Key, SessionMetadata] = {}

    def load(self, key: Key, /) -> SessionMetadata | None:
        """Return the saved metadata."""
        return self._kept.get(key)

    def save(self, key: Key, metadata: SessionMetadata, /) -> None:
        """Save the metadata, in place of the previous."""
        self._kept[key] = metadata

    def remove(self, key: Key, /) -> None:
        """Remove the metadata."""
        self._kept.pop(key, None)


class ClientSessions:
    """The sessions of a host: opened by server, user and name, and saved in a store.

    >>> import anyio, sealwax, sealwax.mcp
    >>> from mcp import Client
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> from sealwax.mcp.client import ClientSessions
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard, server = sealwax.mcp.Guard(codec=codec, principal="anonymous"), MCPServer("counter")
    >>> counts = guard.sessions(initial=lambda ctx: 0, required=True)
    >>> guard.protect(server)
    >>> @server.tool()
    ... async def count(ctx: Context) -> int:
    ...     session = counts.of(ctx)
    ...     session.write(session.value + 1)
    ...     return session.value
    >>> async def main() -> None:
    ...     sessions = ClientSessions()
    ...     async with Client(server) as client:
    ...         session = await sessions.open(client, server="counter", user="alice")
    ...         await session.call_tool("count")
    ...         print((await session.call_tool("count")).structured_content)
    ...         await session.delete()
    >>> anyio.run(main)
    {'result': 2}
    """

    def __init__(self, store: SessionStore | None = None) -> None:
        self._store = InMemory() if store is None else store
        self._held: dict[Key, _Held] = {}

    async def open(
        self, client: Client, *, server: str, user: str, name: str = ""
    ) -> ClientSession:
        """Continue a saved session, or have the server create one."""
        key = Key(server, user, name)
        held = self._held.setdefault(key, _Held(key, self._store))
        async with held.lock:
            if held.metadata is None:
                held.metadata = await awaited(self._store.load(key))
            if held.metadata is None:
                request = types.Request[Any, Any](method="sessions/create", params=None)
                result = await client.session.send_request(request, _ANYTHING)
                await held.save(result["session"])
        return ClientSession(client, held)


class _Held:
    """The metadata of one session, shared by its users."""

    def __init__(self, key: Key, store: SessionStore) -> None:
        self.key, self.store = key, store
        self.metadata: SessionMetadata | None = None
        self.lock = anyio.Lock()

    async def save(self, metadata: SessionMetadata) -> None:
        self.metadata = metadata
        await awaited(self.store.save(self.key, metadata))

    async def remove(self) -> None:
        self.metadata = None
        await awaited(self.store.remove(self.key))


class ClientSession:
    """A session for one client's requests; :meth:`ClientSessions.open` returns it.

    Requests are serialized, because each may change the metadata for the next. A session that the
    server does not know, or that has ended, is removed: the request and all later ones fail with
    ``-32043``; open a new one.

    A server with a ledger answers an older state with the latest one, which is saved. If no handler
    ran, the request is sent again. If a handler ran and its result was discarded, the caller
    decides: it gets a tool's result with `isError`, or the error ``-32045``.
    """

    def __init__(self, client: Client, held: _Held) -> None:
        self._client, self._held = client, held

    @property
    def metadata(self) -> SessionMetadata | None:
        """The session's metadata; ``None`` once it was deleted or removed."""
        return self._held.metadata

    async def request(self, request: Any, result_type: type[ResultT]) -> ResultT:
        """Send a request in the session, as ``client.session.send_request`` does."""
        sent = request.model_dump(by_alias=True, mode="json", exclude_none=True)
        params = sent.setdefault("params", {})
        before = params.get("_meta", {})

        def send(meta: dict[str, Any]) -> Awaitable[ResultT]:
            params["_meta"] = {**before, **meta}
            again = type(request).model_validate(sent)
            return self._client.session.send_request(again, result_type)

        async with self._held.lock:
            return await self._sent(send)

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, **options: Any
    ) -> types.CallToolResult:
        """Call a tool in the session, and answer its questions, as ``client.call_tool`` does."""
        meta = options.pop("meta", None) or {}

        async def round_trip(responses: Any, state: Any) -> Any:
            session: Any = self._client.session
            return await self._sent(
                lambda own: session.call_tool(
                    name,
                    arguments,
                    input_responses=responses,
                    request_state=state,
                    meta={**meta, **own},
                    allow_input_required=True,
                    **options,
                )
            )

        async with self._held.lock:
            # Client.call_tool would not show the session's state of each round.
            first = await round_trip(None, None)
            result: types.CallToolResult = await self._client._drive_input_required(
                first, round_trip
            )
            return result

    async def delete(self) -> None:
        """Delete the session at the server, and remove its metadata."""
        async with self._held.lock:
            if self._held.metadata is None:
                return
            alone = {"sessionId": self._held.metadata["sessionId"]}
            params = types.RequestParams.model_validate({"_meta": {SESSION_META_KEY: alone}})
            request = types.Request[Any, Any](method="sessions/delete", params=params)
            try:
                await self._client.session.send_request(request, _ANYTHING)
            except MCPError as error:
                # A server that cannot record the end does not have the method.
                if error.error.code not in (SESSION_NOT_FOUND, types.METHOD_NOT_FOUND):
                    raise
            await self._held.remove()

    def _meta(self) -> Any:
        if self._held.metadata is None:
            raise MCPError(SESSION_NOT_FOUND, "the session has ended: open another")
        # `expiresAt` is for the host only.
        kept = {name: self._held.metadata.get(name) for name in ("sessionId", "state")}
        return {SESSION_META_KEY: {name: value for name, value in kept.items() if value}}

    async def _sent(self, send: Callable[[dict[str, Any]], Awaitable[ResultT]]) -> ResultT:
        """Send a request; repeat it if no handler ran because the state was not the latest."""
        left = _STALE_TRIES
        while True:
            left -= 1
            try:
                result = await send(self._meta())
            except MCPError as error:
                code = error.error.code
                if code == SESSION_NOT_FOUND:
                    await self._held.remove()
                if code in (_STALE, _STALE_AND_RAN):
                    await self._keep((error.error.data or {}).get("session"))
                if code != _STALE or not left:
                    raise
            else:
                meta = getattr(result, "meta", None) or {}
                await self._keep(meta.get(SESSION_META_KEY))
                if not left or (meta.get(_STALE_META_KEY) or {}).get("ran") is not False:
                    return result

    async def _keep(self, metadata: Any) -> None:
        """Save the server's metadata of the session."""
        before = self._held.metadata
        if before is None or not isinstance(metadata, dict):
            return
        if metadata.get("sessionId") != before["sessionId"]:
            raise ValueError(
                "sessionId: expected the server to answer with the same, found another"
            )
        if metadata.keys() - {"sessionId"}:
            updated: Any = {**before, **metadata}
            await self._held.save(updated)


async def session_id_header(request: httpx2.Request) -> None:
    """Add the session's id as the header ``Mcp-Session-Id``, for proxies (SEP-2243).

    A hook for the HTTP client, because the official client cannot set a request's headers:

    >>> import httpx2, sealwax.mcp.client
    >>> hooks = {"request": [sealwax.mcp.client.session_id_header]}
    >>> http = httpx2.AsyncClient(event_hooks=hooks)  # streamable_http_client(http_client=http)
    """
    version = request.headers.get("mcp-protocol-version")
    # Before 2026-07-28 the header belongs to the transport.
    if request.method != "POST" or version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
        return
    try:
        session = json.loads(request.content)["params"]["_meta"][SESSION_META_KEY]
    except (KeyError, TypeError, ValueError):
        return
    request.headers["Mcp-Session-Id"] = session["sessionId"]
