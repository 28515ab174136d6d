"""JSON-RPC lines: encode, tolerant decode, and splitters that never hold more than they may."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ID = rb'"id"\s*:\s*(-?\d+|"[^"\\]*")\s*'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_HEAD_ID = re.compile(rb"^\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _ID + rb",")
_TAIL_ID = re.compile(rb",\s*" + _ID + rb"(?:,\s*" + _VERSION + rb")?\}\s*$")
_ID_WINDOW = 256
"""Bytes at either end of a message that is too large in which its id is looked for."""

_DIGITS_TO_ZERO = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_TWENTY_DIGITS = b"0" * 20
_BOM = b"\xef\xbb\xbf"


def encode(message: Mapping[str, Any]) -> bytes:
    """The message as one line, without the newline.

    Raises:
        TypeError, ValueError: something in it has no form in JSON.
    """
    try:
        return orjson.dumps(message)
    except TypeError:  # integers over 64 bits and lone surrogates: legal for us, not for orjson
        return json.dumps(message, separators=(",", ":")).encode()


def decode(line: bytes) -> Any:
    """What the line says. NaN, lone surrogates, bad UTF-8 and a byte order mark, which servers do send, are understood.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        value = orjson.loads(line)
    except ValueError:
        return _decode_leniently(line)
    # orjson reads integers over 64 bits as floats. They have 20 digits or more, and that is cheap to see.
    if _TWENTY_DIGITS in line.translate(_DIGITS_TO_ZERO):
        try:
            return json.loads(line)
        except RecursionError:
            return value
    return value


def _decode_leniently(line: bytes) -> Any:
    body = line.removeprefix(_BOM).lstrip()
    if body[:1] not in (b"{", b"["):
        raise ValueError("not JSON")
    try:
        return json.loads(body.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


class LineReader:
    """Cuts a byte stream into lines.

    A line over `limit` bytes is thrown away; only `on_too_big(id or None, size)` hears of it. The id is read from the
    message's head or tail, where servers put it.
    """

    def __init__(self, on_line: Callable[[bytes], None], on_too_big: Callable[[Any, int], None], limit: int) -> None:
        self._on_line = on_line
        self._on_too_big = on_too_big
        self.limit = limit
        self._parts: list[bytes] = []  # the unfinished line, joined once when its newline comes: never O(n^2)
        self._size = 0
        self._head: bytes | None = None  # the start of a line over the limit, while its rest is skipped

    def feed(self, data: bytes) -> None:
        """Take the next bytes; calls `on_line` for every line that they complete."""
        lines = data.split(b"\n")
        tail = lines.pop()
        if lines and self._parts:
            self._gather(lines[0])
            self._finish()
            del lines[0]
        for line in lines:
            if len(line) <= self.limit:
                self._on_line(line)
            else:
                self._gather(line)
                self._finish()
        if tail:
            self._gather(tail)

    def end(self) -> None:
        """The stream has ended: what is left is a line too."""
        if self._parts:
            self._finish()

    def _gather(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._head is not None:  # skipping: only the end is kept
            self._parts = [b"".join(self._parts)[-_ID_WINDOW:]]
        elif self._size > self.limit:
            seen = b"".join(self._parts)
            self._head, self._parts = seen[:_ID_WINDOW], [seen[-_ID_WINDOW:]]

    def _finish(self) -> None:
        line, size, head = b"".join(self._parts), self._size, self._head
        self._parts, self._size, self._head = [], 0, None
        if head is None:
            self._on_line(line)
        else:
            found = _HEAD_ID.match(head) or _TAIL_ID.search(line)
            self._on_too_big(orjson.loads(found[1]) if found else None, size)


class TextLines:
    """Cuts what a program prints into lines; a carriage return ends a line too, as progress bars use it.

    Empty lines are left out. A line that does not end is given out in pieces of `limit` bytes.
    """

    def __init__(self, on_line: Callable[[bytes], None], limit: int = 64 * 2**10) -> None:
        self._on_line = on_line
        self._limit = limit
        self._rest = b""

    @property
    def pending(self) -> bool:
        """Whether an unfinished line is held."""
        return bool(self._rest)

    def feed(self, data: bytes) -> None:
        """Take the next bytes; calls `on_line` for every line that they complete."""
        lines = (self._rest + data).splitlines(keepends=True)
        self._rest = lines.pop() if lines and not lines[-1].endswith((b"\n", b"\r")) else b""
        for line in lines:
            if text := line.rstrip(b"\r\n"):
                self._on_line(text)
        while len(self._rest) >= self._limit:
            self._on_line(self._rest[: self._limit])
            self._rest = self._rest[self._limit :]

    def flush(self) -> None:
        """Give out the unfinished line as it is: the program ended, or waits (a prompt has no newline)."""
        if self._rest:
            line, self._rest = self._rest, b""
            self._on_line(line)
