"""Makes keys and tells what a text is, as the crate's command ``sealwax`` does."""

from __future__ import annotations

import argparse
import os
import signal
import sys

import sealwax

# Longer input is cut here, and refused for its length by what reads it.
_MAX_INPUT = 4 << 20
_ABOUT = """\
Makes keys and tells what a text is. The crate's command `sealwax` does more.

Exit status: 0; 1 where a text is refused; 2 for wrong usage, keys or arguments."""


def main() -> int:
    """Run the command of the arguments; return the exit status."""
    asked = _parse()
    try:
        found = _keygen(asked.count) if asked.command == "keygen" else _inspect(asked)
        # Whole or not at all, and what a closed pipe does not take is told once.
        with open(1, "wb", closefd=False) as stdout:
            stdout.write(f"{found}\n".encode())
    except sealwax.SealwaxError as error:
        print(f"sealwax: {error.code}: {error}", file=sys.stderr)
        return 1 if isinstance(error, sealwax.Refused) else 2
    except OSError as error:
        named = "" if error.filename is None else f"{error.filename}: "
        print(f"sealwax: {named}{error.strerror}", file=sys.stderr)
        return 2
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m sealwax",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sealwax {sealwax.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    keygen = commands.add_parser("keygen", help="make keys, one a line: secrets for SEALWAX_KEYS")
    keygen.add_argument("--count", type=_count, default=1, help="how many; 1 unless given")
    told = "tell what a token, an id, a handle or a key text is, without opening it"
    inspect = commands.add_parser("inspect", help=told)
    inspect.add_argument(
        "text", nargs="?", help="stdin unless given; a key belongs there, for arguments are public"
    )
    inspect.add_argument(
        "--key-file", metavar="FILE", help="file of key texts, in place of SEALWAX_KEYS"
    )
    return parser.parse_args()


def _count(written: str) -> int:
    count = int(written)
    if not 1 <= count <= 65_535:
        raise argparse.ArgumentTypeError(f"expected 1 to 65535, found {count}")
    return count


def _keygen(count: int) -> str:
    return "\n".join(str(sealwax.Key.generate().to_text()) for _ in range(count))


def _inspect(asked: argparse.Namespace) -> str:
    ring = _ring(asked.key_file)
    seen = sealwax.inspect(_stdin() if asked.text is None else asked.text)
    if ring is None:
        known = "unknown, for no ring was given"
    else:
        known = "yes" if seen.key_id in ring.ids else "no"
    key = f"key id: {seen.key_id}\nin this ring: {known}"
    if seen.what == "token":
        return f"sealed token of kind {seen.kind}\n{key}\ntoken id: {seen.token_id}"
    if seen.what == "key":
        return f"key text, a secret\n{key}"
    made = f"made at {(seen.created_at_ms or 0) // 1000} (Unix seconds)"
    if seen.what == "session-id":
        return f"session id, {made}\n{key}"
    return f"handle of type {seen.handle_type}, {made}\nkey id: none, for a handle names no key"


def _ring(key_file: str | None) -> sealwax.KeyRing | None:
    if key_file is not None:
        with open(key_file, "rb") as file:
            return sealwax.KeyRing.parse(file.read().decode(errors="replace"))
    return sealwax.KeyRing.from_env() if "SEALWAX_KEYS" in os.environ else None


def _stdin() -> str:
    """Return stdin without one line ending at its end, which is the shell's."""
    with open(0, "rb", closefd=False) as stdin:
        # None of ours has a character that is not ASCII: what is no UTF-8 may stay garbled.
        text = stdin.read(_MAX_INPUT).decode(errors="replace")
    return text[:-1].removesuffix("\r") if text.endswith("\n") else text


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
