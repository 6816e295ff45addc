"""The Python layer: types, absence, exceptions by code, and nothing secret printed."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections.abc import Callable
from typing import Any, cast

import pytest
from environment import at, without_randomness

import sealwax
from sealwax import _json

KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
SECRET = "931f5a9ec624a5521cd7d6a4c3dcd1da52995672cc9339f61f826a60951fd8fc"
NOW = 1_780_000_000


@pytest.fixture
def codec() -> sealwax.Codec:
    return sealwax.Codec(keys=KEY, audience="https://mcp.example.com")


@pytest.fixture
def alice(codec: sealwax.Codec) -> sealwax.View:
    return codec.view(subject="alice")


def test_a_codec_keeps_the_views_of_its_last_callers(codec: sealwax.Codec) -> None:
    names: list[dict[str, Any]] = [
        {"subject": "alice"},
        {"client": "alice"},
        {"subject": "alice", "issuer": "alice"},
        {"client": "alice", "issuer": "alice"},
        {"client": "alice", "subject": "alice"},
        {"anonymous": True},
    ]
    tokens = [codec.view(**name).cursor("tools/list").seal(b"2") for name in names]
    for index, token in enumerate(tokens):
        for other, name in enumerate(names):
            cursor = codec.view(**name).cursor("tools/list")
            if other == index:
                assert cursor.open(token).payload == b"2"
            else:
                with pytest.raises(sealwax.PrincipalMismatch):
                    cursor.open(token)
    assert codec.view(subject="alice") is codec.view(subject="alice")
    for _ in range(2):
        with pytest.raises(sealwax.InvalidArgument):
            codec.view(subject="")
        with pytest.raises(TypeError, match="subject: expected str, found list"):
            codec.view(subject=["alice"])  # type: ignore[call-overload]
    for number in range(1000):
        codec.view(subject=str(number))
        assert len(codec._views) <= 64
    # No view holds its codec: there is no cycle.
    view = codec.view(subject="alice")
    before = sys.getrefcount(codec)
    views = [codec.view(subject=str(number)) for number in range(10)]
    assert sys.getrefcount(codec) == before
    del codec, views
    assert view.cursor("tools/list").open(tokens[0]).payload == b"2"


def test_json_in_and_out(alice: sealwax.View) -> None:
    sealer = alice.session()
    value = {"page": 2, "of": [None, True, "é", 1.5]}
    with at(NOW * 1000):
        opened = sealer.open(sealer.seal_json(value))
        assert opened.json() == value
        # It lives as long as bytes do.
        assert opened.expires_at == sealer.open(sealer.seal(b"1")).expires_at
        assert sealer.open(sealer.seal_json(1, ttl=60)).expires_at == NOW + 60
    for text in (b"", b"{", b"NaN", b"\xff", b"\xff\xfe1\0"):
        with pytest.raises(sealwax.Malformed):
            sealer.open(sealer.seal(text)).json()


def test_another_python_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer in C is an inside part of Python's: it may be absent, or made in another way."""
    value = {"page": 2, "of": [None, True, "é", 1.5, {}], "7": '\x1f"\u2028'}
    written = '{"page":2,"of":[null,true,"é",1.5,{}],"7":"\\u001f\\"\u2028"}'
    real: Any = json.encoder.c_make_encoder  # type: ignore[attr-defined]

    def other(markers: Any, *more: Any) -> Any:
        return (lambda *_: ("?",)) if markers is None else real(markers, *more)

    def changed(markers: Any, *more: Any) -> Any:
        if markers is None:
            raise TypeError
        return real(markers, *more)

    assert _json._writer()(value) == _json.dumps("value", value).decode() == written
    for make in (None, other, changed):
        monkeypatch.setattr(json.encoder, "c_make_encoder", make)
        assert _json._writer()(value) == written


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", nested(10**5)])
def test_what_json_cannot_hold_is_refused(alice: sealwax.View, value: Any) -> None:
    with pytest.raises(sealwax.InvalidArgument):
        alice.session().seal_json(value)
    with pytest.raises(sealwax.InvalidArgument):
        sealwax.request_context("tools/call", "x", {"a": value})


