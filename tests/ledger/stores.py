"""Plays the scripts of `vectors/stores.json` to the ledger of every language, as a server that says what a script says.

Usage: stores.py LANGUAGE=AGENT [LANGUAGE=AGENT ...]

Before each script `open` is run until no check comes with it; its answer says that no replica need confirm. A step of a script:

- `disconnects`: all connections are closed before.
- `info`: what `INFO` is answered from now on.
- `run`: the command that the agent runs.
- `sends`: what has to arrive, in this order and nothing else: `EVALSHA`, `EVAL` or `WAIT`, of which the whole command is compared; its
  connection; its answer. A connection's name means the same one until a step fails, and two names are two; `step` is any one, the same for the
  step. An answer is as in LEDGER.md, or `raw` bytes; `cut`, bytes after which the connection is closed; `late`, an answer that comes when the
  next command has arrived. `plain` marks what is sent only if the command is tried without a store machine before.
- `checks`: whether the server is checked again, where it is said. No reply comes from a new connection that was not checked.
- `reply`, or a part of the message with which it `failed`, which never has a password.

After that, and where connections were closed, a command is repeated while it fails in another way: a client may notice late that its connection
is over, and on a busy machine a new one takes longer than a command may.

`INFO` is a check, and what it has the server load (`SCRIPT LOAD`) has to be one of the scripts. What else a client sends by itself (`OWN`) is
answered, and not compared.
"""

import contextlib
import hashlib
import json
import queue
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from common import TIMEOUT, Agent, languages
from scripts import ROOT, lua

WITHIN_MS = 1000
SECRET = "hunter2"
TRIES = 20
ANY = "step"
PASSES = {"texts": ["ok", "0"]}
BEGUN = {"texts": ["ok", "1", "1", "9", "0"]}

#: What clients send by themselves, and its answers.
OWN = {"CLIENT": b"+OK\r\n", "PING": b"+PONG\r\n", "SELECT": b"+OK\r\n", "COMMAND": b"*0\r\n", "EXISTS": b":0\r\n"}
#: How often a client asks `INFO` by itself when it has connected: ioredis waits until a server has loaded its records.
ASKS_INFO = {"typescript": 1}
#: One command at a time has a connection of the client's pool: that it may wait there stops nobody.
POOLED = {"python", "python-valkey", "go"}
#: What is sent without a store machine is on another connection than what has one to itself, and is sent there again.
TRIES_PLAINLY = {"typescript", "typescript-redis", "java"}
#: go-redis makes connections without a word: the ledger checks one that was new when its answer is there, and drops that.
CHECKS_AFTERWARDS = {"go"}
#: go-redis sends again, on the same connection, what such a server did not begin.
AGAIN = {"go": {"LOADING"}}
#: Python's clients have classes of their own for errors, and drop the codes.
WORDS = {"LOADING": ["BusyLoading"], "OOM": ["OOM", "OUTOFMEMORY"]}


class Differs(Exception):
    """What arrived, or came of it, is not what the script says."""


class Failed(Differs):
    """The command failed, in another way than the script says."""


