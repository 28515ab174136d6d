"""The status table's model: one row a server, keyed by name. A change touches only the cells that it changes."""

from __future__ import annotations

import time
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from mcp_patchbay.domain.servers import InvalidServer
from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.models.server_facts import CELLS, Cell, target_line
from mcp_patchbay.ui.texts import text_of, tooltip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_patchbay.domain.state import Snapshot

Index = QModelIndex | QPersistentModelIndex
ItemRole = Qt.ItemDataRole
TOP = QModelIndex()


class Column(IntEnum):
    """The columns, from left to right."""

    ON = 0
    STATE = 1
    NAME = 2
    TRANSPORT = 3
    TOOLS = 4
    LATENCY = 5
    CALLS = 6
    SINCE = 7
    MESSAGE = 8


RIGHT_ALIGNED = {Column.TOOLS, Column.CALLS, Column.SINCE}


class ServerModel(QAbstractTableModel):
    """Servers by name, each with the snapshot that came last."""

    switch_requested = Signal(str, bool)
    """Someone wants the server of that name switched on or off."""

    def __init__(self, parent: QObject | None = None, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix seconds."""
        super().__init__(parent)
        self._clock = clock
        self._snapshots: list[Snapshot] = []
        self._cells: list[list[Cell]] = []
        self._rows: dict[str, int] = {}
        self._titles = (
            self.tr("On"),
            self.tr("State"),
            self.tr("Name"),
            self.tr("Transport"),
            self.tr("Tools"),
            self.tr("Latency"),
            self.tr("Calls / errors"),
            self.tr("Since"),
            self.tr("Message"),
        )

    # --- what comes in

    def set_servers(self, snapshots: Sequence[Snapshot]) -> None:
        """Show exactly these servers, in this order. Rows that stay keep their selection."""
        wanted = {snapshot.name for snapshot in snapshots}
        for row in reversed(range(len(self._snapshots))):
            if self._snapshots[row].name not in wanted:
                self._remove(row)
        for row, snapshot in enumerate(snapshots):
            present = self._rows.get(snapshot.name)
            if present is None:
                self._insert(row, snapshot)
                continue
            if present != row:
                self._move(present, row)
            self.update(snapshot)

    def update(self, snapshot: Snapshot) -> None:
        """Take a server's new snapshot; one of an unknown server is ignored."""
        row = self._rows.get(snapshot.name)
        if row is not None:
            before, self._snapshots[row] = self._snapshots[row], snapshot
            unseen = before.state is not snapshot.state or before.spec is not snapshot.spec
            self._refresh(row, {Column.ON, Column.STATE} if unseen else set())

    def tick(self) -> None:
        """Let the times move on."""
        for row in range(len(self._snapshots)):
            self._refresh(row)

    # --- what is asked

    def snapshots(self) -> list[Snapshot]:
        """All snapshots, in the table's own order."""
        return list(self._snapshots)

    def snapshot(self, name: str) -> Snapshot | None:
        """The last snapshot of a server."""
        row = self._rows.get(name)
        return None if row is None else self._snapshots[row]

    def row_of(self, name: str) -> int | None:
        """The row of a server."""
        return self._rows.get(name)

    # --- changes of rows

    def _remove(self, row: int) -> None:
        self.beginRemoveRows(TOP, row, row)
        del self._snapshots[row], self._cells[row]
        self._number_rows()
        self.endRemoveRows()

    def _insert(self, row: int, snapshot: Snapshot) -> None:
        self.beginInsertRows(TOP, row, row)
        self._snapshots.insert(row, snapshot)
        self._cells.insert(row, self._build(snapshot))
        self._number_rows()
        self.endInsertRows()

    def _move(self, source: int, destination: int) -> None:
        """Move a row up; `set_servers` works from the top, so it never has to move one down."""
        self.beginMoveRows(TOP, source, source, TOP, destination)
        self._snapshots.insert(destination, self._snapshots.pop(source))
        self._cells.insert(destination, self._cells.pop(source))
        self._number_rows()
        self.endMoveRows()

    def _number_rows(self) -> None:
        self._rows = {snapshot.name: row for row, snapshot in enumerate(self._snapshots)}

    def _build(self, snapshot: Snapshot) -> list[Cell]:
        now = self._clock()
        return [build(snapshot, now) for build in CELLS]

    def _refresh(self, row: int, changed: set[Column] | None = None) -> None:
        """Build a row anew and tell the views which of its cells are others; `changed` are so in any case."""
        before, after = self._cells[row], self._build(self._snapshots[row])
        self._cells[row] = after
        for column in Column:
            if before[column] != after[column] or (changed and column in changed):
                index = self.index(row, column)
                self.dataChanged.emit(index, index)

    # --- Qt

    def rowCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else len(self._snapshots)

    def columnCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else len(Column)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = super().flags(index) | Qt.ItemFlag.ItemNeverHasChildren
        if index.column() == Column.ON and not isinstance(self._snapshots[index.row()].spec.target, InvalidServer):
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = ItemRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role in (ItemRole.DisplayRole, ItemRole.AccessibleTextRole):
            return self._titles[section]
        if role == ItemRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in RIGHT_ALIGNED else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = ItemRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        snapshot, column = self._snapshots[index.row()], Column(index.column())
        cell = self._cells[index.row()][column]
        match role:
            case ItemRole.DisplayRole:
                return cell.text
            case ItemRole.CheckStateRole if column is Column.ON:
                return Qt.CheckState.Checked if snapshot.spec.enabled else Qt.CheckState.Unchecked
            case ItemRole.ToolTipRole:
                return tooltip(self._tip(snapshot, column))
            case ItemRole.AccessibleTextRole:
                return self._spoken(snapshot, column, cell)
            case Role.STATE if column is Column.STATE:
                return snapshot.state
            case Role.TONE:
                return cell.tone or None
            case Role.SUBTEXT:
                return cell.subtext
            case Role.LINK:
                return cell.link
            case Role.POINTS:
                return cell.points
            case Role.SORT:
                return cell.sort
            case Role.ITEM:
                return snapshot
            case Role.SEARCH:
                return self._searched(snapshot, index.row())
        return None

    def setData(self, index: Index, value: Any, role: int = ItemRole.EditRole) -> bool:
        """The switch only asks: the row changes when the server does."""
        if role == ItemRole.CheckStateRole and index.column() == Column.ON:
            on = Qt.CheckState(value) == Qt.CheckState.Checked
            self.switch_requested.emit(self._snapshots[index.row()].name, on)
            return True
        return False

    # --- texts

    def _searched(self, snapshot: Snapshot, row: int) -> str:
        cells = self._cells[row]
        texts = (snapshot.name, snapshot.spec.description, target_line(snapshot.spec), snapshot.spec.transport)
        shown = (cells[Column.STATE].text, cells[Column.TRANSPORT].text, cells[Column.MESSAGE].text)
        return " ".join((*texts, *shown)).casefold()

    def _tip(self, snapshot: Snapshot, column: Column) -> str:
        if column is Column.NAME:
            target = target_line(snapshot.spec)
            return f"{snapshot.spec.description}\n{target}" if snapshot.spec.description else target
        if column is Column.MESSAGE:
            health = snapshot.health
            quiet = health.level == "ok"
            return "" if quiet else "\n".join(filter(None, (text_of(health.summary), text_of(health.detail))))
        return ""

    def _spoken(self, snapshot: Snapshot, column: Column, cell: Cell) -> str:
        """What a screen reader says of a cell."""
        if column is Column.ON:
            return (
                self.tr("{0} is switched on").format(snapshot.name)
                if snapshot.spec.enabled
                else self.tr("{0} is switched off").format(snapshot.name)
            )
        if column is Column.NAME:
            return f"{cell.text}, {cell.subtext}"
        if column is Column.TOOLS and snapshot.tools_total:
            return self.tr("{0} of {1} tools visible").format(snapshot.tools_visible, snapshot.tools_total)
        if column is Column.CALLS:
            return self.tr("{0} calls, {1} errors").format(snapshot.calls, snapshot.errors)
        return " ".join(filter(None, (cell.link, cell.text)))
