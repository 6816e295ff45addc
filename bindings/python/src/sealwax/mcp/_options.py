"""An author's settings of a guard, in the engine's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from .. import InvalidArgument
from .._engine import Guard as Engine
from .._engine import seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .. import Codec
    from .._documents import AskStep, Settings
    from .._engine import Told

_SECONDS = {"request_state_ttl", "confirm_ttl", "ttl", "idle", "max_age"}


class EngineFactory:
    """A codec and settings, from which each part of a guard makes its engine."""

    def __init__(self, codec: Codec, settings: Settings) -> None:
        self._codec = codec
        self._settings: Any = settings
        #: Gives the first value of a session, if there are data-layer sessions.
        self.first: Callable[[Any, AskStep], Awaitable[Told]] | None = None

    def engine(self, **more: Any) -> Engine:
        """Return an engine, or raise for wrong settings.

        `transport` has the settings of a wrapper around HTTP or stdio.
        """
        settings: Any = {**self._settings, **more}
        return Engine(self._codec, settings)

    def confirm(self, tool: str, **facts: str | None) -> None:
        """Add a tool that runs only for a confirmed call."""
        confirm = {**self._settings.get("confirm", {}), tool: document(**facts)}
        self.engine(confirm=confirm)
        self._settings["confirm"] = confirm

    def confirm_destructive(self, fallback: str) -> None:
        """Add the tools that the server marks as destructive."""
        more = {"confirmDestructive": {"fallback": fallback}}
        self.engine(**more)
        self._settings.update(more)

    def take(self, sessions: Any) -> None:
        """Add data-layer sessions."""
        if self.first is not None:
            raise InvalidArgument("sessions: expected to be called once, found a second time")
        self.engine(sessions=sessions.settings)
        self._settings["sessions"], self.first = sessions.settings, sessions.first


def document(**given: Any) -> Any:
    """Return settings, or an operation, by the engine's names; raise for times that are none."""
    return {
        to_camel(name): seconds(name, value) if name in _SECONDS else value
        for name, value in given.items()
        if value is not None
    }


def names(of: str, given: Any) -> list[str]:
    """Return a list of names; raise for anything else, such as one name."""
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{of}: expected a list of names, found another")
    return list(given)
