"""Every vector of tests/vectors, whose tokens were made by another implementation."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from environment import at

import sealwax
from sealwax._native import lib

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sealwax._sealer import Sealer

Vector = dict[str, Any]
FILES = [
    json.loads((Path(__file__).parents[3] / "tests/vectors" / name).read_text(encoding="utf-8"))
    for name in ("more.json", "v1.json")
]


def vectors(section: str) -> pytest.MarkDecorator:
    found = [(file, vector) for file in FILES for vector in file.get(section, [])]
    assert found
    names = [str(vector.get("id", at)) for at, (_, vector) in enumerate(found)]
    return pytest.mark.parametrize(("file", "vector"), found, ids=names)


def view(file: Vector, vector: Vector) -> sealwax.View:
    """The view that a vector asks for: made with one key, or opened with a ring."""
    places = vector.get("ring", [vector.get("key")])
    keys = ",".join(file["keys"][place]["text"] for place in places)
    codec = sealwax.Codec(keys=keys, audience=vector["audience"])
    parts = vector["principal"]
    if parts.get("anonymous"):
        return codec.view(anonymous=True)
    return codec.view(**{name: part for name, part in parts.items() if part})


def sealer(file: Vector, vector: Vector) -> Sealer:
    """The sealer of any kind, with any fields: a typed sealer has no way to ask for some."""
    return view(file, vector)._sealer(
        getattr(lib, f"SEALWAX_KIND_{vector['kind'].upper().replace('-', '_')}"),
        label=vector["label"],
        session_id=vector["session_id"] or None,
        context=bytes.fromhex(vector["context"]) or None,
    )


@contextmanager
def refused_if(vector: Vector) -> Iterator[None]:
    """Expect the error of a vector, if it has one."""
    if "error" not in vector:
        yield
        return
    with pytest.raises(sealwax.SealwaxError) as refused:
        yield
    assert refused.value.code == vector["error"]


@vectors("keys")
def test_keys(file: Vector, vector: Vector) -> None:
    key = sealwax.Key.from_secret(bytes.fromhex(vector["secret"]))
    assert key.to_text() == vector["text"]
    assert key.id == vector["kid"]
    assert sealwax.Key.parse(vector["text"]).id == vector["kid"]


@vectors("derived")
def test_derived_keys(file: Vector, vector: Vector) -> None:
    with refused_if(vector):
        key = sealwax.Key.derive(vector["from"])
        assert (key.to_text(), key.id) == (vector["text"], vector["kid"])


@vectors("environments")
def test_environments(file: Vector, vector: Vector, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEYS", "KEYS_FILE", "SECRET", "SECRET_FALLBACKS"):
        monkeypatch.delenv(f"SEALWAX_{name}", raising=False)
    for name, value in vector["variables"].items():
        monkeypatch.setenv(name, value)
    if "keys" in vector:
        assert sealwax.KeyRing.from_env().ids == tuple(vector["keys"])
        return
    with pytest.raises(sealwax.InvalidKey) as refused:
        sealwax.KeyRing.from_env()
    # There is no such file.
    assert ("keys file /run/" in str(refused.value)) == ("is_file" in vector)


@vectors("key_rings")
def test_key_rings(file: Vector, vector: Vector) -> None:
    with refused_if(vector):
        assert sealwax.KeyRing.parse(vector["ring"]).ids == tuple(vector["keys"])


@vectors("sealed")
def test_sealed_tokens_come_out_the_same(file: Vector, vector: Vector) -> None:
    of_kind = sealer(file, vector)
    payload = bytes.fromhex(vector["payload"])
    options = {"ttl": vector["ttl"]} if vector["ttl"] else {"no_expiry": True}
    with at(vector["issued_at"] * 1000 + 999, bytes.fromhex(vector["nonce"])):
        opened = of_kind.open(vector["token"])
        # Only a renewal has a generation above 0; no call seals a new token of an age above 0.
        if vector["generation"]:
            started_at = vector["issued_at"] - vector["age"]
            facts = (0, 0, started_at, vector["generation"] - 1, False, False, b"")
            before = sealwax.Opened(b"", facts, of_kind._kind)
            assert of_kind.renew(before, payload, **options) == vector["token"]
        elif vector["age"] == 0:
            assert of_kind.seal(payload, **options) == vector["token"]
    check(opened, vector)


@vectors("session_ids")
def test_session_ids_come_out_the_same(file: Vector, vector: Vector) -> None:
    mine = view(file, vector)
    with at(vector["issued_at_ms"], bytes.fromhex(vector["ulid"])[6:]):
        assert mine.mint_session_id() == vector["session_id"]
        verified = mine.verify_session_id(vector["session_id"])
    assert verified == sealwax.SessionId(
        vector["issued_at_ms"], None, vector["ulid"], False, vector["session_id"]
    )


@vectors("handles")
def test_handles_come_out_the_same(file: Vector, vector: Vector) -> None:
    mine = view(file, vector)
    with at(vector["issued_at_ms"], bytes.fromhex(vector["ulid"])[6:]):
        assert mine.mint_handle(vector["type"]) == vector["handle"]
        verified = mine.verify_handle(vector["type"], vector["handle"])
    assert verified == sealwax.Handle(
        vector["issued_at_ms"], None, vector["ulid"], False, vector["handle"]
    )


@vectors("request_contexts")
def test_request_contexts(file: Vector, vector: Vector) -> None:
    name, arguments = (vector["method"], vector["target"]), vector["arguments"]
    expected = bytes.fromhex(vector["context"])
    assert sealwax.request_context(*name, arguments_json=arguments) == expected
    assert sealwax.request_context(*name, json.loads(arguments or "null")) == expected


@vectors("request_context_reject")
def test_request_contexts_refused(file: Vector, vector: Vector) -> None:
    name = vector.get("method", "tools/call"), vector.get("target", "x")
    with refused_if(vector):
        sealwax.request_context(*name, arguments_json=vector["arguments"])


@vectors("accept")
def test_accepted(file: Vector, vector: Vector) -> None:
    found = open_it(file, vector)
    assert found.needs_reseal == vector["expect"]["needs_reseal"]
    if isinstance(found, sealwax.Opened):
        check(found, vector["expect"])
    else:
        assert found.ulid == vector["expect"]["ulid"]


@vectors("reject")
def test_rejected(file: Vector, vector: Vector) -> None:
    with refused_if(vector):
        open_it(file, vector)


def open_it(file: Vector, vector: Vector) -> Any:
    max_age = vector["max_age"]
    with at(vector["now_ms"] if "now_ms" in vector else vector["now"] * 1000):
        if vector["what"] == "sealed":
            return sealer(file, vector).open(vector["token"], max_age=max_age)
        if vector["what"] == "session_id":
            return view(file, vector).verify_session_id(vector["session_id"], max_age=max_age)
        mine = view(file, vector)
        return mine.verify_handle(vector["type"], vector["handle"], max_age=max_age)


def check(opened: sealwax.Opened, expected: Vector) -> None:
    issued_at, ttl = expected["issued_at"], expected["ttl"]
    assert opened.payload.hex() == expected["payload"]
    assert opened.issued_at == issued_at
    assert opened.expires_at == (issued_at + ttl if ttl else None)
    assert opened.started_at == max(0, issued_at - expected["age"])
    assert opened.generation == expected["generation"]
    assert opened.token_id == expected["token_id"]
