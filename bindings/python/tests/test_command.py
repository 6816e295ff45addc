"""`python -m sealwax`: what is on stdout and stderr, and how it ends.

In SEALWAX_COMMAND another program can be given, and in SEALWAX_PROGRAM how its user calls it:
`make test-command`, `make test-dist`.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sealwax

TESTS = Path(__file__).parents[3] / "tests"
COMMANDS: list[Any] = json.loads((TESTS / "command.json").read_text())["cases"]
KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"

#: Files have no mode and no owner there, and links need a right.
WINDOWS = sys.platform == "win32"
PROGRAM = os.environ.get("SEALWAX_PROGRAM", "python -m sealwax")
COMMAND = shlex.split(os.environ.get("SEALWAX_COMMAND", "")) or [sys.executable, "-m", "sealwax"]


def command(
    *arguments: str,
    stdin: bytes = b"",
    keys: str | None = None,
    variables: dict[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[bytes]:
    theirs = {name: one for name, one in os.environ.items() if not name.startswith("SEALWAX_")}
    environment = {**theirs, **(variables or {}), **({"SEALWAX_KEYS": keys} if keys else {})}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(
        [*COMMAND, *arguments], input=stdin, env=environment, check=False, **pipes
    )


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case["name"])
def test_the_cases_of_every_package(case: Any, tmp_path: Path) -> None:
    if WINDOWS and "links" in case:
        pytest.skip("links need a right on Windows")
    for name, text in case.get("files", {}).items():
        (tmp_path / name).write_text(text, newline="\n")
        (tmp_path / name).chmod(int(case.get("modes", {}).get(name, "600"), 8))
    # Only the superuser may.
    owners = case.get("owners", {}) if not WINDOWS and os.getuid() == 0 else {}
    for name, owner in owners.items():
        os.chown(tmp_path / name, owner, owner)
    for name, target in case.get("links", {}).items():
        (tmp_path / name).symlink_to(target)
    printed: list[bytes] = []
    for run in case["runs"]:
        given = run.get("stdin", "")
        places = {"@stdout": -1, "@sealed": 0}
        stdin = printed[places[given]] if given in places else given.encode()
        ran = command(*run["args"], stdin=stdin, cwd=tmp_path, variables=run.get("env"))
        stdout, stderr = ran.stdout.decode(), ran.stderr.decode().replace(os.linesep, "\n")
        assert ran.returncode == run.get("status", 0), (run, stderr)
        assert (stdout if ran.returncode else stderr) == "", run
        assert stdout == run.get("stdout", stdout), run
        for part in run.get("has", ()):
            assert part.replace("{program}", PROGRAM) in stdout, run
        for part in run.get("stderr", ()):
            assert part.replace("{program}", PROGRAM) in stderr, run
        assert "never" not in run or run["never"] not in stderr, run
        printed.append(ran.stdout)
    for name, expected in case.get("after", {}).items():
        mode = f"{stat.S_IMODE((tmp_path / name).stat().st_mode):o}"
        assert WINDOWS or mode == expected.get("mode", mode)
        if name != "ledger.db":
            text = (tmp_path / name).read_text()
            assert text == expected.get("text", text)
            assert len(text.splitlines()) == expected.get("lines", len(text.splitlines()))
            assert all(part in text for part in expected.get("has", ()))
    assert {name: (tmp_path / name).stat().st_uid for name in owners} == owners
    # Nothing else is left; a store has files of its own.
    known = {name for part in ("files", "links", "after") for name in case.get(part, {})}
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("ledger.db")}
    assert left <= known


def test_every_case_is_there() -> None:
    assert len(COMMANDS) == 25


def test_who_lacks_the_client_of_a_store_is_told_how_to_get_it() -> None:
    ran = command("ledger", "check", "redis://127.0.0.1", "--audience", "a")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.splitlines() == [
        b"sealwax: ledger_unavailable: no client for Redis: expected the package redis or valkey",
        b"  tip: pip install redis",
    ]


def said(*arguments: str, stdin: bytes = b"", keys: str | None = None) -> str:
    ran = command(*arguments, stdin=stdin, keys=keys)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode()


def refused(ran: subprocess.CompletedProcess[bytes], status: int, begins: str) -> None:
    assert (ran.returncode, ran.stdout) == (status, b"")
    (line,) = ran.stderr.decode().splitlines()
    assert line.startswith(f"sealwax: {begins}"), line


def test_keygen_makes_keys() -> None:
    texts = said("keygen", "--count", "3").splitlines()
    assert len({sealwax.Key.parse(text).id for text in texts}) == 3


def test_inspect_says_what_is_none_of_ours_by_code_and_status() -> None:
    refused(command("inspect", stdin=b"\xff\xfe\0"), 1, "malformed: ")
    if not WINDOWS:
        refused(command("inspect", os.fsdecode(b"\xff")), 1, "malformed: ")
    refused(command("inspect", stdin=b"s" * (5 << 20)), 1, "too_large: ")


def test_it_tells_its_usage_and_its_version() -> None:
    assert said("--help").startswith("usage: python -m sealwax")
    assert said("--version") == f"sealwax {sealwax.__version__}\n"


@pytest.mark.skipif(WINDOWS or not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_reader_that_has_seen_enough_is_no_failure_and_a_full_disk_is_one() -> None:
    for arguments in (["keygen"], ["inspect", KEY], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        ran = command(*arguments, stdout=writing)
        os.close(writing)
        assert (ran.returncode, ran.stderr) == (0, b"")
    with open("/dev/full", "wb") as full:
        ran = command("keygen", stdout=full)
        assert (ran.returncode, ran.stderr) == (2, b"sealwax: No space left on device\n")
