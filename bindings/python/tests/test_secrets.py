"""No exception holds a key, a token or a payload, whichever way it is written to a log."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import pytest
from environment import at
from test_vectors import FILES, Vector, open_it, vectors

import sealwax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

# Tracebacks quote these lines: what is secret stands in none of those that run.
TEXT = "hunter2"
PAYLOAD = TEXT.encode()
KEY, OTHER = (key["text"] for key in FILES[0]["keys"][:2])


def pieces(text: str, size: int) -> set[str]:
    return {text[at : at + size] for at in range(len(text) - size + 1)}


SECRETS = {TEXT, repr(bytes.fromhex(FILES[0]["keys"][0]["secret"]))[2:12]}
for key in FILES[0]["keys"]:
    SECRETS |= pieces(key["text"][5:], 8) | pieces(key["secret"], 16)


def written(error: BaseException | None) -> str:
    """Return all that is said of an exception, also where `from None` hides its context."""
    if error is None:
        return ""
    said = [*traceback.format_exception(error), str(error), repr(error), repr(vars(error))]
    return "\n".join([*said, written(error.__cause__), written(error.__context__)])


def check(act: Callable[[], object], others: Iterable[str] = ()) -> None:
    with pytest.raises((sealwax.SealwaxError, TypeError)) as raised:
        act()
    said = written(raised.value)
    found = [secret for secret in SECRETS.union(others) if secret in said]
    assert not found, f"{len(found)} pieces in what {type(raised.value).__name__} says"


@vectors("reject")
def test_refused_texts_are_not_told(file: Vector, vector: Vector) -> None:
    text = vector["token" if vector["what"] == "sealed" else vector["what"]]
    check(lambda: open_it(file, vector), pieces(text, 12))


@vectors("key_rings")
def test_refused_key_texts_are_not_told(file: Vector, vector: Vector) -> None:
    if "error" not in vector:
        return
    ring = vector["ring"]
    others = {piece for word in ring.replace(",", " ").split() for piece in pieces(word[5:], 8)}
    check(lambda: sealwax.KeyRing.parse(ring), others)
    check(lambda: sealwax.Codec(keys=ring, audience="a"), others)
    check(lambda: sealwax.inspect(f"{ring}x"), others)


def test_tokens_and_payloads_are_not_told() -> None:
    with at(1_780_000_000_000):
        codec = sealwax.Codec(keys=KEY, audience="a")
        alice = codec.view(subject="alice")
        session: Any = alice.session()
        token = session.seal(PAYLOAD, ttl=60)
        opened = session.open(session.seal(PAYLOAD)), session.open(session.seal(b"\xff" + PAYLOAD))
        acts: list[Callable[[], object]] = [
            lambda: codec.view(subject="mallory").session().open(token),
            lambda: sealwax.Codec(keys=OTHER, audience="a").view(subject="b").session().open(token),
            lambda: alice.cursor("tools/list").open(token),
            lambda: session.open(f"{token}AAAA"),
            lambda: session.open(f"{token}\ud800"),
            lambda: session.open(token.encode()),
            lambda: session.seal(PAYLOAD * 1000),
            lambda: session.seal(TEXT),
            lambda: session.seal_json({"password": f"{TEXT}\ud800"}),
            lambda: session.seal_json({"password": {PAYLOAD}}),
            opened[0].json,
            opened[1].json,
            lambda: alice.sessions().open({"sessionId": token, "state": token}),
            lambda: alice.sessions().verify(token),
            lambda: alice.verify_handle("basket", token),
            lambda: sealwax.request_context("tools/call", "x", arguments_json=token),
        ]
        for act in acts:
            check(act, pieces(token, 12))
    for now in (1_779_999_900_000, 1_780_000_060_000):
        with at(now):
            check(lambda: session.open(token), pieces(token, 12))


def test_keys_are_not_told(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{KEY} {KEY}x")
    wrong: Any = KEY.encode()
    acts: list[Callable[[], object]] = [
        lambda: sealwax.Key.parse(f"{KEY}\ud800"),
        lambda: sealwax.Key.parse(wrong),
        lambda: sealwax.Key.from_secret(wrong),
        lambda: sealwax.Key.from_secret(bytes.fromhex(FILES[0]["keys"][0]["secret"])[:31]),
        lambda: sealwax.KeyRing.parse(f"{KEY} {KEY}"),
        lambda: sealwax.KeyRing.parse(f"{KEY}\ud800"),
        lambda: sealwax.KeyRing.parse(wrong),
        lambda: sealwax.KeyRing.read(KEY),
        lambda: sealwax.KeyRing.read(tmp_path / "keys"),
        lambda: sealwax.Key.derive(KEY),
        lambda: sealwax.Key.derive(f"{KEY[5:]} "),
        lambda: sealwax.Codec(keys=wrong, audience="a"),
        lambda: sealwax.Codec(keys_file=KEY, audience="a"),
        lambda: sealwax.inspect(f"{KEY}x"),
    ]
    for act in acts:
        check(act)
