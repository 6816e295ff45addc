"""Every case of tests/vectors/ledger.json, in a file of SQLite."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sealwax.ledger import SQLite

FILE = json.loads((Path(__file__).parents[3] / "tests/vectors/ledger.json").read_text())
NOW = 1_800_000_000
#: A store with transactions has no process of its own, and so no other one.
OTHERS = re.compile(r" (OTHER|PROMOTED|EVICTED|FORMER) ")
CASES = [case for case in FILE["cases"] if not OTHERS.search(json.dumps(case["values"]))]


def resolved(text: str | None) -> str | None:
    """Return a text of the vectors with its times: `@N`."""
    if text is None:
        return None
    parts = [str(NOW + int(p[1:])) if re.fullmatch(r"@-?\d+", p) else p for p in text.split(" ")]
    return " ".join("-" if part == "RUN" else part for part in parts)


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: dict[str, Any], tmp_path: Path) -> None:
    ledger = SQLite(tmp_path / "ledger.db")
    ledger._sql["now"] = f"SELECT {NOW}"
    rows = {
        key: (resolved(value), None)
        for key, value in zip(case["keys"], case["values"], strict=True)
        if value is not None
    }
    with sqlite3.connect(tmp_path / "ledger.db") as database:
        for key, row in rows.items():
            database.execute("INSERT INTO sealwax_ledger VALUES (?, ?, ?)", (key, *row))
    command = {"script": case["script"], "keys": case["keys"]}
    command["args"] = [resolved(arg) for arg in case["args"]]
    assert ledger._run(command) == [resolved(part) for part in case["reply"]]
    for key, kept in case["after"].items():
        rows.pop(key, None)
        if kept is not None:
            value, until = (resolved(part) for part in kept)
            rows[key] = (value, int(until) if until else None)  # type: ignore[assignment]
    found = database.execute("SELECT key, value, until FROM sealwax_ledger").fetchall()
    assert {key: (value, until) for key, value, until in found} == rows
    database.close()
    ledger.close()
