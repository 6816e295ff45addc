"""Checks that a summary of the ledger's bench is complete, with no judgement of the times.

Usage: python3 benches/ledger/check.py target/bench/ledger.json
"""

import json
import pathlib
import sys

ADMISSIONS = {"rust": "redis", "node": "ioredis", "python": "redis.asyncio"}
TODAY = {"node": "connect-redis", "python": "RedisStore"}
SERVERS = ["node", "python"]


def expected():
    for language, client in ADMISSIONS.items():
        yield "admission", language, client, "admit"
    for language, store in TODAY.items():
        yield "today", language, store, "ledger"
    for language in SERVERS:
        for request in ("state", "session"):
            for engine in ("memory", "sqlite", "redis"):
                yield "added", language, request, engine
        for processes in (1, 4):
            yield "rate", language, processes
    yield ("store",)
    yield "memory", "used"
    yield "memory", "head"


def told(row):
    return tuple(row[it] for it in ("question", "language", "case", "side", "processes") if it in row)


def is_right(row):
    low, high = row.get("middle_half", [1, 1])
    # What is added may be less than nothing, on a busy machine.
    numbers = [value for name, value in row.items() if isinstance(value, float) and not name.startswith("added")]
    return low <= row.get("ratio", 1) <= high and bool(numbers) and all(value > 0 for value in numbers)


def main(summary):
    rows = json.loads(pathlib.Path(summary).read_text())["rows"]
    missing = set(expected()) - {told(row) for row in rows}
    wrong = [row for row in rows if not is_right(row)]
    for what in [*missing, *wrong]:
        print(f"missing or wrong: {what}")
    print(f"{len(rows) - len(wrong)} passed, {len(missing) + len(wrong)} failed")
    sys.exit(bool(missing or wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
