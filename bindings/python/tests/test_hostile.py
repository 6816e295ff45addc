"""Objects that lie about themselves, at every public function.

Whatever is given, a call returns, or raises one of our exceptions, a `TypeError`, or what the
object itself raised; what is sealed is what the object held; and the codec works afterwards.
SEALWAX_HOSTILE=10000 tries so many of each.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections import UserDict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sealwax
from sealwax._engine import caller_of

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = int(os.environ.get("SEALWAX_HOSTILE", "45"))
settings.register_profile(
    "hostile",
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize="SEALWAX_HOSTILE" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("hostile")

CODEC = sealwax.Codec(keys=sealwax.Key.generate().to_text(), audience="https://mcp.example.com")
ALICE = CODEC.view(subject="alice")
KEPT = ALICE.session().seal(b"kept")
OPENED = ALICE.session().open(KEPT)
SENT = ALICE.sessions().create(b"state")
SESSION = ALICE.sessions().open(SENT)


class Lied(Exception):
    """What a hostile object raises of its own accord."""


class Answers:
    """What a method says, one after another; the last for ever."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def __call__(self, *_: Any, **__: Any) -> Any:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is Lied:
            raise Lied
        # Some call us back, in the middle of a call.
        return len(ALICE.session().seal(b"within")) if answer is ALICE else answer


OTHERS = sealwax.KeyRing([sealwax.Key.generate()])
answers = st.lists(
    st.sampled_from(
        [
            0,
            1,
            -1,
            5,
            4000,
            2**31,
            2**62,
            None,
            "x",
            b"x",
            True,
            False,
            Lied,
            ALICE,
            "alice",
            [],
            NotImplemented,
            1.5,
        ]
    ),
    min_size=1,
    max_size=3,
).map(lambda said: Answers(*said))
METHODS = [
    "__len__",
    "__eq__",
    "__ne__",
    "__hash__",
    "__str__",
    "__repr__",
    "__bytes__",
    "__iter__",
    "__getitem__",
    "__bool__",
    "__index__",
    "__int__",
    "__float__",
    "__format__",
    "__contains__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__add__",
    "__class__",
    "__buffer__",
    "__fspath__",
    "__reduce__",
    "__call__",
    "encode",
    "decode",
    "isascii",
    "items",
    "keys",
    "values",
    "get",
    "tobytes",
    "bit_length",
    "join",
]


def method(said: Answers) -> Callable[..., Any]:
    return lambda *a, **k: said(*a, **k)


@st.composite
def liar(draw: Any, base: type, *contents: Any) -> Any:
    """Make an object of a subclass some of whose methods say anything."""
    lies = draw(st.dictionaries(st.sampled_from(METHODS), answers, min_size=1, max_size=4))
    members: dict[str, Any] = {name: method(said) for name, said in lies.items()}
    if "__class__" in lies:
        members["__class__"] = property(lies["__class__"])
    if "__eq__" in members and "__hash__" not in members:
        members["__hash__"] = base.__hash__
    try:
        return type(f"Liar_{base.__name__}", (base,), members)(*contents)
    except (TypeError, ValueError, Lied, AttributeError):
        return base(*contents)


def deep(levels: int, kind: type) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if kind is list else {"a": value}
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


contents = st.binary(max_size=64)
honest_bytes = st.one_of(
    contents,
    contents.map(bytearray),
    contents.map(lambda content: memoryview(content)),
    contents.map(lambda content: memoryview(content)[::-1]),
    contents.map(lambda content: memoryview(content * 8).cast("d")),
    contents.map(lambda content: memoryview(bytearray(content))),
    st.sampled_from([4096, 4097, 1 << 22]).map(bytes),
)
hostile_bytes = contents.flatmap(
    lambda content: st.sampled_from([bytes, bytearray]).flatmap(lambda of: liar(of, content))
)
texts = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "alice",
            "tools/list",
            "basket",
            KEPT,
            SENT["sessionId"],
            "\ud800",
            "a\udfff",
            "\0",
            "x" * 5000,
            "",
        ]
    ),
)
hostile_texts = texts.flatmap(lambda content: liar(str, content))
numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, 1, 60, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64, True]),
    st.sampled_from([1, -1]).map(lambda sign: sign * 10**5000),
    st.integers(0, 100).flatmap(lambda number: liar(int, number)),
    st.sampled_from([float("nan"), float("inf"), -0.0, 1e308, 5.0, 1j]),
)
leaves = st.one_of(texts, hostile_texts, numbers, contents, st.none(), st.booleans(), st.floats())
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(texts, inner, max_size=3),
        st.lists(inner, max_size=3).flatmap(lambda items: liar(list, items)),
        st.dictionaries(texts, inner, max_size=3).flatmap(lambda items: liar(dict, items)),
        st.dictionaries(texts, inner, max_size=3).map(UserDict),
        st.dictionaries(texts, inner, max_size=3).map(MappingProxyType),
        st.lists(inner, max_size=3).map(iter),
        st.lists(inner, max_size=3).map(tuple),
    ),
    max_leaves=8,
)
anything = st.one_of(
    honest_bytes,
    hostile_bytes,
    texts,
    hostile_texts,
    numbers,
    values,
    st.builds(cyclic),
    st.sampled_from([50, 500, 5000, 200_000]).flatmap(
        lambda levels: st.sampled_from([list, dict]).map(lambda kind: deep(levels, kind))
    ),
    st.sampled_from(
        [
            None,
            object(),
            type,
            print,
            ...,
            Lied(),
            CODEC,
            ALICE,
            OPENED,
            SESSION,
            SENT,
            b"",
            "",
            [],
            {},
        ]
    ),
    liar(object),
)

