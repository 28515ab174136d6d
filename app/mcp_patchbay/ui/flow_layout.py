"""A layout that sets its items in lines, like words in a paragraph."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem


class FlowLayout(QLayout):
    """Items from left to right, on as many lines as the width asks for, each centred in its line."""

    def __init__(self, spacing: int = 6) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(hint.width() for hint in shown) + self._gap * max(0, len(shown) - 1)
        return QSize(width, max((hint.height() for hint in shown), default=0))

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            if not item.isEmpty():
                size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Set the items into `rect` (or only pretend to); returns the height that they need."""
        top, left, height = rect.y(), rect.x(), 0
        line: list[tuple[QLayoutItem, QSize, int]] = []
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint()
            if line and left + hint.width() > rect.right() + 1:
                self._place(line, top, height, move=move)
                line, top, left, height = [], top + height + self._gap, rect.x(), 0
            line.append((item, hint, left))
            left += hint.width() + self._gap
            height = max(height, hint.height())
        self._place(line, top, height, move=move)
        return top + height - rect.y()

    @staticmethod
    def _place(line: list[tuple[QLayoutItem, QSize, int]], top: int, height: int, *, move: bool) -> None:
        if move:
            for item, hint, left in line:
                item.setGeometry(QRect(left, top + (height - hint.height()) // 2, hint.width(), hint.height()))
