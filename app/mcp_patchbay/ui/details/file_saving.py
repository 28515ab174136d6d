"""Asking where to save something and writing it there, off the event loop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from mcp_patchbay.ui.window_tasks import WindowTasks


def ask_and_save(
    parent: QWidget, title: str, suggestion: str, content: Callable[[], str], tasks: WindowTasks
) -> QFileDialog:
    """Open a dialog for a file's name; when one is chosen, write `content()` there as UTF-8."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.selectFile(suggestion)

    def save(name: str) -> None:
        text = content()
        tasks.start(asyncio.to_thread(Path(name).write_text, text, "utf-8"), f"save {name}")

    dialog.fileSelected.connect(save)
    dialog.open()
    return dialog
