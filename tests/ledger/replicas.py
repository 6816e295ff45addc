"""Tokens whose records a fail-over may have lost are refused; an end reports whether a replica confirmed it.

One back to a server that was failed over before is in histories.py.

Usage: replicas.py LANGUAGE=AGENT [LANGUAGE=AGENT ...]
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import redis
from common import TIMEOUT, TOLERANCE, Agent, Ledger, Token, languages, new_id, open_for_good
from servers import Line, Valkey, wait_until

SETTINGS = {"repl_diskless_sync_delay": "0"}


def used(token: str, now: int) -> Token:
    return Token("once", "r", token, now, now + 600)


def answer(agent: Agent, command: dict) -> list[str]:
    """Ask until there is an answer: on a busy machine one may be late."""
    for _ in range(20):
        reply = agent.ask(command)
        if reply[0] != "failed":
            return reply
    sys.exit(f"{agent.language}: {reply}")


def expect(agent: Agent, command: dict, *wanted: str) -> None:
    reply = answer(agent, command)
    if reply != list(wanted):
        sys.exit(f"{agent.language}: expected {list(wanted)}, found {reply}")


def expect_unknown(agent: Agent, command: dict) -> None:
    """Expect it of a fence that was set a moment ago."""
    *reply, known = answer(agent, command)
    if reply != ["unknown", "0"] or not 0 <= int(known) <= TIMEOUT:
        sys.exit(f"{agent.language}: expected unknown since a moment ago, found {[*reply, known]}")


def a_server_behind_one_connection(language: str, command: str) -> bool:
    """The fence is inside each script: a connection that lasts may lead to another server from one command to the next.

    Returns whether it lasted: on a busy machine a client may give it up.
    """
    with Valkey(**SETTINGS) as master, Valkey(**SETTINGS) as replica:
        link, line = Line(master.port), Line(master.port)
        replica.follow(link.port)
        agent, ledger = Agent(language, command, f"redis://127.0.0.1:{line.port}"), Ledger()
        open_for_good(ledger, agent)
        now = int(time.time())
        known, lost, unused = new_id(), new_id(), new_id()
        expect(agent, ledger.admit(used(known, now)), "ok", "0")
        wait_until(lambda: replica.client.exists(ledger.key("u", "r", known)))
        link.held.set()
        expect(agent, ledger.admit(used(lost, now)), "ok", "0")
        assert not replica.client.exists(ledger.key("u", "r", lost))

        replica.client.replicaof("NO", "ONE")
        connections = line.accepted
        line.target = replica.port
        expect_unknown(agent, ledger.admit(used(lost, now)))
        expect_unknown(agent, ledger.admit(used(unused, now)))
        expect(agent, ledger.admit(used(known, now)), "used", "0")
        if line.accepted != connections:
            return False
        time.sleep(TOLERANCE + 1.1)
        expect(agent, ledger.admit(used(new_id(), int(time.time()))), "ok", "0")
        agent.close()
        link.cut()
        line.cut()
        return True


def what_ended_is_confirmed(language: str, command: str) -> None:
    with Valkey(**SETTINGS) as master, Valkey(**SETTINGS) as replica:
        link = Line(master.port)
        replica.follow(link.port)
        agent, ledger = Agent(language, command, master.address), Ledger()
        open_for_good(ledger, agent)

        def ends() -> list[dict]:
            now = int(time.time())
            tokens = [
                Token(mode, kind, new_id(), now, now + 600)
                for mode, kind in [("end", "h"), ("end", "s"), ("force", "t")]
            ]
            return [ledger.revoke("bob"), *[ledger.admit(token) for token in tokens]]

        for end in ends():
            # On a busy machine a replica may be late.
            wait_until(lambda end=end: answer(agent, end) == ["ok", "1"])
            wait_until(lambda end=end: replica.client.exists(end["keys"][-1]))
        link.held.set()
        for end in ends():
            expect(agent, end, "ok", "1", "unconfirmed")
        link.cut()
        replica.kill()
        wait_until(lambda: master.client.info("replication")["connected_slaves"] == 0)
        for end in ends():
            expect(agent, end, "ok", "0")
        agent.close()


def a_server_that_evicts_later(language: str, command: str) -> None:
    """A store that was fit when it was connected to, and evicts from then on, has forgotten everything."""
    with Valkey() as store:
        agent, ledger = Agent(language, command, store.address), Ledger()
        open_for_good(ledger, agent)
        now = int(time.time())
        token, over = used(new_id(), now), Token("live", "s", new_id(), now, now + 600)
        expect(agent, ledger.admit(token), "ok", "0")
        expect(agent, ledger.admit(token), "used", "0")
        expect(agent, ledger.admit(Token("end", "s", over.id, now, now + 600)), "ok", "0")
        store.client.config_set("maxmemory-policy", "volatile-lru")
        records = [ledger.key("u", "r", token.id), ledger.key("e", "s", over.id)]
        store.client.config_set("maxmemory", 1)
        # Any command that may write evicts.
        wait_until(lambda: full(store) and not store.client.exists(*records))
        store.client.config_set("maxmemory", 0)
        expect_unknown(agent, ledger.admit(token))
        expect_unknown(agent, ledger.admit(over))
        time.sleep(TOLERANCE + 1.1)
        expect(agent, ledger.admit(used(new_id(), int(time.time()))), "ok", "0")
        agent.close()


def full(store: Valkey) -> bool:
    try:
        store.client.set("other", "x")
    except redis.ResponseError:
        return True
    return False


def where_info_is_forbidden(language: str, command: str) -> None:
    """Servers that cannot be told apart: a replica must confirm every reply."""
    with Valkey(**SETTINGS) as master, Valkey(**SETTINGS) as replica:
        agent, ledger = Agent(language, command, master.address), Ledger()

        def told(command: dict) -> list[str]:
            """Have it forbidden, as some services do in scripts alone: the agent may look at the server before."""
            reply = []
            for _ in range(20):
                master.client.execute_command("ACL", "SETUSER", "default", "+info")
                # With each of its connections.
                agent.ask(Ledger().open())
                agent.ask(Ledger().revoke())
                master.client.execute_command("ACL", "SETUSER", "default", "-info")
                # A ledger may go by what it was told when it was opened.
                if agent.ask(ledger.open())[0] == "ok" and (reply := agent.ask(command))[0] != "failed":
                    return reply
            sys.exit(f"{language}: {reply}")

        def use(*wanted: str) -> None:
            # On a busy machine a replica may be late.
            for _ in range(20):
                reply = told(ledger.admit(used(new_id(), int(time.time()))))
                if reply == list(wanted):
                    return
            sys.exit(f"{language}: without INFO expected {list(wanted)}, found {reply}")

        reply = told(ledger.open())
        assert reply[4] == "2", reply
        time.sleep(TOLERANCE + 1.1)
        use("ok", "2", "unconfirmed")
        replica.follow(master.port)
        wait_until(lambda: master.client.execute_command("WAIT", 1, 100))
        use("ok", "2")
        agent.close()


def each(language: str, command: str) -> None:
    if not any(a_server_behind_one_connection(language, command) for _ in range(5)):
        sys.exit(f"{language}: connected anew each time, so this shows nothing")
    what_ended_is_confirmed(language, command)
    a_server_that_evicts_later(language, command)
    where_info_is_forbidden(language, command)
    print(
        f"replicas: {language}: another server behind one connection is seen, and what ended is confirmed", flush=True
    )


def main(commands: dict[str, str]) -> None:
    # They mostly wait.
    with ThreadPoolExecutor() as threads:
        list(threads.map(each, commands, commands.values()))


if __name__ == "__main__":
    main(languages(sys.argv[1:]))
