"""The middleware between wire and handlers: opens what comes in, seals what goes out."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types import CallToolResult, ErrorData
from mcp_types.methods import (
    SPEC_CLIENT_METHODS,
    SPEC_CLIENT_NOTIFICATION_METHODS,
    is_input_required,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from ... import InvalidArgument, TokenFields, token_fields
from ..._engine import client_value
from .._refusal import HandleRefused, protocol_error
from .._sdk_json import json_text
from .exchange import Exchange
from .session import Session
from .sessions import CREATE, DELETE, SESSION_META_KEY

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from ..._engine import Document
    from ..._engine import Exchange as Engine
    from .._caller import GuardConfig
    from .._engines import EngineFactory

    Context: TypeAlias = ServerRequestContext[Any, Any]

#: Methods whose params the SDK's models read; the author's own methods may have a ``meta``.
_OF_SDK_MODELS = SPEC_CLIENT_METHODS | SPEC_CLIENT_NOTIFICATION_METHODS | {CREATE, DELETE}
#: Tells the outermost middleware to declare sessions, if the SDK's models would drop that.
_outermost: ContextVar[list[bool] | None] = ContextVar("sealwax_outermost", default=None)
_alias = cache(to_snake)


class Boundary:
    """The middleware that replaces the SDK's own ``RequestStateBoundary``."""

    def __init__(
        self,
        config: GuardConfig,
        engines: EngineFactory,
        handle_refused: type[HandleRefused] = HandleRefused,
    ) -> None:
        self._config, self._engines = config, engines
        self._engine = engines.engine()
        self._handle_refused = handle_refused

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message."""
        exchange = Exchange(self._config, ctx, self._handle_refused)
        rule = None if ctx.request_id is None else token_fields(ctx.method)
        params = ctx.params or {}
        document = self._document(ctx, rule, params)
        asks = rule is not None and rule.kind == "request-state"
        if asks and "session" not in document and not self._engines.may_need_session:
            # The engine would ask for it: this saves one call of it.
            await exchange.caller.who()
        document["principal"] = exchange.caller.known
        arguments = params.get("arguments") if asks else None
        engine, step = self._engine.message(
            document, None if arguments is None else json_text(arguments)
        )
        exchange.begun(engine)
        try:
            step = await exchange.caller.drive(engine, step, lambda: self._engines.first(ctx))
            if step["step"] == "deliver":
                if asks:
                    exchange.opened_state(step.get("carried"))
                return await self._served(exchange, engine, ctx, rule, step, call_next)
            return None if step["step"] == "drop" else _replied(step)
        finally:
            exchange.close()

    def _document(
        self, ctx: Context, rule: TokenFields | None, params: Mapping[str, Any]
    ) -> Document:
        document: Document = {
            "method": ctx.method if client_value(ctx.method) is ctx.method else "",
            "notification": ctx.request_id is None,
            "modern": ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS,
        }
        if rule is not None:
            # A model would also take it, unopened, by the field's name in Python.
            alias = _alias(rule.param)
            aliased = alias != rule.param and params.get(alias) is not None
            document["carried"] = True if aliased else client_value(params.get(rule.param))
        target = params.get((rule and rule.target) or "name")
        if isinstance(target, str) and client_value(target) is target:
            document["target"] = target
        if self._engines.sessions is not None:
            session = _session(ctx, params)
            if session is not None:
                document["session"] = session
                document["header"] = _header(ctx)
        return document

    async def _served(
        self,
        exchange: Exchange,
        engine: Engine,
        ctx: Context,
        rule: TokenFields | None,
        step: Document,
        call_next: CallNext,
    ) -> HandlerResult:
        exchange.own = step.get("own")
        if "session" in step:
            exchange.session = Session(engine, step["session"])
        inner = ctx if rule is None else _opened(ctx, rule, step)
        result = await exchange.serve(call_next(inner))
        watch = step.get("watch")
        if watch is None or isinstance(result, ErrorData):
            return result
        # A middleware inside this one may return a model; the SDK's own chain returns JSON.
        told = _members(result)
        if watch is not True and told.get(watch) is None:
            return result
        leaving = _Leaving(told, rule, exchange.session)
        step = engine.on({"left": leaving.head()})
        step = await exchange.caller.drive(engine, step, update=leaving.again)
        return _replied(step) if step["step"] == "reply" else _changed(leaving.told, rule, step)


class _Leaving:
    """A result on its way out, which an update of its session may make anew."""

    def __init__(
        self, told: Mapping[str, Any], rule: TokenFields | None, session: Session | None
    ) -> None:
        self.told, self._first = told, told
        self._rule, self._session = rule, session
        if session is not None and session.made is not None:
            made = _members(session.made[0])
            if made and made.keys().isdisjoint(told):
                raise InvalidArgument(
                    "result: expected a function that makes the handler's whole result, such as a "
                    "CallToolResult, and the handler to return it, found another"
                )

    def head(self) -> Document:
        """Return what the engine is told of it."""
        return {
            "outcome": "input_required" if is_input_required(self.told) else "complete",
            "token": self._rule and client_value(self.told.get(self._rule.result)),
            "scope": client_value(self.told.get("cacheScope")),
        }

    def again(self, text: str) -> tuple[Document, bytes | None]:
        """Apply the session's functions to the value of another request; return an event."""
        assert self._session is not None
        event, value = self._session.again(text)
        if value is None or self._session.made is None:
            return event, value
        first, last = map(_members, self._session.made)
        # What the SDK has added to the first one, or left out, it adds to this one, or leaves out.
        dropped = first.keys() - self._first.keys()
        self.told = {**_beyond(self._first, first), **{n: last[n] for n in last.keys() - dropped}}
        meta = {
            **_beyond(self._first.get("_meta"), first.get("_meta")),
            **(last.get("_meta") or {}),
        }
        if meta:
            self.told["_meta"] = meta
        return {"updated": {"left": self.head()}}, value


