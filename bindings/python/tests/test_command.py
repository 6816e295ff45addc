"""`python -m sealwax`: what is on stdout and stderr, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import sealwax

if TYPE_CHECKING:
    from pathlib import Path

KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
KEY_ID = "a8ca0d4a"


@pytest.fixture
def alice() -> sealwax.View:
    return sealwax.Codec(keys=KEY, audience="https://mcp.example.com").view(subject="alice")


def run(
    *arguments: str, stdin: bytes = b"", keys: str | None = KEY
) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "SEALWAX_KEYS"}
    if keys is not None:
        environment["SEALWAX_KEYS"] = keys
    return subprocess.run(
        [sys.executable, "-m", "sealwax", *arguments],
        input=stdin,
        env=environment,
        capture_output=True,
        check=False,
    )


def told(*arguments: str, stdin: bytes = b"", keys: str | None = KEY) -> str:
    ran = run(*arguments, stdin=stdin, keys=keys)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode()


def refused(ran: subprocess.CompletedProcess[bytes], status: int, begins: str) -> None:
    assert (ran.returncode, ran.stdout) == (status, b"")
    (line,) = ran.stderr.decode().splitlines()
    assert line.startswith(begins)


def test_keys_are_made() -> None:
    texts = told("keygen", "--count", "3", keys=None).splitlines()
    assert len({sealwax.Key.parse(text).id for text in texts}) == 3
    assert len(told("keygen").splitlines()) == 1


def test_every_text_is_told(alice: sealwax.View) -> None:
    token = alice.session().seal(b"x")
    token_id = alice.session().open(token).token_id
    known = f"key id: {KEY_ID}\nin this ring: yes\n"
    expected = f"sealed token of kind session\n{known}token id: {token_id}\n"
    assert told("inspect", token) == expected
    for ending in (b"", b"\n", b"\r\n"):
        assert told("inspect", stdin=token.encode() + ending) == expected
    session_id, handle = alice.mint_session_id(), alice.mint_handle("basket")
    at = alice.verify_session_id(session_id).created_at_ms // 1000
    assert told("inspect", session_id) == f"session id, made at {at} (Unix seconds)\n{known}"
    at = alice.verify_handle("basket", handle).created_at_ms // 1000
    assert told("inspect", handle) == (
        f"handle of type basket, made at {at} (Unix seconds)\n"
        "key id: none, for a handle names no key\n"
    )


def test_a_key_is_told_by_its_id_alone(tmp_path: Path) -> None:
    assert told("inspect", stdin=KEY.encode()) == (
        f"key text, a secret\nkey id: {KEY_ID}\nin this ring: yes\n"
    )
    other = sealwax.Key.generate()
    text = str(other.to_text())
    assert told("inspect", text) == f"key text, a secret\nkey id: {other.id}\nin this ring: no\n"
    without = told("inspect", text, keys=None)
    assert without.endswith("in this ring: unknown, for no ring was given\n")
    (tmp_path / "keys").write_text(f"{KEY}\n{text}\n")
    assert told("inspect", "--key-file", str(tmp_path / "keys"), text).endswith("ring: yes\n")


def test_how_it_fails(tmp_path: Path) -> None:
    refused(run("inspect", "nonsense"), 1, "sealwax: malformed: ")
    refused(run("inspect", stdin=b"\xff\xfe\0"), 1, "sealwax: malformed: ")
    refused(run("inspect", os.fsdecode(b"\xff")), 1, "sealwax: malformed: ")
    refused(run("inspect", stdin=b"s" * (5 << 20)), 1, "sealwax: too_large: ")
    mistyped = KEY[:-1] + "d"
    ran = run("inspect", mistyped)
    refused(ran, 2, "sealwax: invalid_key: ")
    assert KEY[5:20] not in ran.stderr.decode()
    refused(run("inspect", KEY, keys="?"), 2, "sealwax: invalid_key: ")
    absent = str(tmp_path / "absent")
    refused(run("inspect", "--key-file", absent, KEY), 2, f"sealwax: {absent}: No such file")
    (tmp_path / "keys").write_bytes(b"\xff")
    refused(run("inspect", "--key-file", str(tmp_path / "keys"), KEY), 2, "sealwax: invalid_key: ")
    for wrong in ([], ["seal"], ["keygen", "--count", "0"], ["keygen", "--count", "x"]):
        ran = run(*wrong)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert ran.stderr.startswith(b"usage: python -m sealwax")


@pytest.mark.parametrize("arguments", [["keygen"], ["inspect", KEY]])
def test_a_closed_pipe_is_told_once(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-m", "sealwax", *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (2, b"sealwax: Broken pipe\n")
