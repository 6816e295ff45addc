"""A day of traffic in simulated time, on the scenario server of a language, after which memory is as it was in the morning.

Usage: python3 tests/assurance/day/day.py LANGUAGE COMMAND EXCHANGES

Users call a tool in two rounds, and replay the second; sessions go on, idle and expire, keys rotate each hour, and users are
signed out; the ledger is in memory. COMMAND starts the server, as tests/driver/run.py says. After each hour it tells how much is
in use beside what was before the day: `heap`, with all garbage collected.
"""

import os
import pathlib
import random
import secrets
import statistics
import sys
import time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "driver"))
from interop import key_text
from playing import Playing
from programs import Server
from world import FILE

HOURS, USERS, SESSIONS, IDLE = 24, 100, 32, 1800
#: How much more than a tenth it may be in the evening, in bytes; where engines keep what they compiled, twice as much.
SLACK = {"heap": 256 << 10}
SESSION = "io.modelcontextprotocol/session"
DONE = ["return", {"content": []}]
ASK = ["return", {"resultType": "input_required", "requestState": {"$state": {"page": 2}}}]


class Day:
    def __init__(self, command):
        FILE["people"] |= {str(user): {"issuer": "i", "client": "c", "subject": str(user)} for user in range(USERS)}
        self.server = Server(command)
        system = self.server.ready.get("systems", [None])[0]
        settings = {"ledger": "memory", "sessions": {"initial": 0, "ttl": IDLE}}
        self.playing = Playing(self.server, None, {"settings": settings, "events": []}, system)
        self.keys, self.sessions, self.seen = [FILE["keys"]["new"]], [None] * SESSIONS, Counter()
        self.random = random.Random(7)

    def outcome(self, user, **event):
        """Have an event happen; return what came of it."""
        event = {"as": str(user), "era": "modern", "via": "request", "reported": [], "message": None, **event}
        found = self.playing.outcome(event)
        self.seen.update(one["code"] for one in found.reported)
        return found

    def call(self, user, params, *handler, after=0):
        message = {"method": "tools/call", "params": {"name": "play", **params}}
        return self.outcome(user, message=message, handler=handler, after=after)

    def two_rounds(self, user, after):
        asked = self.call(user, {}, ASK, after=after)
        sent = {"requestState": asked.answered["result"]["requestState"]}
        assert self.call(user, sent, DONE).delivered["state"] == '{"page":2}'
        assert self.call(user, sent, DONE).delivered is None

    def session(self, at):
        """Write to a session, after its idle time to no avail."""
        if self.sessions[at] is None:
            created = self.outcome(at, message={"method": "sessions/create"})
            self.sessions[at] = created.answered["result"]["session"]
        found = self.call(at, {"_meta": {SESSION: self.sessions[at]}}, ["write", 1], DONE)
        self.sessions[at] = found.delivered and found.answered["result"]["_meta"][SESSION]

    def heap(self):
        """Return what is in use; of a server that does not tell, what its process takes."""
        pages = pathlib.Path(f"/proc/{self.server.pid}/statm").read_text().split()[1]
        return self.playing.done(do="heap") or {"process": int(pages) * os.sysconf("SC_PAGE_SIZE")}

    def pass_an_hour(self, each):
        for at in range(each):
            after = 3600 * (at + 1) // each - 3600 * at // each
            self.two_rounds(self.random.randrange(USERS), after)
            self.session(self.random.randrange(SESSIONS))
        self.keys = [key_text(secrets.token_bytes(32)), self.keys[0]]
        self.playing.done(do="keys", keys=" ".join(self.keys))
        whom = str(self.random.randrange(USERS))
        assert self.outcome(whom, via="operator", revoke=whom).answered == {"done": True}
        return self.heap()


def main(language, command, exchanges):
    begun, day, each = time.monotonic(), Day(command), int(exchanges) // HOURS
    first = day.heap()
    hours = [day.pass_an_hour(each) for _ in range(HOURS)]
    day.server.close()
    for heap, before in first.items():
        # A garbage collector may be late for once.
        morning, evening = (
            statistics.median(hour[heap] - before for hour in part) for part in (hours[4:10], hours[20:])
        )
        print(
            f"{language}: {heap} {before >> 10} kB, {morning / 1024:.0f} more in the morning, {evening / 1024:.0f} in the evening"
        )
        allowed = abs(morning) / 10 + SLACK.get(heap, 128 << 10)
        assert evening - morning < allowed, [hour[heap] - before >> 10 for hour in hours]
    print(f"{language}: {dict(day.seen)} in {time.monotonic() - begun:.0f} s")
    assert day.seen["used"] == each * HOURS
    assert min(day.seen["expired"], day.seen["unknown_key"]) > 10
    print(f"figure: {each * HOURS} exchanges\nfigure: 1 languages")


if __name__ == "__main__":
    main(*sys.argv[1:])
