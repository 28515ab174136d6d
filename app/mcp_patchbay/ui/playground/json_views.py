"""JSON to look at: a tree that opens as it is explored, tables of flat objects, and text that stays quick when long."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QTreeView

from mcp_patchbay.domain.json_text import json_text
from mcp_patchbay.ui.delegates import Role, RowDelegate
from mcp_patchbay.ui.widgets import Table

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
MAX_COLUMNS = 12
MAX_TABLE_ROWS = 5000
LONGEST_CELL = 400


class JsonNode:
    """One value of the tree; its parts are made when they are asked for."""

    __slots__ = ("_parts", "key", "parent", "row", "value")

    def __init__(self, key: str, value: Any, parent: JsonNode | None, row: int) -> None:
        self.key, self.value, self.parent, self.row = key, value, parent, row
        self._parts: list[JsonNode] | None = None

    @property
    def parts(self) -> list[JsonNode]:
        if self._parts is None:
            value = self.value
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
            self._parts = [JsonNode(str(key), part, self, row) for row, (key, part) in enumerate(pairs)]
        return self._parts

    @property
    def text(self) -> str:
        if isinstance(self.value, Mapping):
            return f"{{{len(self.value)}}}"
        if isinstance(self.value, list):
            return f"[{len(self.value)}]"
        return json_text(self.value)


class JsonModel(QAbstractItemModel):
    """A JSON value as keys and values."""

    def __init__(self, value: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        holds_parts = isinstance(value, Mapping | list)
        self._root = JsonNode("", value if holds_parts else [value], None, 0)

    def node(self, index: Index) -> JsonNode:
        """The node of a row."""
        found = index.internalPointer() if index.isValid() else self._root
        assert isinstance(found, JsonNode)
        return found

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        parts = self.node(parent).parts
        return self.createIndex(row, column, parts[row]) if row < len(parts) and column < 2 else QModelIndex()

    def parent(self, index: Index = ROOT) -> QModelIndex:  # type: ignore[override]  # Qt has a second one
        above = self.node(index).parent
        if above is None or above is self._root:
            return QModelIndex()
        return self.createIndex(above.row, 0, above)

    def rowCount(self, parent: Index = ROOT) -> int:
        return len(self.node(parent).parts) if parent.column() <= 0 else 0

    def columnCount(self, _parent: Index = ROOT) -> int:
        return 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Key"), self.tr("Value"))[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self.node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return node.key if index.column() == 0 else node.text[:LONGEST_CELL]
        if role == Role.TONE and index.column() == 1:
            value = node.value
            return "jstr" if isinstance(value, str) else "dim" if isinstance(value, Mapping | list) else "jnum"
        return "jkey" if role == Role.TONE else None


class JsonTree(QTreeView):
    """Explores a JSON value with the keyboard or the mouse; Copy takes the value of the row."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.setModel(JsonModel(value, self))
        self.setItemDelegate(RowDelegate(self, px=12, mono=True, hairline=False))
        self.setUniformRowHeights(True)
        self.setProperty("bare", True)
        self.setAccessibleName(self.tr("Structured content"))
        self.setColumnWidth(0, 220)
        self.expandToDepth(1 if self.model().rowCount() < 50 else 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            model = self.model()
            assert isinstance(model, JsonModel)
            value = model.node(self.currentIndex()).value
            QGuiApplication.clipboard().setText(value if isinstance(value, str) else json_text(value, indent=2))
        else:
            super().keyPressEvent(event)


class RowsModel(QAbstractTableModel):
    """Flat objects as rows."""

    def __init__(self, rows: list[Mapping[str, Any]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._columns = list(dict.fromkeys(key for row in rows for key in row))

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        key = self._columns[index.column()]
        value = self._rows[index.row()].get(key)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            missing = key not in self._rows[index.row()]
            text = "" if missing else value if isinstance(value, str) else json_text(value)
            return " ".join(text[:LONGEST_CELL].split())
        if role == Qt.ItemDataRole.TextAlignmentRole and isinstance(value, int | float) and not isinstance(value, bool):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Role.TONE and value is None:
            return "dim"
        return None


class RowsTable(Table):
    """A table of flat objects; Copy takes the selected rows, tab by tab."""

    def __init__(self, rows: list[Mapping[str, Any]]) -> None:
        super().__init__(row=28, head=28, several=True)
        self.setProperty("bare", True)
        self.setModel(RowsModel(rows, self))
        self.setItemDelegate(RowDelegate(self))
        self.setAccessibleName(self.tr("Result as a table"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._fit_columns()

    def _fit_columns(self) -> None:
        model, metrics = self.model(), self.fontMetrics()
        for column in range(model.columnCount()):
            head = str(model.headerData(column, Qt.Orientation.Horizontal))
            texts = [head, *(str(model.index(row, column).data()) for row in range(min(60, model.rowCount())))]
            self.setColumnWidth(column, min(360, max(metrics.horizontalAdvance(text) for text in texts) + 24))
        self.horizontalHeader().setStretchLastSection(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            model = self.model()
            columns = range(model.columnCount())
            rows = sorted(index.row() for index in self.selectionModel().selectedRows())
            lines = ["\t".join(str(model.index(row, column).data()) for column in columns) for row in rows]
            QGuiApplication.clipboard().setText("\n".join(lines))
        else:
            super().keyPressEvent(event)


def table_rows(value: Any) -> list[Mapping[str, Any]] | None:
    """The rows of a value that is a list of flat objects, or an object whose only key holds one; else None."""
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list) or not 0 < len(value) <= MAX_TABLE_ROWS:
        return None
    keys: set[str] = set()
    for row in value:
        if not isinstance(row, Mapping) or any(isinstance(cell, Mapping | list) for cell in row.values()):
            return None
        keys.update(row)
    return value if 0 < len(keys) <= MAX_COLUMNS else None


def bounded_json(value: Any, most: int) -> tuple[str, bool]:
    """`value` as indented JSON, at most about `most` characters of it, and whether that is all. Bounded in time."""
    parts, length = [], 0
    for part in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
        parts.append(part[: most - length])
        length += len(part)
        if length > most:
            return "".join(parts), False
    return "".join(parts), True
