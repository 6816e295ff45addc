"""A guard with a ledger: sessions of the transport."""

from .builders import (
    CALL,
    LEDGER,
    PASSED,
    SEP,
    SEP_ERROR,
    Transcripts,
    begin,
    http,
    report,
    revoke,
    session_token,
)
from .stdio import BEGUN, ON_STDIO, line

transcripts = Transcripts()
case = transcripts.case

T = {"$token": "t"}
NOT_FOUND = {"asked": ["principal"], "answered": {"status": 404}}
case(
    "ledger: a session of the transport that was ended by DELETE is not found",
    begin(),
    http(CALL, token=T, **PASSED),
    http(None, verb="DELETE", token=T, asked=["principal"], answered={"status": 204}),
    http(CALL, token=T, **NOT_FOUND, reported=report("ended", "session")),
    http(None, verb="DELETE", token=T, **NOT_FOUND, reported=report("ended", "session")),
    settings=LEDGER,
    fault="the end is forgotten",
)
case(
    "ledger: a session of the transport ends when it is idle",
    begin(),
    http(CALL, token=T, **PASSED, after=600),
    http(CALL, token=T, **PASSED, after=600),
    http(CALL, token=T, **NOT_FOUND, after=601, reported=report("ended", "session")),
    http(CALL, token=T, **NOT_FOUND, after=1, reported=report("ended", "session")),
    settings={**LEDGER, "transport": {"idle": 600}},
    fault="it lives as long as its token, or ends though it is used",
)
case(
    "ledger: a session of the transport of who was revoked is not found",
    http(CALL, token=session_token(age=60), **PASSED),
    revoke(),
    http(CALL, token=session_token(age=60), **NOT_FOUND, reported=report("revoked", "session")),
    begin(after=1),
    http(CALL, token=T, **PASSED),
    settings=LEDGER,
    fault="who was signed out goes on",
)
case(
    "ledger: a session of the transport that is older than its records is not found",
    http(CALL, token=session_token(age=60), **NOT_FOUND, reported=report("unknown", "session")),
    http(CALL, token=session_token(), **PASSED),
    settings={**LEDGER, "ledgerOptions": {"since": 0}},
    fault="what may have ended is accepted",
)
case(
    "ledger: one that fails accepts no session of the transport",
    http(
        CALL,
        token=session_token(),
        asked=["principal"],
        answered={"status": 500},
        reported=report("ledger_unavailable", "session"),
    ),
    settings={"ledger": "failing"},
    fault="it fails open",
)
case(
    "ledger: SEP-1359: a session that another principal presents has ended",
    begin(),
    http(
        CALL,
        token=T,
        who="bob",
        asked=["principal"],
        answered={"status": 404},
        reported=report("principal_mismatch", "session"),
    ),
    http(CALL, token=T, **NOT_FOUND, reported=report("ended", "session")),
    settings={**LEDGER, **SEP},
    fault="a thief has it still",
)
case(
    "ledger: stdio: session/terminate ends it",
    BEGUN,
    line(
        {"method": "session/terminate"},
        inside=T,
        asked=["principal"],
        answered={"result": {}},
    ),
    line(
        CALL,
        inside=T,
        asked=["principal"],
        answered={"error": SEP_ERROR},
        reported=report("ended", "session"),
    ),
    settings={**LEDGER, **SEP},
    fault="the end is forgotten",
)
case(
    "ledger: stdio: a session ends when it is idle",
    BEGUN,
    {**line(CALL, inside=T, **ON_STDIO), "after": 600},
    line(
        CALL,
        inside=T,
        after=601,
        asked=["principal"],
        answered={"error": SEP_ERROR},
        reported=report("ended", "session"),
    ),
    settings={**LEDGER, "transport": {"sep1359": True, "idle": 600}},
    fault="it lives as long as its token",
)
