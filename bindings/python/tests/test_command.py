"""`python -m sealwax`: what is on stdout and stderr, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sealwax

CASES: dict[str, Any] = json.loads((Path(__file__).parents[3] / "tests/inspect.json").read_text())
KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"


def command(
    *arguments: str, stdin: bytes = b"", keys: str | None = None, stdout: Any = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "SEALWAX_KEYS"}
    if keys is not None:
        environment["SEALWAX_KEYS"] = keys
    return subprocess.run(
        [sys.executable, "-m", "sealwax", *arguments],
        input=stdin,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )


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
    assert len(said("keygen").splitlines()) == 1


def test_inspect_says_what_a_text_is_in_the_words_of_every_package() -> None:
    assert len(CASES["said"]) == 18
    for case in CASES["said"]:
        text, keys = case["text"], case["keys"]
        words = said("inspect", "--now", str(case["now"]), stdin=text.encode(), keys=keys)
        assert words.splitlines() == case["words"]
        assert json.loads(said("inspect", "--json", text, keys=keys)) == case["json"]


def test_inspect_says_what_is_none_of_ours_by_code_and_status() -> None:
    assert len(CASES["refused"]) == 8
    for case in CASES["refused"]:
        ran = command("inspect", stdin=case["text"].encode())
        refused(ran, case["status"], f"{case['code']}: ")
    refused(command("inspect", stdin=b"\xff\xfe\0"), 1, "malformed: ")
    refused(command("inspect", os.fsdecode(b"\xff")), 1, "malformed: ")
    refused(command("inspect", stdin=b"s" * (5 << 20)), 1, "too_large: ")


def test_one_line_ending_is_the_shells() -> None:
    text = CASES["said"][0]["text"]
    expected = said("inspect", text)
    for ending in ("\n", "\r\n"):
        assert said("inspect", stdin=f"{text}{ending}".encode()) == expected
    refused(command("inspect", stdin=f"{text}\n\n".encode()), 1, "malformed: ")


def test_without_a_time_the_clock_gives_it() -> None:
    handle = sealwax.Codec(keys=KEY, audience="a").view(subject="alice").mint_handle("basket")
    age = next(line for line in said("inspect", handle).splitlines() if line.startswith("age: "))
    # Less than an hour, however slow the machine is.
    assert age[-1] in "ms"


def test_no_message_holds_a_key() -> None:
    text = str(sealwax.Key.generate().to_text())
    assert text[5:12] not in said("inspect", stdin=text.encode())
    ran = command("inspect", KEY[:-1] + "d")
    refused(ran, 2, "invalid_key: ")
    assert KEY[5:20] not in ran.stderr.decode()


def test_keys_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    def in_ring(*arguments: str, keys: str | None = None) -> Any:
        return json.loads(said("inspect", "--json", *arguments, KEY, keys=keys))["in_ring"]

    file = tmp_path / "keys"
    file.write_text(f"{KEY}\n{sealwax.Key.generate().to_text()}\n")
    other = str(sealwax.Key.generate().to_text())
    assert in_ring() is None
    assert in_ring(keys=other) is False
    assert in_ring("--key-file", str(file), keys=other) is True
    expected = "invalid_key: SEALWAX_KEYS: key 1 of the ring"
    refused(command("inspect", KEY, keys="?"), 2, expected)
    file.write_bytes(b"\xff")
    expected = f"invalid_key: --key-file {file}: key 1 of the ring"
    refused(command("inspect", "--key-file", str(file), KEY), 2, expected)
    absent = str(tmp_path / "absent")
    refused(command("inspect", "--key-file", absent, KEY), 2, f"{absent}: No such file")


@pytest.mark.parametrize(
    "wrong",
    [
        ([], "the following arguments are required"),
        (["seal"], "invalid choice: 'seal'"),
        (["keygen", "--count", "0"], "--count: expected a number of 1 to 65535, found 0"),
        (["keygen", "--count", "x"], "--count: expected a number of 1 to 65535, found x"),
        (["inspect", "--now", "soon", KEY], "--now: expected a number of 0 to "),
        (["inspect", KEY, KEY], "unrecognized arguments"),
    ],
)
def test_wrong_usage_has_status_2(wrong: tuple[list[str], str]) -> None:
    arguments, message = wrong
    ran = command(*arguments)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"usage: python -m sealwax")
    assert message in ran.stderr.decode()


def test_it_tells_its_usage_and_its_version() -> None:
    assert said("--help").startswith("usage: python -m sealwax")
    assert said("--version") == f"sealwax {sealwax.__version__}\n"


@pytest.mark.parametrize("arguments", [["keygen"], ["inspect", KEY], ["--help"]])
def test_a_reader_that_has_seen_enough_is_no_failure(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = command(*arguments, stdout=writing)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_a_failure() -> None:
    with open("/dev/full", "wb") as full:
        ran = command("keygen", stdout=full)
        assert (ran.returncode, ran.stderr) == (2, b"sealwax: No space left on device\n")
