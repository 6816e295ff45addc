"""The messages in a response: one as JSON, or several as server-sent events."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .._sdk_json import read_message

if TYPE_CHECKING:
    from collections.abc import Callable

#: The line of an event that has its message; the SDK writes each message as one line.
_DATA = re.compile(rb"^(data: ?)([^\r\n]+)", re.MULTILINE)


class Events:
    """Reads and rewrites the messages of a body as it comes."""

    def __init__(self, start: Any) -> None:
        """Take the ``http.response.start`` of the response."""
        headers = {name.lower(): value for name, value in (start or {}).get("headers", ())}
        #: Whether the body is server-sent events.
        self.streams = headers.get(b"content-type", b"").startswith(b"text/event-stream")
        self._rest = b""

    def feed(
        self, part: bytes, change: Callable[[dict[str, Any]], None], *, last: bool = False
    ) -> bytes:
        """Return the complete lines of the body so far, changed; keep the rest."""
        self._rest += part
        end = len(self._rest) if last else self._rest.rfind(b"\n") + 1 if self.streams else 0
        done, self._rest = self._rest[:end], self._rest[end:]
        if self.streams:
            return _DATA.sub(lambda line: line[1] + _changed(line[2], change), done)
        return _changed(done, change)


def _changed(text: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    message = read_message(text)
    if not isinstance(message, dict):
        return text
    change(message)
    return json.dumps(message, separators=(",", ":")).encode()
