"""The main job in one language: two replicas of a server, an official client, and someone who copies its state.

quickstart.py                   # with the Python that has the packages installed
"""

from __future__ import annotations

import json
import subprocess
import sys

from fleet import Client, Fleet, bearer
from servers import post
from story import bold, faint

SEALWAX = f"{sys.executable} -m sealwax"
SERVER = f"{sys.executable} examples/notes.py"
CLIENT = f"{sys.executable} examples/demo/conversation.py"


def tell() -> None:
    print(bold("\nTwo replicas of examples/notes.py, one key, no store: each request goes to the next of them\n"))
    fleet = Fleet(SEALWAX, {"replica 1": SERVER, "replica 2": SERVER})
    with fleet.running:
        alice = Client("the Python client", CLIENT, fleet.proxy.url, "alice")
        fleet.by.clear()
        asked = alice.call("delete_note", id=7)
        fleet.told("alice deletes a note: the server asks back", asked == {"asked": "Delete note 7?"}, asked)
        done = alice.answer({"confirm": True})
        fleet.told("her answer brings the sealed state: it is deleted", done["text"] == "note 7 deleted", done)
        alice.end()

        path, headers, body = fleet.proxy.last_call
        call = json.loads(body)
        state = call["params"]["requestState"]
        print(bold("\nWhat her client carried\n"))
        print(faint(f"  {state[:100]}… ({len(state)} characters)"))
        inspect = subprocess.run([*SEALWAX.split(), "inspect", state], capture_output=True, text=True, check=True)
        print("  " + inspect.stdout.strip().replace("\n", "\n  "))

        print(bold("\nThe same call, sent again by hand\n"))
        attempts = [
            ("by mallory, who has a login of her own", {"authorization": f"Bearer {bearer('mallory')}"}, {}),
            ("for another note", {}, {"arguments": {"id": 8}}),
            ("with one character of the state changed", {}, {"requestState": state[:-1] + swapped(state[-1])}),
        ]
        for what, header, change in attempts:
            message = {**call, "params": {**call["params"], **change}}
            sent = {**{name.lower(): value for name, value in headers.items()}, **header}
            answer = post(fleet.proxy.url, path, sent, message)
            refused = answer.get("error", {}).get("code") == -32602
            fleet.told(f"{what}: refused", refused, answer)
        print(
            faint(
                f"\n  The client is told, each time: {answer['error']['message']}. The reason is in the server's log."
            )
        )


def swapped(character: str) -> str:
    """Return another character that decodes: the last one of a token holds few bits."""
    return "A" if character != "A" else "Q"


if __name__ == "__main__":
    tell()
