"""The guard between a server and its streams: ``Server.run`` takes them, whatever the transport."""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import McpError
from mcp.shared.message import SessionMessage
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from ... import InternalError, _json, answer
from ..._cause import named
from .._caller import ends
from .._handler.exchange import REFERENCE, Boundary, Exchange, by_reference
from .._hooks import report, report_error
from .._refusal import protocol_error
from .._transport.exchange import served
from .questions import OWN, CallPeer, Questions, Waiting, http_request, until_closed
from .sdk_types import MCPError, ServerRequestContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._options import GuardConfig


#: A client of 2026-07-28 says in each request what it can do.
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Call(Waiting):
    """A request in progress."""

    def __init__(self, identity: Any = None, scope: anyio.CancelScope | None = None) -> None:
        super().__init__()
        self.identity = identity
        #: None for a list of the guard's own, which may have been waited for too long.
        self.scope = scope
        #: Whether the SDK has it, and answers it.
        self.is_passed = False


def protect(config: GuardConfig, server: Any) -> None:
    """Guard the streams that a low-level server is run with."""
    run, boundary = server.run, Boundary(config, lambda _, ctx: ctx.peer)

    async def guarded(reads: Any, writes: Any, *given: Any, **options: Any) -> None:
        connection = Connection(config, boundary, writes)
        await connection.run(run, reads, *given, **options)

    server.run = guarded


