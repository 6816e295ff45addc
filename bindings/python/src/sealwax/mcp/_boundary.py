"""The seam between wire and handlers: what comes in is opened, what goes out is sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_types.methods import is_input_required
from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from .. import (
    Carried,
    InvalidArgument,
    Malformed,
    PrincipalMismatch,
    Sealer,
    SealwaxError,
    carried,
    request_context,
)
from ._exchange import Exchange
from ._refusal import HandleRefused

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from ._guard import Guard


class Boundary:
    """The SDK's middleware that stands where its own ``RequestStateBoundary`` stood."""

    def __init__(self, guard: Guard, handle_refused: type[HandleRefused] = HandleRefused) -> None:
        self._guard = guard
        self._handle_refused = handle_refused

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Serve one request."""
        exchange = Exchange(self._guard, ctx, self._handle_refused)
        sessions = self._guard.data_layer
        try:
            if sessions is None:
                return await self._serve(exchange, ctx, call_next)
            # First of all: what is refused for its session must not use up a requestState.
            return await sessions._serve(
                exchange, ctx, lambda within: self._serve(exchange, within, call_next)
            )
        finally:
            exchange.close()

    async def _serve(
        self, exchange: Exchange, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        rule = None if ctx.request_id is None else carried(ctx.method)
        if rule is None:
            with exchange.served():
                return await call_next(ctx)
        inner = await self._opened(exchange, rule, ctx)
        with exchange.served():
            result = await call_next(inner)
        return await self._sealed(exchange, rule, ctx, result)

    async def _opened(
        self, exchange: Exchange, rule: Carried, ctx: ServerRequestContext[Any, Any]
    ) -> ServerRequestContext[Any, Any]:
        params = dict(ctx.params or {})
        # As a client may say it that has nothing to send back: the handler sees none.
        token = params.pop(rule.param, None)
        try:
            if rule.kind == "request-state":
                # The handler must not run for nobody, whether or not it will write a state.
                await exchange.view()
            if params.pop(alias := to_snake(rule.param), None) is not None:
                # The name of the field in Python, by which a model would take it unopened.
                raise Malformed(f"{rule.param}: expected by that name, found {alias}")
            plaintext = None if token is None else await self._open(exchange, rule, ctx, token)
        except SealwaxError as error:
            exchange.refuse(rule.kind, error, token)
        if rule.kind == "request-state":
            exchange.opened_state(plaintext)
        if plaintext is not None:
            params[rule.param] = plaintext
        return ctx if ctx.params is None else replace(ctx, params=params)

    async def _open(
        self,
        exchange: Exchange,
        rule: Carried,
        ctx: ServerRequestContext[Any, Any],
        token: object,
    ) -> str:
        if not isinstance(token, str):
            raise Malformed(f"{rule.param}: expected a text, found {type(token).__name__}")
        anybodys = False
        try:
            opened = (await self._sealer(exchange, rule, ctx)).open(token)
        except PrincipalMismatch:
            if rule.kind != "cursor":
                raise
            opened, anybodys = self._public_cursor(ctx).open(token), True
        try:
            plaintext = opened.payload.decode()
        except UnicodeDecodeError:
            raise Malformed(f"{rule.param}: expected a payload that is UTF-8") from None
        await exchange.accept(rule.kind, opened.token_id, opened.expires_at, anybodys=anybodys)
        return plaintext

    async def _sealed(
        self,
        exchange: Exchange,
        rule: Carried,
        ctx: ServerRequestContext[Any, Any],
        result: HandlerResult,
    ) -> HandlerResult:
        # A middleware inside this one may return a model, where the SDK's own chain returns JSON.
        sent = result
        if isinstance(sent, BaseModel):
            sent = sent.model_dump(by_alias=True, mode="json", exclude_none=True)
        if not isinstance(sent, Mapping) or sent.get(rule.result) is None:
            return result
        if rule.kind == "request-state" and not is_input_required(result):
            # Of a result that is complete it is a member like any other.
            return result
        try:
            plaintext = sent[rule.result]
            if not isinstance(plaintext, str):
                found = type(plaintext).__name__
                raise InvalidArgument(f"{rule.result}: expected a text, found {found}")
            public = rule.kind == "cursor" and sent.get("cacheScope") == "public"
            if public and not exchange.answers_session:
                # Caches may hand the page to anybody, and its cursor with it.
                sealer = self._public_cursor(ctx)
            else:
                sealer = await self._sealer(exchange, rule, ctx)
            ttl = self._guard.request_state_ttl if rule.kind == "request-state" else None
            token = sealer.seal(_utf8(rule.result, plaintext), ttl=ttl)
        except SealwaxError as error:
            exchange.fail(rule.kind, error)
        return {**sent, rule.result: token}

    async def _sealer(
        self, exchange: Exchange, rule: Carried, ctx: ServerRequestContext[Any, Any]
    ) -> Sealer:
        view = await exchange.view()
        if rule.target is None:
            return view.cursor(ctx.method)
        params = ctx.params or {}
        target = params.get(rule.target)
        if not isinstance(target, str):
            raise Malformed(f"{rule.target}: expected a text, found {type(target).__name__}")
        if ctx.method == "resources/read":
            # Arguments are no part of it, whatever a client sends.
            return view.request_state(request_context(ctx.method, target))
        # As they stood on the wire: what a schema makes of them may differ between replicas.
        context = request_context(
            ctx.method, target, params.get("arguments"), only=self._guard.only.get(target)
        )
        return view.request_state(context)

    def _public_cursor(self, ctx: ServerRequestContext[Any, Any]) -> Sealer:
        return self._guard.codec.view(anonymous=True).cursor(ctx.method)


def _utf8(name: str, plaintext: str) -> bytes:
    try:
        return plaintext.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name}: expected Unicode without lone surrogates") from None
