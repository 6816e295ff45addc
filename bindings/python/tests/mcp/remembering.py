"""An `accept` of the tests' own, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sealwax.mcp import Presented


class Remembering:
    """Accepts each ``requestState`` once, and anything else until it was ended."""

    def __init__(self) -> None:
        self._over: set[str] = set()

    def accept(self, presented: Presented, /) -> bool:
        if presented.id in self._over:
            return False
        if presented.kind == "request-state":
            self._over.add(presented.id)
        return True

    def ended(self, presented: Presented, /) -> None:
        self._over.add(presented.id)
