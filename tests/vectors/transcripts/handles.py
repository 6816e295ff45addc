"""Handles and other tokens that a handler makes."""

from functools import partial

from .builders import *

transcripts = Transcripts()
case = transcripts.case
refused, failed = partial(refused_at_a_tool, kind="handle"), partial(failed_at_a_tool, kind="handle")

#: What is wrong with a handle, whether it is short or not.
WRONG = [
    ("of another user", "unauthentic", {"as": "bob"}),
    ("of another type", "wrong_purpose", {"type": "order"}),
    ("of a key that nobody has", "unauthentic", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
]

case("reference handle: one that was minted is good", "no handle is good")(
    at_a_tool(["mint", "basket", {"as": "h"}], ["check", "basket", H], did=[H, H]),
    at_a_tool(["check", "basket", H], did=[H]),
)
for name, code, made in WRONG:
    case(f"reference handle: {name} is refused", "a check of the seal is left out")(
        refused(["check", "basket", handle(**made)], code=code)
    )
A_TEXT = dict.fromkeys(("rust", "go"), "the argument is a text by its type")
for name, value, reasons in [
    ("a number", 7, A_TEXT),
    ("nothing", None, A_TEXT),
    ("a guess", "basket_1", None),
    ("the word of a prompt", "production", None),
]:
    case(f"reference handle: {name} is refused", "a misremembered handle hits a row")(
        refused(["check", "basket", value], code="malformed"), not_=reasons
    )
case("reference handle: too old is refused", "the age is not compared")(
    at_a_tool(
        ["check", "basket", handle(age=61), {"maxAge": 60}],
        ["check", "basket", handle(age=59), {"maxAge": 600}],
        did=[REFUSED, {"$handle": "_"}],
        reported=report("expired", "handle"),
    )
)
case("reference handle: where nobody asks, none is made", "whoever is nobody has handles")(
    event(
        "demo/play",
        who="nobody",
        asked=["principal"],
        handler=[["mint", "basket", {"as": "h"}], ["return", {"ok": True}]],
        did=[REFUSED],
        delivered={},
        hears={"ok": True},
        reported=report("unauthenticated", "handle"),
    )
)
case("reference handle: ending without a memory is the author's mistake", "an end that nothing remembers")(
    failed(["end", "basket", handle()], code="invalid_argument")
)
case("reference handle: another's cannot be ended", "anybody can end a handle")(
    refused(["end", "basket", handle(**{"as": "bob"})], code="unauthentic"), settings=LEDGER
)
case("short handle: one that was minted is good, and always the same", "no short handle is good")(
    at_a_tool(
        ["mintShort", "basket", 7, {"as": "h"}],
        ["checkShort", "basket", H],
        ["checkShort", "basket", handle(number=7)],
        ["checkShort", "basket", handle(number=4294967295)],
        did=[H, {"value": 7}, {"value": 7}, {"value": 4294967295}],
    )
)
for name, code, made in WRONG:
    case(f"short handle: {name} is refused", "a check of the seal is left out")(
        refused(["checkShort", "basket", handle(number=7, **made)], code=code)
    )
case("short handle: neither form is the other", "a short check is enough for a long handle")(
    refused(["checkShort", "basket", handle()], ["check", "basket", handle(number=7)], code="malformed")
)
case("short handle: whoever is nobody in particular has no number", "all who are nobody share the rows")(
    failed(["mintShort", "basket", 7], code="invalid_argument", kind="handle", who="anonymous")
)
case("self-contained handle: holds its value", "a value is lost")(
    at_a_tool(["seal", "basket", ["apple"], {"as": "h"}], ["open", "basket", H], did=[H, {"value": ["apple"]}])
)
NEXT = {"$handle": "i"}
case("self-contained handle: the next one of a chain, and the one before", "a chain forgets where it began")(
    at_a_tool(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["renew", "basket", H, ["apple", "pear"], {"as": "i"}],
        ["open", "basket", NEXT],
        ["open", "basket", H],
        did=[H, NEXT, {"value": ["apple", "pear"], "generation": 1}, {"value": ["apple"], "generation": 0}],
    )
)
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another type", "unauthentic", {"type": "order"}),
    ("expired", "expired", {"age": 86401}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
]:
    case(f"self-contained handle: {name} is refused", "a check of the seal is left out")(
        refused(["open", "basket", handle(payload="1", **made)], code=code, kind="handle-state")
    )
case("self-contained handle: older than its greatest age is refused", "the age is not compared")(
    at_a_tool(
        ["open", "basket", handle(payload="1", age=60), {"maxAge": 60}],
        ["open", "basket", handle(payload="1", age=59), {"maxAge": 60}],
        did=[REFUSED, {"value": 1, "generation": 0}],
        reported=report("expired", "handle-state"),
    )
)
case(
    "self-contained handle: what holds no JSON is refused before the ledger is asked",
    "the payload is read after the ledger was asked",
)(
    refused(["open", "basket", handle(payload="not json")], commands=[], code="malformed", kind="handle-state"),
    settings=LEDGER,
)
case("self-contained handle: too large is the author's mistake", "it is a refusal")(
    failed(["seal", "basket", "x" * 4095, {"as": "h"}], code="too_large", kind="handle-state")
)
