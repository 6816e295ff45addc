"""Results on their way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult
from pydantic import BaseModel

from ... import InvalidArgument
from ..._engine import client_value
from .._sdk_json import merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..._documents import ResultFacts
    from ..._engine import Outcome
    from .session import Session


class Leaving:
    """A result on its way out, which an update of its session may make anew."""

    def __init__(
        self, result: Mapping[str, Any], reported: Sequence[str], session: Session | None
    ) -> None:
        #: The result as JSON.
        self.result = self._first = result
        self._reported, self._session = reported, session
        if session is not None and session.made is not None:
            made = members_of(session.made[0])
            if made and made.keys().isdisjoint(result):
                raise InvalidArgument(
                    "result: expected a function that makes the handler's whole result, such as a "
                    "CallToolResult, and the handler to return it, found another"
                )

    def facts(self) -> ResultFacts:
        """Return what the engine asked for."""
        found: Any = {name: client_value(self.result.get(name)) for name in self._reported}
        return {"members": found}

    def again(self, text: str) -> Outcome:
        """Apply the session's functions to the value of another request; return an event."""
        assert self._session is not None
        event, value = self._session.again(text)
        if value is None or self._session.made is None:
            return event, value
        first, last = map(members_of, self._session.made)
        self.result = merged(last, _added(first, self._first))
        return {"updated": {"result": self.facts()}}, value


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


def _added(made: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the SDK added to a result that was made, and what it left out, as a patch."""
    patch = dict[str, Any].fromkeys(made.keys() - found.keys())
    for name, value in found.items():
        if name not in made:
            patch[name] = value
        elif isinstance(value, dict) and isinstance(made[name], dict):
            patch[name] = _added(made[name], value)
    return patch
