"""The options of a guard, and how they reach the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

from pydantic.alias_generators import to_camel

from .._engine import Guard as Engine
from .._engine import seconds
from ._hooks import Listener

if TYPE_CHECKING:
    from .. import Codec
    from .._documents import AskStep, Settings
    from .._engine import Told
    from ..ledger import Ledger
    from ._principal import Anonymous, PrincipalOf

#: Makes the question of a confirmation from a call's arguments, which it gets by their names.
QuestionOf: TypeAlias = Callable[..., "str | Awaitable[str]"]
#: What becomes of a call whose user cannot be asked.
Fallback: TypeAlias = Literal["refuse", "preview"]

_SECONDS = {"request_state_ttl", "confirm_ttl", "ttl", "idle", "max_age"}


class LedgerOptions(TypedDict, total=False):
    """Settings of a ledger."""

    #: Separates two ledgers of one audience in one store.
    label: str
    #: The largest difference between clocks, in seconds: 5 by default, 0 for a local ledger.
    clock_tolerance: int
    #: Accepts tokens older than the ledger if they were made after this time, in Unix seconds: for
    #: the day when the ledger is introduced. This includes what ended before it, but no
    #: ``requestState``, which could have been used.
    accept_issued_since: int
    #: Accepts a ``requestState`` any number of times.
    reusable_request_state: bool


class GuardConfig(Listener, Protocol):
    """A guard, as its parts have it."""

    principal: PrincipalOf | Anonymous
    ledger: Ledger | None
    #: What each server that is protected, and each wrapper, has its engine of.
    engines: EngineFactory
    #: What makes the question of each tool that runs only for a confirmed call.
    questions: dict[str, QuestionOf | str | None]
    #: Whether some tools are confirmed, and those that the server marks as destructive.
    confirms: bool
    confirms_destructive: bool
    #: Whether it was said that an anonymous principal ignores who is signed in.
    has_warned: bool


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

    def add(self, **more: Any) -> None:
        """Add settings, or raise for wrong ones."""
        self.engine(**more)
        self._settings.update(more)

    def confirm(self, tool: str, **facts: str | None) -> None:
        """Add a tool that runs only for a confirmed call."""
        self.add(confirm={**self._settings.get("confirm", {}), tool: document(**facts)})


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
