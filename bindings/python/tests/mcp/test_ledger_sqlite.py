"""A ledger in a file: locked, forked, or no ledger."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import anyio
import pytest
from ledgers import keys

from sealwax.ledger import SQLite

pytestmark = pytest.mark.anyio


def test_what_survives_no_loss_of_power_is_chosen(tmp_path: Path) -> None:
    for durable, level in ((True, 2), (False, 1)):
        ledger = SQLite(tmp_path / "ledger.db", durable=durable)
        assert ledger._connection.execute("PRAGMA synchronous").fetchone() == (level,)
        ledger.close()


def test_a_file_is_opened_by_many_at_once(tmp_path: Path) -> None:
    barrier = Barrier(16)

    def opened(_: int) -> None:
        barrier.wait()
        SQLite(tmp_path / "ledger.db").close()

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(opened, range(16)))


def test_threads_with_event_loops_of_their_own_share_a_ledger(tmp_path: Path) -> None:
    ledger = SQLite(tmp_path / "ledger.db")
    command = {"script": "open", "keys": keys()[:2], "args": [], "withinMs": 60_000}

    async def many() -> None:
        for _ in range(20):
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(ledger.run, command)

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(anyio.run, many) for _ in range(2)]:
            done.result(timeout=60)
    ledger.close()


FORKED = """
import os, sys
import anyio
from sealwax.ledger import LedgerUnfit, Memory, SQLite

ledgers = Memory(), SQLite(sys.argv[1])
command = {"script": "revoke", "keys": ["swl1:{}:p:0"], "args": ["0", "0"]}
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
    for ledger in ledgers:
        assert anyio.run(ledger.run, command) == ["ok", "0"]
else:
    refused = 0
    for ledger in ledgers:
        try:
            anyio.run(ledger.run, command)
        except LedgerUnfit:
            refused += 1
    os._exit(refused != 2)
"""


def test_a_process_that_was_forked_off(tmp_path: Path) -> None:
    """It would not know what the others know, or break the file's locks."""
    arguments = [sys.executable, "-c", FORKED, str(tmp_path / "ledger.db")]
    subprocess.run(arguments, check=True)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        made, chosen = tmp_path / "made", tmp_path / "chosen"
        chosen.touch(0o660)
        chosen.chmod(0o660)
        for path in (made, chosen):
            SQLite(path)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert len(modes) > 2
    # SQLite's own files have the mode of the database, and what an operator chose stays.
    assert {modes[name] for name in modes if name.startswith("made")} == {0o600}
    assert {modes[name] for name in modes if name.startswith("chosen")} == {0o660}
    SQLite(":memory:")
    assert not Path(":memory:").exists()


async def test_no_thread_waits_for_the_disk_longer_than_its_command(tmp_path: Path) -> None:
    ledger = SQLite(tmp_path / "ledger.db")
    command = {"script": "revoke", "keys": ["swl1:{}:p:0"], "args": ["0", "0"], "withinMs": 1}
    with anyio.fail_after(20), ledger._lock, pytest.raises(TimeoutError):
        await ledger.run(command)
    assert await ledger.run(command) == ["ok", "0"]
