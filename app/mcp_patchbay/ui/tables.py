"""The table in the program's look."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget


class Table(QTableView):
    """A table in the program's look: whole rows, no grid, a quiet header. Tab leaves it; arrows move inside."""

    def __init__(self, *, row: int = 28, head: int = 28, inside: bool = False, several: bool = False) -> None:
        """`row` and `head` are heights; `inside` means inside a card; `several` rows may be selected."""
        super().__init__()
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(
            QTableView.SelectionMode.ExtendedSelection if several else QTableView.SelectionMode.SingleSelection
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        rows = self.verticalHeader()
        rows.hide()
        rows.setMinimumSectionSize(20)
        rows.setDefaultSectionSize(row)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns = self.horizontalHeader()
        columns.setHighlightSections(False)
        columns.setMinimumSectionSize(20)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        if head:
            columns.setFixedHeight(head)
        else:
            columns.hide()
        if inside:
            self.setProperty("inside", True)

    def set_widths(self, *widths: int) -> None:
        """Column widths in pixels; the column with 0 takes what is left."""
        for column, width in enumerate(widths):
            if width:
                self.setColumnWidth(column, width)
            else:
                self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)


def below(widget: QWidget) -> QPoint:
    """The global point under a widget's lower left corner, where its menu belongs."""
    return widget.mapToGlobal(widget.rect().bottomLeft())
