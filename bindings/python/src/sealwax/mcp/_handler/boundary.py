"""The middleware between wire and handlers: opens what comes in, seals what goes out."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types import ErrorData
from mcp_types.methods import SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic.alias_generators import to_snake

from ... import TokenFields, token_fields
from ..._engine import client_value
from .._refusal import HandleRefused, protocol_error
from .._sdk_json import json_text, merged
from .exchange import Exchange
from .leaving import Leaving, members_of
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
#: The patches for the outermost middleware, if the SDK's models drop what they do not know.
_outermost: ContextVar[list[Document] | None] = ContextVar("sealwax_outermost", default=None)
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
        fields = None if ctx.request_id is None else token_fields(ctx.method)
        document = self._message(ctx, fields)
        document["principal"] = exchange.caller.known
        document["withinMs"] = exchange.outer and exchange.outer.within_ms
        has_state = fields is not None and fields.kind == "request-state"
        arguments = (ctx.params or {}).get("arguments") if has_state else None
        engine, step = self._engine.message(
            document, None if arguments is None else json_text(arguments)
        )
        exchange.begun(engine)
        try:
            step = await exchange.caller.drive(engine, step, lambda: self._engines.first(ctx))
            if step["step"] == "deliver":
                if has_state:
                    exchange.opened_state(step.get("opened"))
                return await self._served(exchange, engine, ctx, fields, step, call_next)
            return None if step["step"] == "drop" else _replied(step)
        finally:
            exchange.close()

    def _message(self, ctx: Context, fields: TokenFields | None) -> Document:
        params = ctx.params or {}
        document: Document = {
            "method": ctx.method if client_value(ctx.method) is ctx.method else "",
            "notification": ctx.request_id is None,
            "modern": ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS,
        }
        if fields is not None:
            # A model would also take it, unopened, by the field's name in Python.
            alias = _alias(fields.param)
            aliased = alias != fields.param and params.get(alias) is not None
            document["token"] = aliased or client_value(params.get(fields.param))
        target = params.get((fields and fields.target) or "name")
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
        fields: TokenFields | None,
        step: Document,
        call_next: CallNext,
    ) -> HandlerResult:
        exchange.builtin_result = step.get("builtinResult")
        if "session" in step:
            exchange.session = Session(engine, step["session"])
        inner = ctx if fields is None else _opened(ctx, fields, step)
        result = await exchange.serve(call_next(inner))
        report = step.get("report")
        if report is None or isinstance(result, ErrorData):
            return result
        # A middleware inside this one may return a model; the SDK's own chain returns JSON.
        found = members_of(result)
        if report is not True and found.get(report) is None:
            return result
        leaving = Leaving(found, step["members"], exchange.session)
        step = engine.on({"result": leaving.facts()})
        step = await exchange.caller.drive(engine, step, update=leaving.again)
        if step["step"] == "reply":
            return _replied(step)
        patch = step.get("result", {})
        if (patches := _outermost.get()) is not None:
            patches.append(patch)
        changed: dict[str, Any] = merged(leaving.result, patch)
        return changed


def _replied(step: Document) -> HandlerResult:
    """Return the result of a reply, or raise its error."""
    if "error" in step:
        raise protocol_error(step["error"])
    tool: dict[str, Any] = step["tool"]
    return tool


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


def _opened(ctx: Context, fields: TokenFields, step: Document) -> Context:
    """Return the context with the opened value in place of the token; null is absent."""
    names = {fields.param, _alias(fields.param)}
    if not ctx.params or ctx.params.keys().isdisjoint(names):
        return ctx
    params = {name: value for name, value in ctx.params.items() if name not in names}
    if "opened" in step:
        params[fields.param] = step["opened"]
    return replace(ctx, params=params)


async def outermost(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Change a result again outside of a middleware that drops what its models do not know."""
    patches: list[Document] = []
    before = _outermost.set(patches)
    try:
        result = await call_next(ctx)
    finally:
        _outermost.reset(before)
    if not patches or isinstance(result, ErrorData):
        return result
    changed: dict[str, Any] = merged(members_of(result), patches[-1])
    return changed
