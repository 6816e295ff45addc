"""The transcripts that a server of Java's SDK can serve, as clients of its last revision send them: it knows none of 2026-07-28."""

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
        and (method != "tools/call" or all(map(_is_expressible, event.get("handler", ()))))
        and all(map(is_served, event.get("during", ())))
    )


def _is_expressible(operation):
    name, *given = operation
    return name != "return" or ("content" in given[0] and given[0].keys() <= MEMBERS)


def as_legacy(value):
    """Return a transcript without what its last revision does not have."""
    if isinstance(value, list):
        return [as_legacy(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {name: as_legacy(member) for name, member in value.items() if name != "resultType"}
    return {**changed, "era": "legacy"} if "era" in changed else changed
