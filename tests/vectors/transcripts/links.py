"""Links, which whoever has them opens elsewhere."""

from functools import partial

from .builders import *

transcripts = Transcripts()
case = transcripts.case
refused, failed = partial(refused_at_a_tool, kind="link"), partial(failed_at_a_tool, kind="link")

#: The first line of a link: whose it is, and whether it is good once.
OWNER = '{"client":"cli-7","issuer":"https://idp.example.com","subject":"alice"}'
ONCE = '{"client":"cli-7","issuer":"https://idp.example.com","once":true,"subject":"alice"}'
ALICE = {"issuer": "https://idp.example.com", "client": "cli-7", "subject": "alice"}
BOB = {**ALICE, "subject": "bob"}


def link(payload: str = f'{OWNER}\n{{"id":7}}', **more: object) -> dict:
    """A link that the peer makes: an anonymous user's, under a label of its own."""
    made = {"kind": "custom", "label": "sealwax/link/report", "as": "anonymous", "payload": payload}
    return {"$token": {**made, **more}}


def follow(token: object, **options: object) -> list:
    return ["follow", "report", token, *([options] if options else [])]


OPENED = {"value": {"id": 7}, "principal": ALICE}
MAKES = ["link", "report", {"id": 7}, {"as": "l"}]
MAKES_ONCE = ["link", "report", {"id": 7}, {"as": "l", "once": True}]
L = {"$handle": "l"}

case(
    "link: whoever has it opens it, and hears whose it is", "it is bound to who opens it, or says somebody else's name"
)(
    at_a_tool(MAKES, follow(L), did=[{"handle": link()}, OPENED], happened=["sealed link new", "opened link new 0"]),
    at_a_tool(follow(L), who="bob", did=[OPENED]),
)
case("link: nobody's is nobody's", "an anonymous user's link cannot be read")(
    at_a_tool(
        ["link", "report", 1, {"as": "l"}],
        follow(L),
        who="anonymous",
        did=[{"handle": link('{"anonymous":true}\n1')}, {"value": 1, "principal": {"anonymous": True}}],
    )
)
case("link: where nobody asks, none is made", "somebody's link is nobody's")(
    event(
        "demo/play",
        who="nobody",
        asked=["principal"],
        handler=[MAKES, ["return", {"ok": True}]],
        did=[REFUSED],
        delivered={},
        hears={"ok": True},
        reported=report("unauthenticated", "link"),
    )
)
case("link: it has the lifetime that it was given", "the lifetime is left out")(
    at_a_tool(["link", "report", 1, {"as": "l", "ttl": 900}], did=[{"handle": link(f"{OWNER}\n1", ttl=900)}]),
    at_a_tool(follow(L), after=899, did=[{"value": 1}]),
    refused(follow(L), after=1, code="expired"),
)
for name, code, made in [
    ("of another name", "unauthentic", {"label": "sealwax/link/order"}),
    ("that is a user's own token", "principal_mismatch", {"as": "alice"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("that has expired", "expired", {"age": 86401}),
    ("that says nobody's name", "malformed", {"payload": "{}\n1"}),
    ("without a first line", "malformed", {"payload": "1"}),
    ("that holds no JSON", "malformed", {"payload": f"{OWNER}\nx"}),
    ("that is a handle", "wrong_purpose", {"kind": "handle-state", "label": "report"}),
]:
    case(f"link: one {name} is not found", "a check of the seal is left out")(
        refused(follow(link(**made)), commands=[], code=code), settings=LEDGER
    )
case("link: a key that was the first still opens", "a rotation takes links away")(
    at_a_tool(follow(link(key="old")), did=[OPENED])
)
case("link: what is no link is not found", "any text is a link")(refused(follow("report_1"), code="malformed"))
case("link: only the user whose it is opens it, where the author says so", "somebody else approves")(
    refused(follow(link(), by=BOB), commands=[], code="principal_mismatch"),
    refused(follow(link(), by={"anonymous": True}), code="principal_mismatch"),
    at_a_tool(follow(link(), by=ALICE), who="bob", did=[OPENED]),
    settings=LEDGER,
)
case(
    "link: good once is used once, and a preview does not use it",
    "what fetches it to show a preview uses it up, or it is good twice",
)(
    at_a_tool(
        MAKES_ONCE,
        follow(L, keep=True),
        follow(L, keep=True),
        did=[{"handle": link(f'{ONCE}\n{{"id":7}}')}, OPENED, OPENED],
    ),
    at_a_tool(follow(L), did=[OPENED]),
    refused(follow(L), follow(L, keep=True), code="used"),
    settings=LEDGER,
)
case("link: whoever may not open it does not use it up", "the ledger is asked before it is known who opens it")(
    at_a_tool(
        MAKES_ONCE,
        follow(L, by=BOB),
        follow(L, by=ALICE),
        did=[{}, REFUSED, OPENED],
        reported=report("principal_mismatch", "link"),
    ),
    settings=LEDGER,
)
case("link: good once needs a memory, when it is made and when it is opened", "it is good as often as anybody likes")(
    failed(["link", "report", 1, {"once": True}], code="invalid_argument"),
    failed(follow(link(f"{ONCE}\n1")), code="invalid_argument"),
)
case("link: those of a user who was signed out are gone", "the ledger is asked about who opens it")(
    at_a_tool(["link", "report", 1, {"as": "l"}], did=[{}]),
    revoke(after=10),
    refused(follow(L), who="bob", after=10, code="revoked"),
    settings=LEDGER,
)
case("link: too large is the author's mistake", "it is a refusal")(
    failed(["link", "report", "x" * 4095, {"as": "l"}], code="too_large")
)
case("link: a ledger that does not answer keeps it closed", "it opens all the same")(
    failed(follow(link()), code="ledger_unavailable"), settings=FAILING
)