OURS = (sealwax.SealwaxError, TypeError, Lied)


def works() -> None:
    """Open what was sealed before, as Alice alone may."""
    assert ALICE.session().open(KEPT).payload == b"kept"
    with pytest.raises(sealwax.PrincipalMismatch):
        CODEC.view(subject="mallory").session().open(KEPT)


def attempt(act: Callable[[], Any]) -> Any:
    """Return the result, or `None` for an error that may be."""
    try:
        return act()
    except OURS:
        return None
    finally:
        works()


def held(payload: Any) -> bytes:
    """Return what an object holds, whatever it says."""
    base = next(of for of in (bytes, bytearray, memoryview) if of in type(payload).__mro__)
    return (
        base.__getitem__(payload, slice(None)) if base is bytes else memoryview(payload).tobytes()
    )


@given(st.one_of(honest_bytes, hostile_bytes))
def test_what_is_sealed_is_what_the_object_holds(payload: Any) -> None:
    if (
        isinstance(payload, bytes | bytearray)
        and "__buffer__" in dir(type(payload))
        and sys.version_info >= (3, 12)
    ):
        # From there on a class may hold other bytes than it inherits.
        return
    expected = bytes(held(payload)) if not isinstance(payload, memoryview) else payload.tobytes()
    sealers = ALICE.session(), ALICE.cursor("tools/list")
    for sealer in sealers:
        token = attempt(functools.partial(sealer.seal, payload))
        if token is None:
            assert len(expected) > 4096
        else:
            assert sealer.open(token).payload == expected
    renewed = attempt(lambda: sealers[0].renew(OPENED, payload))
    assert renewed is None or sealers[0].open(renewed).payload == expected
    created = attempt(lambda: ALICE.sessions().create(payload))
    assert created is None or ALICE.sessions().open(created).payload == expected
    context = attempt(lambda: ALICE.request_state(payload).seal(b""))
    assert (context is None) == (len(expected) != 32)


@given(hostile_texts, st.sampled_from(["subject", "client", "issuer"]))
def test_no_text_is_taken_for_another(text: Any, part: str) -> None:
    """A user whose name says that it equals another one's, or has its hash, is somebody else."""
    honest = str.__str__(text)
    parts = {"subject": "alice"} if part == "issuer" else {}
    CODEC.view(**parts, **{part: "alice"})
    view = attempt(lambda: CODEC.view(**parts, **{part: text}))
    same = attempt(lambda: CODEC.view(**parts, **{part: honest}))
    assert (view is None) == (same is None)
    if view is not None and same is not None:
        assert view.session().open(same.session().seal(b"")).payload == b""
    sealer = attempt(lambda: ALICE.cursor(text))
    if sealer is not None:
        token = attempt(lambda: sealer.seal(b"1"))
        assert token is None or ALICE.cursor(honest).open(token).payload == b"1"
    found, expected = (
        attempt(functools.partial(sealwax.token_fields, name)) for name in (text, honest)
    )
    assert found == expected


@given(anything)
def test_a_value_of_json_is_sealed_as_one(value: Any) -> None:
    token = attempt(lambda: ALICE.session().seal_json(value))
    if token is not None:
        json.loads(ALICE.session().open(token).payload)
    context = attempt(lambda: sealwax.request_context("tools/call", "x", value))
    assert context is None or len(context) == 32


