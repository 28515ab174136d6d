"""The calls a person made by hand, kept over restarts as JSON Lines: one call a line, the newest last.

Arguments and results may be private, so the file is for its user alone (0600) and can be cleared.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, get_args

from mcp_patchbay.stores.json_file import locked, write_atomically
from mcp_patchbay.stores.paths import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)

Outcome = Literal["ok", "tool_error", "protocol", "timeout", "not_connected", "blocked", "cancelled", "failed"]
OUTCOMES: frozenset[str] = frozenset(get_args(Outcome))
MAX_CALLS = 500
MAX_RESULT = 64 * 1024
"""Bytes of a result's JSON above which a call is kept without it."""
MAX_FILE = 8 * 1024 * 1024
"""Bytes above which the file is cut down to its newest calls."""


@dataclass(frozen=True, slots=True)
class PastCall:
    """One call that ended.

    Attributes:
        at: when it began, in Unix seconds.
        seconds: how long it took.
        note: in a few words, how it failed, such as a JSON-RPC error's code.
        result: the MCP result as it came; None when there was none or it was too large to keep.
    """

    at: float
    server: str
    tool: str
    arguments: dict[str, Any] = field(repr=False)
    outcome: Outcome
    seconds: float
    note: str = ""
    result: dict[str, Any] | None = field(default=None, repr=False)


class HistoryStore:
    """The calls on disk. Its methods work in a thread; a failing disk is logged and costs the history only."""

    def __init__(self, path: Path, *, max_calls: int = MAX_CALLS, max_file: int = MAX_FILE) -> None:
        self.path = path
        self._max_calls = max_calls
        self._max_file = max_file
        self._guard = threading.Lock()

    async def load(self) -> list[PastCall]:
        """The calls, newest first. Lines that cannot be understood are passed over."""
        return await asyncio.to_thread(self._load)

    async def add(self, call: PastCall) -> None:
        """Keep one more call; the oldest go when there are too many."""
        await asyncio.to_thread(self._guarded, lambda: self._append(call))

    async def clear(self) -> None:
        """Forget all calls."""
        await asyncio.to_thread(self._guarded, self._remove)

    def _load(self) -> list[PastCall]:
        with self._guard:
            try:
                lines = self.path.read_bytes().splitlines()
            except FileNotFoundError:
                return []
            except OSError as error:
                log.warning("the call history could not be read: %s", error)
                return []
        calls = [call for line in lines if (call := _read(line)) is not None]
        return calls[: -self._max_calls - 1 : -1]

    def _guarded(self, change: Callable[[], None]) -> None:
        with self._guard:
            try:
                make_private_folder(self.path.parent)
                with locked(self.path):
                    change()
            except OSError as error:
                log.warning("the call history could not be written: %s", error)

    def _append(self, call: PastCall) -> None:
        line = _written(call)
        with open(os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size and _last_byte(stream) != b"\n":  # a crash tore the last line: begin a new one
                line = b"\n" + line
            stream.write(line)
            stream.flush()
            lines = _count_lines(stream)
        if lines > 2 * self._max_calls or size + len(line) > self._max_file:
            self._shorten()

    def _shorten(self) -> None:
        """Keep the newest calls, and at most half of the size that is allowed."""
        kept: list[bytes] = []
        room = self._max_file // 2
        for line in reversed(self.path.read_bytes().splitlines()):
            room -= len(line) + 1
            if len(kept) == self._max_calls or (room < 0 and kept):
                break
            kept.append(line)
        write_atomically(self.path, b"".join(line + b"\n" for line in reversed(kept)))

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _written(call: PastCall) -> bytes:
    entry = asdict(call)
    if entry["result"] is not None and len(json.dumps(entry["result"])) > MAX_RESULT:
        entry["result"] = None
    return json.dumps(entry).encode() + b"\n"


def _read(line: bytes) -> PastCall | None:
    try:
        entry = json.loads(line)
        call = PastCall(**entry)
    except (ValueError, TypeError, RecursionError):
        return None
    texts = (call.server, call.tool, call.note)
    numbers = (call.at, call.seconds)
    if (
        call.outcome in OUTCOMES
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int | float) for number in numbers)
        and isinstance(call.arguments, dict)
        and (call.result is None or isinstance(call.result, dict))
    ):
        return call
    return None


def _last_byte(stream: BinaryIO) -> bytes:
    stream.seek(-1, os.SEEK_END)
    return bytes(stream.read(1))


def _count_lines(stream: BinaryIO) -> int:
    stream.seek(0)
    return sum(1 for _line in stream)
