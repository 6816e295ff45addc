"""The guard's engine through C: what crosses, who may hold it, and when it ends."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest

import sealwax
from sealwax._engine import Guard as Engine
from sealwax._engine import Told, client_value

#: Any document, as one of another language would be.
Guard: Any = Engine
CALL = {"method": "tools/call", "target": "t", "modern": True}
ALICE = sealwax.Principal(subject="alice")


@pytest.fixture
def codec() -> sealwax.Codec:
    keys = sealwax.KeyRing([sealwax.Key.generate()])
    return sealwax.Codec(keys=keys, audience="https://mcp.example.com")


def said(step: Any) -> dict[str, Any]:
    """Return the members that a step sets, by their last names."""
    return {path[-1]: value for path, value in step["set"]}


def test_an_operation_outlives_what_it_began_in(codec: sealwax.Codec) -> None:
    guard = Guard(codec, {"ledger": {"local": True}})
    exchange, _ = guard.message(**CALL, principal=ALICE)
    handle = codec.view(subject="alice").mint_handle("basket")
    acting, step = exchange.handle({"op": "check", "type": "basket", "handle": handle})
    exchange.free()
    assert (step["name"], step["script"]) == ("ledger", "admit")
    assert acting.told(Told(b'["ok", "0"]'))["handle"] == handle


def test_threads_at_once(codec: sealwax.Codec) -> None:
    """A text lies in the exchange until the next call, and other threads run while C does."""
    metadata = codec.view(subject="alice").sessions().create(b"1")
    session = metadata["sessionId"], metadata["state"]
    exchange, step = Guard(codec, {"sessions": {"ttl": 60}}).message(
        **CALL, principal=ALICE, session=session
    )
    assert step["session"]["value"] == "1"
    forked: list[str] = []

    def fork() -> None:
        for _ in range(200):
            exchange.write(b"2")
            forked.append(exchange.fork()["sessionId"])

    threads = [threading.Thread(target=fork) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(forked)) == 800
    kept = said(exchange.on({"result": {}}))["io.modelcontextprotocol/session"]
    assert codec.view(subject="alice").sessions().open(kept).json() == 2


@pytest.mark.parametrize("text", ["", "a\u00e9\U0001f511", '"\\\n\u2028', "\x00"])
def test_texts_cross_as_they_are(codec: sealwax.Codec, text: str) -> None:
    assert client_value(text) == text
    exchange, _ = Guard(codec, {}).message(**CALL, principal=ALICE)
    members = {"resultType": "input_required", "requestState": text}
    told = said(exchange.on({"result": {"members": members}}))
    sealer = codec.view(subject="alice").request_state(
        sealwax.request_context("tools/call", "t", None)
    )
    assert sealer.open(told["requestState"]).payload.decode() == text


@pytest.mark.parametrize("value", ["\ud800", 7, True, [], {"a": 1}])
def test_what_is_no_text_is_told_as_such(codec: sealwax.Codec, value: Any) -> None:
    assert client_value(value) is True
    _, step = Guard(codec, {}).message(**CALL, principal=ALICE, token=value)
    assert [one["code"] for one in step["refused"]] == ["malformed"]
    assert client_value(None) is None


def test_they_hold_keys(codec: sealwax.Codec) -> None:
    exchange, _ = Guard(codec, {}).message(**CALL)
    for one in (Guard(codec, {}), exchange):
        with pytest.raises(TypeError, match="holds keys"):
            copy.copy(one)
        assert "alice" not in repr(one)
