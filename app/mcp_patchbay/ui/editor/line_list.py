"""A list of lines that can be edited, moved and removed: arguments, folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QStyleOptionViewItem, QWidget

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.delegates import RowDelegate
from mcp_patchbay.ui.widgets import button, hbox, tool_button, vbox

if TYPE_CHECKING:
    from collections.abc import Iterable

LINE_HEIGHT = 28
MOST_LINES_SHOWN = 6


class LineDelegate(RowDelegate):
    """A grip to drag the line by, and the line in the code font."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, px=12, mono=True)

    def draw(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        grip = QRect(box.x(), box.center().y() - 6, 14, 14)
        theme.icon("grip-vertical", "dim").paint(painter, grip)
        text = index.data(Qt.ItemDataRole.DisplayRole) or ""
        tone = "text" if text else "dim"
        self.write(painter, box.adjusted(32, 0, 0, 0), text or self.tr("(empty)"), tone=tone)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(super().sizeHint(option, index).width(), LINE_HEIGHT)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect: QRect = option.rect
        editor.setGeometry(rect.adjusted(32, 0, 0, 0))
        editor.setFont(theme.font(12, mono=True))


class Lines(QListWidget):
    """The list itself: F2 or Enter edits a line, Delete removes it, Alt+Up and Alt+Down move it, paste adds lines."""

    edited = Signal()

    def __init__(self, accessible_name: str) -> None:
        super().__init__()
        self.setAccessibleName(accessible_name)
        self.setItemDelegate(LineDelegate(self))
        self.setViewportMargins(2, 2, 2, 2)  # so that lines do not cover the rounded corners
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        model = self.model()
        for changed in (model.dataChanged, model.rowsInserted, model.rowsRemoved, model.rowsMoved, model.modelReset):
            changed.connect(self._on_model_changed)
        self._fit()

    def lines(self) -> tuple[str, ...]:
        """The lines as they stand."""
        return tuple(self.item(row).text() for row in range(self.count()))

    def insert_line(self, row: int, text: str) -> QListWidgetItem:
        """Put a line before `row`."""
        item = QListWidgetItem(text)
        item.setFlags(
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemIsEditable
            | Qt.ItemFlag.ItemIsDragEnabled
        )
        self.insertItem(row, item)
        return item

    def remove_current(self) -> None:
        """Take the current line out."""
        if self.currentRow() >= 0:
            self.takeItem(self.currentRow())

    def move_current(self, by: int) -> None:
        """Move the current line down by `by` places (up when negative)."""
        row = self.currentRow()
        if row >= 0 and 0 <= row + by < self.count():
            self.insertItem(row + by, self.takeItem(row))
            self.setCurrentRow(row + by)

    def _on_model_changed(self) -> None:
        self._fit()
        self.edited.emit()

    def _fit(self) -> None:
        """As high as its lines; hidden without any."""
        self.setFixedHeight(min(self.count(), MOST_LINES_SHOWN) * LINE_HEIGHT + 8)
        self.setVisible(self.count() > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # what the line that is typed in let through
        elif event.matches(QKeySequence.StandardKey.Paste):
            for line in QGuiApplication.clipboard().text().splitlines():
                if line.strip():
                    self.insert_line(self.currentRow() + 1, line.strip())
                    self.setCurrentRow(self.currentRow() + 1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentItem() is not None:
            self.editItem(self.currentItem())
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_current()
        elif event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() == Qt.Key.Key_Up:
            self.move_current(-1)
        elif event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() == Qt.Key.Key_Down:
            self.move_current(1)
        else:
            super().keyPressEvent(event)


class LineList(QWidget):
    """A list of lines with its buttons: add, and for the current line up, down and remove."""

    changed = Signal()
    add_clicked = Signal()
    """Add was clicked. `add_line` does what belongs to it, unless another way to get a line is wanted."""

    def __init__(self, accessible_name: str, add_text: str) -> None:
        super().__init__()
        self._lines = Lines(accessible_name)
        self.add_button = button(add_text, "plus", link=True)
        self._tools = [
            tool_button("chevron-up", self.tr("Move up")),
            tool_button("chevron-down", self.tr("Move down")),
            tool_button("trash-can", self.tr("Remove")),
        ]
        up, down, remove = self._tools
        up.clicked.connect(lambda: self._lines.move_current(-1))
        down.clicked.connect(lambda: self._lines.move_current(1))
        remove.clicked.connect(self._lines.remove_current)
        self.setLayout(vbox(self._lines, hbox(self.add_button, None, *self._tools, spacing=2), spacing=4))
        self.setFocusProxy(self.add_button)  # the list is not there as long as it is empty
        self.add_button.clicked.connect(self.add_clicked)
        self._lines.edited.connect(self._on_edited)
        self._lines.currentRowChanged.connect(self._update_tools)
        self._update_tools()

    def lines(self) -> tuple[str, ...]:
        """The lines as they stand."""
        return self._lines.lines()

    def set_lines(self, lines: Iterable[str]) -> None:
        """Show other lines."""
        self._lines.clear()
        for line in lines:
            self._lines.insert_line(self._lines.count(), line)

    def add_line(self, text: str = "") -> None:
        """Add a line at the end; an empty one opens for typing."""
        item = self._lines.insert_line(self._lines.count(), text)
        self._lines.setCurrentItem(item)
        self._lines.setFocus(Qt.FocusReason.OtherFocusReason)
        if not text:
            self._lines.editItem(item)

    def show_row(self, row: int) -> None:
        """Make a line the current one."""
        self._lines.setCurrentRow(row)
        self._lines.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_edited(self) -> None:
        self._update_tools()
        self.changed.emit()

    def _update_tools(self, _row: int = -1) -> None:
        row, count = self._lines.currentRow(), self._lines.count()
        for tool, usable in zip(self._tools, (row > 0, 0 <= row < count - 1, row >= 0), strict=True):
            tool.setVisible(count > 0)
            tool.setEnabled(usable)
