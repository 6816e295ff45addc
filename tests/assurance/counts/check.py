"""Counts what a token and a request take, and compares it with the limits.

check.py LIMITS NAME=COMMAND...

A COMMAND prints a line for each count: operation, what, count.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

#: A count that is so far below its limit lowers it.
LOWER = 0.97


def counts(name: str, command: str) -> dict[tuple[str, ...], float]:
    done = subprocess.run(shlex.split(command), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stdout}{done.stderr}")
    lines = (line.split() for line in done.stdout.splitlines())
    return {(name, operation, what): float(count) for operation, what, count in lines}


def limits_of(file: str) -> dict[tuple[str, ...], int]:
    lines = (line.split() for line in Path(file).read_text().splitlines() if line and line[0] != "#")
    return {tuple(names): int(limit.replace(",", "")) for *names, limit in lines}


def main(file: str, *commands: str) -> None:
    limits = limits_of(file)
    found = {}
    for command in commands:
        found.update(counts(*command.split("=", 1)))
    faults = []
    for names, count in found.items():
        limit = limits.get(names)
        print(f"{' '.join(names):32} {count:12,.2f}", "" if limit is None else f"of {limit:,}")
        if limit is None or count > limit:
            expected = "a line" if limit is None else f"at most {limit:,}"
            faults.append(f"{' '.join(names)}: expected {expected} in {file}, found {count:,.2f}")
        elif count < LOWER * limit:
            print(f"  lower its limit in {file}")
    counted = {command.split("=", 1)[0] for command in commands}
    faults += [f"{' '.join(names)}: not counted" for names in limits if names[0] in counted and names not in found]
    if faults:
        sys.exit("\n".join(faults))
    print(f"figure: {len(found)} limits")


if __name__ == "__main__":
    main(*sys.argv[1:])
