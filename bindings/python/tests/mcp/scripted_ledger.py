"""The ledger of a transcript: the package's own in memory, whose answers may be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealwax.ledger import Memory

if TYPE_CHECKING:
    from playing import Playing

    from sealwax.ledger import Command
    from sealwax.mcp._guard import LedgerOptions

#: For how long it has remembered, unless a transcript says otherwise.
HOUR = 3600


class ScriptedLedger:
    def __init__(self, playing: Playing, kind: str, options: dict[str, Any]) -> None:
        self._playing, self._fails = playing, kind == "failing"
        world = playing.world
        with world.ago(options.get("since", HOUR)):
            self._memory = Memory()
        self._lost: dict[str, int] = {}
        self.local = options.get("local", True)
        since = options.get("acceptIssuedSince")
        given = {
            "clock_tolerance": options.get("clockTolerance"),
            "accept_issued_since": None if since is None else world.now - since,
            "reusable_request_state": options.get("reusableRequestState"),
        }
        given = {name: value for name, value in given.items() if value is not None}
        self.options: LedgerOptions = given  # type: ignore[assignment]

    def before(self, event: dict[str, Any]) -> None:
        """Bring about what an event says of it."""
        if event.get("forgets"):
            self._memory = Memory()
        self._lost.update(event.get("lost", {}))

    async def run(self, command: Command, /) -> list[str]:
        script = command["script"]
        # When it is opened is the SDK's.
        if script != "open":
            self._playing.found.commands.append(script)
            if self._fails:
                raise ConnectionError("the store is down")
        reply = await self._memory.run(command)
        if self._lost.get(script):
            self._lost[script] -= 1
            raise ConnectionError("the answer is lost")
        return reply
