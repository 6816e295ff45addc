"""The messages in a response: one as JSON, or several as server-sent events."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .._sdk_json import read_message

if TYPE_CHECKING:
    from collections.abc import Callable

_END_OF_EVENT = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(rb"\r\n|\n|\r")


class Events:
    """Reads and rewrites the messages of a body as it comes."""

    def __init__(self, *, streams: bool) -> None:
        #: Whether the body is server-sent events.
        self.streams = streams
        self._rest = b""

    @classmethod
    def of(cls, start: Any) -> Events:
        """Return the reader for a response, by its ``http.response.start``."""
        headers = {name.lower(): value for name, value in (start or {}).get("headers", ())}
        return cls(streams=headers.get(b"content-type", b"").startswith(b"text/event-stream"))

    def feed(
        self, part: bytes, change: Callable[[dict[str, Any]], None], *, last: bool = False
    ) -> bytes:
        """Return the complete events of the body so far, changed; keep the rest."""
        self._rest += part
        if not self.streams:
            return _changed(self._rest, change) if last else b""
        done = []
        while end := _END_OF_EVENT.search(self._rest):
            done.append(_event(self._rest[: end.start()], change) + end.group())
            self._rest = self._rest[end.end() :]
        if last:
            done.append(self._rest)
            self._rest = b""
        return b"".join(done)


def _event(event: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    data = _data(event)
    changed = _changed(data, change)
    if changed == data:
        return event
    others = [line for line in _LINE.split(event) if not line.startswith(b"data:")]
    return b"\r\n".join([*others, b"data: " + changed])


def _data(event: bytes) -> bytes:
    lines = (line for line in _LINE.split(event) if line.startswith(b"data:"))
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)


def _changed(text: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    message = read_message(text)
    if not isinstance(message, dict):
        return text
    change(message)
    return json.dumps(message, separators=(",", ":")).encode()
