"""The programs that the driver talks to, a line at a time: a peer that has a codec, and a server with a guard."""

import json
import queue
import shlex
import subprocess
import sys
import threading

#: The fields of a request to a peer; the last is left out but for the core's own, which has no clock then.
FIELDS = [
    *("op", "ring", "audience", "principal", "kind", "label", "session_id", "context", "ttl", "payload", "token"),
    *("max_age", "now"),
]
PLAIN = {"op", "kind", "ttl", "max_age", "now"}
#: How long a program may say nothing, in seconds.
PATIENCE = 120


def started(command, cwd=None):
    return subprocess.Popen(
        shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=cwd
    )


class Refused(Exception):
    """A peer refused what it was asked for."""


class Peer:
    """Seals, opens, mints and verifies with the codec of one language."""

    def __init__(self, name, command):
        self.name, self._process = name, started(command)

    def ask(self, **request):
        """Return ``ok`` and what was asked for, or ``error`` and its code."""
        fields = FIELDS if "now" in request else FIELDS[:-1]
        self._process.stdin.write("\t".join(_field(name, request.get(name, "")) for name in fields) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.endswith("\n"):
            sys.exit(f"{self.name} stopped at {request}")
        return answer.rstrip("\n").split("\t")

    def ok(self, **request):
        status, *fields = self.ask(**request)
        if status != "ok":
            raise Refused(f"{self.name} refused {request}: {fields}")
        return fields


def _field(name, value):
    if name in PLAIN or value == "anonymous":
        return str(value)
    return (value.encode() if isinstance(value, str) else value).hex()


class Stopped(Exception):
    """A server that ended, or says nothing any more."""


class Server:
    """A scenario server: its control channel is its stdin and stdout, JSON a line."""

    def __init__(self, command, show=False):
        self._process, self._show = started(command), show
        self.pid = self._process.pid
        #: What it says, and what comes of requests to it, in the order in which it came.
        self.came = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.ready = self.next()

    def _listen(self):
        for line in self._process.stdout:
            try:
                self.came.put(json.loads(line))
            except ValueError:
                sys.stderr.write(f"a server wrote {line}")
        self.came.put(None)

    def next(self):
        try:
            said = self.came.get(timeout=PATIENCE)
        except queue.Empty:
            raise Stopped("the server said nothing for too long") from None
        if said is None:
            raise Stopped("the server ended")
        if self._show:
            print("   <", json.dumps(said, ensure_ascii=False, default=repr))
        return said

    def tell(self, **told):
        if self._show:
            print("   >", json.dumps(told, ensure_ascii=False))
        try:
            self._process.stdin.write(json.dumps(told) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Stopped("the server ended") from None

    def close(self):
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def kill(self):
        """End it, whatever it waits for."""
        self._process.kill()
        self._process.wait()
