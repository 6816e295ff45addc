"""The main job as a story: one session, four languages, and everything that must be refused.

Usage: python3 examples/demo/story.py TYPESCRIPT PYTHON RUST C SEALWAX

Each argument is a command. The first four are replicas of one server, each in its language; a replica is
started anew for each step, so nothing is kept but what the client sends.
"""

import json
import os
import shlex
import subprocess
import sys
import time

COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ
AUDIENCE = "https://mcp.example.com"


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


def bold(text):
    return paint("1", text)


def faint(text):
    return paint("2", text)


class Story:
    def __init__(self, typescript, python, rust, c, sealwax):
        self.replicas = {"TypeScript": typescript, "Python": python, "Rust": rust, "C": c}
        self.sealwax = sealwax
        self.keys = [self.keygen()]
        self.answers = set()

    def run(self, command, *words, stdin="", user="alice"):
        env = {**os.environ, "SEALWAX_KEYS": " ".join(self.keys), "DEMO_USER": user}
        return subprocess.run([*shlex.split(command), *words], input=stdin, env=env, capture_output=True, text=True)

    def keygen(self):
        made = subprocess.run([*shlex.split(self.sealwax), "keygen"], capture_output=True, text=True, check=True)
        return made.stdout.strip()

    def accepted(self, language, *words, stdin="", **options):
        done = self.run(self.replicas[language], *words, stdin=stdin, **options)
        if done.returncode != 0:
            sys.exit(f"{language} should have accepted this: {done.stderr}")
        verb = {"create": "creates", "renew": "renews", "open": "opens"}[words[0]]
        seen = done.stderr.strip()
        print(f"  {paint('32', '✓')} {language:<12}{verb:<9}{seen}")
        return done.stdout.strip()

    def refused(self, language, what, metadata, expected, **options):
        stdin = metadata if isinstance(metadata, str) else json.dumps(metadata)
        done = self.run(self.replicas[language], "open", stdin=stdin, **options)
        self.told(language, what, done, expected)
        self.answers.add(json.dumps(json.loads(done.stdout)))

    def told(self, language, what, done, expected):
        reason = done.stderr.strip().removeprefix("sealwax: ")
        if done.returncode != 1 or not reason.startswith(expected + ":"):
            sys.exit(f"{what}: expected {expected}, found {done.returncode} {reason}")
        print(f"  {paint('31', '✗')} {language:<12}{what}\n    {faint(reason)}")

    def tell(self):
        print(bold("\nA session with no store: four replicas, one key between them\n"))
        first = self.accepted("TypeScript", "create", "language=en")
        shown = json.loads(first)
        print(faint(f"    sessionId  {shown['sessionId']}"))
        print(faint(f"    state      {shown['state'][:60]}…  ({len(shown['state'])} characters)"))
        print(faint(f"    expiresAt  {shown['expiresAt']}"))
        second = self.accepted("Python", "renew", "language=fr", stdin=first)
        third = self.accepted("Rust", "renew", "language=python", stdin=second)
        self.accepted("C", "open", stdin=third)

        print(bold("\nWhat comes back is in an attacker's hands, so each of these is refused\n"))
        session = json.loads(third)
        state = session["state"]
        changed = state[:80] + ("A" if state[80] != "A" else "B") + state[81:]
        self.refused("TypeScript", "a state with one character changed", {**session, "state": changed}, "unauthentic")
        self.refused(
            "Python",
            "the session stolen by mallory, who has a login of her own",
            third,
            "principal_mismatch",
            user="mallory",
        )
        other = json.loads(self.run(self.replicas["TypeScript"], "create", "admin=true").stdout)
        self.refused(
            "Rust", "the state of one session moved to another", {**session, "state": other["state"]}, "unauthentic"
        )
        short = self.run(self.replicas["TypeScript"], "create", "language=en", "1").stdout
        time.sleep(2)
        self.refused("C", "a session left idle past its end", short, "expired")
        self.refused(
            "TypeScript",
            "another spelling of the same state, with padding",
            {**session, "state": state + "="},
            "malformed",
        )
        (answer,) = self.answers
        print(f"    The log has the reason; the client gets one answer for all of them:\n    {faint(answer)}")
        self.misremembered_handle()

        print(bold("\nThe key is rotated, and nobody notices\n"))
        (old,), new = self.keys, self.keygen()
        for keys, words in [
            ([old, new], "every replica learns the new key"),
            ([new, old], "the new key seals"),
        ]:
            self.keys = keys
            print(f"    {words}")
            third = self.accepted("Python", "renew", "language=rust", stdin=third)
        self.accepted("C", "open", stdin=third)
        self.keys = [new]
        print("    the old key is gone, and what it made with it")
        self.refused("Rust", "a session that nobody renewed in time", second, "unknown_key")
        print(faint("    one id, one session, and not a byte kept on any server\n"))

    def misremembered_handle(self):
        words = ["--type", "basket", "--audience", AUDIENCE, "--subject", "alice"]
        handle = self.run(self.sealwax, "handle", "new", *words).stdout.strip()
        at = handle.index("_") + 20
        wrong = handle[:at] + ("7" if handle[at] != "7" else "1") + handle[at + 1 :]
        done = self.run(self.sealwax, "handle", "verify", *words, stdin=wrong)
        self.told(
            "sealwax",
            f"a handle that a model misremembers by one character:\n      {'':<9}{handle}\n      {'':<9}{wrong}",
            done,
            "unauthentic",
        )


if __name__ == "__main__":
    Story(*sys.argv[1:]).tell()
