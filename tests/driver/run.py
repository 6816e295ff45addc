"""Plays the transcripts of tests/vectors/guard.json on the scenario server of a language, on its real SDK.

Usage: python3 tests/driver/run.py LANGUAGE COMMAND [--only TEXT] [--system NAME] [--first] [--show] [--report FILE]

COMMAND starts the server; --only plays the transcripts whose name has TEXT, --system those on one kind of server; --first ends
with the first that fails; --show prints what is sent and heard; --report writes what passed, as JUnit's XML.

The driver is the client; it makes the tokens, and compares. A server only does what it is told on its control channel, its stdin and
stdout: an object of JSON a line. It says first where it serves:

http     the port of `/plain` (the SDK's handler of HTTP) and of `/wrapped` (the guard's around it)
lines    a port whose connections are stdio inside the guard's wrapper, where it has one
stream   a port of the server alone, for notifications, where the SDK's HTTP does not pass them on
systems  the kinds of server that it has
legacy   of those whose SDK does not know 2026-07-28, the last revision that it knows
events   whether it tells what happened to tokens
notification   one of the SDK's that goes by `lines` in place of notifications/demo
direct   in place of all: nothing is between it and the engine, and it gets messages by `send`
has      the settings, ways and operations of a handler that it has; all unless said

Then it is told, and answers all but `return` and `throw` with {"done": value}:

serve    a guard and its servers, anew: system, now, keys, audience, anonymous, settings (as guard.py says)
at       now; `who` asks: a principal's parts, null, or "thrower"; for which method; forgets and lost are of the ledger
send     of a server that is `direct`, the engine alone: a message with its via, http, headers, modern; {"answer": …} is what comes of it
revoke   whom; done: whether the ledger recorded it
keys     other ones in place of those of `serve`
heap     done: how much of each heap is in use once all garbage is collected, in bytes; nothing where there is none
settle   done when all that was sent has been served
return, throw, and the operations of a handler, which `to` names, with what is given and options

A `direct` server also says {"elicited": params}, and is told by `elicited` what the client answers.

And it says, whenever it is so: {"asked": "principal" | "begin" | "confirm"}, {"commands": name}, {"reported": {code, kind}},
{"happened": "event kind key age"}, and {"handler": {id, state, cursor, session}}: a handler runs, and waits to be told.
"""

import argparse
import pathlib
import sys
import time
from xml.sax.saxutils import quoteattr

import legacy
from matching import Differs
from playing import Playing
from programs import Peer, Refused, Server, Stopped
from world import FILE

#: The core's own, which makes the tokens.
PEER = pathlib.Path(__file__).resolve().parents[2] / "target/debug/examples/interop-peer"
#: How many transcripts a kind of server plays at least; a language plays 250.
LEAST = {"hooks": 300, "sdk": 150, "mcp 1": 240, "php": 110}


def needed(transcript):
    """Return the settings, ways and operations of a handler that a transcript needs."""
    events = [one for event in transcript["events"] for one in (event, *event.get("during", ()))]
    operations = {name for event in events for name, *_ in event.get("handler", ())}
    return {*transcript["settings"], *operations, *(event["via"] for event in events)}


def transcripts(language, system, ready):
    """Return what a kind of server can play."""
    found = [one for one in FILE["transcripts"] if not {language, system} & set(one.get("not", {}))]
    if "lines" not in ready:
        found = [one for one in found if all(event["via"] != "stdio" for event in one["events"])]
    if "has" in ready:
        found = [one for one in found if needed(one) <= set(ready["has"])]
    if revision := ready.get("legacy", {}).get(system):
        found = [legacy.as_legacy(one, revision) for one in found if all(map(legacy.is_served, one["events"]))]
    if len(found) < LEAST.get(system, 250):
        sys.exit(f"only {len(found)} are there for {system or language}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("language")
    parser.add_argument("command")
    parser.add_argument("--only", default="")
    parser.add_argument("--system", help="the one kind of server to play on")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--report", type=pathlib.Path)
    given = parser.parse_args()
    begun, peer, server = time.monotonic(), Peer("core", str(PEER)), Server(given.command, given.show)
    passed, wrong = [], 0
    for system in server.ready.get("systems", [None]):
        if given.system not in (None, system):
            continue
        for transcript in transcripts(given.language, system, server.ready):
            name = transcript["name"]
            if given.only not in name:
                continue
            if given.show:
                print(name)
            try:
                Playing(server, peer, transcript, system).close()
                passed.append(f"{system}: {name}" if system else name)
            except (Differs, Refused, Stopped) as why:
                wrong += 1
                print(f"{system or given.language}: {name}: {why}", flush=True)
                if given.first:
                    server.kill()
                    sys.exit(1)
                server.close()
                server = Server(given.command, given.show)
    server.close()
    if given.report:
        cases = "".join(f"<testcase name={quoteattr(name)}/>\n" for name in passed)
        given.report.write_text(f"<testsuite>\n{cases}</testsuite>\n")
    print(f"{len(passed)} passed, {wrong} failed in {time.monotonic() - begun:.1f} s")
    sys.exit(bool(wrong) or not passed)


if __name__ == "__main__":
    main()
