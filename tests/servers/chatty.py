"""A server that talks too much: lines that are no protocol on stdout, and a flood with odd bytes on stderr.

`chatty.py [LINES]` writes that many stderr lines at its start (1000 without an argument).
"""

import os
import sys

from mcp.server import MCPServer

server = MCPServer("chatty")


def noise(lines: int) -> None:
    """Write straight to the descriptors: the SDK keeps the protocol's stdout for itself."""
    os.write(STDOUT, b"Server starting on stdio...\n\n{not json}\n")
    os.write(2, b"".join(b"stderr line %d\n" % number for number in range(lines)))
    os.write(2, b"not utf-8: \xff\xfe \xe4\n")


@server.tool()
def echo(text: str) -> str:
    """Give back the text, with some noise before it."""
    noise(10)
    return text


@server.tool()
def secret_word(word: str) -> str:
    """Write the word to stderr, as careless servers do with tokens."""
    print(f"Authorization: Bearer {word}", file=sys.stderr, flush=True)
    return "written"


if __name__ == "__main__":
    STDOUT = os.dup(1)
    noise(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    server.run("stdio")
