"""Sorting and searching of a table, without touching the table's own order."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from mcp_patchbay.ui.delegates import Role

SORT_MARKS = {Qt.SortOrder.AscendingOrder: "  ↑", Qt.SortOrder.DescendingOrder: "  ↓"}
Index = QModelIndex | QPersistentModelIndex


class SortedModel(QSortFilterProxyModel):
    """Sorts by `Role.SORT`; ties keep the source's order. Keeps the rows whose `Role.SEARCH` holds every searched word.

    The sorted column's header carries an arrow.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self.setSortRole(Role.SORT)

    def search(self, text: str) -> None:
        """Keep only the rows that hold each word of `text`, in any case."""
        words = text.casefold().split()
        if words != self._words:
            self.beginFilterChange()
            self._words = words
            self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        value = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and value and section == self.sortColumn():
            return f"{value}{SORT_MARKS[self.sortOrder()]}"
        return value

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        super().sort(column, order)
        if self.columnCount():
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)

    def lessThan(self, left: Index, right: Index) -> bool:
        ours, theirs = left.data(Role.SORT), right.data(Role.SORT)
        if ours == theirs or ours is None or theirs is None:
            ascending = self.sortOrder() == Qt.SortOrder.AscendingOrder
            return left.row() < right.row() if ascending else left.row() > right.row()
        return bool(ours < theirs)

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        if not self._words:
            return True
        text = self.sourceModel().index(source_row, 0, source_parent).data(Role.SEARCH) or ""
        return all(word in text for word in self._words)
