"""A server of the newer era (2026-07-28), written with the SDK: tools, progress, input rounds and list changes."""

import asyncio
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("subscriber", version="1.0")


class Name(BaseModel):
    """What `greet` asks for."""

    name: str


@server.tool()
def echo(text: str) -> str:
    """Give back the text."""
    return text


@server.tool()
async def count(to: int, ctx: Context) -> int:
    """Count with progress."""
    for number in range(to):
        await ctx.report_progress(number + 1, to, f"number {number + 1}")
    return to


def who() -> Elicit[Name]:
    return Elicit("Who are you?", Name)


@server.tool(structured_output=False)
async def greet(person: Annotated[Name, Resolve(who)]) -> str:
    """Ask for a name, then greet."""
    return f"Hello {person.name}"


@server.tool(structured_output=False)
async def wait_for_ever() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return ""


@server.tool(structured_output=False)
async def grow(name: str, ctx: Context) -> str:
    """Add a tool, and say that the list has changed."""
    server.add_tool(lambda: name, name=name, description="grown")
    await ctx.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    server.run("stdio")
