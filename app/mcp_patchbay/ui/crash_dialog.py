"""The one calm dialog for an error that nobody caught."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog

from mcp_patchbay import __version__
from mcp_patchbay.domain.messages import message
from mcp_patchbay.ui.texts import text_of
from mcp_patchbay.ui.widgets import button, hbox, icon_label, label, vbox

if TYPE_CHECKING:
    from pathlib import Path


class CrashDialog(QDialog):
    """Says that something went wrong, what it was and what to do. Use `open()`; nothing waits for it.

    Args:
        reason: what happened, in one line, without secrets.
        details: the traceback, without secrets.
        log_folder: what "Open log folder" shows.
    """

    def __init__(self, reason: str, details: str, log_folder: Path) -> None:
        super().__init__()
        self._details = details
        self._log_folder = log_folder
        title = text_of(message("error.crash.title"))
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(440)
        self.reason = label(reason, wrap=True, selectable=True)
        self.reason.setAccessibleName(self.tr("What happened"))
        advice = label(
            self.tr("Patchbay goes on, and so do your servers. If it does not behave, quit and start it again.")
            + " "
            + text_of(message("error.crash.hint")),
            wrap=True,
            role="dim",
        )
        self.open_folder = button(self.tr("Open log folder"), "folder-open")
        self.open_folder.clicked.connect(self.on_open_folder_clicked)
        self.copy = button(self.tr("Copy details"), "copy")
        self.copy.clicked.connect(self.on_copy_clicked)
        close = button(self.tr("Close"), primary=True)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        heading = hbox(icon_label("triangle-exclamation", "warn", 20), label(title, 15, bold=True), None, spacing=10)
        self.setLayout(
            vbox(
                heading,
                self.reason,
                advice,
                hbox(self.open_folder, self.copy, None, close),
                margins=(20, 20, 20, 16),
                spacing=12,
            )
        )

    def on_open_folder_clicked(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._log_folder)))

    def on_copy_clicked(self) -> None:
        about = f"Patchbay {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
        QGuiApplication.clipboard().setText(f"{about}\n\n{self._details}")
