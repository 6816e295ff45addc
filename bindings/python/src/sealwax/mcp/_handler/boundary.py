"""The middleware between wire and handlers: opens what comes in, seals what goes out."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial
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
from .sessions import CREATE, DELETE, SESSION_META_KEY

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from ..._documents import ClientSession, DeliverStep, Message, ReplyStep
    from .._caller import GuardConfig
    from .._engines import EngineFactory

    Context: TypeAlias = ServerRequestContext[Any, Any]

#: Methods whose params the SDK's models read; the author's own methods may have a ``meta``.
_OF_SDK_MODELS = SPEC_CLIENT_METHODS | SPEC_CLIENT_NOTIFICATION_METHODS | {CREATE, DELETE}
#: The patches for the outermost middleware, if the SDK's models drop what they do not know.
_outermost: ContextVar[list[Mapping[str, Any]] | None] = ContextVar(
    "sealwax_outermost", default=None
)
_alias = cache(to_snake)


class Boundary:
    """The middleware that replaces the SDK's own ``RequestStateBoundary``."""

    def __init__(
        self,
        config: GuardConfig,
        engines: EngineFactory,
        handle_refused: type[HandleRefused] = HandleRefused,
    ) -> None:
        self._config, self._first = config, engines.first
        self._engine = engines.engine()
        self._handle_refused = handle_refused

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message."""
        exchange = Exchange(self._config, ctx, self._handle_refused)
        caller, outer = exchange.caller, exchange.outer
        fields = None if ctx.request_id is None else token_fields(ctx.method)
        facts = self._message(ctx, fields)
        facts["principal"] = caller.known
        facts["withinMs"] = None if outer is None else outer.within_ms
        has_state = fields is not None and fields.kind == "request-state"
        arguments = (ctx.params or {}).get("arguments") if has_state else None
        engine, step = self._engine.message(
            facts, None if arguments is None else json_text(arguments)
        )
        exchange.engine = engine
        try:
            step = await caller.drive(engine, step, self._first and partial(self._first, ctx))
            if step["step"] == "deliver":
                exchange.delivered(step, has_state=has_state)
                result = await exchange.serve(call_next(_opened(ctx, fields, step)))
                found = _reported(result, step)
                if found is None:
                    return result
                leaving = Leaving(found, step.get("members") or (), exchange.session)
                step = engine.on({"result": leaving.facts()})
                step = await caller.drive(engine, step, update=leaving.again)
                if step["step"] == "respond":
                    return _changed(leaving.result, step.get("result") or {})
            return _replied(step) if step["step"] == "reply" else None
        finally:
            exchange.close()

    def _message(self, ctx: Context, fields: TokenFields | None) -> Message:
        params = ctx.params or {}
        facts: Message = {
            "method": ctx.method if client_value(ctx.method) is ctx.method else "",
            "notification": ctx.request_id is None,
            "modern": ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS,
        }
        if fields is not None:
            # A model would also take it, unopened, by the field's name in Python.
            alias = _alias(fields.param)
            aliased = alias != fields.param and params.get(alias) is not None
            facts["token"] = True if aliased else client_value(params.get(fields.param))
        target = params.get((fields and fields.target) or "name")
        if isinstance(target, str) and client_value(target) is target:
            facts["target"] = target
        if self._first is not None:
            session = _session(ctx, params)
            if session is not None:
                facts["session"] = session
                facts["header"] = _header(ctx)
        return facts


def _replied(step: ReplyStep) -> HandlerResult:
    """Return the result of a reply, or raise its error."""
    if error := step.get("error"):
        raise protocol_error(error)
    tool: Any = step.get("tool")
    return tool  # type: ignore[no-any-return]


def _session(ctx: Context, params: Mapping[str, Any]) -> ClientSession | None:
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


def _opened(ctx: Context, fields: TokenFields | None, step: DeliverStep) -> Context:
    """Return the context with the opened value in place of the token; null is absent."""
    names = set[str]() if fields is None else {fields.param, _alias(fields.param)}
    if fields is None or not ctx.params or ctx.params.keys().isdisjoint(names):
        return ctx
    params = {name: value for name, value in ctx.params.items() if name not in names}
    if "opened" in step:
        params[fields.param] = step["opened"]
    return replace(ctx, params=params)


def _reported(result: HandlerResult, step: DeliverStep) -> dict[str, Any] | None:
    """Return a result as JSON, if the engine wants to know of it."""
    if "report" not in step or isinstance(result, ErrorData):
        return None
    # A middleware inside this one may return a model; the SDK's own chain returns JSON.
    found, report = members_of(result), step["report"]
    return found if report is True or found.get(str(report)) is not None else None


def _changed(result: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    if (patches := _outermost.get()) is not None:
        patches.append(patch)
    changed: dict[str, Any] = merged(result, patch)
    return changed


async def outermost(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Change a result again outside of a middleware that drops what its models do not know."""
    patches: list[Mapping[str, Any]] = []
    before = _outermost.set(patches)
    try:
        result = await call_next(ctx)
    finally:
        _outermost.reset(before)
    if not patches or isinstance(result, ErrorData):
        return result
    return _changed(members_of(result), patches[-1])
