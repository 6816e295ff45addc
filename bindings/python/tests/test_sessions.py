"""Data-layer sessions, as a server uses them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from environment import at

import sealwax

NOW = 1_780_000_000
DAY = 86_400


@pytest.fixture
def codec() -> sealwax.Codec:
    return sealwax.Codec(keys=sealwax.KeyRing([sealwax.Key.generate()]), audience="a")


@pytest.fixture
def sessions(codec: sealwax.Codec) -> sealwax.Sessions:
    return codec.view(subject="alice").sessions()


def test_a_session_lives_on_through_renewals(sessions: sealwax.Sessions) -> None:
    with at(NOW * 1000):
        created = sessions.create(b"1")
    assert created["expiresAt"] == "2026-05-29T20:26:40Z"
    with at((NOW + DAY - 1) * 1000):
        opened = sessions.open(json.loads(json.dumps(created)))
        renewed = sessions.renew(opened, b"2")
        again = sessions.open(renewed)
    assert renewed["sessionId"] == created["sessionId"] == opened.id
    assert (opened.payload, opened.generation) == (b"1", 0)
    assert (again.payload, again.generation, again.started_at) == (b"2", 1, NOW)
    with at((NOW + DAY) * 1000), pytest.raises(sealwax.Expired):
        sessions.open(created)


def test_a_fork_goes_its_own_way(sessions: sealwax.Sessions) -> None:
    opened = sessions.open(sessions.create(b'{"step":1}'))
    forked = sessions.open(sessions.fork(opened))
    assert forked.json() == {"step": 1}
    assert forked.id != opened.id


def test_limits_of_life(codec: sealwax.Codec) -> None:
    view = codec.view(subject="alice")
    with at(NOW * 1000):
        assert view.sessions(ttl=60).create(b"")["expiresAt"] == "2026-05-28T20:27:40Z"
        endless = view.sessions(no_expiry=True).create(b"")
    assert endless["expiresAt"] == "2026-06-27T20:26:40Z"
    with at((NOW + 30 * DAY) * 1000):
        with pytest.raises(sealwax.Expired):
            view.sessions().open(endless)
        with pytest.raises(sealwax.Expired):
            view.sessions().verify(endless["sessionId"])


def test_a_session_is_its_principals(codec: sealwax.Codec, sessions: sealwax.Sessions) -> None:
    created = sessions.create(b"")
    verified = sessions.verify(created["sessionId"])
    assert verified.session_id == created["sessionId"]
    assert verified.ends_at_ms == verified.created_at_ms + 30 * 24 * 60 * 60 * 1000
    with pytest.raises(sealwax.PrincipalMismatch):
        codec.view(subject="mallory").sessions().open(created)


def test_what_a_client_may_send(sessions: sealwax.Sessions) -> None:
    created, other = sessions.create(b"1"), sessions.create(b"2")
    sent: Any = {**created, "expiresAt": 7, "unknown": [float("nan")]}
    with pytest.raises(sealwax.Malformed):
        sessions.open(sent)
    del sent["unknown"]
    assert sessions.open(sent).payload == b"1"
    with pytest.raises(sealwax.Unauthentic):
        sessions.open({**created, "state": other["state"]})
    wrong: Any
    for wrong in ({"sessionId": created["sessionId"]}, {}, [], None, {**created, "state": 7}):
        with pytest.raises(sealwax.Malformed):
            sessions.open(wrong)
