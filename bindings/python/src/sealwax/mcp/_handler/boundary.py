"""The middleware between wire and handlers: opens what comes in, seals what goes out."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_types import ErrorData

from ... import token_fields
from .._refusal import HandleRefused, protocol_error
from .._sdk_json import merged
from .._transport.message import served
from .exchange import Exchange
from .incoming import begun, opened, token_of
from .leaving import Leaving, members_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import CallNext, HandlerResult

    from ..._documents import DeliverStep, ReplyStep, Step
    from .._caller import GuardConfig
    from .._engines import EngineFactory
    from .incoming import Context

#: The patches for the outermost middleware, if the SDK's models drop what they do not know.
_outermost: ContextVar[list[Mapping[str, Any]] | None] = ContextVar(
    "sealwax_outermost", default=None
)


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
        fields = None if ctx.request_id is None else token_fields(ctx.method)
        token = token_of(ctx, fields)
        exchange = Exchange(self._config, self._engine, self._handle_refused, ctx, fields)
        caller, defers = exchange.caller, self._engine.defers
        try:
            step: Step
            if defers and token is None and (fields is None or not fields.needs_caller):
                step = {"step": "deliver", "report": fields and fields.result, "withinMs": 0}
            else:
                if defers and caller.known is None:
                    await caller.identify()
                within, first = exchange.within_ms, self._first
                exchange.engine, step = begun(
                    self._engine, ctx, fields, token, caller.known, within, first is not None
                )
                if step["step"] != "deliver" or "refused" in step:
                    step = await caller.drive(exchange.engine, step, first and partial(first, ctx))
            if step["step"] == "deliver":
                exchange.delivered(step)
                # A handler's own requests to other servers are not part of this message.
                before = served.set(exchange)
                try:
                    result = await call_next(opened(ctx, fields, step.get("opened")))
                finally:
                    served.reset(before)
                found = _reported(result, step)
                if found is None:
                    return result
                leaving = Leaving(found, step.get("members") or (), exchange.session)
                engine = exchange.begun()
                step = await caller.drive(engine, engine.result(found, fields), None, leaving.again)
                if step["step"] == "respond":
                    return _changed(leaving.result, step.get("result") or {})
            return _replied(step) if step["step"] == "reply" else None
        finally:
            exchange.close()


def _replied(step: ReplyStep) -> HandlerResult:
    """Return the result of a reply, or raise its error."""
    if error := step.get("error"):
        raise protocol_error(error)
    tool: Any = step.get("tool")
    return tool  # type: ignore[no-any-return]


def _reported(result: HandlerResult, step: DeliverStep) -> dict[str, Any] | None:
    """Return a result as JSON, if the engine wants to know of it."""
    report = step.get("report")
    if not report or isinstance(result, ErrorData):
        return None
    # A middleware inside this one may return a model; the SDK's own chain returns JSON.
    found = result if type(result) is dict else members_of(result)
    return found if report is True or found.get(report) is not None else None


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
