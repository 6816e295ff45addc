"""The watch of a file of keys: a thread that gives its codec the file's keys when they change."""

from __future__ import annotations

import json
import logging
import os
import threading
import weakref
from typing import Protocol

from ._errors import InvalidKey
from ._keys import KeyRing
from ._log import write

logger = logging.getLogger("sealwax")

_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


class Codec(Protocol):
    """What has the keys."""

    def set_keys(self, keys: KeyRing) -> bool:
        """Return whether they are others than before."""


class Watch:
    """Follows a file until its codec is collected. Only the codec keeps it."""

    def __init__(self, codec: Codec, path: str, interval: float) -> None:
        self._path, self._interval, self._fault = path, interval, ""
        self._codec = weakref.ref(codec, lambda _: self._end.set())
        self.start()
        _watches.add(self)

    def start(self) -> None:
        """Start the thread, also once more: a fork leaves it behind."""
        # Not the old one: the fork may have left its lock held.
        self._end = threading.Event()
        threading.Thread(target=self._run, name="sealwax-keys", daemon=True).start()

    def _run(self) -> None:
        while not self._end.wait(self._interval):
            codec = self._codec()
            if codec is not None:
                self._read(codec)
            del codec

    def _read(self, codec: Codec) -> None:
        before, self._fault = self._fault, ""
        try:
            ring = KeyRing.read(self._path)
        except InvalidKey as error:
            self._fault = str(error)
            if self._fault != before:
                _log(logging.WARNING, error.code, f"{error}; the present keys stay in use")
            return
        if codec.set_keys(ring) or before:
            ids = ring.ids
            message = f"keys file {self._path}: {ids[0]} seals, {' '.join(ids)} open"
            _log(logging.INFO, "keys_changed", message)


def _log(level: int, code: str, message: str) -> None:
    line = f"sealwax: {code} message={json.dumps(message)}"
    write(logger, level, line, {"code": code, "message": message})


def _restart() -> None:
    for watch in list(_watches):
        watch.start()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart)
