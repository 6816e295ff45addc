"""What users are asked on a connection of mcp 1, while their calls wait."""

from __future__ import annotations

import secrets
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from .._caller import Caller
from .sdk_types import MCPError, ServerRequestContext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from .._options import GuardConfig

#: How the ids of the guard's own requests begin.
OWN = "sealwax:"
#: How long a client is told that it is asked no more, in seconds.
_PATIENCE = 1


class Waiting:
    """A request that waits for its answer."""

    def __init__(self) -> None:
        self._answered = anyio.Event()
        #: A response or an error, once it is there.
        self.answer: Any = None

    def set(self, answer: Any) -> None:
        """Take the answer."""
        self.answer = answer
        self._answered.set()

    async def answered(self) -> Any:
        """Wait for the answer."""
        await self._answered.wait()
        return self.answer

    async def result(self, of: str) -> Any:
        """Wait for the result, of a request of the guard's own."""
        answer = await self.answered()
        if isinstance(answer, JSONRPCError):
            raise MCPError(answer.error.code, f"the {of} answered with an error")
        return answer.result


class Question(Waiting):
    """What the user of a call was asked."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self.caller = caller


class Questions:
    """The questions of one connection."""

    def __init__(self, config: GuardConfig, writes: Any) -> None:
        self._config, self._writes = config, writes
        #: By their ids, which no client can guess; the SDK's own are numbers.
        self._asked: dict[Any, Question] = {}

    def of(self, message: Any) -> Question | None:
        """Return the question that a message answers, if it does."""
        return self._asked.get(getattr(message, "id", None))

    async def ask(self, params: Mapping[str, Any], call: Any, caller: Caller) -> Any:
        """Ask the user of a call that waits; return the result."""
        identity = OWN + secrets.token_hex(16)
        question = self._asked[identity] = Question(caller)
        asked = JSONRPCRequest(
            jsonrpc="2.0", id=identity, method="elicitation/create", params={**params}
        )
        cancelled = JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": identity}
        )
        try:
            await self._send(asked, call)
            return await question.result("client")
        finally:
            del self._asked[identity]
            if question.answer is None:
                with anyio.move_on_after(_PATIENCE, shield=True):
                    with until_closed():
                        await self._send(cancelled, call)

    async def answered(self, question: Question, message: Any, item: Any) -> None:
        """Take the answer to a question."""
        request = http_request(item)
        # Over HTTP another user may know the session, and answers for nobody else.
        if request is not None:
            ctx: Any = ServerRequestContext("", None, None, request)
            caller = Caller(self._config, ctx)
            await caller.identify()
            caller.close()
            if caller.known is None or caller.known != question.caller.known:
                return
        if question.answer is None:
            question.set(message)

    async def _send(self, message: Any, call: Any) -> None:
        metadata = ServerMessageMetadata(related_request_id=call)
        await self._writes.send(SessionMessage(JSONRPCMessage(message), metadata))


class CallPeer(NamedTuple):
    """The client of a call."""

    questions: Questions
    #: The id of the call.
    call: Any
    #: What the client said at ``initialize``, if it was on this connection.
    capabilities: Any
    #: Asks the server, as this client, for a page of its own list of tools.
    list_tools: Callable[[Mapping[str, Any]], Awaitable[Any]]
    #: One that has a way back; without, its capabilities are not known here.
    can_be_asked: bool = True

    async def elicit(self, params: Mapping[str, Any], caller: Caller) -> Any:
        """Ask its user, on the call's own stream."""
        return await self.questions.ask(params, self.call, caller)


def http_request(item: Any) -> Any:
    """Return the HTTP request that a message came by, if there is one."""
    return getattr(item.metadata, "request_context", None)


#: Leaves out what can no longer be sent.
until_closed = partial(suppress, anyio.ClosedResourceError, anyio.BrokenResourceError)
