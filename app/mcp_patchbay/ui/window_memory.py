"""What the main window remembers of itself: place, columns, sorting, splitter, tab and the selected server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSettings, QSize

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_patchbay.ui.main_window import MainWindow

FIRST_SIZE = QSize(1180, 760)


class WindowMemory:
    """Kept in an INI file. What is missing or damaged is as at the first start."""

    def __init__(self, file: Path) -> None:
        self._file = str(file)

    def save(self, window: MainWindow) -> None:
        """Remember how the window is now."""
        kept = QSettings(self._file, QSettings.Format.IniFormat)
        columns, hidden = window.table.column_state()
        kept.setValue("geometry", window.saveGeometry())
        kept.setValue("columns", columns)
        kept.setValue("hidden_columns", ",".join(hidden))
        kept.setValue("splitter", window.splitter.saveState())
        kept.setValue("tab", window.details.tabs.currentIndex())
        kept.setValue("server", window.table.current())
        kept.sync()

    def restore(self, window: MainWindow) -> None:
        """Make the window what it was."""
        kept = QSettings(self._file, QSettings.Format.IniFormat)
        if not window.restoreGeometry(_bytes(kept.value("geometry"))):
            window.resize(FIRST_SIZE)
        columns = _bytes(kept.value("columns"))
        if not columns.isEmpty():
            window.table.restore_columns(columns, str(kept.value("hidden_columns", "")).split(","))
        window.splitter.restoreState(_bytes(kept.value("splitter")))
        tab = str(kept.value("tab", "0"))
        window.details.tabs.setCurrentIndex(int(tab) if tab.isdigit() else 0)
        window.table.select([str(kept.value("server", ""))])


def _bytes(value: object) -> QByteArray:
    return value if isinstance(value, QByteArray) else QByteArray()
