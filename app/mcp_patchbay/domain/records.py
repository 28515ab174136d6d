"""What is kept of a server's talk: log lines, JSON-RPC traffic and calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LogSource = Literal["stderr", "stdout", "server", "patchbay"]
Direction = Literal["in", "out"]
Outcome = Literal["", "ok", "tool_error", "error", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a server's log.

    `source` is "stderr", "stdout" (stray output, not protocol), "server" (an MCP log message) or "patchbay" (ours);
    `level` is one of MCP's (RFC 5424) levels; `time` is Unix seconds; `raw` the bytes as they came.
    """

    time: float
    source: LogSource
    level: str
    raw: bytes

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "replace").rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class TrafficEntry:
    """One JSON-RPC message: when (Unix seconds), which way, and the bytes as they went, without the newline."""

    time: float
    direction: Direction
    raw: bytes

    @property
    def size(self) -> int:
        return len(self.raw)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, for counts and listeners. `seconds` and `outcome` are there once it has ended."""

    id: int
    server: str
    tool: str
    started: float
    seconds: float | None = None
    outcome: Outcome = ""
