"""A SQLite file that cannot be written: locked elsewhere, on a full disk, or no database. Nothing is accepted, and in time.

Usage: files.py LANGUAGE=AGENT [LANGUAGE=AGENT ...]
"""

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from common import Agent, Ledger, Token, languages, new_attempt, new_id, open_for_good, with_files

#: The engine waits for 250 ms; its process may have to wait for a busy machine.
IN_TIME = 5
SIZE = 1 << 20


def claim(agent: Agent, ledger: Ledger, one: str, attempt: str) -> list[str]:
    now = int(time.time())
    return agent.ask(ledger.admit(Token("once", "r", one, now, now + 600), attempt=attempt))


def expect(agent: Agent, found: str, wanted: str) -> None:
    if found != wanted:
        sys.exit(f"files: {agent.language}: expected {wanted}, found {found}")


def a_lock_held_elsewhere(agent: Agent, ledger: Ledger, file: pathlib.Path) -> None:
    one, attempt = new_id(), new_attempt()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    expect(agent, claim(agent, ledger, one, attempt)[0], "failed")
    took = time.monotonic() - began
    if not 0.2 < took < IN_TIME:
        sys.exit(f"files: {agent.language}: gave up after {took:.2f} s")
    other.execute("ROLLBACK")
    other.close()
    for told, by in [("ok", attempt), ("ok", attempt), ("used", new_attempt())]:
        expect(agent, claim(agent, ledger, one, by)[0], told)


@contextlib.contextmanager
def small_disk() -> Iterator[pathlib.Path | None]:
    """A disk of `SIZE` bytes, where one can be had."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def a_full_disk(language: str, command: str) -> bool:
    with small_disk() as disk:
        if disk is None:
            return False
        agent, ledger = Agent(language, command, f"sqlite:{disk}/ledger.db"), Ledger()
        open_for_good(ledger, agent)
        before = [(new_id(), new_attempt()) for _ in range(20)]
        for one in before:
            expect(agent, claim(agent, ledger, *one)[0], "ok")
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        # The free space in the pages of the file takes a few more.
        answers = {}
        for _ in range(2000):
            one = (new_id(), new_attempt())
            answers[one] = claim(agent, ledger, *one)[0]
            if list(answers.values())[-3:] == ["failed"] * 3:
                break
        else:
            sys.exit(f"files: {language}: never full")
        if set(answers.values()) - {"ok", "failed"}:
            sys.exit(f"files: {language}: found {set(answers.values())}")
        filler.unlink()
        for one, _ in before + [one for one, answer in answers.items() if answer == "ok"]:
            expect(agent, claim(agent, ledger, one, new_attempt())[0], "used")
        for (one, attempt), answer in answers.items():
            if answer == "failed":
                expect(agent, claim(agent, ledger, one, attempt)[0], "ok")
        agent.close()
    return True


def no_database(language: str, command: str, folder: pathlib.Path) -> None:
    file = folder / "garbage.db"
    file.write_bytes(b"no database " * 1000)
    agent, ledger = Agent(language, command, f"sqlite:{file}"), Ledger()
    try:
        expect(agent, claim(agent, ledger, new_id(), new_attempt())[0], "failed")
        agent.close()
    except EOFError:
        # There is no ledger without a file that can be opened.
        pass
    if file.read_bytes() != b"no database " * 1000:
        sys.exit(f"files: {language}: wrote into a file that is none of its own")


def each(language: str, command: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        agent, ledger = Agent(language, command, f"sqlite:{folder}/ledger.db"), Ledger()
        open_for_good(ledger, agent)
        a_lock_held_elsewhere(agent, ledger, folder / "ledger.db")
        agent.close()
        no_database(language, command, folder)
    full = "on a full disk" if a_full_disk(language, command) else "(LEFT OUT: a full disk, for want of a mount)"
    print(
        f"files: {language}: nothing is accepted while it is locked, {full}, or of a file that is no database",
        flush=True,
    )


def main(commands: dict[str, str]) -> None:
    with ThreadPoolExecutor() as threads:
        list(threads.map(each, commands, commands.values()))


if __name__ == "__main__":
    main(with_files(languages(sys.argv[1:])))