class Connection:
    """A client's connection, from which commands are read in a thread."""

    def __init__(self, server: "Server", one: socket.socket) -> None:
        self.server, self.socket = server, one
        self.checks = 0
        self.is_cut = False

    def serve(self) -> None:
        with contextlib.suppress(OSError, ValueError), self.socket.makefile("rb") as lines:
            # What comes on one that is cut has not arrived.
            while (command := self._command(lines)) and not self.is_cut:
                self._take(command)
        self.close()

    def _command(self, lines) -> list[str]:
        """Read an array of bulk strings; return an empty one at the end."""
        if not (head := lines.readline()):
            return []
        texts = []
        for _ in range(int(head[1:])):
            size = int(lines.readline()[1:])
            texts.append(lines.read(size + 2)[:-2].decode())
        return [texts[0].upper(), *texts[1:]]

    def _take(self, command: list[str]) -> None:
        match command:
            case ["INFO", *_]:
                self.checks += 1
                self.answer(self.server.info)
            case ["SCRIPT", how, text] if how.upper() == "LOAD" and text in SCRIPTS.values():
                self.answer({"text": sha1(text)})
            case ["HELLO", *version]:
                told = {"server": "redis", "version": "7.2.4", "mode": "standalone", "role": "master"}
                parts = [bulk(part) for pair in told.items() for part in pair]
                self.write(
                    (b"%%%d\r\n" % len(told) if version[:1] == ["3"] else b"*%d\r\n" % len(parts)) + b"".join(parts)
                )
            case [name, *_] if name in OWN:
                self.write(OWN[name])
            case _:
                self.server.events.put((self, command))

    def answer(self, answer: dict) -> None:
        match answer:
            case {"texts": texts}:
                self.write(b"*%d\r\n" % len(texts) + b"".join(map(bulk, texts)))
            case {"text": text}:
                self.write(bulk(text))
            case {"number": number}:
                self.write(b":%d\r\n" % number)
            case {"error": error}:
                self.write(f"-{error}\r\n".encode())
            case {"raw": text}:
                self.write(text.encode())
            case {"cut": text}:
                self.is_cut = True
                self.write(text.encode())
                self.close()

    def write(self, sent: bytes) -> None:
        # The client may have closed it.
        with contextlib.suppress(OSError):
            self.socket.sendall(sent)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class Server:
    """Listens as a Redis. What arrives of a ledger's commands, and the end of a run, are its events."""

    def __init__(self) -> None:
        self.info: dict = {}
        self.events: queue.SimpleQueue[tuple[Connection, list[str]] | None] = queue.SimpleQueue()
        self.connections: list[Connection] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"redis://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            one, _ = self._listener.accept()
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection := Connection(self, one))
            threading.Thread(target=connection.serve, daemon=True).start()

    def disconnect(self) -> None:
        for connection in self.connections:
            connection.close()


