"""Checks a history: all commands of several clients at a ledger and their replies, whatever failed meanwhile.

A *try* is one command and its answer. It was under way from `began` to `over`; where nobody answered (`failed`), it may
have been done or not.
"""

import collections
import threading
from dataclasses import dataclass, field


@dataclass
class Commit:
    """A state that was written: `token` upon `seen`."""

    seen: str
    token: str
    over: float


@dataclass
class Checker:
    """Takes each try and its reply; keeps those that contradict the ledger's promises."""

    #: Whether writes that were answered may be lost: then heads may fall back, but uses and ends must hold even so.
    loses: bool = False
    violations: list[str] = field(default_factory=list)
    answers: collections.Counter[str] = field(default_factory=collections.Counter)
    #: The attempt that used a single-use id.
    spent: dict[str, set[str]] = field(default_factory=lambda: collections.defaultdict(set))
    #: Names that certainly ended or were revoked, and since when.
    over: dict[str, float] = field(default_factory=dict)
    #: Of each session its answered commits, by the token that they replace, and how many were not answered.
    commits: dict[str, dict[str, Commit]] = field(default_factory=lambda: collections.defaultdict(dict))
    doubtful: collections.Counter[str] = field(default_factory=collections.Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def used(self, token: str, attempt: str, reply: list[str]) -> None:
        """No two attempts at one single-use id get `ok`."""
        with self._lock:
            self.answers[f"once {reply[0]}"] += 1
            if reply[0] == "ok":
                self.spent[token].add(attempt)
                if len(self.spent[token]) > 1:
                    self.violations.append(f"used twice: {token} by {self.spent[token]}")

    def ended(self, what: str, reply: list[str], over: float) -> None:
        """Record an end, unless its reply says that no replica confirmed it."""
        with self._lock:
            self.answers[f"end {' '.join(reply[:1] + reply[2:])}" if reply[0] == "ok" else f"end {reply[0]}"] += 1
            if reply[0] == "ok" and "unconfirmed" not in reply:
                self.over.setdefault(what, over)

    def opened(self, what: str, reply: list[str], began: float) -> None:
        """A name that ended before the command was sent does not get `ok`."""
        with self._lock:
            self.answers[f"live {reply[0]}"] += 1
            if reply[0] == "ok" and began > self.over.get(what, began):
                self.violations.append(f"{what}: ended at {self.over[what]}, and opened at {began}")

    def admitted(self, session: str, token: str, reply: list[str], began: float) -> None:
        """A state that has a successor is not the latest any more."""
        with self._lock:
            self.answers[f"head {reply[0]}"] += 1
            later = self.commits[session].get(token)
            if not self.loses and reply[0] == "ok" and later and began > later.over:
                self.violations.append(f"{session}: {token} was admitted after {later.token} had taken its place")

    def committed(self, session: str, seen: str, token: str, reply: list[str], over: float) -> None:
        """Each state has one successor."""
        with self._lock:
            self.answers[f"commit {reply[0]}"] += 1
            if reply[0] == "failed":
                self.doubtful[session] += 1
            if reply[0] != "ok":
                return
            before = self.commits[session].setdefault(seen, Commit(seen, token, over))
            if before.token != token and not self.loses:
                self.violations.append(f"{session}: {seen} was replaced by {before.token} and by {token}")

    def counted(self, session: str, count: int) -> None:
        """A session whose every write adds one has counted all writes that were answered, and none that was not sent."""
        with self._lock:
            least = len(self.commits[session])
            if not self.loses and not least <= count <= least + self.doubtful[session]:
                self.violations.append(
                    f"{session}: counted {count}, of {least} answered and {self.doubtful[session]} unanswered writes"
                )


def prove() -> None:
    """Show that each contradiction is seen."""

    def seen(loses: bool = False) -> Checker:
        checker = Checker(loses)
        for attempt in ["a", "a"]:
            checker.used("id", attempt, ["ok"])
        checker.used("id", "b", ["used"])
        checker.ended("handle", ["ok", "1", "unconfirmed"], 1.0)
        checker.opened("handle", ["ok"], 2.0)
        checker.ended("handle", ["ok", "1"], 3.0)
        checker.opened("handle", ["ended"], 4.0)
        checker.committed("s", "t0", "t1", ["ok"], 1.0)
        checker.committed("s", "t1", "t2", ["failed", ""], 2.0)
        checker.admitted("s", "t1", ["ok"], 3.0)
        checker.counted("s", 1)
        checker.counted("s", 2)
        assert not checker.violations, checker.violations
        return checker

    def bad(checker: Checker, *tries: tuple) -> None:
        for name, *about in tries:
            getattr(checker, name)(*about)
        assert len(checker.violations) == len(tries), (checker.violations, tries)

    bad(seen(), ("used", "id", "b", ["ok"]), ("opened", "handle", ["ok"], 4.0), ("admitted", "s", "t0", ["ok"], 2.0))
    bad(seen(), ("committed", "s", "t0", "t3", ["ok"], 2.0), ("counted", "s", 0), ("counted", "s", 3))
    bad(seen(loses=True), ("used", "id", "b", ["ok"]), ("opened", "handle", ["ok"], 4.0))
