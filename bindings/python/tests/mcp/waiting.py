"""A server on stdio with SEP-1359, whose calls are answered in the order that others say.

`waiting.py SYSTEM`, keys in the environment. The first two calls report progress, and wait; the
third has the first go on, and the fourth the second.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import tally
from lone import Lone

from sealwax.mcp import Guard, Principal

calls: list[anyio.Event] = []


async def it(ctx: Any) -> dict[str, int]:
    calls.append(anyio.Event())
    number = len(calls)
    report = getattr(ctx, "report_progress", None) or ctx.session.report_progress
    if number <= 2:
        await report(number)
        await calls[number - 1].wait()
        await report(number + 10)
    else:
        calls[number - 3].set()
    return {"number": number}


def main() -> None:
    guard = Guard(
        codec=tally.codec(os.environ["SEALWAX_KEYS"]),
        principal=lambda _ctx: Principal(tally.ISSUER, "cli-7", "alice"),
    )
    server = getattr(Lone(guard, it), sys.argv[1])(None)
    anyio.run(guard.run_stdio, server)


if __name__ == "__main__":
    main()
