"""Reading and writing one file."""

from __future__ import annotations

import os
import secrets
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from mcp_patchbay.builtin.filesystem.folders import FileError, Place, opened, reached

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_LIMIT = 1024 * 1024
"""Bytes of one plain read."""
LINES_LIMIT = 8 * READ_LIMIT
"""Bytes of one read of the first or last lines."""
CHUNK = 64 * 1024
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_text(place: Place) -> str:
    """A file's text, at most `READ_LIMIT` bytes of it; a note at the end says when there is more.

    Raises:
        FileError: no regular file, or not text.
        OSError: it cannot be read.
    """
    with opened(place) as file:
        raw = file.read(READ_LIMIT)
        size = max(os.fstat(file.fileno()).st_size, len(raw))
    text = decoded(raw, place)
    if size > len(raw):
        text += (
            f"\n\n[Cut: these are the first {len(raw):,} of {size:,} bytes. "
            "Use head or tail to read the first or last lines.]"
        )
    return text


def read_head(place: Place, count: int) -> str:
    """The first `count` lines of a file, at most `LINES_LIMIT` bytes. Raises as `read_text` does."""
    lines: list[bytes] = []
    size = 0
    with opened(place) as file:
        while len(lines) < count and size < LINES_LIMIT and (line := file.readline(LINES_LIMIT - size)):
            lines.append(line)
            size += len(line)
    note = _lines_note() if size >= LINES_LIMIT else ""
    return decoded(b"".join(lines), place).removesuffix("\n") + note


def read_tail(place: Place, count: int) -> str:
    """The last `count` lines of a file, at most `LINES_LIMIT` bytes. Raises as `read_text` does."""
    with opened(place) as file:
        end = position = file.seek(0, os.SEEK_END)
        start, newlines, chunks = max(0, end - LINES_LIMIT), 0, []
        while position > start and newlines <= count:
            step = min(CHUNK, position - start)
            position -= step
            file.seek(position)
            chunks.append(file.read(step))
            newlines += chunks[-1].count(b"\n")
    lines = b"".join(reversed(chunks)).replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    note = _lines_note() if position == start > 0 and len(lines) <= count else ""
    return decoded(b"\n".join(lines[-count:]), place) + note


def _lines_note() -> str:
    return f"\n\n[Cut: the lines are longer than {LINES_LIMIT:,} bytes together.]"


def read_exactly(place: Place, limit: int) -> str:
    """A file's whole text, newlines as they are, to be changed and written back.

    Raises:
        FileError: it is longer than `limit` bytes, or not UTF-8, so that writing it back would damage it.
        OSError: it cannot be read.
    """
    with opened(place) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise FileError(f"{place.path} is too big to edit: more than {limit:,} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{place.path} is not UTF-8 text, so it cannot be edited") from None


def decoded(raw: bytes, place: Place) -> str:
    """The text of a file's bytes: UTF-8, or UTF-16 with its mark; bytes that are neither are replaced.

    Raises:
        FileError: the bytes are no text.
    """
    encoding = next((name for bom, name in BOMS.items() if raw.startswith(bom)), "utf-8")
    if encoding != "utf-16" and b"\0" in raw:
        raise FileError(f"{place.path} is a binary file, not text")
    return raw.decode(encoding, "replace").replace("\r\n", "\n")


def write_text(place: Place, text: str) -> None:
    """Create or replace a file, all at once: whoever reads it sees the old text or the new one. Its mode stays.

    Raises:
        FileError: a folder or a device is in the way.
        OSError: it cannot be written.
    """
    if not place.parts:
        raise FileError(f"{place.path} is a folder, not a file")
    with reached(place) as (name, folder):
        mode = _mode_of(name, folder, place)
        with _temporary(name, folder) as (temporary, file):
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            file.close()
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _mode_of(name: str, folder: int | None, place: Place) -> int | None:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise FileError(f"{place.path} is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}, not a file")
    return stat.S_IMODE(mode)


@contextmanager
def _temporary(name: str, folder: int | None) -> Iterator[tuple[str, BinaryIO]]:
    """A new file beside `name`; it is removed unless it was renamed away."""
    head, tail = os.path.split(name)
    temporary = os.path.join(head, f".{tail[:100]}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(temporary, flags, 0o666, dir_fd=folder), "wb")
    try:
        yield temporary, file
    finally:
        file.close()
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def move(source: Place, destination: Place) -> None:
    """Rename a file or folder, or move it into another folder; never onto something that is there.

    Raises:
        FileError: the destination exists, or one of the two is an allowed folder itself.
        OSError: it cannot be moved.
    """
    if not source.parts:
        raise FileError(f"{source.path} is an allowed folder itself and cannot be moved")
    with reached(source) as (old, old_folder), reached(destination) as (new, new_folder):
        os.stat(old, dir_fd=old_folder, follow_symlinks=False)
        try:
            os.stat(new, dir_fd=new_folder, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(old, new, src_dir_fd=old_folder, dst_dir_fd=new_folder)
        else:
            raise FileError(f"Destination already exists: {destination.path}")


def describe(place: Place) -> dict[str, object]:
    """Size in bytes, times, kind and permissions of a file or folder.

    Raises:
        OSError: it is not there.
    """
    with reached(place) as (name, folder):
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    created = getattr(info, "st_birthtime", info.st_ctime if os.name == "nt" else None)
    facts: dict[str, object] = {"size": info.st_size}
    if created is not None:
        facts["created"] = _moment(created)
    return facts | {
        "modified": _moment(info.st_mtime),
        "accessed": _moment(info.st_atime),
        "isDirectory": stat.S_ISDIR(info.st_mode),
        "isFile": stat.S_ISREG(info.st_mode),
        "permissions": f"{stat.S_IMODE(info.st_mode):03o}",
    }


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(seconds))
