"""A table of something that grows at its end: it follows the newest line unless its reader looks at older ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence

from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.widgets import Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from PySide6.QtCore import QAbstractItemModel, QModelIndex


class RingTable(Table):
    """While the last row is in view the table stays at the end; scrolled up, the lines in view stay where they are."""

    following_changed = Signal(bool)
    """Whether the table stays at the end from now on."""

    def __init__(self, text_of_row: Callable[[Any], str], *, row: int = 22, head: int = 28) -> None:
        """`text_of_row` makes the text that Copy gives of a row's `Role.ITEM`."""
        super().__init__(row=row, head=head, inside=True, several=True)
        self._text_of_row = text_of_row
        self._following = True
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollMode(Table.ScrollMode.ScrollPerPixel)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        copy = QAction(self.tr("Copy"), self)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_selection)
        self.addAction(copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def is_following(self) -> bool:
        """Whether the table stays at the end."""
        return self._following

    def jump_to_end(self) -> None:
        """Go to the newest line and stay at the end."""
        self._follow(True)
        self.scrollToBottom()

    def copy_selection(self) -> None:
        """Put the selected rows into the clipboard, in their order."""
        rows = sorted(self.selectionModel().selectedRows(), key=lambda index: index.row())
        if rows:
            QGuiApplication.clipboard().setText("\n".join(self._text_of_row(row.data(Role.ITEM)) for row in rows))

    def _follow(self, on: bool) -> None:
        if on != self._following:
            self._following = on
            self.following_changed.emit(on)

    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        self._follow(value >= bar.maximum() - self.verticalHeader().defaultSectionSize() // 2)

    def _on_range_changed(self, _minimum: int, maximum: int) -> None:
        if self._following:
            self.verticalScrollBar().setValue(maximum)

    def _on_rows_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        """Lines that went at the front must not move those that someone reads."""
        if first == 0 and not self._following:
            bar = self.verticalScrollBar()
            height = (last + 1) * self.verticalHeader().defaultSectionSize()
            following = self._following
            bar.setValue(max(0, bar.value() - height))
            self._follow(following)

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        if model is not None:
            model.rowsRemoved.connect(self._on_rows_removed)
            model.modelReset.connect(self.jump_to_end)
