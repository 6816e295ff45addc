"""The middleware between wire and handlers: opens what comes in, seals what goes out."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from ... import token_fields
from .._refusal import HandleRefused, protocol_error
from .._sdk_types import CallToolResult, ErrorData
from .._transport.exchange import served
from .._transport.message import with_members
from .exchange import Exchange
from .questions import Confirming

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from ... import TokenFields
    from ..._documents import DeliverStep, ReplyStep, Step
    from .._caller import Answer, GuardConfig
    from .._options import EngineFactory
    from .._transport.message import Change
    from .questions import Peer

    Context: TypeAlias = ServerRequestContext[Any, Any]

#: The changes for the outermost middleware, if the SDK's models drop what they do not know.
_outermost: ContextVar[list[Sequence[Change]] | None] = ContextVar(
    "sealwax_outermost", default=None
)
_alias = cache(to_snake)


class Boundary:
    """The middleware that replaces the SDK's own ``RequestStateBoundary``."""

    def __init__(
        self,
        config: GuardConfig,
        engines: EngineFactory,
        peer_of: Callable[[GuardConfig, Context], Peer],
        handle_refused: type[HandleRefused] = HandleRefused,
    ) -> None:
        self._config, self._first, self._peer_of = config, engines.first, peer_of
        self._engine = engines.engine()
        self._handle_refused = handle_refused

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message."""
        fields = None if ctx.request_id is None else token_fields(ctx.method)
        token = _token_of(ctx, fields)
        exchange = Exchange(self._config, self._engine, self._handle_refused, ctx, fields)
        caller, defers = exchange.caller, self._engine.defers
        try:
            step: Step
            if defers and token is None and (fields is None or not fields.needs_caller):
                step = {"step": "deliver", "report": fields and fields.result, "withinMs": 0}
            else:
                if defers and caller.known is None:
                    await caller.identify()
                more: dict[str, Answer] = {}
                client = None
                if self._first is not None:
                    more["initial"] = partial(self._first, ctx)
                if self._config.confirms and ctx.method.startswith("tools/"):
                    settled = exchange.outer.negotiated if exchange.outer else None
                    peer = self._peer_of(self._config, ctx)
                    confirming = Confirming(self._config, ctx.params or {}, peer, settled)
                    client = confirming.client()
                    more["confirm"] = confirming.question
                    more["elicit"] = partial(confirming.elicit, caller)
                    more["list_tools"] = confirming.list_tools
                engine, step = exchange.begin(
                    token, sessions=self._first is not None, client=client
                )
                if step["step"] != "deliver" or "refused" in step or "events" in step:
                    step = await caller.drive(engine, step, more)
            if step["step"] == "deliver":
                exchange.delivered(step)
                # A handler's own requests to other servers are not part of this message.
                before = served.set(exchange)
                try:
                    result = await call_next(_opened(ctx, fields, step))
                finally:
                    served.reset(before)
                found = _reported(result, step)
                if found is None:
                    return result
                engine = exchange.engine
                step = await caller.drive(
                    engine, engine.result(found, fields, whole=step.get("whole"))
                )
                if step["step"] == "respond":
                    return _changed(found, step.get("set") or ())
            return _replied(step) if step["step"] == "reply" else None
        finally:
            exchange.close()


def _replied(step: ReplyStep) -> HandlerResult:
    """Return the result of a reply, or raise its error."""
    if error := step.get("error"):
        raise protocol_error(error)
    result: Any = step.get("tool") or step.get("result")
    return result  # type: ignore[no-any-return]


def _reported(result: HandlerResult, step: DeliverStep) -> dict[str, Any] | None:
    """Return a result as JSON, if the engine wants to know of it."""
    report = step.get("report")
    if not report or isinstance(result, ErrorData):
        return None
    # A middleware inside this one may return a model; the SDK's own chain returns JSON.
    found = result if type(result) is dict else members_of(result)
    return found if report is True or found.get(report) is not None else None


def members_of(result: Any) -> dict[str, Any]:
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


def _changed(result: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    if (made := _outermost.get()) is not None:
        made.append(changes)
    return with_members(result, changes)


async def outermost(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Change a result again outside of a middleware that drops what its models do not know."""
    made: list[Sequence[Change]] = []
    before = _outermost.set(made)
    try:
        result = await call_next(ctx)
    finally:
        _outermost.reset(before)
    if not made or isinstance(result, ErrorData):
        return result
    return _changed(members_of(result), made[-1])


def _token_of(ctx: Context, fields: TokenFields | None) -> object:
    """Return the token that a message brings, of any type; ``None`` if it brings none."""
    if fields is None or not ctx.params:
        return None
    # A model would also take it, unopened, by the field's name in Python.
    alias = _alias(fields.param)
    aliased = alias != fields.param and ctx.params.get(alias) is not None
    return True if aliased else ctx.params.get(fields.param)


def _opened(ctx: Context, fields: TokenFields | None, step: DeliverStep) -> Context:
    """Return the context with the opened value in place of the token; null is absent."""
    names = () if fields is None else (fields.param, _alias(fields.param))
    changes, text = step.get("set") or (), step.get("opened")
    if fields is None or not ctx.params or (ctx.params.keys().isdisjoint(names) and not changes):
        return ctx
    params = {name: value for name, value in ctx.params.items() if name not in names}
    if text is not None:
        params[fields.param] = text
    return replace(ctx, params=with_members(params, changes))
