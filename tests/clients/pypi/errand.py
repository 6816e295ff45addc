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


def of(session: Any, list_resources: Callable[[str | None], Awaitable[Any]] | None = None) -> Client:
    """The abilities of a client with the methods of the SDK's session; some return lists in place of results."""

    async def tools() -> list[str]:
        found = await session.list_tools()
        return [tool.name for tool in getattr(found, "tools", found)]

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return text_of(await session.call_tool(name, arguments))

    async def page(cursor: str | None) -> tuple[list[str], str | None]:
        found = await (list_resources or session.list_resources)(cursor)
        uris = [str(it.uri) for it in getattr(found, "resources", found)]
        return uris, getattr(found, "next_cursor", getattr(found, "nextCursor", None))

    async def read(uri: str) -> str:
        found = await session.read_resource(uri)
        return getattr(found, "contents", found)[0].text

    return Client(tools, call, page, read)
