"""The questions of adapters about a request: tests/requests.json, for every language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sealwax
from sealwax import _native

CASES = json.loads((Path(__file__).parents[3] / "tests/requests.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES["tokenFields"])
def test_methods_carry_what_they_carry(case: dict[str, Any]) -> None:
    found = sealwax.token_fields(case["method"])
    told = None if found is None else found._asdict()
    if told is not None:
        assert told.pop("needs_caller") == (told["kind"] == "request-state")
    assert told == case["tokenFields"]


def test_claims_are_an_object_in_c_too() -> None:
    array = _native.pair(b'["https://idp", "alice", null, null]')
    with pytest.raises(sealwax.InvalidArgument, match="expected a JSON object"):
        _native.call_for_text(_native.lib.sealwax_principal_from_claims, *array, capacity=4096)


def test_other_claims_may_be_no_json() -> None:
    claims = {"iss": "https://idp", "sub": "alice", "exp": object(), "name": "\ud800"}
    assert sealwax.principal_from_claims(claims).subject == "alice"


@pytest.mark.parametrize("case", CASES["claims"])
def test_claims_give_one_principal(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(sealwax.InvalidArgument):
            sealwax.principal_from_claims(case["claims"])
    else:
        assert list(sealwax.principal_from_claims(case["claims"])) == case["principal"]


@pytest.mark.parametrize("case", CASES["only"])
def test_only_the_named_arguments_count(case: dict[str, Any]) -> None:
    def named() -> bytes:
        return sealwax.request_context("tools/call", "x", case["arguments"], only=case["only"])

    if "error" in case:
        with pytest.raises(sealwax.InvalidArgument):
            named()
    else:
        assert named() == sealwax.request_context("tools/call", "x", case["same"])


@pytest.mark.parametrize(
    "given",
    [
        # A lone surrogate is another text, and none that some decoders put in its place.
        {"arguments": {"a": "\ud800"}},
        {"arguments": {"\udfff": 1}},
        {"arguments_json": r'{"a":"\ud800"}'},
        {"arguments_json": r'{"\udc00":1}'},
        {"arguments_json": '{"a":"\ud800"}'},
        {"arguments": {"a": 1}, "only": ["\ud800"]},
        {"target": "\ud800"},
        {"arguments": {"id": 7}, "only": ["i\0d"]},
        # No names name no argument.
        *({"arguments": one, "only": []} for one in (None, {}, {"": 1}, {"a": 1})),
    ],
)
def test_what_names_nothing_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(sealwax.InvalidArgument):
        sealwax.request_context(**{"method": "tools/call", "target": "x", **given})
