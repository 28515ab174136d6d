"""The server that waits: `wait` never answers; `withdrawn` answers as soon as a `wait` was cancelled.

`patient.py` speaks stdio; `patient.py http PORT` and `patient.py sse PORT` print their URL.
"""

import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

sys.path.insert(0, str(Path(__file__).parent))
from serving import serve

server = MCPServer("patient")
cancelled = anyio.Event()


@server.tool()
async def wait(ctx: Context) -> str:
    """Report progress once, and wait for ever."""
    await ctx.report_progress(0, 1)
    try:
        await anyio.sleep_forever()
    finally:
        cancelled.set()
    return ""


@server.tool()
async def withdrawn() -> str:
    """Answer once a `wait` was cancelled."""
    await cancelled.wait()
    return "cancelled"


if __name__ == "__main__":
    serve(server)
