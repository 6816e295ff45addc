"""Makes keys, and says what a text is, in the words of the crate's command ``sealwax``."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import time
from contextlib import redirect_stdout, suppress
from typing import TYPE_CHECKING

import sealwax

from ._native import NULL, call_for_text, lib, pair, untrusted

if TYPE_CHECKING:
    from collections.abc import Callable

# Longer input is cut here, and refused for its length by what reads it.
_MAX_INPUT = 4 << 20
_ABOUT = "Makes keys, and identifies a text. The crate's command `sealwax` does more."
_STATUS = """\
Exit status: 0 for success; 1 when the text is none of ours; 2 for any other failure: wrong usage,
keys or arguments, a file that cannot be read."""


def main() -> int:
    """Run the command of the arguments; return the exit status."""
    status, printed = 0, io.StringIO()
    try:
        try:
            with redirect_stdout(printed):
                asked = _parse()
                print(_keygen(asked.count) if asked.command == "keygen" else _inspect(asked))
        except SystemExit as ended:
            # Help, the version, or wrong usage.
            status = int(ended.code or 0)
        # A reader that has seen enough, such as `head`, is no failure.
        with suppress(BrokenPipeError), open(1, "wb", closefd=False) as stdout:
            stdout.write(printed.getvalue().encode())
    except sealwax.SealwaxError as error:
        _complain(f"{error.code}: {error}")
        return 1 if isinstance(error, sealwax.Refused) else 2
    except OSError as error:
        named = "" if error.filename is None else f"{error.filename}: "
        _complain(f"{named}{error.strerror}")
        return 2
    return status


def _complain(message: str) -> None:
    # Where nobody reads stderr, the status says it.
    with suppress(OSError):
        print(f"sealwax: {message}", file=sys.stderr)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m sealwax",
        description=_ABOUT,
        epilog=_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sealwax {sealwax.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    keygen = commands.add_parser("keygen", help="make keys, one a line: secrets for SEALWAX_KEYS")
    keygen.add_argument(
        "--count", type=_number(1, 65_535), default=1, help="the number of keys, 1 to 65535"
    )
    says = "identify a token, session id, handle or key text, without opening it"
    inspect = commands.add_parser("inspect", help=says, description=says)
    inspect.add_argument(
        "text",
        nargs="?",
        help="the text, in place of stdin: every process of the machine can read it, so pass a "
        "live token or a key on stdin",
    )
    inspect.add_argument(
        "--json",
        action="store_true",
        help="print JSON: what (token, session-id, handle or key), length, and if there is exactly "
        "one kind, key_id, token_id, handle_type, created_at_ms; in_ring is null without keys",
    )
    inspect.add_argument(
        "--key-file", metavar="FILE", help="file of key texts, in place of SEALWAX_KEYS"
    )
    inspect.add_argument(
        "--now",
        metavar="UNIX",
        type=_number(0, 2**53 - 1),
        help="the time in Unix seconds, in place of the clock's",
    )
    return parser.parse_args()


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(written: str) -> int:
        expected = f"expected a number of {least} to {most}, found {written}"
        try:
            found = int(written)
        except ValueError:
            raise argparse.ArgumentTypeError(expected) from None
        if not least <= found <= most:
            raise argparse.ArgumentTypeError(expected)
        return found

    return number


def _keygen(count: int) -> str:
    return "\n".join(str(sealwax.Key.generate().to_text()) for _ in range(count))


def _inspect(asked: argparse.Namespace) -> str:
    ring = _ring(asked.key_file)
    text = _stdin() if asked.text is None else asked.text
    given = *pair(untrusted("text", text)), NULL if ring is None else ring._ring
    capacity = lib.SEALWAX_REPORT_MAX
    if asked.json:
        return call_for_text(lib.sealwax_report_json, *given, capacity=capacity)
    now = int(time.time()) if asked.now is None else asked.now
    return call_for_text(lib.sealwax_report_words, *given, now, capacity=capacity)


def _ring(key_file: str | None) -> sealwax.KeyRing | None:
    if key_file is None:
        place, text = "SEALWAX_KEYS", os.environ.get("SEALWAX_KEYS")
    else:
        with open(key_file, "rb") as file:
            place, text = f"--key-file {key_file}", file.read().decode(errors="replace")
    if text is None:
        return None
    try:
        return sealwax.KeyRing.parse(text)
    except sealwax.InvalidKey as error:
        raise sealwax.InvalidKey(f"{place}: {error}") from None


def _stdin() -> str:
    """Return stdin without one line ending at its end, which is the shell's."""
    with open(0, "rb", closefd=False) as stdin:
        if stdin.isatty():
            _complain("type the text to inspect, then Ctrl-D")
        # None of ours has a character that is not ASCII: what is no UTF-8 may stay garbled.
        text = stdin.read(_MAX_INPUT).decode(errors="replace")
    return text[:-1].removesuffix("\r") if text.endswith("\n") else text


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
