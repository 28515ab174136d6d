"""A server that does everything right: tools, prompts, resources, progress, structured results and list_changed.

`good.py` speaks stdio; `good.py http PORT` and `good.py sse PORT` print their URL (PORT 0 takes a free one).
"""

import asyncio
import struct
import sys
import zlib
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).parent))
from serving import serve

server = MCPServer("good", title="A good server", version="1.2.3", instructions="Call echo to hear yourself.")


@server.tool()
def echo(text: str) -> str:
    """Give back the text."""
    return text


@server.tool()
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@server.tool()
async def slow(ctx: Context, seconds: float = 1.0, steps: int = 10) -> str:
    """Take some seconds, with a progress report for each step."""
    for step in range(steps):
        await asyncio.sleep(seconds / steps)
        await ctx.report_progress(step + 1, steps, f"step {step + 1} of {steps}")
    return f"slept {seconds:g} s"


@server.tool()
def image() -> Image:
    """A small red square."""
    return Image(data=_red_square(16), format="png")


class Weather(BaseModel):
    """What `structured` gives."""

    city: str
    degrees: float
    sunny: bool


@server.tool()
def structured(city: str) -> Weather:
    """The weather of a city, as structured content."""
    return Weather(city=city, degrees=21.5, sunny=True)


@server.tool()
def fail(reason: str = "as asked") -> str:
    """Answer with an error."""
    raise ToolError(f"This tool fails: {reason}")


@server.tool()
async def grow(ctx: Context, name: str = "grown") -> str:
    """Add a tool of that name and say that the list changed."""

    def grown() -> str:
        """A tool that was added while the server ran."""
        return name

    server.add_tool(grown, name=name)
    await _tools_changed(ctx)
    return f"added {name}"


@server.tool()
async def shrink(ctx: Context, name: str = "grown") -> str:
    """Take a tool away and say that the list changed."""
    server.remove_tool(name)
    await _tools_changed(ctx)
    return f"removed {name}"


@server.tool()
async def headers(ctx: Context) -> list[str]:
    """The names of the HTTP headers of this request, in lower case; over stdio there are none."""
    return sorted(name.lower() for name in ctx.headers or {})


@server.prompt()
def greet(name: str, style: str = "friendly") -> str:
    """Ask for a greeting."""
    return f"Write a {style} greeting for {name}."


@server.resource("memo://welcome", title="Welcome", mime_type="text/plain")
def welcome() -> str:
    """A short text."""
    return "Welcome to the good server."


@server.resource("memo://square", mime_type="image/png")
def square() -> bytes:
    """The red square as a resource."""
    return _red_square(16)


@server.resource("memo://greeting/{name}", title="Greeting")
def greeting(name: str) -> str:
    """A greeting for anyone."""
    return f"Hello, {name}!"


async def _tools_changed(ctx: Context) -> None:
    """Tell listeners of both protocol eras."""
    await ctx.notify_tools_changed()
    if (ctx.protocol_version or "") < "2026":
        await ctx.session.send_tool_list_changed()


def _red_square(size: int) -> bytes:
    """A PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = (b"\0" + b"\xe0\x20\x30" * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


if __name__ == "__main__":
    serve(server)
