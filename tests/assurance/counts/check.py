"""Counts what a token and a request take, and compares it with the limits.

check.py LIMITS NAME=COMMAND...

A COMMAND prints a line for each count: operation, what, count. That of the name `c` is a program instead that does an
operation so often as it is told, and is counted by valgrind: the difference of two runs, so that how it starts is in neither.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from shutil import which

OPERATIONS = ("seal", "open", "context", "view", "plain", "state", "session")
TIMES = 500
#: A count that is so far below its limit lowers it.
LOWER = 0.97


def run(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done


def executed(program: str, operation: str) -> float:
    """Return the instructions of an operation."""
    valgrind = which("valgrind") or sys.exit("expected valgrind in PATH")
    once, twice = (
        # What is in the environment lies on the stack and moves it, so there is nothing.
        run(
            *(valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", program, operation, str(times)), env={}
        ).stderr
        for times in (TIMES, 2 * TIMES)
    )
    collected = re.compile(r"Collected : (\d+)")
    return (int(collected.findall(twice)[0]) - int(collected.findall(once)[0])) / TIMES


def counts(name: str, command: str) -> dict[tuple[str, ...], float]:
    if name == "c":
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(partial(executed, command), OPERATIONS)
        return {(name, operation, "instructions"): count for operation, count in zip(OPERATIONS, found, strict=True)}
    lines = (line.split() for line in run(*shlex.split(command)).stdout.splitlines())
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
