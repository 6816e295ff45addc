"""A guard with a ledger: sessions of the transport."""

from .builders import *
from .stdio import BEGUN, ON_STDIO, line, refused_line

transcripts = Transcripts(LEDGER)
case = transcripts.case

OLD = session_token(age=60)
case("ledger: a session of the transport that was ended by DELETE is not found", "the end is forgotten")(
    begin(), http(CALL, token=T, **PASSED), ends(), not_found(T, "ended"), not_found(T, "ended", verb="DELETE")
)
case(
    "ledger: a session of the transport ends when it is idle",
    "it lives as long as its token, or ends though it is used",
)(
    begin(),
    http(CALL, token=T, **PASSED, after=600),
    http(CALL, token=T, **PASSED, after=600),
    not_found(T, "ended", after=601),
    not_found(T, "ended", after=1),
    settings={**LEDGER, "transport": {"idle": 600}},
)
case("ledger: a session of the transport of who was revoked is not found", "who was signed out goes on")(
    http(CALL, token=OLD, **PASSED), revoke(), not_found(OLD, "revoked"), begin(after=1), http(CALL, token=T, **PASSED)
)
case(
    "ledger: a session of the transport that is older than its records is not found", "what may have ended is accepted"
)(
    not_found(OLD, "unknown"),
    http(CALL, token=session_token(), **PASSED),
    settings={**LEDGER, "ledgerOptions": {"since": 0}},
)
case("ledger: one that fails accepts no session of the transport", "it fails open")(
    http(
        CALL,
        token=session_token(),
        asked=["principal"],
        answered={"status": 500},
        reported=report("ledger_unavailable", "session"),
    ),
    settings=FAILING,
)
case("ledger: SEP-1359: a session that another principal presents has ended", "a thief has it still")(
    begin(), not_found(T, "principal_mismatch", who="bob"), not_found(T, "ended"), settings={**LEDGER, **SEP}
)
case("ledger: stdio: session/terminate ends it", "the end is forgotten")(
    BEGUN,
    line(TERMINATE, inside=T, asked=["principal"], hears={}),
    refused_line(T, "ended"),
    settings={**LEDGER, **SEP},
)
case("ledger: stdio: a session ends when it is idle", "it lives as long as its token")(
    BEGUN,
    line(CALL, inside=T, **ON_STDIO, reported=[], after=600),
    refused_line(T, "ended", after=601),
    settings={**LEDGER, "transport": {"sep1359": True, "idle": 600}},
)
