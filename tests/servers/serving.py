"""How a sample server takes its arguments: nothing for stdio, `http PORT` or `sse PORT` for a URL (0: a free port)."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    from mcp.server import MCPServer

PATHS = {"http": "/mcp", "sse": "/sse"}


def serve(server: MCPServer[Any], arguments: list[str] | None = None) -> None:
    """Serve as the arguments say, until the process ends."""
    kind, *rest = (sys.argv[1:] if arguments is None else arguments) or ["stdio"]
    if kind == "stdio":
        server.run("stdio")
        return
    app = server.streamable_http_app() if kind == "http" else server.sse_app()
    serve_app(app, PATHS[kind], int(rest[0]) if rest else 0)


def serve_app(app: Any, path: str, port: int) -> None:
    """Serve an ASGI app on 127.0.0.1; its URL is printed on stdout as soon as it can be reached."""
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
