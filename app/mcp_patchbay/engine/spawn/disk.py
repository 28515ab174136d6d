"""The file system, read by the rules of a named system, so that the Windows rules run everywhere."""

from __future__ import annotations

import ntpath
import os
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


class Disk:
    """Files and folders as `system` ("win32", "linux" or "darwin") would see them.

    On another host than Windows, "win32" takes backslashes for slashes and names without regard to case.
    """

    def __init__(self, system: str) -> None:
        self.system = system
        self.windows = system == "win32"
        self.paths: ModuleType = ntpath if self.windows else posixpath
        self.separator = ";" if self.windows else ":"
        self._emulated = self.windows and os.name != "nt"

    def file(self, path: str) -> str | None:
        """The path of an existing file, spelled as it is on the disk; None when there is none."""
        if not self._emulated:
            return path if os.path.isfile(path) else None
        folder, name = ntpath.split(path)
        spelled = next((entry for entry in self.names(folder) if entry.lower() == name.lower()), None)
        if spelled is None or not os.path.isfile(self._host(ntpath.join(folder, spelled))):
            return None
        return ntpath.join(folder, spelled)

    def folder(self, path: str) -> bool:
        """Whether the folder exists."""
        return os.path.isdir(self._host(path))

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted; nothing when it cannot be read."""
        try:
            return sorted(os.listdir(self._host(folder)))
        except OSError:
            return []

    def text(self, path: str, limit: int = 4096) -> str:
        """The first `limit` bytes of a file as text; empty when it cannot be read."""
        try:
            with open(self._host(path), "rb") as stream:
                return stream.read(limit).decode("utf-8", "replace")
        except OSError:
            return ""

    def executable(self, path: str) -> bool:
        """Whether the file may be run. Windows decides that by the extension alone."""
        return self.windows or os.access(path, os.X_OK)

    def _host(self, path: str) -> str:
        return path.replace("\\", "/") if self._emulated else path
