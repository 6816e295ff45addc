"""The command ``sealwax``, as every package has it."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
from base64 import b64decode, b64encode
from contextlib import redirect_stdout, suppress

import sealwax

from ._command.arguments import PROGRAM, Usage, parsed
from ._command.files import read, replace
from ._json import document
from ._machine import Machine, frame, text_of
from ._native import lib

# Longer input is cut here, and refused for its length by what reads it.
_MAX_INPUT = 4 << 20
_VARIABLES = (
    "SEALWAX_KEYS",
    "SEALWAX_KEYS_FILE",
    "SEALWAX_SECRET",
    "SEALWAX_SECRET_FALLBACKS",
    "SEALWAX_LEDGER",
)


class _Failed(Exception):
    """The command failed; the arguments are what is said, and the exit status."""


def main() -> int:
    """Run the command of the arguments; return the exit status."""
    try:
        output, status = _asked()
        # A reader that has seen enough, such as `head`, is no failure.
        with suppress(BrokenPipeError), open(1, "wb", closefd=False) as stdout:
            stdout.write(output)
    except _Failed as failed:
        said, status = failed.args
        _complain(said)
    except Usage as usage:
        status = 2
        _complain(f"sealwax: {usage}")
    except OSError as error:
        status = 2
        named = "" if error.filename is None else f"{error.filename}: "
        _complain(f"sealwax: {named}{error.strerror}")
    return int(status)


def _asked() -> tuple[bytes, int]:
    """Return the output, so that nothing is printed unless everything succeeded."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            command, options = parsed(sealwax.__version__)
    except SystemExit as ended:
        # Help, or the version.
        return printed.getvalue().encode(), int(ended.code or 0)
    return _run(command, options), 0


def _run(command: str, options: dict[str, str]) -> bytes:
    environment = {
        # Windows has no `os.environb`.
        name: os.fsencode(os.environ[name]).decode(errors="replace")
        for name in _VARIABLES
        if name in os.environ
    }
    request = {
        "program": PROGRAM,
        "command": command,
        "options": options,
        "environment": environment,
        "now": int(time.time() * 1000),
    }
    running, first = Machine.new(frame(lib.SEALWAX_COMMAND, (document(request),)))
    step, stores = json.loads(text_of(first)), None
    while "stdout" not in step:
        if "stderr" in step:
            raise _Failed(step["stderr"], step["status"])
        if "stdin" in step:
            answer = _stdin(step["stdin"])
        elif "file" in step:
            answer = read(step["file"], replaced=step["replaced"])
        else:
            # Most commands need no store.
            from ._command.stores import Stores

            stores = stores or Stores()
            if "redis" in step:
                answer = stores.redis(step["redis"], step["send"])
            elif "query" in step:
                answer = stores.query(step["sqlite"], step["query"], step["parameters"])
            else:
                answer = stores.run(step["sqlite"], step["run"])
        step = running.on(answer)
    if "write" in step:
        replace(step["write"]["path"], step["write"]["text"])
    time.sleep(step["wait"])
    return b64decode(step["stdout"])


def _stdin(what: str) -> dict[str, str]:
    """Read stdin to the byte; on a terminal, say what to type."""
    try:
        with open(0, "rb", closefd=False) as stdin:
            if stdin.isatty():
                _complain(f"sealwax: type {what}, then Ctrl-D")
            return {"bytes": b64encode(stdin.read(_MAX_INPUT)).decode()}
    except OSError as error:
        return {"failed": str(error.strerror)}


def _complain(message: str) -> None:
    # Where nobody reads stderr, the status says it.
    with suppress(OSError):
        print(message, file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
