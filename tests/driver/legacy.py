"""The transcripts that an SDK can serve which does not know 2026-07-28, as clients of an earlier revision send them."""

import wire

EARLIER = "2025-03-26"
#: What a tool's result of the SDK has.
MEMBERS = {"content", "structuredContent", "isError", "_meta"}
#: What it serves, or the guard; None is that of an event without a message, or with an answer.
METHODS = {
    *(None, "tools/call", "tools/list", "initialize", "ping"),
    *("sessions/create", "sessions/delete", "session/terminate"),
}


def is_served(event):
    method = (event["message"] or {}).get("method")
    return (
        method in METHODS
        # In its revisions the header is not that of a data-layer session.
        and "header" not in event
        and wire.MODERN not in event.get("headers", {}).values()
        and (method != "tools/call" or all(map(_is_expressible, event.get("handler", ()))))
        and not {"inputRequests", "inputResponses"} & {*_members(event["answered"]), *_members(event["message"])}
        and all(map(is_served, event.get("during", ())))
    )


def _members(message):
    message = message or {}
    return {**(message.get("result") or {}), **(message.get("params") or {})}


def _is_expressible(operation):
    name, *given = operation
    return name != "return" or ("content" in given[0] and given[0].keys() <= MEMBERS)


def as_legacy(value, revision):
    """Return a transcript without what a revision does not have."""
    if isinstance(value, list):
        return [as_legacy(item, revision) for item in value]
    if isinstance(value, str):
        # What was another one stays another one.
        return value.replace(revision, EARLIER).replace(wire.LEGACY, revision) if revision != wire.LEGACY else value
    if not isinstance(value, dict):
        return value
    changed = {name: as_legacy(member, revision) for name, member in value.items() if name != "resultType"}
    return {**changed, "era": "legacy", "revision": revision} if "era" in changed else changed
