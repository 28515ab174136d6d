"""The Log: what a server wrote, live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetrics, QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QHeaderView, QWidget

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.delegates import MonoDelegate, Role
from mcp_patchbay.ui.details.file_saving import ask_and_save
from mcp_patchbay.ui.details.ring_table import RingTable
from mcp_patchbay.ui.models.log_model import LEVELS, LogColumn, LogModel
from mcp_patchbay.ui.models.sorted_model import SortedModel
from mcp_patchbay.ui.widgets import button, hbox, search_field, tool_button, vbox

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QPersistentModelIndex
    from PySide6.QtGui import QResizeEvent, QShowEvent

    from mcp_patchbay.domain.records import LogLine
    from mcp_patchbay.ui.models.ring_model import Ring
    from mcp_patchbay.ui.window_tasks import WindowTasks

CELL_PADDING = 20


class LogPage(QWidget):
    """A server's log with search and a lowest level. It reads its ring only while it is seen."""

    def __init__(self, tasks: WindowTasks) -> None:
        super().__init__()
        self._tasks = tasks
        self.name = ""
        self.model = LogModel(self)
        self._lines = LeveledLines(self)
        self._lines.setSourceModel(self.model)
        self._longest = 0

        self.search = search_field(self.tr("Search the log"), 220)
        self.search.textChanged.connect(self._lines.search)
        self.level = QComboBox()
        self.level.setAccessibleName(self.tr("Lowest level"))
        for level, text in (
            ("", self.tr("All levels")),
            ("info", self.tr("Info and above")),
            ("warning", self.tr("Warnings and errors")),
            ("error", self.tr("Errors")),
        ):
            self.level.addItem(text, level)
        self.level.currentIndexChanged.connect(lambda _place: self._lines.set_lowest(self.level.currentData()))
        self._to_end = button(self.tr("Jump to the end"), "arrow-down", link=True)
        self._to_end.hide()
        clear = tool_button("broom", self.tr("Clear the view of the log"), self.tr("Clear"))
        clear.clicked.connect(self.model.clear)
        save = tool_button("file-arrow-down", self.tr("Save the log to a file"), self.tr("Save…"))
        save.clicked.connect(self.save)

        self.table = RingTable(self.model.line_text)
        self.table.setAccessibleName(self.tr("Log"))
        self.table.setModel(self._lines)
        self.table.setItemDelegate(MonoDelegate(self.table, hairline=False))
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(LogColumn.TEXT, QHeaderView.ResizeMode.Fixed)
        self.table.set_widths(112, 110, 84)
        self.table.following_changed.connect(lambda on: self._to_end.setVisible(not on))
        self._to_end.clicked.connect(self.table.jump_to_end)
        self._lines.rowsInserted.connect(self._on_rows_inserted)
        self._lines.modelReset.connect(self._on_reset)

        head = hbox(self.search, self.level, None, self._to_end, clear, save, margins=(16, 0, 8, 0))
        self.setLayout(vbox(head, (self.table, 1), margins=(3, 8, 3, 3)))
        find = QShortcut(QKeySequence.StandardKey.FindNext, self)
        find.activated.connect(self.search.setFocus)

    def show_ring(self, name: str, ring: Ring | None) -> None:
        """Show the log of the server `name`."""
        self.name = name
        self.model.set_ring(ring)

    def on_grew(self) -> None:
        """The ring has more now."""
        if self.isVisible():
            self.model.refresh()

    def save(self) -> None:
        """Ask for a file and write the lines that the ring holds."""

        def content() -> str:
            return "".join(self.model.line_text(entry) + "\n" for entry in self.model.entries())

        ask_and_save(self, self.tr("Save the log"), f"{self.name}.log", content, self._tasks)

    def _on_rows_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        for row in range(first, last + 1):
            line: LogLine | None = self._lines.index(row, 0).data(Role.ITEM)
            if line is not None:
                self._longest = max(self._longest, len(line.raw))
        self._fit_text_column()

    def _on_reset(self) -> None:
        self._longest = 0
        self._on_rows_inserted(self._lines.index(0, 0), 0, self._lines.rowCount() - 1)

    def _fit_text_column(self) -> None:
        """As wide as the longest line, so that it can be scrolled to, and at least what is left."""
        character = QFontMetrics(theme.font(12, mono=True)).horizontalAdvance("m")
        used = sum(self.table.columnWidth(column) for column in range(LogColumn.TEXT))
        room = self.table.viewport().width() - used
        self.table.setColumnWidth(LogColumn.TEXT, max(room, min(self._longest, 4_000) * character + CELL_PADDING))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text_column()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.model.refresh()
        self._fit_text_column()


class LeveledLines(SortedModel):
    """The lines that pass the search and are at least of the lowest level. Lines keep their order."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._lowest = -1

    def set_lowest(self, level: str) -> None:
        """Keep only lines of `level` and above; "" keeps all."""
        self.beginFilterChange()
        self._lowest = LEVELS.index(level) if level else -1
        self.endFilterChange(SortedModel.Direction.Rows)

    def filterAcceptsRow(self, source_row: int, source_parent: QModelIndex | QPersistentModelIndex) -> bool:
        if self._lowest >= 0:
            line: LogLine | None = self.sourceModel().index(source_row, 0, source_parent).data(Role.ITEM)
            if line is None or line.level not in LEVELS or LEVELS.index(line.level) < self._lowest:
                return False
        return super().filterAcceptsRow(source_row, source_parent)
