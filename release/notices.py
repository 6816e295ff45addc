"""Notices beside those of the crates: of the C runtime that zig links into a program, and on Windows into a library."""

import importlib.util
import pathlib
import sys

from targets import Target


def runtime(target: Target, *, static: bool) -> str:
    """Return what to append to those of crate_notices.py."""
    if target.windows:
        return of("MinGW-w64's runtime", "mingw/COPYING")
    if target.musl and static:
        return of("musl", "musl/COPYRIGHT")
    return ""


def of(name: str, file: str) -> str:
    zig = importlib.util.find_spec("ziglang")
    if zig is None or zig.origin is None:
        sys.exit("expected the package ziglang")
    text = (pathlib.Path(zig.origin).parent / "lib/libc" / file).read_text().strip()
    return f"\n{'-' * 80}\nOf {name}:\n\n{text}\n"
