"""Bounded memories of a server's log and traffic: the oldest entries make room for the newest."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import islice
from typing import Generic, TypeVar

from mcp_patchbay.domain.placeholders import redact
from mcp_patchbay.domain.records import LogLine, TrafficEntry

T = TypeVar("T")

LOG_LINES = 20_000
LOG_BYTES = 8 * 2**20
LONGEST_LINE = 64 * 2**10
TRAFFIC_ENTRIES = 10_000
TRAFFIC_BYTES = 32 * 2**20
LARGEST_ENTRY = 8 * 2**20
"""How much is kept: lines or entries, and bytes. What is larger than the last of each is cut, and says so."""


class Ring(Generic[T]):
    """Keeps the newest items, at most `max_items` of them and at most `max_bytes` by the sizes given for them.

    Every item has an index that never changes: the first one ever appended is 0.
    """

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._kept: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._total = 0

    @property
    def total(self) -> int:
        """How many items were ever appended; the index that the next one gets."""
        return self._total

    @property
    def first(self) -> int:
        """The index of the oldest item that is kept; `total` when there is none."""
        return self._total - len(self._kept)

    @property
    def size(self) -> int:
        """The bytes that are kept."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._kept)

    def append(self, item: T, size: int) -> None:
        """Add an item of `size` bytes, and drop the oldest until all is within bounds again."""
        self._kept.append((item, size))
        self._bytes += size
        self._total += 1
        while len(self._kept) > self._max_items or self._bytes > self._max_bytes:
            self._bytes -= self._kept.popleft()[1]

    def read(self, start: int, stop: int | None = None) -> list[T]:
        """The items from index `start` up to, not including, `stop` (None: the end), as far as they are kept."""
        first = self.first
        begin = max(0, start - first)
        end = len(self._kept) if stop is None else max(begin, stop - first)
        return [item for item, _ in islice(self._kept, begin, end)]

    def clear(self) -> None:
        """Forget what is kept. Indexes go on counting."""
        self._kept.clear()
        self._bytes = 0


class LogRing(Ring[LogLine]):
    """A server's log."""

    def __init__(self, max_items: int = LOG_LINES, max_bytes: int = LOG_BYTES) -> None:
        super().__init__(max_items, max_bytes)
        self.masks: tuple[str, ...] = ()

    def read(self, start: int, stop: int | None = None) -> list[LogLine]:
        """As `Ring.read`, with the secrets in `masks` hidden: kept raw, so that recording costs nothing."""
        lines = super().read(start, stop)
        return [replace(line, raw=redact(line.raw, self.masks)) for line in lines] if self.masks else lines

    def append(self, item: LogLine, size: int | None = None) -> None:
        """Add a line; one over `LONGEST_LINE` bytes is cut. `size` defaults to the bytes of the line."""
        item = replace(item, raw=cut(item.raw, LONGEST_LINE)) if len(item.raw) > LONGEST_LINE else item
        super().append(item, len(item.raw) if size is None else size)


class TrafficRing(Ring[TrafficEntry]):
    """A server's JSON-RPC messages, both ways."""

    def __init__(self, max_items: int = TRAFFIC_ENTRIES, max_bytes: int = TRAFFIC_BYTES) -> None:
        super().__init__(max_items, max_bytes)
        self.masks: tuple[str, ...] = ()

    def read(self, start: int, stop: int | None = None) -> list[TrafficEntry]:
        """As `LogRing.read`."""
        entries = super().read(start, stop)
        return [replace(entry, raw=redact(entry.raw, self.masks)) for entry in entries] if self.masks else entries

    def append(self, item: TrafficEntry, size: int | None = None) -> None:
        """Add a message; one over `LARGEST_ENTRY` bytes is cut. `size` defaults to the bytes of the message."""
        item = replace(item, raw=cut(item.raw, LARGEST_ENTRY)) if len(item.raw) > LARGEST_ENTRY else item
        super().append(item, item.size if size is None else size)


def cut(raw: bytes, limit: int) -> bytes:
    """The first `limit` bytes and a note of how many there were. Never splits a UTF-8 character in two."""
    end = limit
    while end > limit - 4 and raw[end] & 0xC0 == 0x80:
        end -= 1
    return raw[:end] + b" ... (cut: %d bytes in all)" % len(raw)
