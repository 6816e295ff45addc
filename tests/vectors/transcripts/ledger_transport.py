"""A guard with a ledger: sessions of the transport."""

from .builders import *
from .stdio import BEGUN, ON_STDIO, line, refused_line

transcripts = Transcripts(LEDGER)
case = transcripts.case

OLD = session_token(age=60)
case(
    "ledger: a session of the transport that was ended by DELETE is not found",
    begin(),
    http(CALL, token=T, **PASSED),
    ends(),
    not_found(T, "ended"),
    not_found(T, "ended", verb="DELETE"),
    fault="the end is forgotten",
)
case(
    "ledger: a session of the transport ends when it is idle",
    begin(),
    http(CALL, token=T, **PASSED, after=600),
    http(CALL, token=T, **PASSED, after=600),
    not_found(T, "ended", after=601),
    not_found(T, "ended", after=1),
    settings={**LEDGER, "transport": {"idle": 600}},
    fault="it lives as long as its token, or ends though it is used",
)
case(
    "ledger: a session of the transport of who was revoked is not found",
    http(CALL, token=OLD, **PASSED),
    revoke(),
    not_found(OLD, "revoked"),
    begin(after=1),
    http(CALL, token=T, **PASSED),
    fault="who was signed out goes on",
)
case(
    "ledger: a session of the transport that is older than its records is not found",
    not_found(OLD, "unknown"),
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
    settings=FAILING,
    fault="it fails open",
)
case(
    "ledger: SEP-1359: a session that another principal presents has ended",
    begin(),
    not_found(T, "principal_mismatch", who="bob"),
    not_found(T, "ended"),
    settings={**LEDGER, **SEP},
    fault="a thief has it still",
)
case(
    "ledger: stdio: session/terminate ends it",
    BEGUN,
    line(TERMINATE, inside=T, asked=["principal"], answered={"result": {}}),
    refused_line(T, "ended"),
    settings={**LEDGER, **SEP},
    fault="the end is forgotten",
)
case(
    "ledger: stdio: a session ends when it is idle",
    BEGUN,
    line(CALL, inside=T, **ON_STDIO, reported=[], after=600),
    refused_line(T, "ended", after=601),
    settings={**LEDGER, "transport": {"sep1359": True, "idle": 600}},
    fault="it lives as long as its token",
)
