"""The lines of a server's log."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.models.ring_model import TOP, RingModel
from mcp_patchbay.ui.texts import clock_time, tooltip

if TYPE_CHECKING:
    from mcp_patchbay.domain.records import LogLine

Index = QModelIndex | QPersistentModelIndex
ItemRole = Qt.ItemDataRole
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
TIP_CHARACTERS = 4_000


class LogColumn(IntEnum):
    """The columns, from left to right."""

    TIME = 0
    SOURCE = 1
    LEVEL = 2
    TEXT = 3


def level_tone(level: str) -> str:
    """The role of a level's colour; "" for the ordinary one."""
    if level not in LEVELS:
        return ""
    rank = LEVELS.index(level)
    if rank >= LEVELS.index("error"):
        return "error"
    return "warn" if level == "warning" else "dim" if level == "debug" else ""


class LogModel(RingModel):
    """Time, source, level and text of each line."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._titles = (self.tr("Time"), self.tr("Source"), self.tr("Level"), self.tr("Text"))
        self._sources = {
            "stderr": self.tr("stderr"),
            "stdout": self.tr("not protocol"),
            "server": self.tr("server"),
            "patchbay": self.tr("Patchbay"),
        }

    def line_text(self, line: LogLine) -> str:
        """A whole line, as it is copied and saved."""
        return f"{clock_time(line.time)}  {self._sources[line.source]}  {line.level}  {line.text}"

    def columnCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else len(LogColumn)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = ItemRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == ItemRole.DisplayRole:
            return self._titles[section]
        return None

    def data(self, index: Index, role: int = ItemRole.DisplayRole) -> Any:
        line: LogLine | None = self.entry(index.row()) if index.isValid() else None
        if line is None:
            return None
        match role:
            case ItemRole.DisplayRole:
                return self._cell(line, LogColumn(index.column()))
            case ItemRole.ToolTipRole if index.column() == LogColumn.TEXT:
                return tooltip(line.text[:TIP_CHARACTERS])
            case ItemRole.AccessibleTextRole:
                return self._cell(line, LogColumn(index.column()))
            case Role.TONE:
                return self._tone(line, LogColumn(index.column()))
            case Role.ITEM:
                return line
            case Role.SEARCH:
                return f"{self._sources[line.source]} {line.level} {line.text}".casefold()
        return None

    def _cell(self, line: LogLine, column: LogColumn) -> str:
        match column:
            case LogColumn.TIME:
                return clock_time(line.time)
            case LogColumn.SOURCE:
                return self._sources[line.source]
            case LogColumn.LEVEL:
                return line.level
            case LogColumn.TEXT:
                return line.text.expandtabs(4)

    def _tone(self, line: LogLine, column: LogColumn) -> str | None:
        if column is LogColumn.TIME:
            return "dim"
        if column is LogColumn.SOURCE:
            return {"patchbay": "link", "stdout": "warn"}.get(line.source, "dim")
        return level_tone(line.level) or ("dim" if line.source == "patchbay" else None)
