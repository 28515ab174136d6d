"""A kit for servers that break one rule of HTTP or MCP: raw asyncio, so that nothing puts it right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

VERSION = "2025-06-18"
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]


@dataclass
class Request:
    """One request as it came. Header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message of a POST."""
        return json.loads(self.body) if self.body else {}


@dataclass
class Reply:
    """One answer: a status with a body. `raw` is written as it stands in the place of all that."""

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    def encoded(self) -> bytes:
        if self.raw is not None:
            return self.raw
        lines = [f"HTTP/1.1 {self.status} {self.status}", f"Content-Length: {len(self.body)}"]
        lines += [f"Content-Type: {self.kind}"] if self.body else []
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


Handler = Callable[[Request], Awaitable[Reply | AsyncIterator[bytes]]]


def rpc(message: dict[str, Any], **headers: str) -> Reply:
    """The answer of a plain, well-behaved server of the older era to one message."""
    method, request_id = message.get("method"), message.get("id")
    if request_id is None:
        return Reply(202)
    results: dict[Any, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "0"},
        },
        "tools/list": {"tools": TOOLS},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(message.get("params", {}).get("arguments"))}]},
        "ping": {},
    }
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
    if method in results:
        answer["result"] = results[method]
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    return Reply(body=json.dumps(answer).encode(), headers={name.replace("_", "-"): v for name, v in headers.items()})


class OddServer:
    """Serves a handler. A handler that gives an iterator streams server-sent events.

    Attributes:
        requests: all that came, in order.
    """

    def __init__(self, handler: Handler) -> None:
        self.requests: list[Request] = []
        self._handler = handler
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def count(self, method: str) -> int:
        """How many requests of an HTTP method came."""
        return sum(request.method == method for request in self.requests)

    async def stop(self) -> None:
        """Be gone like a killed process: nothing listens, open connections are reset."""
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    await self._exchange(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._tasks.discard(task)
            self._writers.discard(writer)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(method, target, headers, body)
        self.requests.append(request)
        reply = await self._handler(request)
        if isinstance(reply, Reply):
            writer.write(reply.encoded())
            await writer.drain()
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        async for event in reply:
            writer.write(event)
            await writer.drain()
        raise ConnectionResetError  # the stream is over: hang up


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[OddServer]:
    """A server with this handler, for as long as the block lasts."""
    server = OddServer(handler)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


class SseServer:
    """An SSE server of the old kind. `endpoint` is what it announces; None: nothing, ever."""

    def __init__(self, endpoint: str | None) -> None:
        self.endpoint = endpoint
        self.outbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.post_reply = Reply(202)
        self.tool_text = ""

    async def __call__(self, request: Request) -> Reply | AsyncIterator[bytes]:
        if request.method == "GET":
            return self._events()
        if request.message.get("method") == "tools/call" and self.post_reply.status != 202:
            return self.post_reply
        answer = rpc(request.message).body
        if request.message.get("method") == "tools/call" and self.tool_text:
            result = {"content": [{"type": "text", "text": self.tool_text}]}
            answer = json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": result}).encode()
        if answer:
            self.outbox.put_nowait(answer)
        return Reply(202)

    async def _events(self) -> AsyncIterator[bytes]:
        if self.endpoint is not None:
            yield f"event: endpoint\r\ndata: {self.endpoint}\r\n\r\n".encode()
        while (data := await self.outbox.get()) is not None:
            yield b"event: message\r\ndata: " + data + b"\r\n\r\n"
