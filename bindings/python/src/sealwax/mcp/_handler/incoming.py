"""Messages on their way in: what the engine is told of them, and what their handler gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types.methods import SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic.alias_generators import to_snake

from ..._engine import client_value
from .._caller import document_of
from .._sdk_json import json_text

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ... import Principal, TokenFields
    from ..._documents import ClientSession, Step
    from ..._engine import Exchange, Guard
    from .._principal import Anonymous

    Context: TypeAlias = ServerRequestContext[Any, Any]

#: The member of ``_meta`` that carries the metadata of a session.
SESSION_META_KEY = "io.modelcontextprotocol/session"
CREATE, DELETE = "sessions/create", "sessions/delete"
#: Methods whose params the SDK's models read; the author's own methods may have a ``meta``.
_OF_SDK_MODELS = SPEC_CLIENT_METHODS | SPEC_CLIENT_NOTIFICATION_METHODS | {CREATE, DELETE}
_alias = cache(to_snake)


def token_of(ctx: Context, fields: TokenFields | None) -> object:
    """Return the token that a message brings, of any type; ``None`` if it brings none."""
    if fields is None or not ctx.params:
        return None
    # A model would also take it, unopened, by the field's name in Python.
    alias = _alias(fields.param)
    aliased = alias != fields.param and ctx.params.get(alias) is not None
    return True if aliased else ctx.params.get(fields.param)


def begun(
    guard: Guard,
    ctx: Context,
    fields: TokenFields | None,
    token: object,
    caller: Principal | Anonymous | None,
    within_ms: int | None,
    sessions: bool = False,
) -> tuple[Exchange, Step]:
    """Begin the engine's exchange of a message."""
    params = ctx.params or {}
    arguments = None
    if fields is not None and fields.needs_caller:
        arguments = params.get("arguments")
        arguments = None if arguments is None else json_text(arguments)
    target = params.get((fields and fields.target) or "name")
    notification = ctx.request_id is None
    modern = ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS
    session = _session(ctx, params) if sessions else None
    if session is None:
        return guard.request(
            ctx.method,
            fields,
            target,
            arguments,
            token,
            caller,
            within_ms,
            notification,
            modern,
        )
    return guard.message(
        {
            "method": ctx.method if client_value(ctx.method) is ctx.method else "",
            "target": None if (named := client_value(target)) is True else named,
            "token": client_value(token),
            "notification": notification,
            "modern": modern,
            "session": session,
            "header": _header(ctx),
            "principal": document_of(caller),
            "withinMs": within_ms,
        },
        arguments,
    )


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


def opened(ctx: Context, fields: TokenFields | None, text: str | None) -> Context:
    """Return the context with the opened value in place of the token; null is absent."""
    params = ctx.params
    if fields is None or not params:
        return ctx
    alias = _alias(fields.param)
    if fields.param not in params and alias not in params:
        return ctx
    kept = {name: params[name] for name in params if name not in (fields.param, alias)}
    if text is not None:
        kept[fields.param] = text
    return replace(ctx, params=kept)
