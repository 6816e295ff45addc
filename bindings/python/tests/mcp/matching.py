"""Compares the outcome of an event with its transcript."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from world import World, sealer, view

from sealwax.mcp import SESSION_META_KEY

if TYPE_CHECKING:
    from scripted_handler import Found


def compare(world: World, event: dict[str, Any], found: Found) -> None:
    if found.wrong is not None:
        raise found.wrong
    assert found.reported == event["reported"], found
    # Who is anonymous by name is not asked for.
    unasked = {"principal"} if event["as"] == "anonymous" else set[str]()
    assert found.asked == [one for one in event["asked"] if one not in unasked]
    if "anybodys" in event:
        assert found.anybodys == event["anybodys"]
    assert found.commands == event.get("commands", found.commands)
    expected, delivered = event["delivered"], found.delivered
    assert (expected is None) == (delivered is None), (expected, delivered)
    for name, value in (expected or {}).items():
        assert (delivered or {}).get(name) == value, (name, delivered)
    did = event.get("did", [])
    assert len(found.did) == len(did), found.did
    for one, other in zip(did, found.did, strict=True):
        matches(world, one, other, "did")
    answered = event["answered"]
    if event["via"] != "http" and answered is None:
        assert found.answered is None
        return
    error = answered.get("error") or answered.get("message", {}).get("error")
    if error is None:
        matches(world, answered, found.answered, "answered")
        return
    assert found.answered is not None
    told = found.answered.get("message", found.answered)["error"]
    exactly(world, echoed(error, found.sent), told, "error")
    if "status" in answered:
        assert found.answered["status"] == answered["status"]


def exactly(world: World, expected: dict[str, Any], error: dict[str, Any], place: str) -> None:
    """An error: it has no other members, and its data neither."""
    assert expected.keys() == error.keys(), (expected, error)
    assert expected.get("data", {}).keys() == error.get("data", {}).keys(), (expected, error)
    matches(world, expected, error, place)


def echoed(error: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """`$echo` is the session id that was sent."""
    if error.get("data") != {"sessionId": "$echo"}:
        return error
    metadata = sent.get("params", {}).get("_meta", {}).get(SESSION_META_KEY)
    return {**error, "data": {"sessionId": sent.get("sessionId") or metadata["sessionId"]}}


def matches(world: World, expected: Any, value: Any, place: str) -> None:
    """At least what is expected."""
    if isinstance(expected, list):
        assert len(expected) == len(value), place
        for one, other in zip(expected, value, strict=True):
            matches(world, one, other, place)
    elif not isinstance(expected, dict):
        assert value == expected, place
    elif "$token" in expected:
        token(world, expected["$token"], value, place)
    elif "$session" in expected:
        session(world, expected, value, place)
    elif "$handle" in expected:
        assert isinstance(value["handle"], str), place
    else:
        for name, member in expected.items():
            if name == "$absent":
                assert not set(member) & set(value), place
            else:
                assert name in value, f"{place}.{name} is missing in {value}"
                matches(world, member, value[name], f"{place}.{name}")


def token(world: World, expected: Any, value: str, place: str) -> None:
    if isinstance(expected, str):
        assert world.tokens[expected] == value, place
        return
    opened = sealer(view({"as": expected.get("as", "alice"), "key": "new"}), expected).open(value)
    if "name" in expected:
        world.tokens[expected["name"]] = value
    if "ttl" in expected:
        assert opened.expires_at == opened.issued_at + expected["ttl"], place
    payload = opened.payload.decode()
    if "json" in expected:
        assert expected["json"].items() <= json.loads(payload).items(), place
    elif "payload" in expected:
        assert payload == expected["payload"], place


def session(world: World, expected: dict[str, Any], value: dict[str, Any], place: str) -> None:
    versions = world.sessions.setdefault(expected["$session"], [])
    if versions:
        assert versions[-1]["sessionId"] == value["sessionId"], f"{place}: another session"
    if "version" in expected:
        assert versions[expected["version"]]["state"] == value["state"], place
        return
    if "payload" in expected:
        opened = view({"key": "both"}).sessions().open(value)
        assert opened.payload.decode() == expected["payload"], place
        assert opened.generation == expected["generation"], place
    else:
        assert "state" not in value or place == "did", f"{place}: a new state"
    if "state" in value or not versions:
        versions.append(value)
