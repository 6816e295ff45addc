"""The Python layer: types, absence, exceptions by code, and nothing secret printed."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import pytest
from environment import at, without_randomness

import sealwax
from sealwax import _json

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
SECRET = "931f5a9ec624a5521cd7d6a4c3dcd1da52995672cc9339f61f826a60951fd8fc"
NOW = 1_780_000_000


@pytest.fixture
def codec() -> sealwax.Codec:
    return sealwax.Codec(keys=KEY, audience="https://mcp.example.com")


@pytest.fixture
def alice(codec: sealwax.Codec) -> sealwax.View:
    return codec.view(subject="alice")


def test_every_kind_opens_as_what_it_was_sealed_and_as_nothing_else(alice: sealwax.View) -> None:
    context = sealwax.request_context("tools/call", "delete_note", {"id": 7})
    sealers = [
        alice.state(alice.mint_session_id()),
        alice.request_state(context),
        alice.session(),
        alice.cursor("tools/list"),
        alice.handle_state("basket"),
        alice.custom("report"),
        alice.custom("report", session_id="sess_x", context=context),
    ]
    for sealer in sealers:
        token = sealer.seal(b"payload")
        assert sealer.open(token).payload == b"payload"
        for other in sealers:
            if other is not sealer:
                with pytest.raises((sealwax.WrongPurpose, sealwax.Unauthentic)):
                    other.open(token)


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


def test_threads_get_the_views_of_their_callers(codec: sealwax.Codec) -> None:
    def serve(thread: int) -> int:
        right = 0
        for number in range(300):
            name = {"subject": f"user {(thread + number) % 100}"}
            cursor = codec.view(**name).cursor("tools/list")
            token = cursor.seal(name["subject"].encode())
            again = codec.view(**name).cursor("tools/list").open(token)
            right += again.payload == name["subject"].encode()
        return right

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(serve, range(8))) == [300] * 8
    assert len(codec._views) <= 64 + 8


def test_payloads_are_bytes_of_any_kind_and_no_text(alice: sealwax.View) -> None:
    sealer = alice.session()
    for payload in (b"hello", bytearray(b"hello"), memoryview(b"-h-e-l-l-o")[1::2]):
        assert sealer.open(sealer.seal(payload)).payload == b"hello"
    wrong: Any
    for wrong in ("hello", None, 5, [1]):
        with pytest.raises(TypeError, match="payload: expected bytes"):
            sealer.seal(wrong)


def test_json_in_and_out(alice: sealwax.View) -> None:
    sealer = alice.session()
    value = {"page": 2, "of": [None, True, "é", 1.5]}
    assert sealer.open(sealer.seal_json(value)).json() == value
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


@pytest.mark.parametrize("ttl", [0, -1, 2**32, 2**64])
def test_a_ttl_out_of_its_range_is_refused(alice: sealwax.View, ttl: int) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="ttl"):
        alice.session().seal(b"", ttl=ttl)


def test_nobody_is_no_default(codec: sealwax.Codec) -> None:
    anyone: Any = codec.view
    with pytest.raises(sealwax.InvalidArgument):
        codec.view()
    with pytest.raises(sealwax.InvalidArgument):
        codec.view(issuer="https://idp.example.com")
    with pytest.raises(sealwax.InvalidArgument, match="client: expected 1 to 1024 bytes"):
        codec.view(subject="alice", client="")
    with pytest.raises(TypeError):
        anyone(subject="alice", anonymous=True)
    with pytest.raises(TypeError):
        anyone("alice")
    codec.view(anonymous=True).mint_session_id()


def test_an_empty_binding_is_not_none(alice: sealwax.View) -> None:
    for binding in ({"session_id": ""}, {"context": b""}):
        bound: Any = binding
        with pytest.raises(sealwax.InvalidArgument):
            alice.custom("note", **bound).seal(b"")


def test_lone_surrogates(codec: sealwax.Codec, alice: sealwax.View) -> None:
    """Of the caller they are a mistake; of a client, whose JSON can hold them, a refusal."""
    mistakes: list[Callable[[], Any]] = [
        lambda: sealwax.Codec(keys=KEY, audience="\ud800"),
        lambda: codec.view(subject="\ud800"),
        lambda: alice.cursor("\ud800"),
        lambda: sealwax.request_context("\ud800", "x"),
        lambda: sealwax.request_context("tools/call", "x", arguments_json='"\ud800"'),
    ]
    refusals: list[Callable[[], Any]] = [
        lambda: alice.session().open("sw1.\ud800"),
        lambda: alice.verify_session_id("\ud800"),
        lambda: alice.verify_handle("basket", "\ud800"),
        lambda: alice.sessions().verify("\ud800"),
        lambda: alice.sessions().open({"sessionId": "\ud800", "state": "x"}),
    ]
    for call in mistakes:
        with pytest.raises(sealwax.InvalidArgument, match="lone surrogates"):
            call()
    for call in refusals:
        with pytest.raises(sealwax.Malformed):
            call()


def test_limits(codec: sealwax.Codec, alice: sealwax.View) -> None:
    with pytest.raises(sealwax.TooLarge):
        alice.session().seal(bytes(4097))
    large = sealwax.Codec(keys=KEY, audience="a", payload_limit=1 << 20, skew=300)
    view = large.view(anonymous=True)
    assert view.session().open(view.session().seal(bytes(1 << 20))).payload == bytes(1 << 20)
    for wrong in ({"payload_limit": (1 << 20) + 1}, {"skew": 301}, {"skew": -1}, {"audience": ""}):
        options: Any = {"keys": KEY, "audience": "a", **wrong}
        with pytest.raises(sealwax.InvalidArgument):
            sealwax.Codec(**options)


def test_keys_and_rings() -> None:
    old, new = sealwax.Key.generate(), sealwax.Key.parse(KEY)
    ring = sealwax.KeyRing([new, old])
    assert ring.ids == (new.id, old.id)
    assert sealwax.KeyRing.parse(f"{KEY} {old.to_text()}").ids == ring.ids
    assert sealwax.Key.from_secret(bytearray.fromhex(SECRET)).to_text() == KEY
    assert sealwax.Key.from_secret(bytes(range(33))).to_text() is None
    for call in (
        lambda: sealwax.KeyRing([]),
        lambda: sealwax.KeyRing([new, new]),
        lambda: sealwax.Key.from_secret(bytes(range(31))),
        lambda: sealwax.Key.from_secret(bytes(32)),
        lambda: sealwax.Key.from_secret(b"correct horse battery staple, correct horse"),
        lambda: sealwax.Key.parse(KEY[:-1]),
    ):
        with pytest.raises(sealwax.InvalidKey):
            call()


def test_where_there_are_no_keys_it_is_said_how_to_make_one() -> None:
    nothing: Any = None
    for keys in (nothing, "", " "):
        with pytest.raises(sealwax.InvalidKey, match=r"SEALWAX_KEYS.*sealwax keygen"):
            sealwax.Codec(keys=keys, audience="https://mcp.example.com")
        with pytest.raises(sealwax.InvalidKey, match=r"SEALWAX_KEYS.*sealwax keygen"):
            sealwax.KeyRing.parse(keys)


def test_keys_are_keys_texts_rings_or_several_of_them() -> None:
    one, other = sealwax.Key.generate(), sealwax.Key.generate()
    both = (one.id, other.id)
    assert sealwax.KeyRing(one).ids == (one.id,)
    assert sealwax.KeyRing([one, other.to_text() or ""]).ids == both
    assert sealwax.KeyRing([sealwax.KeyRing([one]), other]).ids == both
    codec = sealwax.Codec(keys=one, audience="https://mcp.example.com")
    assert codec.set_keys([other, one])
    assert not codec.set_keys(sealwax.KeyRing([other, one]))
    with pytest.raises(sealwax.InvalidKey, match="each key once"):
        sealwax.KeyRing([one, sealwax.KeyRing([one])])
    with pytest.raises(sealwax.InvalidKey, match="SEALWAX_KEYS"):
        sealwax.KeyRing(cast("Any", [one, None]))
    for wrong in (7, [7], [[one]]):
        with pytest.raises(TypeError, match="keys: expected a Key, key texts, a KeyRing or"):
            sealwax.KeyRing(cast("Any", wrong))


@pytest.mark.parametrize("arguments", ['{"id":7}', 7, True])
def test_arguments_of_a_request_are_no_text_of_json(arguments: Any) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="not as JSON within JSON"):
        sealwax.request_context("tools/call", "x", arguments)
    with pytest.raises(sealwax.InvalidArgument):
        sealwax.request_context("tools/call", "x", arguments_json=json.dumps(arguments))


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


def test_results_do_not_change(alice: sealwax.View) -> None:
    opened: Any = alice.session().open(alice.session().seal(b""))
    with pytest.raises(AttributeError):
        opened.payload = b"other"


def test_identifiers(alice: sealwax.View) -> None:
    with at(NOW * 1000 + 123):
        session_id, handle = alice.mint_session_id(), alice.mint_handle("basket")
        verified = alice.verify_session_id(session_id, max_age=60)
        carried = alice.verify_handle("basket", handle, max_age=60)
        again = alice.verify_session_id(session_id, max_age=60)
    assert (again, hash(again)) == (verified, hash(verified))
    assert (verified.session_id, carried.handle) == (session_id, handle)
    for found in (verified, carried):
        assert found.created_at_ms == NOW * 1000 + 123
        assert found.ends_at_ms == NOW * 1000 + 60_123
        assert pickle.loads(pickle.dumps(found)) == found
        assert repr(found) == (
            f"{type(found).__name__}(created_at_ms={NOW * 1000 + 123}, "
            f"ends_at_ms={NOW * 1000 + 60_123}, ulid={found.ulid!r}, needs_reseal=False)"
        )
        changed: Any = found
        with pytest.raises(AttributeError):
            changed.ulid = "0" * 32
    assert verified != alice.verify_session_id(session_id)
    assert alice.verify_session_id(session_id).ends_at_ms is None
    with pytest.raises(sealwax.WrongPurpose):
        alice.verify_handle("order", handle)
    with pytest.raises(sealwax.InvalidArgument):
        alice.mint_handle("Basket")


def test_answers_tell_a_refusal_from_a_failure(alice: sealwax.View) -> None:
    with pytest.raises(sealwax.Refused) as refused:
        alice.session().open("sw1.")
    with without_randomness(), pytest.raises(sealwax.EntropyUnavailable) as failed:
        alice.session().seal(b"")
    not_found = sealwax.answer("data-layer", refused.value, session_id="sess_1")
    assert not_found["error"]["data"] == {"sessionId": "sess_1"}
    assert sealwax.answer("data-layer", session_id="sess_1") == not_found
    assert sealwax.answer("mcp-session-id", refused.value) == {"httpStatus": 404}
    for error in (failed.value, KeyError("a server's own")):
        assert sealwax.answer("mcp-session-id", error) == {"httpStatus": 500}
    assert "data" not in sealwax.answer("data-layer", session_id="\ud800")["error"]
    profile: Any = "http"
    with pytest.raises(sealwax.InvalidArgument):
        sealwax.answer(profile)


def test_inspecting(alice: sealwax.View) -> None:
    with at(NOW * 1000):
        session_id, handle = alice.mint_session_id(), alice.mint_handle("basket")
    key_id = "a8ca0d4a"
    assert sealwax.inspect(KEY) == sealwax.Inspected("key", key_id)
    token = alice.cursor("tools/list").seal(b"")
    assert sealwax.inspect(token) == sealwax.Inspected(
        "token", key_id, kind="cursor", token_id=alice.cursor("tools/list").open(token).token_id
    )
    expected = sealwax.Inspected("session-id", key_id, created_at_ms=NOW * 1000)
    assert sealwax.inspect(session_id) == expected
    expected = sealwax.Inspected("handle", handle_type="basket", created_at_ms=NOW * 1000)
    assert sealwax.inspect(handle) == expected
    with pytest.raises(sealwax.Malformed):
        sealwax.inspect("hello")


def test_every_code_is_an_exception_of_its_own() -> None:
    errors = [
        error
        for name in sealwax.__all__
        if isinstance(error := getattr(sealwax, name), type)
        and issubclass(error, sealwax.SealwaxError)
        and error not in (sealwax.SealwaxError, sealwax.Refused)
    ]
    refusals = {error.code for error in errors if issubclass(error, sealwax.Refused)}
    assert {error.code for error in errors} - refusals == {
        "invalid_argument",
        "invalid_key",
        "entropy_unavailable",
        "internal_error",
    }
    assert len(refusals) == 9
    for error in errors:
        assert sealwax.answer("mcp-session-id", error()) == {
            "httpStatus": 404 if error.code in refusals else 500
        }


def test_what_one_call_wrote_is_nothing_to_the_next(alice: sealwax.View) -> None:
    session = alice.session()
    long, short = session.seal(b"a long payload" * 100), session.seal(b"short")
    opened = session.open(long)
    with pytest.raises(sealwax.Refused):
        session.open(short[:-1])
    assert session.open(short).payload == b"short"
    assert session.open(session.seal(b"")).payload == b""
    assert opened == session.open(long)
    assert hash(opened) == hash(session.open(long))
    assert opened != session.open(short)
    assert opened.payload == b"a long payload" * 100


def test_what_was_opened_is_told_in_words(alice: sealwax.View) -> None:
    with at(NOW * 1000):
        opened = alice.session().open(alice.session().seal(b"", no_expiry=True))
    assert repr(opened) == (
        f"Opened(issued_at={NOW}, expires_at=None, started_at={NOW}, generation=0, "
        f"token_id={opened.token_id!r}, needs_reseal=False)"
    )


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
        ("ttl", lambda: session.seal(b"", ttl=text)),
        ("max_age", lambda: session.open(token, max_age=text)),
        ("label", lambda: alice.custom(wrong)),
        ("session_id", lambda: alice.custom("report", session_id=wrong)),
        ("context", lambda: alice.custom("report", context=text)),
        ("handle_type", lambda: alice.mint_handle(wrong)),
        ("handle", lambda: alice.verify_handle("basket", wrong)),
        ("key_text", lambda: sealwax.Key.parse(wrong)),
        ("secret", lambda: sealwax.Key.from_secret(text)),
        ("method", lambda: sealwax.request_context(wrong, "x")),
        ("target", lambda: sealwax.request_context("tools/call", wrong)),
        ("value", lambda: sealwax.inspect(wrong)),
        ("only", lambda: sealwax.request_context("tools/call", "x", {"a": 1}, only=[wrong])),
        ("payload", lambda: sessions.create(text)),
        ("max_age", lambda: alice.verify_handle("basket", "basket_1", max_age=text)),
        ("handle_type", lambda: alice.verify_handle(wrong, "basket_1")),
        ("session_id", lambda: alice.verify_session_id(wrong)),
        ("payload", lambda: sessions.renew(sessions.open(metadata), text)),
        ("audience", lambda: sealwax.Codec(keys=KEY, audience=wrong)),
        ("keys", lambda: sealwax.Codec(keys=wrong, audience="a")),
        ("keys", lambda: sealwax.KeyRing([wrong])),
        ("subject", lambda: codec.view(subject=wrong)),
        ("label", lambda: alice.cursor(wrong)),
        ("ttl", lambda: session.seal(b"", ttl=wrong / 2)),
        ("ttl", lambda: session.seal(b"", ttl=wrong == 7)),
    ]
    for name, call in calls:
        with pytest.raises(TypeError, match=f"^{name}: expected "):
            call()
    with pytest.raises(TypeError, match=r"^a key comes from Key\.generate"):
        sealwax.Key()
    for both in (
        lambda: session.seal(b"", ttl=1, no_expiry=True),
        lambda: session.seal(b"", ttl=0, no_expiry=True),
        lambda: alice.sessions(ttl=60, no_expiry=True),
    ):
        with pytest.raises(TypeError, match=r"^expected ttl or no_expiry, found both$"):
            both()
    for neither in (
        lambda: session.seal_json(object()),
        lambda: sealwax.request_context("a", "b", {}, arguments_json="{}"),
    ):
        with pytest.raises(TypeError):
            neither()


def test_json_lives_as_long_as_bytes(alice: sealwax.View) -> None:
    session = alice.session()
    with at(NOW * 1000):
        by_kind = session.open(session.seal_json(1))
        assert by_kind.expires_at == session.open(session.seal(b"1")).expires_at
        assert by_kind.expires_at is not None
        assert session.open(session.seal_json(1, ttl=60)).expires_at == NOW + 60
        assert session.open(session.seal_json(1, no_expiry=True)).expires_at is None


def test_what_was_opened_equals_only_what_was_opened(alice: sealwax.View) -> None:
    session = alice.session()
    token = session.seal(b"x")
    opened = session.open(token)
    assert opened == session.open(token)
    assert opened != b"x"
    texts = [alice.mint_handle("basket") for _ in range(2)]
    handle, other = [alice.verify_handle("basket", text) for text in texts]
    assert handle == alice.verify_handle("basket", texts[0])
    assert handle != texts[0]
    assert handle != alice.verify_session_id(alice.mint_session_id())
    assert len({handle, other, opened}) == 3
    assert len({hash(handle), hash(other)}) == 2
    assert len({hash(opened), hash(session.open(session.seal(b"y")))}) == 2
