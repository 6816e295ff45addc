"""Plays the events of a transcript on a scenario server."""

import queue
import threading
from dataclasses import dataclass, field

import wire
from matching import Differs, compare
from world import FILE, World, ring

#: What the handler of a transcript serves; the rest is the SDK's, or the guard's own.
SCRIPTED = {
    *("tools/call", "prompts/get", "resources/read", "tools/list", "prompts/list", "resources/list"),
    *("resources/templates/list", "demo/play", "demo/things/list", "notifications/demo"),
}

#: The options of an operation on handles.
OPTIONS = {"as", "maxAge", "once", "selfContained", "ttl", "keep", "by", "argument", "list"}


@dataclass
class Found:
    """The outcome of an event."""

    #: The message, for what is echoed.
    sent: dict
    scripted: bool
    anonymous: bool
    #: What happened to tokens; None where a server does not tell.
    happened: list | None
    asked: list = field(default_factory=list)
    #: What the ledger was asked, but `open`.
    commands: list = field(default_factory=list)
    #: The params of what the user was asked on a connection.
    elicited: list = field(default_factory=list)
    delivered: dict | None = None
    did: list = field(default_factory=list)
    #: What was answered, once it was.
    answer: list | None = None
    answered: dict | None = None
    reported: list = field(default_factory=list)


def is_missing(event, found):
    """Whether something has not come yet that the transcript expects of a notification."""
    return (
        (found.scripted and event["delivered"] is not None and found.delivered is None)
        or len(found.reported) < len(event["reported"])
        or len(found.asked) < len(event["asked"])
    )