CALLS: dict[str, Callable[..., Any]] = {
    "open": lambda one, two: ALICE.session().open(one, max_age=two),
    "seal": lambda one, two: ALICE.session().seal(one, ttl=two),
    "seal for ever": lambda one, two: ALICE.session().seal(one, no_expiry=two),
    "renew": lambda one, two: ALICE.session().renew(one, two),
    "state": lambda one, two: ALICE.state(one).seal(b""),
    "request state": lambda one, two: ALICE.request_state(one).seal(b""),
    "handle state": lambda one, two: ALICE.handle_state(one).seal(b""),
    "custom": lambda one, two: ALICE.custom("x", session_id=one, context=two).seal(b""),
    "label": lambda one, two: ALICE.custom(one).seal(b"", ttl=two),
    "mint handle": lambda one, two: ALICE.mint_handle(one),
    "verify handle": lambda one, two: ALICE.verify_handle(one, two),
    "verify a handle's age": lambda one, two: ALICE.verify_handle("basket", one, max_age=two),
    "verify id": lambda one, two: ALICE.verify_session_id(one, max_age=two),
    "sessions": lambda one, two: ALICE.sessions(ttl=one, no_expiry=two).create(b""),
    "open session": lambda one, two: ALICE.sessions().open(one),
    "open state": lambda one, two: ALICE.sessions().open({"sessionId": one, "state": two}),
    "renew session": lambda one, two: ALICE.sessions().renew(one, two),
    "renewed payload": lambda one, two: ALICE.sessions().renew(SESSION, one),
    "fork": lambda one, two: ALICE.sessions().fork(one),
    "verify session": lambda one, two: ALICE.sessions().verify(one),
    "view": lambda one, two: CODEC.view(subject=one, client=two).session().seal(b""),
    "issuer": lambda one, two: CODEC.view(subject="x", issuer=one).session().seal(b""),
    "anonymous": lambda one, two: CODEC.view(**{"anonymous": one, "subject": two}),
    "codec": lambda one, two: sealwax.Codec(keys=OTHERS, audience=one, payload_limit=two),
    "keys of a codec": lambda one, two: sealwax.Codec(keys=one, audience="x", skew=two),
    "age of a codec": lambda one, two: sealwax.Codec(
        keys=OTHERS, audience="x", session_max_age=one
    ),
    "interval": lambda one, two: sealwax.Codec(keys=OTHERS, audience="x", keys_interval=one),
    "set keys": lambda one, two: sealwax.Codec(keys=OTHERS, audience="x").set_keys(one),
    "key": lambda one, two: sealwax.Key.parse(one),
    "secret": lambda one, two: sealwax.Key.from_secret(one),
    "ring": lambda one, two: sealwax.KeyRing(one),
    "ring of two": lambda one, two: sealwax.KeyRing([one, two]),
    "ring text": lambda one, two: sealwax.KeyRing.parse(one),
    "request": lambda one, two: sealwax.request_context(one, two),
    "only": lambda one, two: sealwax.request_context("m", "t", {"a": 1}, only=one),
    "only one": lambda one, two: sealwax.request_context("m", "t", {"a": 1}, only=[one, two]),
    "request text": lambda one, two: sealwax.request_context("m", "t", arguments_json=one),
    "claims": lambda one, two: sealwax.principal_from_claims(one),
    "claim": lambda one, two: sealwax.principal_from_claims({"iss": "i", "sub": one, "azp": two}),
    "answer": lambda one, two: sealwax.answer(one, session_id=two),
    "answer to": lambda one, two: sealwax.answer("cursor", one),
    "inspect": lambda one, two: sealwax.inspect(one),
    "token fields": lambda one, two: sealwax.token_fields(one),
}


@pytest.mark.parametrize("name", CALLS)
@given(one=anything, two=anything)
@settings(max_examples=EXAMPLES // 3)
def test_no_call_fails_otherwise_than_it_may(name: str, one: Any, two: Any) -> None:
    attempt(lambda: CALLS[name](one, two))


class Caseless(str):
    """A text as some frameworks have it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.lower(self) == str.lower(other)

    def __hash__(self) -> int:
        return hash(str.lower(self))


def test_users_who_are_equal_by_a_class_of_texts_are_two() -> None:
    assert CODEC.view(subject=Caseless("alice")).session().open(KEPT).payload == b"kept"
    with pytest.raises(sealwax.PrincipalMismatch):
        CODEC.view(subject=Caseless("ALICE")).session().open(KEPT)
    # As a guard passes them on.
    for name in ("alice", "ALICE"):
        _, (_, _, subject) = caller_of(sealwax.Principal(subject=Caseless(name)))
        assert subject == name.encode()


def test_a_released_memoryview_is_refused() -> None:
    released = memoryview(b"released")
    released.release()
    for act in (
        lambda: ALICE.session().seal(released),
        lambda: ALICE.request_state(released),
        lambda: sealwax.Key.from_secret(released),
    ):
        with pytest.raises(sealwax.InvalidArgument, match="released memoryview"):
            act()


def test_only_true_is_true() -> None:
    """An option of another type might be meant as the opposite of what it is as a condition."""
    wrong: Any
    for wrong in ("false", 1, 0, None, [], "no"):
        for act in (
            lambda wrong=wrong: ALICE.session().seal(b"", no_expiry=wrong),
            lambda wrong=wrong: ALICE.sessions(no_expiry=wrong),
            lambda wrong=wrong: CODEC.view(anonymous=wrong),
        ):
            with pytest.raises(TypeError, match="expected bool"):
                act()
