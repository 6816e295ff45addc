"""The log: by the program's own set-up, or on stderr where it has none."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = {logging.WARNING: "WARN"}


def write(
    logger: logging.Logger,
    level: int,
    line: str,
    fields: Mapping[str, Any] | None = None,
    error: BaseException | None = None,
) -> None:
    """Log a line; each of its fields becomes an attribute of the record, as ``sealwax_code``."""
    fields = fields or {}
    if _is_set_up(logger):
        extra = {f"sealwax_{name}": value for name, value in fields.items()}
        # Nor does one that fails, such as a filter of the program's.
        with suppress(Exception):
            logger.log(level, line, exc_info=error, extra=extra)
    elif logger.isEnabledFor(max(level, logging.WARNING)) and sys.stderr is not None:
        # Nobody chose the level of the root logger, which hides what is below a warning.
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        time = fields.get("time") or now.replace("+00:00", "Z")
        # A log that cannot be written changes no answer.
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{time} {_NAMES.get(level) or logging.getLevelName(level)} {line}\n")
            sys.stderr.flush()


def _is_set_up(logger: logging.Logger) -> bool:
    """Return whether the program set up where a logger writes to."""
    one: logging.Logger | None = logger
    while one is not None:
        if not all(_is_bare(handler) for handler in one.handlers):
            return True
        one = one.parent if one.propagate else None
    return False


def _is_bare(handler: logging.Handler) -> bool:
    """Return whether a handler writes messages to stderr, without their fields.

    The SDK's MCPServer sets one up by itself: it writes no date, and wraps lines at 80 columns.
    """
    form = handler.formatter and handler.formatter._fmt
    stream: Any = getattr(handler, "stream", None)
    console: Any = getattr(handler, "console", None)
    to_stderr = console.stderr if console is not None else stream is sys.stderr
    return form == "%(message)s" and bool(to_stderr)
