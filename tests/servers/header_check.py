"""A server behind a key: `header_check.py http|sse PORT TOKEN` answers 401 unless Authorization is `Bearer TOKEN`.

Without TOKEN the key is `let-me-in`. The URL is printed on stdout.
"""

import hmac
import sys
from pathlib import Path

from mcp.server import MCPServer

sys.path.insert(0, str(Path(__file__).parent))
from serving import PATHS, serve_app

server = MCPServer("header-check")


@server.tool()
def whoami() -> str:
    """Say that the key was right."""
    return "someone with the key"


class KeyCheck:
    """ASGI middleware: 401 for a request without the key."""

    def __init__(self, app, token: str) -> None:
        self.app = app
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self.expected):
                headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"the key is wrong"})
                return
        await self.app(scope, receive, send)


if __name__ == "__main__":
    kind = sys.argv[1]
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    token = sys.argv[3] if len(sys.argv) > 3 else "let-me-in"
    app = server.streamable_http_app() if kind == "http" else server.sse_app()
    serve_app(KeyCheck(app, token), PATHS[kind], port)
