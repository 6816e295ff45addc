"""Many ids are claimed at once by processes of every language, and each id has exactly one winner.

Usage: claims.py IDS LANGUAGE=AGENT [LANGUAGE=AGENT ...]

All processes go through the same ids together, on a Valkey and then on a SQLite file. A claim that failed, as where
a lock was held for too long, is tried again with the same attempt, as a guard does.
"""

import collections
import random
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from common import Agent, Ledger, Token, languages, new_attempt, new_id, open_for_good, with_files
from servers import Valkey

PROCESSES = 2
#: Commands that are on their way to a process at once; each process has an order of its own.
AT_ONCE = 50
TRIES = 100


def claim(agent: Agent, ledger: Ledger, ids: list[str], together: threading.Barrier) -> dict[str, str]:
    """Claim every id; return the replies."""
    now = int(time.time())
    answers: dict[str, str] = {}
    for at in range(0, len(ids), AT_ONCE):
        # Or the fastest would win them all.
        together.wait()
        some = random.sample(part := ids[at : at + AT_ONCE], len(part))
        open_ = {
            one: ledger.admit(Token("once", "r", one, now, now + 600), attempt=new_attempt(), who=agent.language)
            for one in some
        }
        for _ in range(TRIES):
            for command in open_.values():
                agent.send(command)
            replies = {one: agent.receive() for one in open_}
            answers |= {one: reply[0] for one, reply in replies.items() if reply[0] != "failed"}
            open_ = {one: command for one, command in open_.items() if one not in answers}
            if not open_:
                break
        else:
            sys.exit(f"{agent.language}: {TRIES} times: {replies}")
    return answers


def race(name: str, address: str, commands: dict[str, str], count: int) -> None:
    agents = [Agent(language, command, address) for language, command in commands.items() for _ in range(PROCESSES)]
    ledger, ids = Ledger(), [new_id() for _ in range(count)]
    for agent in agents:
        open_for_good(ledger, agent)  # Those after the first wait for their process alone.
    together, began = threading.Barrier(len(agents), timeout=300), time.monotonic()
    with ThreadPoolExecutor(len(agents)) as threads:
        answers = list(threads.map(lambda agent: claim(agent, ledger, ids, together), agents))
    took = time.monotonic() - began
    for agent in agents:
        agent.close()

    won: collections.Counter[str] = collections.Counter()
    for one in ids:
        winners = [agent.language for agent, said in zip(agents, answers, strict=True) if said[one] == "ok"]
        others = {said[one] for said in answers} - {"ok"}
        if len(winners) != 1 or others != {"used"}:
            sys.exit(f"{name}: {one}: won by {winners}, the others were told {others}")
        won[winners[0]] += 1
    shares = ", ".join(f"{language} {count}" for language, count in won.items())
    print(f"claims: {name}: {count} ids, {len(agents)} processes, one winner each ({shares}), {took:.1f} s")


def main(count: int, commands: dict[str, str]) -> None:
    with Valkey() as valkey:
        race("Valkey", valkey.address, commands, count)
    with tempfile.TemporaryDirectory() as folder:
        race("SQLite", f"sqlite:{folder}/ledger.db", with_files(commands), count)


if __name__ == "__main__":
    main(int(sys.argv[1]), languages(sys.argv[2:]))
