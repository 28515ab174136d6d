"""The server for filters: tools allowed-tool, pattern-a, pattern-b, blocked-tool and other; prompts of the same names.

`two_tools.py` speaks stdio; `two_tools.py http PORT` and `two_tools.py sse PORT` print their URL.
"""

import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.prompts import Prompt

sys.path.insert(0, str(Path(__file__).parent))
from serving import serve

NAMES = ("allowed-tool", "pattern-a", "pattern-b", "blocked-tool", "other")
server = MCPServer("two-tools")


def answer(name: str):
    """A function that says its tool's or prompt's name."""

    def say(text: str = "") -> str:
        return f"{name} {text}".rstrip()

    return say


for name in NAMES:
    server.add_tool(answer(name), name=name)  # without a description: the client has to find one
    server.add_prompt(Prompt.from_function(answer(name), name=name, description=f"The prompt {name}"))

if __name__ == "__main__":
    serve(server)
