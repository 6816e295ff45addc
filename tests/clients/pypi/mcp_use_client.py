import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, errand, of
from mcp_use import MCPClient


async def main() -> None:
    server = {"url": URL} if URL else {"command": COMMAND, "args": ARGUMENTS, "env": ENV}
    client = MCPClient.from_dict({"mcpServers": {"it": server}})
    session = await client.create_session("it")

    await errand(of(session, lambda _cursor: session.list_resources()))
    await client.close_all_sessions()


asyncio.run(main())