def _members(result: Any) -> Mapping[str, Any]:
    """Return a result as JSON."""
    if hasattr(result, "to_mcp_result"):
        # FastMCP's results of tools are the SDK's in another form.
        result = CallToolResult(
            content=result.content,
            structured_content=result.structured_content,
            is_error=result.is_error,
            _meta=result.meta,
        )
    if isinstance(result, BaseModel):
        members: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return members
    return {**(result or {})}


def _beyond(found: Mapping[str, Any] | None, made: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the members of a result that its function did not make."""
    return {name: value for name, value in (found or {}).items() if name not in (made or {})}


def _replied(step: Document) -> HandlerResult:
    """Return the result of a reply, or raise its error."""
    if "error" in step:
        raise protocol_error(step["error"])
    told: dict[str, Any] = step["tool"]
    return told


def _session(ctx: Context, params: Mapping[str, Any]) -> Document | None:
    """Return the session metadata of a message."""
    if ctx.method in _OF_SDK_MODELS and params.get("meta") is not None:
        # A model would also take it, unopened, by the field's name in Python.
        return {}
    meta = params.get("_meta")
    metadata = meta.get(SESSION_META_KEY) if isinstance(meta, Mapping) else None
    if metadata is None:
        return None
    named = metadata if isinstance(metadata, Mapping) else {}
    return {"id": client_value(named.get("sessionId")), "state": client_value(named.get("state"))}


def _header(ctx: Context) -> str | None:
    if ctx.request is None:
        return None
    # Several headers are joined, which never equals the id of the message.
    return ",".join(ctx.request.headers.getlist(MCP_SESSION_ID_HEADER)) or None


def _opened(ctx: Context, rule: TokenFields, step: Document) -> Context:
    """Return the context with the opened value in place of the token; null is absent."""
    names = {rule.param, _alias(rule.param)}
    if not ctx.params or ctx.params.keys().isdisjoint(names):
        return ctx
    params = {name: value for name, value in ctx.params.items() if name not in names}
    if "carried" in step:
        params[rule.param] = step["carried"]
    return replace(ctx, params=params)


def _changed(told: Mapping[str, Any], rule: TokenFields | None, step: Document) -> dict[str, Any]:
    """Return a result with the sealed token and the session's metadata."""
    result = dict(told)
    if rule is not None and "token" in step:
        result[rule.result] = step["token"]
    if step.get("private"):
        private = {"cacheScope": "private", "ttlMs": 0}
        result.update({name: value for name, value in private.items() if name in result})
    if "metadata" in step:
        result["_meta"] = {**(result.get("_meta") or {}), SESSION_META_KEY: step["metadata"]}
    if step.get("declare"):
        outermost = _outermost.get()
        if outermost is None:
            return _declared(result)
        outermost.append(True)
    return result


def _declared(result: Mapping[str, Any]) -> dict[str, Any]:
    before = result.get("capabilities") or {}
    experimental = {**(before.get("experimental") or {}), "sessions": {}}
    return {**result, "capabilities": {**before, "experimental": experimental, "sessions": {}}}


async def outermost(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Declare the sessions capability outside of a middleware that would drop it."""
    heard: list[bool] = []
    before = _outermost.set(heard)
    try:
        result = await call_next(ctx)
    finally:
        _outermost.reset(before)
    if not heard or isinstance(result, ErrorData):
        return result
    if isinstance(result, BaseModel):
        result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return _declared(result or {})
