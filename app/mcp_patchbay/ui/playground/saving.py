"""Saving and opening what a tool sent. A server's words are never trusted as a path."""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from mcp_patchbay.engine import tasks

log = logging.getLogger(__name__)
tr = QCoreApplication.translate

EXTENSIONS = {
    "application/json": ".json",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "audio/flac": ".flac",
    "audio/mp4": ".m4a",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "audio/webm": ".weba",
    "audio/x-wav": ".wav",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/webp": ".webp",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}
Said = Callable[[str, bool], None]
"""Hears what came of it: words, and whether it went well."""

_opened: list[tempfile.TemporaryDirectory[str]] = []  # removed when the program ends


def file_name(named: str, mime: str) -> str:
    """A harmless file name made of what a server calls a thing (a name or URI) and its MIME type."""
    last = re.split(r"[/\\]", named.split("?")[0].split("#")[0].rstrip("/\\"))[-1]
    stem = re.sub(r"[^\w .()-]", "_", last).strip(" .")[:80] or "content"
    extension = EXTENSIONS.get(mime.split(";")[0].strip().lower(), ".bin")
    # Only what we know to be that kind keeps the server's own ending.
    return stem if stem.lower().endswith(extension) else stem + extension


def save(parent: QWidget, name: str, data: bytes, said: Said) -> None:
    """Ask where to, and write it there."""
    dialog = QFileDialog(parent, tr("Saving", "Save as"))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.selectFile(name)
    dialog.fileSelected.connect(lambda path: tasks.start(_write(Path(path), data, said), name="playground: save"))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def open_with_its_program(name: str, data: bytes, said: Said) -> None:
    """Hand it to the program that the desktop has for its kind, as a file that goes when Patchbay ends."""
    tasks.start(_open(name, data, said), name="playground: open")


async def _write(path: Path, data: bytes, said: Said) -> None:
    try:
        await asyncio.to_thread(path.write_bytes, data)
    except OSError as error:
        said(tr("Saving", "Could not be saved: {0}").format(error.strerror or type(error).__name__), False)
    else:
        said(tr("Saving", "Saved as {0}").format(path), True)


async def _open(name: str, data: bytes, said: Said) -> None:
    try:
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="patchbay-")
        _opened.append(folder)
        path = Path(folder.name) / name
        await asyncio.to_thread(path.write_bytes, data)
    except OSError as error:
        said(tr("Saving", "Could not be opened: {0}").format(error.strerror or type(error).__name__), False)
        return
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        said(tr("Saving", "There is no program for it; save it instead."), False)
