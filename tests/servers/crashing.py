"""A server that dies: its tool `crash` ends the process at once with the given exit code, after some last words.

`crashing.py` lives until then; `crashing.py SECONDS [CODE]` dies by itself that long after its start;
`crashing.py now [CODE]` dies before it has answered anything.
"""

import os
import sys
import threading

if sys.argv[1:2] == ["now"]:
    print("cannot start: the database is locked", file=sys.stderr, flush=True)
    os._exit(int(sys.argv[2]) if len(sys.argv) > 2 else 3)

from mcp.server import MCPServer

server = MCPServer("crashing")


def die(code: int) -> None:
    """End the process without any clean-up."""
    print(f"fatal: giving up with {code}", file=sys.stderr, flush=True)
    os._exit(code)


@server.tool()
def echo(text: str) -> str:
    """Give back the text."""
    return text


@server.tool()
def crash(code: int = 7) -> str:
    """End the server's process."""
    die(code)
    return "never"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        code = int(sys.argv[2]) if len(sys.argv) > 2 else 7
        timer = threading.Timer(float(sys.argv[1]), die, [code])
        timer.daemon = True
        timer.start()
    server.run("stdio")
