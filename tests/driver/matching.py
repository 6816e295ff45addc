"""Compares the outcome of an event with its transcript."""

import json

from world import KEY_NAMES

SESSION = "io.modelcontextprotocol/session"
#: Of an answer to a method that is not there: its text is the SDK's.
NO_METHOD = -32601


class Differs(Exception):
    """What came of an event is not what its transcript says."""


def same(expected, found, place):
    if found != expected:
        raise Differs(f"{place}: expected {_shown(expected)}, found {_shown(found)}")


def _shown(value):
    return json.dumps(value, ensure_ascii=False)


def compare(world, event, found):
    same(event["reported"], found.reported, "reported")
    if found.happened is not None:
        happened = [" ".join(KEY_NAMES.get(word, word) for word in one.split()) for one in found.happened]
        same(event.get("happened", happened), happened, "happened")
    # Who is anonymous by name is not asked for.
    unasked = {"principal"} if found.anonymous else set()
    same([one for one in event["asked"] if one not in unasked], found.asked, "asked")
    matches(world, event.get("elicited", []), found.elicited, "elicited")
    same(event.get("commands", found.commands), found.commands, "commands")
    if found.scripted or event["delivered"] is None:
        same(event["delivered"] is None, found.delivered is None, "not delivered")
    for name, value in (event["delivered"] or {}).items():
        if found.scripted:
            same(value, found.delivered.get(name), name)
    did = event.get("did", [])
    same(len(did), len(found.did), "how much was done")
    for one, other in zip(did, found.did, strict=True):
        matches(world, one, other, "did")
    answered = event["answered"]
    if event["via"] != "http" and answered is None:
        return same(None, found.answered, "answered")
    error = answered.get("error") or answered.get("message", {}).get("error")
    if error is None:
        return matches(world, answered, found.answered, "answered")
    told = (found.answered or {}).get("message", found.answered)
    if not told or "error" not in told:
        raise Differs(f"answered: expected {_shown(error)}, found {_shown(found.answered)}")
    error = echoed(error, found.sent)
    if error["code"] == NO_METHOD:
        error = {**error, "message": told["error"]["message"]}
    exactly(world, error, told["error"], "error")
    if "status" in answered:
        same(answered["status"], found.answered["status"], "status")


def exactly(world, expected, error, place):
    """An error: it has no other members, and its data neither."""
    same(sorted(expected), sorted(error), place)
    same(sorted(expected.get("data", {})), sorted(error.get("data", {})), f"{place}.data")
    matches(world, expected, error, place)


def echoed(error, sent):
    """`$echo` is the session id that was sent."""
    if error.get("data") != {"sessionId": "$echo"}:
        return error
    metadata = sent.get("params", {}).get("_meta", {}).get(SESSION)
    return {**error, "data": {"sessionId": sent.get("sessionId") or metadata["sessionId"]}}


def matches(world, expected, value, place):
    """At least what is expected."""
    if isinstance(expected, list):
        same(len(expected), len(value), f"the length of {place}")
        for one, other in zip(expected, value, strict=True):
            matches(world, one, other, place)
    elif not isinstance(expected, dict):
        same(expected, value, place)
    elif "$text" in expected:
        before, of, after = expected["$text"]
        same(True, value.startswith(before) and value.endswith(after), f"{place}: {_shown(value)}")
        if of is not None:
            matches(world, of, value.removeprefix(before).removesuffix(after), place)
    elif "$token" in expected:
        token(world, expected["$token"], value, place)
    elif "$session" in expected:
        session(world, expected, value, place)
    elif "$key" in expected or "$id" in expected:
        same(True, isinstance(value, str) and len(value) == 32 and value.isalnum(), place)
        same(value, world.named.setdefault(str(expected), value), place)
        same(len(world.named), len(set(world.named.values())), f"how many names {place} has")
    elif "$handle" in expected:
        same(True, isinstance(value, dict) and isinstance(value.get("handle"), str), place)
    else:
        for name, member in expected.items():
            if name == "$absent":
                same([], sorted(set(member) & set(value)), f"what {place} has too")
            elif not isinstance(value, dict) or name not in value:
                raise Differs(f"{place}.{name} is missing in {_shown(value)}")
            else:
                matches(world, member, value[name], f"{place}.{name}")


def token(world, expected, value, place):
    if isinstance(expected, str):
        return same(world.tokens[expected], value, place)
    # An answer holds tokens of the newest key, whatever an event says of older ones.
    made = {"as": expected.get("as", "alice")}
    purpose = world.purpose(expected)
    if "name" in expected:
        world.tokens[expected["name"]] = value
    if expected["kind"] == "consent":
        return world.asked("verify-consent", made, token=value, **purpose)
    payload = world.asked("open", made, token=value, **purpose)[0]
    if "ttl" in expected:
        issued, expires = world.asked("lifetime", made, token=value, **purpose)
        same(expected["ttl"], int(expires) - int(issued), f"{place}: its lifetime")
    payload = bytes.fromhex(payload).decode()
    if "json" in expected:
        matches(world, expected["json"], json.loads(payload), place)
    elif "payload" in expected:
        same(expected["payload"], payload, place)


def session(world, expected, value, place):
    versions = world.sessions.setdefault(expected["$session"], [])
    if not isinstance(value, dict):
        raise Differs(f"{place}: expected a session, found {_shown(value)}")
    if versions:
        same(versions[-1]["sessionId"], value["sessionId"], f"{place}: its id")
    if "version" in expected:
        return same(versions[expected["version"]]["state"], value["state"], place)
    if "payload" in expected:
        metadata = json.dumps({name: value[name] for name in ("sessionId", "state")})
        payload, generation = world.asked("session-open", {"key": "both"}, token=metadata)
        same(expected["payload"], bytes.fromhex(payload).decode(), place)
        same(expected["generation"], int(generation), f"{place}: its generation")
    elif place != "did":
        same(False, "state" in value, f"{place}: a new state")
    if "state" in value or not versions:
        versions.append(value)