def test_keys_are_keys_texts_rings_or_several_of_them() -> None:
    one, other = sealwax.Key.generate(), sealwax.Key.parse(KEY)
    both = (one.id, other.id)
    assert sealwax.KeyRing.parse(f"{one.to_text()} {KEY}").ids == both
    assert sealwax.KeyRing([one, KEY]).ids == sealwax.KeyRing([sealwax.KeyRing(one), other]).ids
    assert sealwax.Key.from_secret(bytearray.fromhex(SECRET)).to_text() == KEY
    assert sealwax.Key.from_secret(bytes(range(33))).to_text() is None
    codec = sealwax.Codec(keys=one, audience="https://mcp.example.com")
    assert codec.set_keys([other, one])
    assert not codec.set_keys(sealwax.KeyRing([other, one]))
    large = sealwax.Codec(keys=KEY, audience="a", payload_limit=1 << 20, clock_tolerance=300)
    session = large.view(anonymous=True).session()
    assert session.open(session.seal(bytes(1 << 20))).payload == bytes(1 << 20)


Mistake = Callable[[Any, Any], object]
WRONG = sealwax.InvalidArgument
#: What the caller does wrong.
MISTAKES: list[tuple[type[Exception], str, Mistake]] = [
    (sealwax.InvalidKey, "each key once", lambda *_: sealwax.KeyRing([KEY, sealwax.KeyRing(KEY)])),
    (sealwax.InvalidKey, "SEALWAX_KEYS", lambda *_: sealwax.KeyRing(cast("Any", [KEY, None]))),
    (sealwax.InvalidKey, "expected", lambda *_: sealwax.Key.from_secret(bytes(31))),
    (sealwax.TooLarge, "payload", lambda _, alice: alice.session().seal(bytes(4097))),
    (WRONG, "tolerance", lambda *_: sealwax.Codec(keys=KEY, audience="a", clock_tolerance=-1)),
    # Nobody is no default.
    (WRONG, "expected", lambda codec, _: codec.view()),
    (WRONG, "expected", lambda codec, _: codec.view(issuer="https://idp.example.com")),
    (WRONG, "1 to 1024", lambda codec, _: codec.view(subject="a", client="")),
    (TypeError, "found both", lambda codec, _: codec.view(subject="a", anonymous=True)),
    (TypeError, "positional", lambda codec, _: codec.view("alice")),
    # An empty binding is none.
    (WRONG, "expected", lambda _, alice: alice.custom("a", session_id="").seal(b"")),
    (WRONG, "expected", lambda _, alice: alice.custom("a", context=b"").seal(b"")),
    # Lone surrogates of the caller are a mistake.
    (WRONG, "surrogates", lambda *_: sealwax.Codec(keys=KEY, audience="\ud800")),
    (WRONG, "surrogates", lambda codec, _: codec.view(subject="\ud800")),
    (WRONG, "surrogates", lambda _, alice: alice.cursor("\ud800")),
]
#: Those of a client, whose JSON can hold them, are refused.
REFUSED: list[Mistake] = [
    lambda _, alice: alice.session().open("sw1.\ud800"),
    lambda _, alice: alice.verify_session_id("\ud800"),
    lambda _, alice: alice.verify_handle("basket", "\ud800"),
    lambda _, alice: alice.sessions().verify("\ud800"),
    lambda _, alice: alice.sessions().open({"sessionId": "\ud800", "state": "x"}),
    lambda _, alice: alice.sessions().open(cast("Any", None)),
    lambda _, alice: alice.sessions().open({"unknown": [float("nan")]}),
]


def test_a_mistake_is_told_from_a_refusal(codec: sealwax.Codec, alice: sealwax.View) -> None:
    for error, match, call in MISTAKES:
        with pytest.raises(error, match=match):
            call(codec, alice)
    for call in REFUSED:
        with pytest.raises(sealwax.Malformed):
            call(codec, alice)
    wrong: Any
    for wrong in (None, "", " "):
        with pytest.raises(sealwax.InvalidKey, match=r"SEALWAX_KEYS.*sealwax keygen"):
            sealwax.Codec(keys=wrong, audience="a")
    for wrong in (7, [7], [[KEY]]):
        with pytest.raises(TypeError, match="keys: expected a Key, key texts, a KeyRing or"):
            sealwax.KeyRing(wrong)
    for wrong in (0, -1, 2**32, 2**64):
        with pytest.raises(sealwax.InvalidArgument, match="ttl"):
            alice.session().seal(b"", ttl=wrong)
    for wrong in ('{"id":7}', 7, True):
        with pytest.raises(sealwax.InvalidArgument, match="not as JSON within JSON"):
            sealwax.request_context("tools/call", "x", wrong)


