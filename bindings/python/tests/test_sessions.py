"""Data-layer sessions, as a server uses them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from environment import at

import sealwax

NOW = 1_780_000_000
DAY = 86_400


VIEW = sealwax.Codec(keys=sealwax.Key.generate(), audience="a").view(subject="alice")


def test_a_session_lives_on_through_renewals() -> None:
    sessions = VIEW.sessions()
    with at(NOW * 1000):
        created = sessions.create(b"1")
    assert created["expiresAt"] == "2026-05-29T20:26:40Z"
    with at((NOW + DAY - 1) * 1000):
        opened = sessions.open(json.loads(json.dumps(created)))
        again = sessions.open(sessions.renew(opened, b"2"))
        forked = sessions.open(sessions.fork(opened))
    assert again.id == opened.id == created["sessionId"] != forked.id
    assert (opened.payload, opened.generation, forked.payload) == (b"1", 0, b"1")
    assert (again.payload, again.generation, again.started_at) == (b"2", 1, NOW)
    with at((NOW + DAY) * 1000), pytest.raises(sealwax.Expired):
        sessions.open(created)


def test_a_lifetime_is_chosen_and_an_id_ends() -> None:
    with at(NOW * 1000):
        assert VIEW.sessions(ttl=60).create(b"")["expiresAt"] == "2026-05-28T20:27:40Z"
        endless = VIEW.sessions(no_expiry=True).create(b"")
        verified = VIEW.sessions().verify(endless["sessionId"])
    assert endless["expiresAt"] == "2026-06-27T20:26:40Z"
    assert verified.session_id == endless["sessionId"]
    assert verified.ends_at_ms == verified.created_at_ms + 30 * DAY * 1000


def test_what_a_client_may_send() -> None:
    sessions = VIEW.sessions()
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
