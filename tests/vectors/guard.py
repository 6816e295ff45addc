"""Writes tests/vectors/guard.json: the transcripts of a guard, as data.

    python3 tests/vectors/guard.py          writes it
    python3 tests/vectors/guard.py --check  fails where it differs

tests/driver plays it: on the engine alone, and on the guard of each language, on real servers of its SDK. A transcript has a name, settings, and events in order; `fault` is the defect that it catches, and `not`
names the SDKs that cannot have the case, and why. The folder transcripts/ has them by subject.

The server has a tool, a prompt and a resource named `play`, a list of each, and a method of its own, `demo/play`. A request's
handler runs the event's `handler`: each operation in turn, whose outcome is in `did`; then it returns a result.

settings   requestStateTtl, only                        as in every language
           confirm: {tool: {message} or {words}}, confirmTtl        `words` is what the author's function makes; null: it throws
           confirmDestructive: true or {fallback}; tools: {cursor: page}
                                                        `tools` is the server's own list, as the guard asks for it: its first page is
                                                        that of the empty cursor; one that is not there throws
           sessions: {initial} or {heldByServer}        and ttl, noExpiry, required
           transport: {required, ttl, idle, onLost, sep1359}        of the wrapper around HTTP or stdio
           ledger: memory | failing                     the language's own ledger in memory, with the transcript's clock; or one that
                                                        fails at every command but `open`; absent: none
           ledgerOptions: {since, local, clockTolerance, acceptIssuedSince, reusableRequestState}
                                                        it remembers for `since` seconds (3600) and has the guard's clock, unless `local` is
                                                        false; acceptIssuedSince is an age
event      via       request: at the SDK's handlers; http, stdio: through the wrapper too; operator: `revoke` is who is signed out
           era       modern (2026-07-28) or legacy (2025-11-25)
           as        the caller, by the principal function: alice, bob, anonymous, nobody (it returns none), thrower (it throws)
           message   the JSON-RPC message; a request without an id here gets one, unless its event is a notification
           http, headers                                of a request over HTTP
           header    Mcp-Session-Id of a `request`
           after     seconds that pass before it
           forgets   true: the ledger loses everything before it, and begins anew
           lost      {command: n}: the ledger runs the next n such commands, and their answers are lost
           handler   operations in order:
                     ["state"], ["idempotencyKey"], ["session"], ["sessionId"], ["write", value], ["fork"]; then ["return", result] or ["throw"];
                     ["mint", type, options], ["check", type, handle, options], ["seal", type, value, options],
                     ["open", type, handle, options], ["renew", type, handle, value, options], ["end", type, handle, options]
                     in a result, {"$state": value} is what an author gets for a state: `state`, `State::write`
                     Options of handles: `as`, a name for what was made; maxAge; `once`, for a single use; selfContained, of `end`
                     ["link", name, value, options], ["follow", name, link, options]: seals a link, and opens one
                     ["cursor", position, options], ["position", null, options]: a cursor for the tool's result, and what the call's is
                     Options of these: `as`; ttl; `once`; `keep`, for a preview; `by`, who opens it; argument; list
           during    events that happen while the handler runs: after its operations, before it returns
           elicits   what the client answers if it is asked: {"result"} or {"error"}; `after` so many seconds
           again     false: the SDK cannot begin the session that was negotiated again
expected   asked     principal, begin, confirm, in order
           elicited  the params of each `elicitation/create` on a connection, in order
           delivered whether a handler ran, and the `state`, `cursor`, `session` and `arguments` that it saw
           commands  what the ledger was asked: admit, commit, revoke, in order; absent: whatever. `open` is never named, for its
                     moment is the SDK's
           did       the outcome of each operation: a value, {"error": code} for the author's mistake, or {"refused": true} or
                     {"failed": true} for a handle
           answered  {"result"} or {"error"}, or over HTTP {"status", "headers", "message"}; null: nothing; of an operator {"done"}, whether
                     the ledger recorded it. A result may have more members; `$absent` names those that it lacks; an error is compared
                     exactly
           reported  code and kind of each refusal, in order
           happened  of a guard with `events`, where it matters: each event with its kind, the name of its key, and the age of
                     what was opened, in order
values     {"$token": {…}}    on the way in: such a token; on the way out: one that opens so and holds `payload`
           {"$session": name} the metadata of a session, remembered from the answer that it stood in; with `payload` and `generation` on the way
                              out: with a state that holds them; `version` is that one, an earlier one on the way in; `without`
                              leaves members out
           {"$session": {…}}  on the way in: such a session, made
           {"$key": name}     an idempotency key: the same wherever it has this name, and never that of another name
           {"$id": name}      the id of a session, in the same way
           {"$handle": name}  what an operation `as` that name made; {"$handle": {…}} such a handle, made;
                              with `payload`, a self-contained one, and with `number` a short one
           {"$text": [before, value, after]}  a text with a value in it; with null any
of a token kind (`consent` too), label, context ([method, target, arguments]), as, payload, key (new, old, unknown), audience, age and ttl in seconds,
           change: flip a character, pad with `=`, cut the last, double it
Times are ages: a token of age 60 was made 60 seconds before the event.
"""

import json
import pathlib
import sys
from collections import Counter
from importlib import import_module

FILE = pathlib.Path(__file__).with_name("guard.json")
#: In the order of the file.
SUBJECTS = (
    *("request_state", "confirm", "card", "destructive", "idempotency", "principal", "cursors", "own_methods"),
    *("sessions", "sessions_required", "sessions_elsewhere", "handles", "links", "pages", "header", "sep1359"),
    *("stdio", "ledger_tokens", "ledger_sessions", "ledger_ends", "ledger_transport", "events"),
)


def main() -> None:
    modules = [import_module(f"transcripts.{subject}") for subject in SUBJECTS]
    transcripts = [transcript for module in modules for transcript in module.transcripts]
    named, times = Counter(transcript["name"] for transcript in transcripts).most_common(1)[0]
    if times > 1:
        sys.exit(f"{times} transcripts are named {named}")
    people = {
        "alice": {"issuer": "https://idp.example.com", "client": "cli-7", "subject": "alice"},
        "bob": {"issuer": "https://idp.example.com", "client": "cli-7", "subject": "bob"},
        "anonymous": {"anonymous": True},
    }
    keys = json.loads(FILE.with_name("v1.json").read_text())["keys"]
    file = {
        "about": "Made by guard.py beside it, which says what everything means.",
        "keys": {name: key["text"] for name, key in zip(("new", "old", "unknown"), keys, strict=True)},
        "audience": "https://mcp.example.com",
        "people": people,
    }
    lines = [json.dumps(transcript, ensure_ascii=False) for transcript in transcripts]
    head = json.dumps(file, indent=1)[:-2]
    text = f'{head},\n "transcripts": [\n' + ",\n".join(f"  {one}" for one in lines) + "\n ]\n}\n"
    if sys.argv[1:] == ["--check"]:
        sys.exit(FILE.read_text() != text and f"{FILE.name} is not what {pathlib.Path(__file__).name} writes")
    FILE.write_text(text)
    print(f"{len(lines)} transcripts")


if __name__ == "__main__":
    main()
