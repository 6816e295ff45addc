import asyncio

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from errand import ARGUMENTS, COMMAND, ENV, URL, errand, of


async def main() -> None:
    stdio = {"command": COMMAND, "args": ARGUMENTS, "env": ENV}
    async with MCPServerStreamableHttp({"url": URL}) if URL else MCPServerStdio(stdio) as server:
        await errand(of(server))


asyncio.run(main())