def test_nothing_secret_is_printed_pickled_or_copied(
    codec: sealwax.Codec, alice: sealwax.View
) -> None:
    key = sealwax.Key.parse(KEY)
    sessions = alice.sessions()
    opened = sessions.open(sessions.create(b"payload"))
    holders = (key, sealwax.KeyRing([key]), codec, alice, alice.session(), sessions)
    for holder in holders:
        assert not any(KEY[at : at + 8] in repr(holder) for at in range(5, len(KEY) - 7))
        assert SECRET not in repr(holder)
        for copying in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                copying(holder)
        assert not hasattr(holder, "__dict__")
    assert "payload" not in repr(opened)
    assert opened.id not in repr(opened)
    assert alice.verify_session_id(opened.id).session_id not in repr(
        alice.verify_session_id(opened.id)
    )


def test_identifiers(alice: sealwax.View) -> None:
    with at(NOW * 1000 + 123):
        session_id, handle = alice.mint_session_id(), alice.mint_handle("basket")
        verified = alice.verify_session_id(session_id, max_age=60)
        carried = alice.verify_handle("basket", handle, max_age=60)
    assert (verified.session_id, carried.handle) == (session_id, handle)
    for found in (verified, carried):
        again = pickle.loads(pickle.dumps(found))
        assert (again, hash(again)) == (found, hash(found))
        assert repr(found) == (
            f"{type(found).__name__}(created_at_ms={NOW * 1000 + 123}, "
            f"ends_at_ms={NOW * 1000 + 60_123}, ulid={found.ulid!r}, needs_reseal=False)"
        )
    assert verified != alice.verify_session_id(session_id)
    with pytest.raises(sealwax.InvalidArgument):
        alice.mint_handle("Basket")


def test_a_token_of_another_kind_is_not_renewed(alice: sealwax.View) -> None:
    session, cursor = alice.session(), alice.cursor("tools/list")
    opened = session.open(session.seal(b"1"))
    with pytest.raises(TypeError, match="opened: expected one of kind cursor, found session"):
        cursor.renew(opened, b"2")
    metadata = alice.sessions().create(b"1")
    state = alice.state(metadata["sessionId"])
    assert state.open(state.renew(alice.sessions().open(metadata), b"2")).generation == 1


def test_a_session_has_the_end_that_was_chosen(alice: sealwax.View) -> None:
    with at(NOW * 1000):
        created = alice.sessions(ttl=60).create(b"1")
        endless = alice.sessions(no_expiry=True).create(b"")
        verified = alice.sessions().verify(endless["sessionId"])
        forked = alice.sessions().open(alice.sessions().fork(alice.sessions().open(created)))
    assert created["expiresAt"] == "2026-05-28T20:27:40Z"
    assert endless["expiresAt"] == "2026-06-27T20:26:40Z"
    assert verified.ends_at_ms == verified.created_at_ms + 30 * 86_400_000
    assert forked.payload == b"1"
    assert forked.id != created["sessionId"]


def test_answers_tell_a_refusal_from_a_failure(alice: sealwax.View) -> None:
    with pytest.raises(sealwax.Refused) as refused:
        alice.session().open("sw1.")
    with without_randomness(), pytest.raises(sealwax.EntropyUnavailable) as failed:
        alice.session().seal(b"")
    not_found = sealwax.answer("data-layer", refused.value, session_id="sess_1")
    assert not_found["error"]["data"] == {"sessionId": "sess_1"}
    assert sealwax.answer("data-layer", session_id="sess_1") == not_found
    assert sealwax.answer("mcp-session-id", refused.value) == {"httpStatus": 404}
    # A refusal of the author's own, without a code or with one that no other language has.
    for refusal in (sealwax.Refused("no"), type("Own", (sealwax.Refused,), {"code": "own"})()):
        assert sealwax.answer("mcp-session-id", refusal) == {"httpStatus": 404}
    for error in (failed.value, sealwax.SealwaxError("no"), KeyError("a server's own")):
        assert sealwax.answer("mcp-session-id", error) == {"httpStatus": 500}
    assert "data" not in sealwax.answer("data-layer", session_id="\ud800")["error"]
    profile: Any = "http"
    with pytest.raises(sealwax.InvalidArgument):
        sealwax.answer(profile)


