"""The status table: one row a server, switched and helped right there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QMenu

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.delegates import (
    LatencyDelegate,
    MessageDelegate,
    NameDelegate,
    NumberDelegate,
    Role,
    RowDelegate,
    StateDelegate,
    SwitchDelegate,
)
from mcp_patchbay.ui.models.server_facts import message_action
from mcp_patchbay.ui.models.server_model import Column, ServerModel
from mcp_patchbay.ui.models.sorted_model import SortedModel
from mcp_patchbay.ui.widgets import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtCore import QByteArray, QModelIndex, QPoint
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent

    from mcp_patchbay.domain.state import Snapshot

WIDTHS = (52, 148, 256, 80, 64, 128, 100, 68, 0)
HIDDEN_BELOW = {Column.TRANSPORT: 1100, Column.SINCE: 1000, Column.LATENCY: 940, Column.CALLS: 820}  # px of the window
ALWAYS_SHOWN = {Column.ON, Column.STATE, Column.NAME, Column.MESSAGE}


class ServerTable(Table):
    """Shows a `ServerModel`, sorted and searched. Rows are known by their server's name."""

    switch_requested = Signal(list, bool)
    """Names of servers, and whether they are wanted on."""
    action_requested = Signal(str, str)
    """A server and the health action whose link was clicked, such as "sign_in"."""
    edit_requested = Signal(str)
    """The row of that server was double-clicked."""
    current_changed = Signal(str)
    """Another server is the current one; "" when none is."""
    selection_changed = Signal()
    """Other rows are selected."""

    def __init__(self, model: ServerModel) -> None:
        super().__init__(row=36, head=32, several=True)
        self.model_of_servers = model
        self.sorted = SortedModel(self)
        self.sorted.setSourceModel(model)
        self._pressed = QPersistentModelIndex()
        self._hidden_by_user: set[Column] = set()
        self.setModel(self.sorted)
        self.setAccessibleName(self.tr("Servers"))
        self.setMinimumHeight(112)
        self.setSortingEnabled(True)
        self.setMouseTracking(True)
        self.setItemDelegate(RowDelegate(self))
        self._message = MessageDelegate(self)
        for column, delegate in {
            Column.ON: SwitchDelegate(self),
            Column.STATE: StateDelegate(self),
            Column.NAME: NameDelegate(self),
            Column.TOOLS: NumberDelegate(self),
            Column.LATENCY: LatencyDelegate(self),
            Column.CALLS: NumberDelegate(self),
            Column.SINCE: NumberDelegate(self),
            Column.MESSAGE: self._message,
        }.items():
            self.setItemDelegateForColumn(column, delegate)
        self.set_widths(*WIDTHS)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu_requested)
        self.sortByColumn(Column.STATE, Qt.SortOrder.AscendingOrder)
        self.selectionModel().currentRowChanged.connect(lambda *_: self.current_changed.emit(self.current()))
        self.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        model.switch_requested.connect(lambda name, on: self.switch_requested.emit([name], on))

    # --- which servers

    def current(self) -> str:
        """The name of the current server; "" when none is."""
        snapshot: Snapshot | None = self.currentIndex().data(Role.ITEM)
        return "" if snapshot is None else snapshot.name

    def selected(self) -> list[str]:
        """The names of the selected servers, in the order in which they are shown."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.name_at(row) for row in rows]

    def name_at(self, row: int) -> str:
        """The name of the server in a shown row."""
        snapshot: Snapshot = self.sorted.index(row, 0).data(Role.ITEM)
        return snapshot.name

    def row_of(self, name: str) -> int | None:
        """The shown row of a server; None when it is not shown."""
        row = self.model_of_servers.row_of(name)
        index = None if row is None else self.sorted.mapFromSource(self.model_of_servers.index(row, 0))
        return index.row() if index is not None and index.isValid() else None

    def select(self, names: Iterable[str]) -> None:
        """Select these servers, as far as they are shown; the first becomes the current one."""
        flags = QItemSelectionModel.SelectionFlag
        rows = [row for row in map(self.row_of, names) if row is not None]
        for place, row in enumerate(rows):
            index = self.sorted.index(row, Column.NAME)
            if place == 0:
                self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            else:
                self.selectionModel().select(index, flags.Select | flags.Rows)

    def select_row(self, row: int) -> None:
        """Select the shown row `row`, or the last one when there are fewer."""
        count = self.sorted.rowCount()
        if count:
            self.select([self.name_at(max(0, min(row, count - 1)))])

    # --- columns

    def fit_columns(self, window_width: int) -> None:
        """Hide what a narrow window has no room for, and what the user does not want."""
        for column in Column:
            narrow = window_width < HIDDEN_BELOW.get(column, 0)
            self.setColumnHidden(column, narrow or column in self._hidden_by_user)

    def column_state(self) -> tuple[QByteArray, list[str]]:
        """Widths, order and sorting of the columns, and the names of those that the user hid."""
        return self.horizontalHeader().saveState(), [column.name for column in sorted(self._hidden_by_user)]

    def restore_columns(self, state: QByteArray, hidden: list[str]) -> None:
        """Take back what `column_state` gave; what does not fit this version is left alone."""
        self.horizontalHeader().restoreState(state)
        self._hidden_by_user = {Column[name] for name in hidden if name in Column.__members__} - ALWAYS_SHOWN
        self.fit_columns(self.window().width())

    def column_menu(self) -> QMenu:
        """A menu of the columns that can be shown or not."""
        menu = QMenu(self.tr("Columns"), self)
        for column in Column:
            if column not in ALWAYS_SHOWN:
                action = menu.addAction(self._title(column))
                action.setCheckable(True)
                action.toggled.connect(lambda on, column=column: self._show_column(column, on))
                action.setData(column)
        menu.aboutToShow.connect(lambda: self._mark(menu, lambda column: column not in self._hidden_by_user))
        return menu

    def sort_menu(self) -> QMenu:
        """A menu of the columns to sort by; the one that is sorted by turns round."""
        menu = QMenu(self.tr("Sort by"), self)
        for column in Column:
            action = menu.addAction(self._title(column))
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, column=column: self._sort_by(column))
            action.setData(column)
        menu.aboutToShow.connect(lambda: self._mark(menu, lambda column: column == self.sorted.sortColumn()))
        return menu

    def _title(self, column: Column) -> str:
        return str(self.model_of_servers.headerData(column, Qt.Orientation.Horizontal))

    @staticmethod
    def _mark(menu: QMenu, is_on: Callable[[Column], bool]) -> None:
        for action in menu.actions():
            action.blockSignals(True)
            action.setChecked(is_on(action.data()))
            action.blockSignals(False)

    def _sort_by(self, column: Column) -> None:
        up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        turned = column == self.sorted.sortColumn() and self.sorted.sortOrder() == up
        self.sortByColumn(column, down if turned else up)

    def _on_header_menu_requested(self, at: QPoint) -> None:
        menu = self.column_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.horizontalHeader().mapToGlobal(at))

    def _show_column(self, column: Column, on: bool) -> None:
        if on:
            self._hidden_by_user.discard(column)
        else:
            self._hidden_by_user.add(column)
        self.fit_columns(self.window().width())

    # --- mouse and keyboard

    def _flip(self) -> None:
        """Switch the selected servers; all go where the current one goes."""
        snapshot: Snapshot | None = self.currentIndex().data(Role.ITEM)
        if snapshot is not None:
            self.switch_requested.emit(self.selected() or [snapshot.name], not snapshot.spec.enabled)

    def _link_at(self, position: QPoint) -> QModelIndex | None:
        index = self.indexAt(position)
        if index.isValid() and index.column() == Column.MESSAGE:
            hit = self._message.link_box(self.visualRect(index), index).contains(position)
            return index if hit else None
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = QPersistentModelIndex(self.indexAt(event.position().toPoint()))
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        plain = event.button() == Qt.MouseButton.LeftButton and event.modifiers() == Qt.KeyboardModifier.NoModifier
        if not plain or not index.isValid() or QPersistentModelIndex(index) != self._pressed:
            return
        snapshot: Snapshot = index.data(Role.ITEM)
        if index.column() == Column.ON and index.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            self.switch_requested.emit([snapshot.name], not snapshot.spec.enabled)
        elif self._link_at(position) is not None:
            self.action_requested.emit(snapshot.name, message_action(snapshot))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        position = event.position().toPoint()
        index = self.indexAt(position)
        if index.isValid() and index.column() != Column.ON and self._link_at(position) is None:
            self.edit_requested.emit(index.data(Role.ITEM).name)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        link = self._link_at(event.position().toPoint()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self._flip()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.model_of_servers.rowCount() and not self.sorted.rowCount():
            with QPainter(self.viewport()) as painter:
                painter.setFont(theme.font(13))
                painter.setPen(theme.color("dim"))
                painter.drawText(
                    self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self.tr("No server matches the search.")
                )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns(self.window().width())
