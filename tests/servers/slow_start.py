"""A server that takes its time: `slow_start.py SECONDS [chatty]` answers nothing before that (2 s without an argument).

With `chatty` it reports on stderr meanwhile, as a package runner does while it downloads.
"""

import sys
import time

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
end = time.monotonic() + seconds
while (left := end - time.monotonic()) > 0:
    if "chatty" in sys.argv:
        print(f"downloading, {left:.1f} s left", file=sys.stderr, flush=True)
    time.sleep(min(0.2, left))

from mcp.server import MCPServer  # noqa: E402 the waiting comes before all else

server = MCPServer("slow-start")


@server.tool()
def echo(text: str) -> str:
    """Give back the text."""
    return text


if __name__ == "__main__":
    server.run("stdio")
