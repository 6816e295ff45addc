"""Reads files, and replaces them."""

from __future__ import annotations

import os
import sys
import tempfile
from base64 import b64encode
from contextlib import suppress
from typing import Any


def read(path: str, *, replaced: bool) -> dict[str, Any]:
    """Return what a file holds, in the form of the core."""
    if replaced and os.path.islink(path):
        return {"link": True}
    try:
        with open(path, "rb") as file:
            return {"bytes": b64encode(file.read()).decode()}
    except OSError as error:
        if replaced and isinstance(error, FileNotFoundError):
            return {"absent": True}
        return {"failed": str(error.strerror)}


def replace(path: str, text: str) -> None:
    """Replace a file in one step, so that whoever reads it has the old one or the new one.

    It keeps its mode and its owner; a new one is its owner's alone.
    """
    folder = os.path.dirname(path) or "."
    file, beside = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=folder)
    try:
        with open(file, "w", encoding="utf-8", newline="") as to:
            to.write(text)
            to.flush()
            if os.path.exists(path):
                found, own = os.stat(path), os.fstat(file)
                # Where another user owns it, such as that of the server, it stays theirs.
                if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
                    os.chown(file, found.st_uid, found.st_gid)
                if os.chmod in os.supports_fd:
                    os.chmod(file, found.st_mode & 0o7777)
            os.fsync(file)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    if sys.platform == "win32":
        # It opens no folders.
        return
    # The new name, too, survives a loss of power.
    names = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(names)
    finally:
        os.close(names)