class Player:
    """Plays scripts to the agent of a language."""

    def __init__(self, language: str, command: str) -> None:
        self.language, self.server = language, Server()
        self.agent = Agent(language, command, self.server.address)
        self.named: dict[str, Connection] = {}
        self.late: list[tuple[Connection, dict]] = []
        self._replies = ThreadPoolExecutor(1)

    def play(self, script: dict) -> None:
        self.begin()
        is_connected = True
        for place, step in enumerate(script["steps"]):
            self.set_info(step.get("info"))
            if step.get("disconnects"):
                self.server.disconnect()
                is_connected = False
                # Who notices it may connect anew without a word.
                time.sleep(0.1)
            for left in reversed(range(1 if is_connected else TRIES)):
                try:
                    self.step(step)
                    break
                except (Differs, queue.Empty) as found:
                    if not left or not isinstance(found, Failed):
                        raise Differs(f"step {place}, {step['run']}: {found!r}") from None
                    time.sleep(0.05)
            is_connected = "reply" in step

    def set_info(self, name: str | None) -> None:
        if name:
            self.server.info = VECTORS["info"][name]

    def begin(self) -> None:
        self.set_info("fit")
        for _ in range(TRIES):
            before = self.checks()
            run = self.run("open")
            while event := self.event():
                event[0].answer(BEGUN)
            is_ready = all(count >= ASKS_INFO.get(self.language, 0) for count in before.values())
            if run.result() == BEGUN["texts"] and is_ready and self.checks() == before:
                self.named.clear()
                return
            time.sleep(0.05)
        raise Differs(f"begins with {run.result()}")

    def checks(self) -> dict[Connection, int]:
        return {connection: connection.checks for connection in self.server.connections}

    def run(self, name: str):
        """Have the agent run a command; its reply is an event too."""
        run = self._replies.submit(self.agent.ask, {**VECTORS["commands"][name], "withinMs": WITHIN_MS})
        run.add_done_callback(lambda _: self.server.events.put(None))
        return run

    def event(self) -> tuple[Connection, list[str]] | None:
        """Return a command that arrived, or nothing when the agent has replied."""
        event = self.server.events.get(timeout=TIMEOUT)
        while event and self.late:
            connection, answer = self.late.pop()
            connection.answer(answer)
        return event

    def step(self, step: dict) -> None:
        before = self.checks()
        self.named.pop(ANY, None)
        run = self.run(step["run"])
        answered: list[tuple[Connection, list[str], dict]] = []
        for name, where, answer, *plain in step["sends"]:
            if plain and self.language not in TRIES_PLAINLY:
                continue
            if not (event := self.event()):
                raise other_reply(name, run.result())
            connection, found = event
            if found != (expected := sent(name, VECTORS["commands"][step["run"]])):
                # Without the script, which is long.
                raise Differs(f"expected {expected[0]} {expected[2:]}, found {found[0]} {found[2:]}")
            self.expect_place(where, connection)
            connection.answer(answer)
            answered.append((connection, found, answer))
        while event := self.event():
            event[0].answer(self.answer_to_more(event, answered))
        self.late += [(connection, answer["late"]) for connection, _, answer in answered if "late" in answer]
        self.expect_reply(step, run.result())
        self.expect_checks(step, before, [connection for connection, _, _ in answered])

    def answer_to_more(self, event: tuple, answered: list) -> dict:
        """Return the answer to a command that is not in the script, if a client may send it."""
        if not answered and self.language in CHECKS_AFTERWARDS:
            return PASSES
        if answered and event == answered[-1][:2]:
            answer = answered[-1][2]
            if answer.get("error", "").split(" ")[0] in AGAIN.get(self.language, ()):
                return answer
        raise Differs(f"expected nothing more, found {event[1][0]}")

    def expect_place(self, where: str, connection: Connection) -> None:
        if self.named.setdefault(where, connection) is not connection:
            raise Differs(f"expected the connection {where}, found another")
        others = [name for name, one in self.named.items() if one is connection and name != where != ANY]
        if others and self.language not in POOLED:
            raise Differs(f"expected the connection {where}, found {others[0]}")

    def expect_reply(self, step: dict, reply: list[str]) -> None:
        if "reply" in step:
            if reply != step["reply"]:
                raise other_reply(step["reply"], reply)
            return
        # Its connections may be made anew.
        self.named.clear()
        words = [step["failed"]]
        if self.language.startswith("python"):
            words = WORDS.get(step["failed"], words)
        if reply[0] != "failed" or not any(word in reply[1] for word in words) or SECRET in reply[1]:
            raise other_reply(f"a failure with {words}", reply)

    def expect_checks(self, step: dict, before: dict[Connection, int], used: list[Connection]) -> None:
        by_itself = ASKS_INFO.get(self.language, 0)
        checks = {one: count - before.get(one, by_itself) for one, count in self.checks().items()}
        if "reply" in step and any(one not in before and checks[one] < 1 for one in used):
            raise Differs("expected a check of the new connection, found none")
        # One in the background may be of the step before.
        asked = checks if step.get("checks") else used
        is_checked = any(checks[one] > 0 for one in asked)
        if step.get("checks", is_checked) != is_checked:
            raise Differs(f"expected the server {'' if step['checks'] else 'not '}to be checked")


def other_reply(expected: object, reply: list[str]) -> Differs:
    return (Failed if reply[0] == "failed" else Differs)(f"expected {expected}, found {reply}")


def bulk(text: str) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(text.encode()), text.encode())


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def sent(name: str, command: dict) -> list[str]:
    """Return a whole command, as LEDGER.md says."""
    if name == "WAIT":
        return [name, "1", str(WITHIN_MS // 2)]
    script = SCRIPTS[command["script"]]
    text = script if name == "EVAL" else sha1(script)
    return [name, text, str(len(command["keys"])), *command["keys"], *command["args"]]


VECTORS = json.loads((ROOT / "tests/vectors/stores.json").read_text())
SCRIPTS = {name: lua(name) for name in ("open", "admit", "commit", "revoke")}


def each(language: str, command: str) -> str | None:
    player = Player(language, command)
    for script in VECTORS["scripts"]:
        try:
            player.play(script)
        except Differs as found:
            return f"stores: {language}: {script['name']}: {found}"
    player.agent.close()
    print(f"stores: {language}: {len(VECTORS['scripts'])} scripts of a Redis", flush=True)
    return None


def main(commands: dict[str, str]) -> None:
    # They mostly wait.
    with ThreadPoolExecutor(len(commands)) as threads:
        found = list(filter(None, threads.map(each, commands, commands.values())))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(languages(sys.argv[1:]))