class Playing:
    """A server with the settings of one transcript."""

    def __init__(self, server, peer, transcript, system):
        self._server, self._world = server, World(peer)
        people = {event["as"] for event in transcript["events"]}
        self._anonymous = people == {"anonymous"}
        self._lines, self._ids, self._now = {}, 0, None
        self.done(
            do="serve",
            system=system,
            now=self._world.now,
            keys=ring("both"),
            audience=FILE["audience"],
            anonymous=self._anonymous,
            settings=transcript["settings"],
        )
        self.play(transcript["events"])

    def play(self, events, outer=None):
        """Play events, each held to what it says."""
        for at, event in enumerate(events):
            try:
                compare(self._world, event, self.outcome(event))
            except Differs as differs:
                raise Differs(f"event {at}: {differs}") from None
        if outer is not None:
            self._at(outer)

    def close(self):
        for lines in self._lines.values():
            lines.close()

    def done(self, **told):
        """Have something done that takes no request; return what came of it."""
        self._server.tell(**told)
        while "done" not in (said := self._server.next()):
            self._note(said)
        return said["done"]

    def _at(self, event, **more):
        """Tell the server what time it is, and who asks for what."""
        who = event["as"]
        person = who if who == "thrower" else FILE["people"].get(who)
        method = (event["message"] or {}).get("method")
        self.done(do="at", now=self._world.now, who=person, method=method, **more)

    def _note(self, said):
        found = self._now
        for name, value in said.items():
            if name == "answer":
                # A notification's comes while it is served.
                of, *answer = value if isinstance(value, tuple) else (found, value)
                of.answer = answer
                continue
            getattr(found, name).append(value)

    def outcome(self, event):
        self._world.now += event.get("after", 0)
        message = self._world.resolved(event["message"]) or {}
        if message and not event.get("notification"):
            self._ids += 1
            message.setdefault("id", self._ids)
        ready = self._server.ready
        found = Found(
            sent=message,
            scripted=message.get("method") in SCRIPTED,
            anonymous=self._anonymous,
            happened=[] if ready.get("events") else None,
        )
        if message.get("method") == "notifications/demo":
            message["method"] = ready.get("notification", message["method"])
        outer, self._now = self._now, found
        self._at(event, **{name: event[name] for name in ("forgets", "lost") if name in event})
        if event["via"] == "operator":
            found.answered = {"done": self.done(do="revoke", whom=FILE["people"][event["revoke"]])}
        elif self._server.ready.get("direct"):
            members = ("via", "header", "http", "notification", "again")
            given = {name: self._world.resolved(event[name]) for name in members if name in event}
            headers = self._world.resolved(event.get("headers", {}))
            modern = event["era"] == "modern"
            self._server.tell(do="send", message=message, headers=headers, modern=modern, **given)
            self._serve(event, found)
        else:
            send = self._client(event, message)

            def ask():
                try:
                    answered = send()
                except Exception as error:  # Whatever it is, the transcript fails.
                    answered = error
                self._server.came.put({"answer": (found, answered)})

            threading.Thread(target=ask, daemon=True).start()
            self._serve(event, found)
        self.done(do="settle")
        self._now = outer
        return found

    def _serve(self, event, found):
        """Do what the server asks for until its answer comes."""
        while found.answer is None:
            self._hear(self._server.next(), event, found)
        (found.answered,) = found.answer
        if isinstance(found.answered, Exception):
            raise Differs(f"the client: {found.answered!r}")
        # Nothing tells when a notification has been served.
        while event.get("notification") and is_missing(event, found):
            self._hear(self._server.next(), event, found)

    def _hear(self, said, event, found):
        if "handler" in said:
            self._handle(said["handler"], event, found)
        elif "elicited" in said:
            self._elicit(said, event, found)
        else:
            self._note(said)

    def _elicit(self, said, event, found):
        """Answer as the event says, after so many seconds."""
        found.elicited.append(said["elicited"])
        answer = dict(event["elicits"])
        self._world.now += answer.pop("after")
        self._at(event)
        if "answer" in said:
            said["answer"].put(answer)
        else:
            self._server.tell(do="elicited", answer=answer)

    def _asked(self, params):
        """Have a question of the server's answered, which came on a stream."""
        answer = queue.Queue()
        self._server.came.put({"elicited": params, "answer": answer})
        return answer.get()

    def _handle(self, handler, event, found):
        found.delivered = handler
        to, returned = handler["id"], {}
        for name, *given in event.get("handler", ()):
            if name == "return":
                returned = self._world.resolved(given[0])
            elif name == "throw":
                return self._server.tell(do="throw", to=to)
            else:
                found.did.append(self._did(to, name, given))
        self.play(event.get("during", ()), event if event.get("during") else None)
        self._server.tell(do="return", to=to, result=returned)

    def _did(self, to, name, given):
        last = given[-1] if len(given) > 1 else None
        options = given.pop() if last and isinstance(last, dict) and last.keys() <= OPTIONS else {}
        did = self.done(do=name, to=to, given=self._world.resolved(given), options=options)
        if "as" in options and isinstance(did, dict) and "handle" in did:
            self._world.handles[options["as"]] = did["handle"]
        return did

    def _stream(self, name, first=None):
        """Return the stream to that port, which the first message begins."""
        if name not in self._lines:
            self._lines[name] = wire.Lines(self._server.ready[name], self._asked)
            if first:
                self._lines[name].answer(first, False)
        return self._lines[name]

    def _client(self, event, message):
        """Return a function that sends the message, and returns what comes back."""
        modern, at_handlers = event["era"] == "modern", event["via"] == "request"
        ready = self._server.ready
        notifies = at_handlers and event.get("notification")
        if event["via"] == "stdio" or (notifies and "notification" in ready):
            lines = self._stream("lines")
            return lambda: lines.answer(message, modern)
        if notifies and "stream" in ready:
            lines = self._stream("stream", wire.INITIALIZE)
            return lambda: lines.answer(message, modern)
        headers = dict(self._world.resolved(event.get("headers", {})))
        if "header" in event:
            headers["Mcp-Session-Id"] = self._world.resolved(event["header"])
        if at_handlers and not modern:
            headers["MCP-Protocol-Version"] = event.get("revision", wire.LEGACY)

        def send():
            path = "/plain" if at_handlers else "/wrapped"
            port, method = self._server.ready["http"], event.get("http", "POST")
            answered = wire.by_http(port, path, method, headers, message, modern)
            return answered.get("message") if at_handlers else answered

        return send
