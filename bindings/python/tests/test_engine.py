"""The guard's engine through C: what crosses, who may hold it, and when it ends."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest

import sealwax
from sealwax._engine import Guard as Engine
from sealwax._engine import client_value, seconds

#: Any document, as one of another language would be.
Guard: Any = Engine
CALL = {"method": "tools/call", "target": "t", "modern": True}
ALICE = {"subject": "alice"}


@pytest.fixture
def codec() -> sealwax.Codec:
    keys = sealwax.KeyRing([sealwax.Key.generate()])
    return sealwax.Codec(keys=keys, audience="https://mcp.example.com")


def test_from_step_to_step(codec: sealwax.Codec) -> None:
    exchange, step = Guard(codec, {}).message(CALL, b'{"id":7}')
    assert step == {"step": "identify"}
    with pytest.raises(sealwax.InvalidArgument):
        exchange.on({"result": {}})
    step = exchange.on({"principal": ALICE})
    assert (step["step"], step["report"]) == ("deliver", "requestState")
    assert step["withinMs"] == 1000
    members = {"resultType": "input_required", "requestState": "mine", "cacheScope": None}
    told = exchange.on({"result": {"members": members}})["result"]
    context = sealwax.request_context("tools/call", "t", {"id": 7})
    sealer = codec.view(subject="alice").request_state(context)
    assert sealer.open(told["requestState"]).payload == b"mine"


def test_what_is_freed_is_over(codec: sealwax.Codec) -> None:
    exchange, _ = Guard(codec, {}).message({**CALL, "principal": ALICE})
    exchange.free()
    exchange.free()
    uses: list[Any] = [
        lambda: exchange.on({"result": {}}),
        lambda: exchange.write(b"1"),
        lambda: exchange.handle({"op": "mint", "type": "basket"}),
        exchange.fork,
    ]
    for use in uses:
        with pytest.raises(sealwax.InvalidArgument, match="answered or cancelled"):
            use()


def test_an_operation_outlives_what_it_began_in(codec: sealwax.Codec) -> None:
    exchange, _ = Guard(codec, {"hasAccept": True}).message({**CALL, "principal": ALICE})
    handle = codec.view(subject="alice").mint_handle("basket")
    acting, step = exchange.handle({"op": "check", "type": "basket", "handle": handle})
    exchange.free()
    assert step["step"] == "ask"
    assert acting.on({"answer": "yes"})["handle"] == handle


def test_threads_at_once(codec: sealwax.Codec) -> None:
    """A text lies in the exchange until the next call, and other threads run while C does."""
    metadata = codec.view(subject="alice").sessions().create(b"1")
    session = {"id": metadata["sessionId"], "state": metadata["state"]}
    exchange, step = Guard(codec, {"sessions": {"ttl": 60}}).message(
        {**CALL, "principal": ALICE, "session": session}
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
    patch = exchange.on({"result": {}})["result"]
    kept = patch["_meta"]["io.modelcontextprotocol/session"]
    assert codec.view(subject="alice").sessions().open(kept).json() == 2


@pytest.mark.parametrize("text", ["", "a\u00e9\U0001f511", '"\\\n\u2028', "\x00"])
def test_texts_cross_as_they_are(codec: sealwax.Codec, text: str) -> None:
    assert client_value(text) == text
    exchange, _ = Guard(codec, {}).message({**CALL, "principal": ALICE})
    members = {"resultType": "input_required", "requestState": text}
    told = exchange.on({"result": {"members": members}})["result"]
    sealer = codec.view(subject="alice").request_state(
        sealwax.request_context("tools/call", "t", None)
    )
    assert sealer.open(told["requestState"]).payload.decode() == text


@pytest.mark.parametrize("value", ["\ud800", 7, True, [], {"a": 1}])
def test_what_is_no_text_is_told_as_such(codec: sealwax.Codec, value: Any) -> None:
    assert client_value(value) is True
    document = {**CALL, "principal": ALICE, "token": client_value(value)}
    _, step = Guard(codec, {}).message(document)
    assert [one["code"] for one in step["refused"]] == ["malformed"]
    assert client_value(None) is None


def test_a_principal_that_is_none_is_the_authors_mistake(codec: sealwax.Codec) -> None:
    for principal in ({"subject": "a" * 1_025}, {"issuer": "i"}, {}):
        _, step = Guard(codec, {}).message({**CALL, "principal": principal})
        assert step["error"] == sealwax.answer("request-state", sealwax.InternalError())["error"]
        assert [one["code"] for one in step["refused"]] == ["invalid_argument"]


@pytest.mark.parametrize("settings", [{"requestStateTtl": 0}, {"only": {"t": []}}, {"a": "\ud800"}])
def test_settings_that_are_none(codec: sealwax.Codec, settings: Any) -> None:
    with pytest.raises(sealwax.InvalidArgument):
        Guard(codec, settings)


def test_seconds() -> None:
    assert seconds("ttl", None) is None
    assert seconds("ttl", 7) == 7
    for wrong in (1.5, True, "7"):
        with pytest.raises(TypeError):
            seconds("ttl", wrong)  # type: ignore[arg-type]
    with pytest.raises(sealwax.InvalidArgument):
        seconds("ttl", -1)


def test_they_hold_keys(codec: sealwax.Codec) -> None:
    exchange, _ = Guard(codec, {}).message(CALL)
    for one in (Guard(codec, {}), exchange):
        with pytest.raises(TypeError, match="holds keys"):
            copy.copy(one)
        assert "alice" not in repr(one)
