"""Handles and other tokens that a handler makes."""

from .builders import LEDGER, Transcripts, at_a_tool, event, report

transcripts = Transcripts()
case = transcripts.case

case(
    "reference handle: one that was minted is good",
    at_a_tool(
        ["mint", "basket", {"as": "h"}],
        ["check", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"$handle": "h"}],
    ),
    at_a_tool(["check", "basket", {"$handle": "h"}], did=[{"$handle": "h"}]),
    fault="no handle is good",
)
for name, code, made in [
    ("of another user", "unauthentic", {"as": "bob"}),
    ("of another type", "wrong_purpose", {"type": "order"}),
    ("of a key that nobody has", "unauthentic", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
]:
    case(
        f"reference handle: {name} is refused",
        at_a_tool(
            ["check", "basket", {"$handle": {"type": "basket", "as": "alice", **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle"),
        ),
        fault="a check of the seal is left out",
    )
for name, value in [
    ("a number", 7),
    ("nothing", None),
    ("a guess", "basket_1"),
    ("the word of a prompt", "production"),
]:
    case(
        f"reference handle: {name} is refused",
        at_a_tool(
            ["check", "basket", value],
            did=[{"refused": True}],
            reported=report("malformed", "handle"),
        ),
        fault="a misremembered handle hits a row",
        not_=None if isinstance(value, str) else dict.fromkeys(("rust", "go"), "the argument is a text by its type"),
    )
case(
    "reference handle: too old is refused",
    at_a_tool(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 61}}, {"maxAge": 60}],
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 59}}, {"maxAge": 600}],
        did=[{"refused": True}, {"$handle": "_"}],
        reported=report("expired", "handle"),
    ),
    fault="the age is not compared",
)
case(
    "reference handle: where nobody asks, none is made",
    event(
        "demo/play",
        params={},
        who="nobody",
        asked=["principal"],
        handler=[["mint", "basket", {"as": "h"}], ["return", {"ok": True}]],
        did=[{"refused": True}],
        delivered={},
        answered={"result": {"ok": True}},
        reported=report("unauthenticated", "handle"),
    ),
    fault="whoever is nobody has handles",
)
case(
    "reference handle: ending without a memory is the author's mistake",
    at_a_tool(
        ["end", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"failed": True}],
        reported=report("invalid_argument", "handle"),
    ),
    fault="an end that nothing remembers",
)
case(
    "reference handle: another's cannot be ended",
    at_a_tool(
        ["end", "basket", {"$handle": {"type": "basket", "as": "bob"}}],
        did=[{"refused": True}],
        reported=report("unauthentic", "handle"),
    ),
    settings=LEDGER,
    fault="anybody can end a handle",
)
case(
    "short handle: one that was minted is good, and always the same",
    at_a_tool(
        ["mintShort", "basket", 7, {"as": "h"}],
        ["checkShort", "basket", {"$handle": "h"}],
        ["checkShort", "basket", {"$handle": {"type": "basket", "as": "alice", "number": 7}}],
        ["checkShort", "basket", {"$handle": {"type": "basket", "as": "alice", "number": 4294967295}}],
        did=[{"$handle": "h"}, {"value": 7}, {"value": 7}, {"value": 4294967295}],
    ),
    fault="no short handle is good",
)
for name, code, made in [
    ("of another user", "unauthentic", {"as": "bob"}),
    ("of another type", "wrong_purpose", {"type": "order"}),
    ("of a key that nobody has", "unauthentic", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
]:
    case(
        f"short handle: {name} is refused",
        at_a_tool(
            ["checkShort", "basket", {"$handle": {"type": "basket", "as": "alice", "number": 7, **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle"),
        ),
        fault="a check of the seal is left out",
    )
case(
    "short handle: neither form is the other",
    at_a_tool(
        ["checkShort", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "number": 7}}],
        did=[{"refused": True}, {"refused": True}],
        reported=report("malformed", "handle") * 2,
    ),
    fault="a short check is enough for a long handle",
)
case(
    "short handle: whoever is nobody in particular has no number",
    at_a_tool(
        ["mintShort", "basket", 7],
        did=[{"failed": True}],
        reported=report("invalid_argument", "handle"),
        who="anonymous",
    ),
    fault="all who are nobody share the rows",
)
case(
    "self-contained handle: holds its value",
    at_a_tool(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["open", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"value": ["apple"]}],
    ),
    fault="a value is lost",
)
case(
    "self-contained handle: the next one of a chain, and the one before",
    at_a_tool(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["renew", "basket", {"$handle": "h"}, ["apple", "pear"], {"as": "i"}],
        ["open", "basket", {"$handle": "i"}],
        ["open", "basket", {"$handle": "h"}],
        did=[
            {"$handle": "h"},
            {"$handle": "i"},
            {"value": ["apple", "pear"], "generation": 1},
            {"value": ["apple"], "generation": 0},
        ],
    ),
    fault="a chain forgets where it began",
)
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another type", "unauthentic", {"type": "order"}),
    ("expired", "expired", {"age": 86401}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
]:
    case(
        f"self-contained handle: {name} is refused",
        at_a_tool(
            ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "payload": "1", **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle-state"),
        ),
        fault="a check of the seal is left out",
    )
case(
    "self-contained handle: what holds no JSON is refused before the ledger is asked",
    at_a_tool(
        ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "payload": "not json"}}],
        did=[{"refused": True}],
        commands=[],
        reported=report("malformed", "handle-state"),
    ),
    settings=LEDGER,
    fault="the payload is read after the ledger was asked",
)
case(
    "self-contained handle: too large is the author's mistake",
    at_a_tool(
        ["seal", "basket", "x" * 4095, {"as": "h"}],
        did=[{"failed": True}],
        reported=report("too_large", "handle-state"),
    ),
    fault="it is a refusal",
)
