"""A real MCP server in this process, whose tools take all kinds of arguments and give all kinds of answers."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "state": {"enum": ["open", "closed", "all"]},
        "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        "filters": {
            "type": "array",
            "items": {"type": "object", "properties": {"field": {"type": "string"}, "value": {"type": "string"}}},
        },
        "sort": {"anyOf": [{"enum": ["updated", "created", "comments"]}, {"type": "null"}], "default": None},
        "since": {"type": ["string", "null"], "format": "date"},
    },
    "required": ["query"],
}
ISSUES = [
    ("#4812", "Crash on start when config.toml is empty", "open", "2 h ago"),
    ("#4790", "Segfault on start under Wayland", "open", "1 day ago"),
    ("#4755", "Start fails: locale not found", "open", "3 days ago"),
    ("#4731", "Crash on start after update to 2.4", "open", "5 days ago"),
    ("#4698", "App exits on start without a tray", "open", "1 week ago"),
]
FOUND = [dict(zip(("Issue", "Title", "State", "Updated"), issue, strict=True)) for issue in ISSUES]


def png(width: int, height: int) -> bytes:
    """A blue picture of that size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x2f\x6f\xeb" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


CONTENT = [
    {"type": "text", "text": "first <b>not bold</b>"},
    {"type": "image", "data": base64.b64encode(png(64, 32)).decode(), "mimeType": "image/png"},
    {"type": "image", "data": "not base64!!", "mimeType": "image/png"},
    {"type": "image", "data": base64.b64encode(b"<svg/>").decode(), "mimeType": "image/png"},
    {"type": "audio", "data": base64.b64encode(b"RIFF" + bytes(60_000)).decode(), "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///tmp/../etc/report.pdf", "name": "report", "mimeType": "application/pdf"},
    {"type": "resource", "resource": {"uri": "mem://notes", "mimeType": "text/plain", "text": "embedded"}},
    {
        "type": "resource",
        "resource": {
            "uri": "mem://a/r.pdf",
            "mimeType": "application/pdf",
            "blob": base64.b64encode(b"%PDF-1.4").decode(),
        },
    },
    {"type": "text", "text": "last"},
]
ANYTHING = {"type": "object"}
ADD = {"type": "object", "properties": {k: {"type": "number"} for k in "ab"}, "required": ["a", "b"]}


class ToolServer:
    """The server, and what its tests steer: `go_on` lets the slow tool end, `calls` is what arrived."""

    def __init__(self, name: str = "github", more: dict[str, Any] | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.go_on = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.waiting = asyncio.Event()
        self.schemas: dict[str, Any] = {
            "search_issues": SEARCH,
            "echo": ANYTHING,
            "add": ADD,
            "multiply": ADD,
            "slow": ANYTHING,
            "content": ANYTHING,
            "says_no": ANYTHING,
            "breaks": ANYTHING,
            "long_text": ANYTHING,
            **(more or {}),
        }
        self.server = Server(name, on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, _context: Any, _params: Any) -> types.ListToolsResult:
        about = {"search_issues": "Find issues and pull requests by words and filters. Reads only; changes nothing."}
        tools = [
            types.Tool(name=name, description=about.get(name, f"The tool {name}"), input_schema=schema)
            for name, schema in self.schemas.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        self.calls.append((params.name, arguments))
        answers: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
            "search_issues": self._search,
            "slow": lambda: self._slow(context),
            "content": _content,
            "says_no": _says_no,
            "breaks": _breaks,
            "long_text": _long_text,
        }
        answer = answers.get(params.name)
        given = await answer() if answer else _text(json.dumps(arguments))
        return types.CallToolResult.model_validate(given)

    async def _search(self) -> dict[str, Any]:
        return {**_text(json.dumps({"issues": FOUND})), "structuredContent": {"issues": FOUND}}

    async def _slow(self, context: Any) -> dict[str, Any]:
        await context.session.report_progress(62, 100, "Searching repository 3 of 5…")
        self.waiting.set()
        try:
            await self.go_on.wait()
        except BaseException:
            self.cancelled.set()
            raise
        return _text("done")


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


async def _content() -> dict[str, Any]:
    return {"content": CONTENT}


async def _says_no() -> dict[str, Any]:
    return {**_text("no such issue"), "isError": True}


async def _breaks() -> dict[str, Any]:
    raise MCPError(-32042, "the index is gone", {"index": "main"})


async def _long_text() -> dict[str, Any]:
    return _text("x" * 99 + "\n" + "line\n" * 60_000)