def test_every_code_is_an_exception_of_its_own() -> None:
    exported = [getattr(sealwax, name) for name in sealwax.__all__]
    classes = [one for one in exported if isinstance(one, type)]
    errors = [
        one for one in classes if issubclass(one, sealwax.SealwaxError) and "code" in vars(one)
    ]
    refusals = {error.code for error in errors if issubclass(error, sealwax.Refused)}
    failures = {"invalid_argument", "invalid_key", "entropy_unavailable", "internal_error"}
    assert {error.code for error in errors} - refusals == failures
    assert len(refusals) == 9
    for error in errors:
        assert sealwax.answer("mcp-session-id", error()) == {
            "httpStatus": 404 if error.code in refusals else 500
        }


def test_a_wrong_type_names_its_argument(codec: sealwax.Codec, alice: sealwax.View) -> None:
    wrong: Any = 7
    text: Any = "x"
    session = alice.session()
    sessions = alice.sessions()
    token = session.seal(b"")
    metadata = sessions.create(b"")
    calls: list[tuple[str, Callable[[], object]]] = [
        ("token", lambda: session.open(wrong)),
        ("payload", lambda: session.seal(text)),
        ("payload", lambda: sessions.renew(sessions.open(metadata), text)),
        ("max_age", lambda: session.open(token, max_age=text)),
        ("label", lambda: alice.custom(wrong)),
        ("session_id", lambda: alice.custom("report", session_id=wrong)),
        ("context", lambda: alice.custom("report", context=text)),
        ("handle_type", lambda: alice.mint_handle(wrong)),
        ("handle", lambda: alice.verify_handle("basket", wrong)),
        ("session_id", lambda: alice.verify_session_id(wrong)),
        ("key_text", lambda: sealwax.Key.parse(wrong)),
        ("secret", lambda: sealwax.Key.from_secret(text)),
        ("target", lambda: sealwax.request_context("tools/call", wrong)),
        ("value", lambda: sealwax.inspect(wrong)),
        ("only", lambda: sealwax.request_context("tools/call", "x", {"a": 1}, only=[wrong])),
        ("audience", lambda: sealwax.Codec(keys=KEY, audience=wrong)),
        ("subject", lambda: codec.view(subject=wrong)),
        ("ttl", lambda: session.seal(b"", ttl=wrong / 2)),
        ("ttl", lambda: session.seal(b"", ttl=wrong == 7)),
    ]
    for name, call in calls:
        with pytest.raises(TypeError, match=f"^{name}: expected "):
            call()
    with pytest.raises(TypeError, match=r"^a key comes from Key\.generate"):
        sealwax.Key()
    for both in (
        lambda: session.seal(b"", ttl=0, no_expiry=True),
        lambda: alice.sessions(ttl=60, no_expiry=True),
    ):
        with pytest.raises(TypeError, match=r"^expected ttl or no_expiry, found both$"):
            both()
    with pytest.raises(TypeError):
        session.seal_json(object())
    with pytest.raises(TypeError):
        sealwax.request_context("a", "b", {}, arguments_json="{}")


def test_what_was_opened_is_told_in_words_and_equals_itself(alice: sealwax.View) -> None:
    session = alice.session()
    with at(NOW * 1000):
        long, short = session.seal(b"a long payload" * 100, no_expiry=True), session.seal(b"")
        opened: Any = session.open(long)
        with pytest.raises(sealwax.Refused):
            session.open(short[:-1])
        # What one call wrote is nothing to the next.
        assert session.open(short).payload == b""
        assert (opened, hash(opened)) == (session.open(long), hash(session.open(long)))
        assert opened != session.open(short)
    assert opened.payload == b"a long payload" * 100
    assert repr(opened) == (
        f"Opened(issued_at={NOW}, expires_at=None, started_at={NOW}, generation=0, "
        f"token_id={opened.token_id!r}, needs_reseal=False)"
    )
    handle, other = (alice.verify_handle("basket", alice.mint_handle("basket")) for _ in range(2))
    assert len({opened, handle, other}) == 3
    assert handle not in (handle.handle, alice.verify_session_id(alice.mint_session_id()))
    assert opened != b"a long payload" * 100
    for found, name in ((opened, "payload"), (handle, "ulid")):
        with pytest.raises(AttributeError):
            setattr(found, name, b"")
