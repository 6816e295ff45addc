"""The errand of each client: all that it can do at the server of notes, and calls in one session at the counter."""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

_kind, *_where = sys.argv[1:]
#: Where the server is, as the command line has it: `http URL` or `stdio COMMAND...`.
URL = _where[0] if _kind == "http" else None
COMMAND, *ARGUMENTS = _where
ENV = {"SEALWAX_KEYS": os.environ["SEALWAX_KEYS"]}


@dataclass
class Client:
    """The abilities of a client; a page is its uris, and the cursor of the next."""

    tools: Callable[[], Awaitable[list[str]]]
    call: Callable[[str, dict[str, Any]], Awaitable[str]]
    resources: Callable[[str | None], Awaitable[tuple[list[str], str | None]]] | None = None
    read: Callable[[str], Awaitable[str]] | None = None


async def errand(client: Client) -> None:
    """Do it, and print what the client saw as JSON."""
    seen: dict[str, Any] = {"tools": await client.tools()}
    if "count" in seen["tools"]:
        # The tool needs a session of another kind, which only our own helper has.
        try:
            seen["refused"] = await client.call("count", {})
        except Exception as error:
            seen["refused"] = str(error)
        seen["again"] = await client.tools()
    else:
        basket = json.loads(await client.call("new_basket", {}))["basket"]
        seen["items"] = json.loads(await client.call("add_to_basket", {"basket": basket, "item": "milk"}))["items"]
        if client.resources:
            uris, cursor = await client.resources(None)
            seen["pages"] = [len(uris)]
            while cursor is not None:
                uris, cursor = await client.resources(cursor)
                seen["pages"].append(len(uris))
        if client.read:
            seen["text"] = await client.read("note:///7")
    print(f"SEEN {json.dumps(seen)}", flush=True)


def text_of(result: Any) -> str:
    return next(part.text for part in result.content if part.type == "text")
