"""A message as the SDK has it, as the engine reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import pydantic_core
from mcp.types import CallToolResult
from pydantic import BaseModel
from pydantic.alias_generators import to_snake

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ... import TokenFields
    from ..._documents import DeliverStep

    Context: TypeAlias = ServerRequestContext[Any, Any]

#: The names on the way to a member, and its value.
Change: TypeAlias = tuple[Sequence[str], Any]
_alias = cache(to_snake)


def json_text(value: Any) -> bytes:
    """Return a client's value as JSON; a value that JSON cannot hold becomes invalid JSON."""
    try:
        return pydantic_core.to_json(value, inf_nan_mode="constants")
    except ValueError:
        pass
    try:
        # With escapes for lone surrogates, so that it can be said where one is.
        return json.dumps(value).encode()
    except (ValueError, TypeError, RecursionError):
        return b"?"


def read_message(text: str | bytes) -> Any:
    """Read JSON with the SDK's parser, so that both see the same; ``None`` if it is invalid."""
    try:
        return pydantic_core.from_json(text)
    except ValueError:
        return None


def with_members(result: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Return a result with members set, each by the names on the way to it."""
    changed = {**result}
    for path, value in changes:
        changed = _with(changed, path, value)
    return changed


def _with(members: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    name, *rest = path
    changed = {**members}
    if rest:
        inner = changed[name] if isinstance(changed.get(name), Mapping) else {}
        value = _with(inner, rest, value)
    changed[name] = value
    return changed


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


def token_of(ctx: Context, fields: TokenFields | None) -> object:
    """Return the token that a message brings, of any type; ``None`` if it brings none."""
    if fields is None or not ctx.params:
        return None
    # A model would also take it, unopened, by the field's name in Python.
    alias = _alias(fields.param)
    aliased = alias != fields.param and ctx.params.get(alias) is not None
    return True if aliased else ctx.params.get(fields.param)


def with_opened(ctx: Context, fields: TokenFields | None, step: DeliverStep) -> Context:
    """Return the context with the opened value in place of the token; null is absent."""
    names = () if fields is None else (fields.param, _alias(fields.param))
    changes, text = step.get("set") or (), step.get("opened")
    if fields is None or not ctx.params or (ctx.params.keys().isdisjoint(names) and not changes):
        return ctx
    params = {name: value for name, value in ctx.params.items() if name not in names}
    if text is not None:
        params[fields.param] = text
    return replace(ctx, params=with_members(params, changes))