class Connection:
    """The messages of one run of a server."""

    def __init__(self, config: GuardConfig, boundary: Boundary, writes: Any) -> None:
        self._config, self._boundary, self._writes = config, boundary, writes
        self._questions = Questions(config, writes)
        #: What the client said at ``initialize``: nothing in a run that is for one request alone.
        self._capabilities: Any = None
        #: The requests in progress. No two have one id: the SDK pairs by it.
        self._waiting: dict[Any, Call] = {}

    async def run(self, run: Any, reads: Any, *given: Any, **options: Any) -> None:
        """Run the server on streams of its own."""
        self._to_sdk, sdk_reads = anyio.create_memory_object_stream[Any](0)
        sdk_writes, from_sdk = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as tasks, self._writes:
            tasks.start_soon(self._coming, reads, tasks)
            async with anyio.create_task_group() as leaving:
                leaving.start_soon(self._leaving, from_sdk)
                async with sdk_writes:
                    await run(sdk_reads, sdk_writes, *given, **options)
            tasks.cancel_scope.cancel()

    async def _coming(self, reads: Any, tasks: Any) -> None:
        # A transport closes its streams whenever it is done.
        async with self._to_sdk, reads:
            with until_closed():
                async for item in reads:
                    message = getattr(getattr(item, "message", None), "root", None)
                    if isinstance(message, JSONRPCRequest):
                        tasks.start_soon(self._request, message, item)
                    elif isinstance(message, JSONRPCNotification):
                        await self._notification(message, item)
                    elif (question := self._questions.of(message)) is not None:
                        # Who answers may be found out later.
                        tasks.start_soon(self._questions.answered, question, message, item)
                    else:
                        await self._to_sdk.send(item)

    async def _notification(self, message: Any, item: Any) -> None:
        async def passed(_ctx: Any) -> None:
            if message.method == "notifications/cancelled" and self._is_dropped(message.params):
                dropped = self._waiting.pop(str((message.params or {}).get("requestId")), None)
                if dropped is not None and dropped.scope is not None:
                    dropped.scope.cancel()
            await self._to_sdk.send(item)

        try:
            await self._boundary(self._context(message, item), passed)
        except MCPError:
            return

    def _is_dropped(self, params: Any) -> bool:
        """Return whether what is cancelled ends here.

        What the SDK has, it answers: with an error, unless it ignores the cancellation, as it does
        one that it cannot read. Until then nobody else gets the id.
        """
        identity = (params or {}).get("requestId")
        waiting = self._waiting.get(str(identity))
        if waiting is None or waiting.is_passed:
            return False
        return type(waiting.identity) is type(identity)

    async def _request(self, message: Any, item: Any) -> None:
        if message.method == "initialize":
            self._capabilities = (message.params or {}).get("capabilities")
        name = str(message.id)
        if name in self._waiting:
            await self._answer(message.id, self._refuse_id())
            return
        with anyio.CancelScope() as scope:
            waiting = self._waiting[name] = Call(message.id, scope)
            try:
                found = await self._answer_of(message, item, waiting)
            except BaseException as error:
                if ends(error):
                    raise
                why = f"request: expected an answer, found {named(error)}"
                report_error(self._config, why)
                found = protocol_error(answer("data-layer", InternalError())["error"]).error
            finally:
                if self._waiting.get(name) is waiting:
                    del self._waiting[name]
            if found is not None:
                await self._answer(message.id, found)

    async def _answer_of(self, message: Any, item: Any, waiting: Call) -> Any:
        """Return the result of a request, or its error; ``None`` if it was dropped."""

        async def handled(ctx: Any) -> Any:
            exchange: Any = served.get()
            if (built := exchange.builtin_result()) is not None:
                return _json.loads(built.encode())
            return await self._handled(message, item, waiting, exchange, ctx.params)

        try:
            return await self._boundary(self._context(message, item), handled)
        except McpError as error:
            return error.error

    async def _handled(
        self, message: Any, item: Any, waiting: Call, exchange: Exchange, params: Any
    ) -> Any:
        """Return the result of the SDK's handler."""
        reference = secrets.token_hex(16)
        given = {**(params or {})}
        # Of these revisions it is no member of the SDK's; the guard has it.
        given.pop("requestState", None)
        # In a message, null is absent.
        if (meta := given.get("_meta")) is None:
            meta = {}
        if isinstance(meta, dict):
            given["_meta"] = {**meta, REFERENCE: reference}
        by_reference[reference] = exchange
        try:
            passed = JSONRPCMessage(message.model_copy(update={"params": given}))
            waiting.is_passed = True
            await self._to_sdk.send(SessionMessage(passed, item.metadata))
            found = await waiting.answered()
        finally:
            del by_reference[reference]
        refused = exchange.refused
        if refused is not None and _tells(found, refused.tool_result):
            if message.method == "tools/call":
                return refused.tool_result
            raise refused
        if isinstance(found, JSONRPCError):
            raise McpError(found.error)
        return found.result

    async def _list_tools(self, meta: Any, item: Any, page: Mapping[str, Any]) -> Any:
        """Return a page of the SDK's own list of tools, for the client of a call."""
        name, params = OWN + secrets.token_hex(16), {**page, "_meta": meta}
        waiting = self._waiting[name] = Call()
        asked = JSONRPCRequest(jsonrpc="2.0", id=name, method="tools/list", params=params)
        try:
            await self._to_sdk.send(SessionMessage(JSONRPCMessage(asked), item.metadata))
        except BaseException:
            del self._waiting[name]
            raise
        return await waiting.result("server")

    def _refuse_id(self) -> ErrorData:
        """Return the error for a request whose id another in progress has."""
        step: Any = self._config.engine.id_in_use()
        for entry in step["refused"]:
            report(self._config, entry)
        error: ErrorData = protocol_error(step["error"]).error
        return error

    def _context(self, message: Any, item: Any) -> Any:
        identity = getattr(message, "id", None)
        meta = (message.params or {}).get("_meta")
        own = meta.get(CAPABILITIES) if isinstance(meta, dict) else None
        listing = partial(self._list_tools, meta, item)
        peer = CallPeer(self._questions, identity, own or self._capabilities, listing)
        return ServerRequestContext(
            message.method, message.params, identity, http_request(item), peer=peer
        )

    async def _leaving(self, from_sdk: Any) -> None:
        async with from_sdk:
            with until_closed():
                async for item in from_sdk:
                    message = item.message.root
                    is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
                    waiting = self._waiting.get(str(message.id)) if is_answer else None
                    if waiting is not None:
                        if waiting.scope is None:
                            del self._waiting[str(message.id)]
                        waiting.set(message)
                    elif not isinstance(message, JSONRPCResponse):
                        await self._writes.send(item)

    async def _answer(self, identity: Any, found: Any) -> None:
        made: Any = (
            JSONRPCError(jsonrpc="2.0", id=identity, error=found)
            if isinstance(found, ErrorData)
            else JSONRPCResponse(jsonrpc="2.0", id=identity, result=found)
        )
        with until_closed():
            await self._writes.send(SessionMessage(JSONRPCMessage(made)))


def _tells(answer: Any, told: Any) -> bool:
    """Return whether an answer of the SDK has the text of a refusal."""
    text = told["content"][0]["text"]
    if isinstance(answer, JSONRPCError):
        return text in answer.error.message
    contents = answer.result.get("content") if answer.result.get("isError") else None
    return any(text in (one.get("text") or "") for one in contents or ())
