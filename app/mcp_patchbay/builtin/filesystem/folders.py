"""Which paths may be touched, and how to touch them without being led astray by a link.

A path is judged after all its links are resolved. On systems with directory descriptors it is then opened one part at a
time without following links, so that a link which is put there in between leads nowhere.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from mcp_patchbay.domain.errors import field_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPTION = "allowed_directories"
HAS_DIR_FD = os.open in os.supports_dir_fd
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
DIRECTORY = getattr(os, "O_DIRECTORY", 0) | NOFOLLOW
PASS_THROUGH = getattr(os, "O_PATH", os.O_RDONLY) | DIRECTORY  # needs no right to read the folder, where O_PATH exists
READ = os.O_RDONLY | NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not block
WINDOWS_PATH = re.compile(r"[A-Za-z]:([\\/]|$)")


class FileError(Exception):
    """Something that cannot be done, in words for who asked for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside an allowed folder, free of links when it was judged: `parts` below `folder`."""

    folder: Path
    parts: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.folder.joinpath(*self.parts)

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else "."

    @property
    def parent(self) -> Place:
        return Place(self.folder, self.parts[:-1])

    def child(self, name: str) -> Place:
        """The entry `name` of this folder."""
        return Place(self.folder, (*self.parts, name))


class AllowedFolders:
    """The folders that may be touched, with all that is below them."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = tuple(dict.fromkeys(folders))

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> AllowedFolders:
        """Read `{"allowed_directories": [...]}`; `~` stands for the home folder.

        Raises:
            ConfigError: no list of folders, or one that is not there; it names the folder.
        """
        field = f"options.{OPTION}"
        listed = options.get(OPTION)
        if not isinstance(listed, list | tuple) or not listed:
            raise field_error(field, "name at least one folder in a list")
        folders = []
        for entry in listed:
            if not isinstance(entry, str) or not entry.strip():
                raise field_error(field, "each folder must be a text")
            folder = Path(entry).expanduser()
            if not folder.is_absolute():
                raise field_error(field, f"{entry} is not a full path")
            if not folder.is_dir():
                raise field_error(field, f"{entry} is not a folder" if folder.exists() else f"{entry} does not exist")
            folders.append(Path(os.path.realpath(folder)))
        return cls(folders)

    def __str__(self) -> str:
        return ", ".join(map(str, self.folders))

    def resolve(self, text: str) -> Place:
        """Where `text` really leads. It need not exist. A relative path is looked for in the folders, in their order.

        Raises:
            FileError: it leads outside; the message names the allowed folders.
        """
        real = Path(os.path.realpath(self._absolute(text)))
        place = self.place_of(real)
        if place is None:
            raise FileError(f"Access denied: {text} leads to {real}, outside the allowed folders: {self}")
        return place

    def resolve_entry(self, text: str) -> Place:
        """The entry `text` itself: like `resolve`, but a link as the last part is not followed."""
        self.resolve(text)
        path = self._absolute(text)
        if path.name in ("", ".."):
            return self.resolve(text)
        parent = self.place_of(Path(os.path.realpath(path.parent)))
        if parent is None:
            raise FileError(f"Access denied: {text} is outside the allowed folders: {self}")
        return parent.child(path.name)

    def place_of(self, real: Path) -> Place | None:
        """The place of a resolved path, or None when no allowed folder holds it."""
        for folder in self.folders:
            if is_inside(real, folder):
                return Place(folder, real.relative_to(folder).parts)
        return None

    def _absolute(self, text: str) -> Path:
        if not text.strip() or "\0" in text:
            raise FileError("Give a path")
        if os.name != "nt" and WINDOWS_PATH.match(text):
            raise FileError(f"Access denied: {text} is a Windows path, and this is no Windows")
        path = _expanded(text)
        if path.is_absolute():
            return path
        candidates = [folder / path for folder in self.folders]
        return next((candidate for candidate in candidates if os.path.lexists(candidate)), candidates[0])


def is_inside(path: PurePath, folder: PurePath) -> bool:
    """Whether `path` is `folder` or below it, part by part: `/ab` is not inside `/a`. Windows paths ignore case."""
    return path.is_relative_to(folder)


def _expanded(text: str) -> Path:
    return Path(text).expanduser() if text == "~" or text.startswith(("~/", "~\\")) else Path(text)


@contextmanager
def reached(place: Place) -> Iterator[tuple[str, int | None]]:
    """The last part of a place and a descriptor of the folder that holds it, for the `dir_fd` of the functions of `os`.

    Where there are no directory descriptors (Windows) it is the whole path and None.

    Raises:
        OSError: a folder on the way is missing or became a link.
    """
    if not HAS_DIR_FD:
        yield str(place.path), None
        return
    descriptor = os.open(place.folder, PASS_THROUGH)
    try:
        for part in place.parts[:-1]:
            below = os.open(part, PASS_THROUGH, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield place.name, descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened(place: Place) -> Iterator[BinaryIO]:
    """An existing regular file, to read.

    Raises:
        FileError: it is a folder, a pipe or a device.
        OSError: it cannot be opened.
    """
    with reached(place) as (name, folder):
        descriptor = os.open(name, READ, dir_fd=folder)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        raise FileError(f"{place.path} is {'a folder, not a file' if stat.S_ISDIR(kind) else 'no regular file'}")
    with os.fdopen(descriptor, "rb") as file:
        yield file


def entries(place: Place) -> list[tuple[str, os.DirEntry[str]]]:
    """The entries of a folder with their names, in the order of the names."""
    if not HAS_DIR_FD:
        with os.scandir(place.path) as scan:
            return sorted((entry.name, entry) for entry in scan)
    with reached(place) as (name, folder):
        descriptor = os.open(name, os.O_RDONLY | DIRECTORY, dir_fd=folder)
    try:
        with os.scandir(descriptor) as scan:
            return sorted(((entry.name, entry) for entry in scan), key=lambda pair: pair[0])
    finally:
        os.close(descriptor)


def make_folders(place: Place) -> None:
    """Create a folder, and those above it that are missing.

    Raises:
        OSError: something that is no folder is in the way.
    """
    for depth in range(1, len(place.parts) + 1):
        step = Place(place.folder, place.parts[:depth])
        with reached(step) as (name, folder):
            try:
                os.mkdir(name, dir_fd=folder)
            except FileExistsError:
                if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise
