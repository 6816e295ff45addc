"""The guard's engine through C: what crosses, who may hold it, and when it ends."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import sealwax
from sealwax._engine import Guard as Engine

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
