"""Objects that lie about themselves, wherever an argument of some type is taken.

Whatever is given, a call returns, or raises one of our exceptions, a `TypeError`, or what the
object itself raised; what is sealed is what the object held; and the codec works afterwards.
SEALWAX_HOSTILE=10000 tries so many of each.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from itertools import product
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
CYCLIC: list[Any] = []
CYCLIC.append(CYCLIC)
OTHERS = sealwax.KeyRing([sealwax.Key.generate()])


class Lied(Exception):
    """What a hostile object raises of its own accord."""


SAID: list[Any] = [0, -1, 2**62, 1.5, None, True, NotImplemented, Lied, ALICE, "alice", b"x", []]
#: Those of `str`, `bytes`, `int`, `list` and `dict` that a conversion may call.
DOUBLE = [
    *("len", "eq", "hash", "str", "bytes", "iter", "getitem", "bool", "index", "int", "float"),
    *("contains", "lt", "ge", "add", "class", "buffer", "fspath", "call"),
]
SINGLE = ("encode", "decode", "isascii", "items", "keys", "values", "get", "tobytes", "bit_length")
METHODS = [*(f"__{name}__" for name in DOUBLE), *SINGLE, "join"]


def saying(answers: list[Any]) -> Callable[..., Any]:
    """Make a method that says one answer after another; the last for ever."""

    def method(*_: Any, **__: Any) -> Any:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is Lied:
            raise Lied
        # Some call us back, in the middle of a call.
        return len(ALICE.session().seal(b"within")) if answer is ALICE else answer

    return method


@st.composite
def liar(draw: Any, base: type, *contents: Any) -> Any:
    """Make an object of a subclass some of whose methods say anything."""
    answers = st.lists(st.sampled_from(SAID), min_size=1, max_size=3).map(saying)
    lies = draw(st.dictionaries(st.sampled_from(METHODS), answers, min_size=1, max_size=4))
    if "__class__" in lies:
        lies["__class__"] = property(lies["__class__"])
    if "__eq__" in lies:
        lies.setdefault("__hash__", base.__hash__)
    try:
        return type(f"Liar_{base.__name__}", (base,), lies)(*contents)
    except (TypeError, ValueError, Lied, AttributeError):
        return base(*contents)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


contents = st.binary(max_size=64)
payloads = st.one_of(
    contents,
    contents.map(lambda content: memoryview(content * 8).cast("d")[::-1]),
    st.sampled_from([4096, 4097, 1 << 22]).map(bytes),
    st.sampled_from([bytes, bytearray]).flatmap(
        lambda of: contents.flatmap(lambda content: liar(of, content))
    ),
)
texts = st.one_of(st.text(max_size=40), st.sampled_from(["", "\ud800", "x" * 70_000, KEPT]))
hostile_texts = texts.flatmap(lambda text: liar(str, text))
numbers = st.one_of(
    st.sampled_from([0, 60, 2**64, float("nan"), 1j]),
    # Python would not write it out.
    st.just(-1).map(lambda sign: sign * 10**5000),
    st.integers(0, 100).flatmap(lambda number: liar(int, number)),
)
values = st.recursive(
    st.one_of(texts, hostile_texts, numbers, st.none(), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).flatmap(lambda items: liar(list, items)),
        st.dictionaries(texts, inner, max_size=3).flatmap(lambda items: liar(dict, items)),
        st.dictionaries(texts, inner, max_size=3).map(MappingProxyType),
        st.lists(inner, max_size=3).map(iter),
    ),
    max_leaves=8,
)
others = st.sampled_from([object(), type, Lied(), CODEC, OPENED, CYCLIC, deep(500), deep(200_000)])
anything = st.one_of(payloads, values, others, liar(object))


def attempt(act: Callable[[], Any]) -> Any:
    """Return the result, or `None` for an error that may be; the codec works on."""
    try:
        return act()
    # The last is a text's own, whose `keys` are numbers.
    except (sealwax.SealwaxError, TypeError, Lied, IndexError):
        return None
    finally:
        assert ALICE.session().open(KEPT).payload == b"kept"
        with pytest.raises(sealwax.PrincipalMismatch):
            CODEC.view(subject="mallory").session().open(KEPT)


@given(payloads)
def test_what_is_sealed_is_what_the_object_holds(payload: Any) -> None:
    if "__buffer__" in vars(type(payload)) and sys.version_info >= (3, 12):
        # From there on a class may hold other bytes than it inherits.
        return
    is_bytes = bytes in type(payload).__mro__
    held = bytes.__getitem__(payload, slice(None)) if is_bytes else memoryview(payload).tobytes()
    token = attempt(functools.partial(ALICE.session().seal, payload))
    if token is None:
        assert len(held) > 4096
    else:
        assert ALICE.session().open(token).payload == held
    context = attempt(lambda: ALICE.request_state(payload).seal(b""))
    assert (context is None) == (len(held) != 32)


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
        # As a guard passes it on.
        assert caller_of(sealwax.Principal(subject=text))[1][2] == honest.encode()


#: One of each type of argument, and of each function that takes them in a way of its own.
CALLS: dict[str, Callable[..., Any]] = {
    "open": lambda one, two: ALICE.session().open(one, max_age=two),
    "seal": lambda one, two: ALICE.session().seal(one, ttl=two),
    "seal JSON": lambda one, two: json.loads(
        ALICE.session().open(ALICE.session().seal_json(one)).payload
    ),
    "request": lambda one, two: sealwax.request_context("m", "t", one),
    "custom": lambda one, two: ALICE.custom("x", session_id=one, context=two).seal(b""),
    "session": lambda one, two: ALICE.sessions().renew(ALICE.sessions().open(one), two),
    "view": lambda one, two: CODEC.view(subject=one, client=two).session().seal(b""),
    "codec": lambda one, two: sealwax.Codec(keys=OTHERS, audience=one, payload_limit=two),
    "interval": lambda one, two: sealwax.Codec(keys=one, audience="x", keys_interval=two),
    "ring": lambda one, two: sealwax.KeyRing([one, two]),
    "only": lambda one, two: sealwax.request_context("m", "t", {"a": 1}, only=[one, two]),
    "claim": lambda one, two: sealwax.principal_from_claims({"iss": "i", "sub": one, "azp": two}),
    "answer": lambda one, two: sealwax.answer(one, two),
}


@pytest.mark.parametrize("name", CALLS)
@given(one=anything, two=anything)
@settings(max_examples=EXAMPLES // 3)
def test_no_call_fails_otherwise_than_it_may(name: str, one: Any, two: Any) -> None:
    attempt(lambda: CALLS[name](one, two))


def test_a_released_memoryview_is_refused() -> None:
    released = memoryview(b"released")
    released.release()
    for act in (ALICE.session().seal, ALICE.request_state, sealwax.Key.from_secret):
        with pytest.raises(sealwax.InvalidArgument, match="released memoryview"):
            act(released)


def test_only_true_is_true() -> None:
    """An option of another type might be meant as the opposite of what it is as a condition."""
    calls: list[Callable[[Any], Any]] = [
        lambda wrong: ALICE.session().seal(b"", no_expiry=wrong),
        lambda wrong: ALICE.sessions(no_expiry=wrong),
        lambda wrong: CODEC.view(anonymous=wrong),
    ]
    for call, wrong in product(calls, ("false", 1, 0, None, [])):
        with pytest.raises(TypeError, match="expected bool"):
            call(wrong)
