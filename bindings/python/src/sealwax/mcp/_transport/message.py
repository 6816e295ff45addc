"""Messages around HTTP and stdio, before the SDK sees them: ``Mcp-Session-Id`` and SEP-1359."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ... import token_fields
from ..._engine import client_value
from .._caller import Caller
from .._engines import document
from .._sdk import HANDSHAKE_PROTOCOL_VERSIONS, ServerRequestContext
from .._sdk_json import json_text, with_members
from .negotiated import Negotiated, negotiated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._documents import ClientValue, ReplyStep, Step
    from ..._engine import Facts
    from .._caller import GuardConfig
    from .._engines import EngineFactory
    from .._sdk_json import Change


#: The key in the scope of an HTTP request under which its :class:`TransportExchange` is.
SCOPE_KEY = "sealwax.session"
#: What is being served: a :class:`TransportExchange` without a scope, for the SDK serves a message
#: in the context that it was read in, and within its handler the handler's exchange.
served: ContextVar[object] = ContextVar("sealwax_served", default=None)


class Transport:
    """A guard's rules for transport sessions."""

    def __init__(
        self, config: GuardConfig, engines: EngineFactory, *, sep1359: bool, **settings: Any
    ) -> None:
        self.config, self.sep1359 = config, sep1359
        self.engine = engines.engine(transport=document(sep1359=sep1359, **settings))


class TransportExchange:
    """One message on its way to the SDK, and its answer."""

    def __init__(
        self, transport: Transport, message: Any, facts: Facts, request: Any = None
    ) -> None:
        said = message if isinstance(message, dict) else {}
        method, params = said.get("method"), said.get("params")
        if method is not None:
            known = isinstance(method, str) and client_value(method) is method
            facts["method"] = method if known else ""
            facts["notification"] = said.get("id") is None
        #: The id of a request.
        self.identity = None if method is None else said.get("id")
        fields = token_fields(known_method) if (known_method := facts.get("method")) else None
        if fields and fields.target and isinstance(params, dict):
            target = client_value(params.get(fields.target))
            facts["target"] = None if target is True else target
        nobodys: Any = None
        ctx = ServerRequestContext[Any, Any](
            session=nobodys,
            lifespan_context={},
            protocol_version=HANDSHAKE_PROTOCOL_VERSIONS[-1],
            method=str(method or ""),
            params=params if isinstance(params, dict) else None,
            request_id=said.get("id"),
            request=request,
        )
        self.config = transport.config
        #: The time that is left for the engine's questions at the handlers.
        self.within_ms: int | None = None
        #: What was negotiated when the session of the message began.
        self.negotiated: Negotiated | None = None
        #: Whether it is an ``initialize`` that begins a session.
        self.begins = False
        self.over_http = request is not None
        self.caller = Caller(transport.config, ctx)
        initialize = json_text(params) if method == "initialize" else None
        self._engine, self._step = transport.engine.transport(facts, initialize)

    async def entered(self) -> Step:
        """Return the engine's decision on the message."""
        step = await self.caller.drive(self._engine, self._step)
        if step["step"] == "deliver":
            self.within_ms, self.negotiated = step["withinMs"], negotiated(step)
            self.begins = bool(step.get("report"))
        return step

    async def initialized(self, result: Any) -> Step:
        """Return the engine's decision on the result of an ``initialize``."""
        step = self._engine.on({"result": {}}, json_text(result))
        return await self.caller.drive(self._engine, step)

    async def not_resumed(self) -> Step:
        """Return the answer to a session that the SDK failed to begin again."""
        step = self._engine.on({"notResumed": "initialize: refused"})
        return await self.caller.drive(self._engine, step)

    def replied(self, step: ReplyStep) -> dict[str, Any] | None:
        """Return the message of a reply, if it has one."""
        answer = {"jsonrpc": "2.0", "id": self.identity}
        if error := step.get("error"):
            return {**answer, "error": error}
        return {**answer, "result": {}} if step.get("done") else None

    def close(self) -> None:
        """Release the message."""
        self._engine.free()
        self.caller.close()


def change(message: dict[str, Any], changes: Sequence[Change]) -> None:
    """Set members of the result of a message, if it has one."""
    if isinstance(message.get("result"), dict):
        message["result"] = with_members(message["result"], changes)


def take_session(message: dict[str, Any]) -> ClientValue | None:
    """Remove and return the session id of a message, which the SDK's models do not have."""
    result = message.get("result")
    holder = message if "sessionId" in message or not isinstance(result, dict) else result
    return client_value(holder.pop("sessionId", None))


def put_session(message: dict[str, Any], session_id: str) -> None:
    """Put the session id on a message: in its result, or beside its method."""
    if "method" in message:
        message["sessionId"] = session_id
    elif isinstance(message.get("result"), dict):
        message["result"]["sessionId"] = session_id
