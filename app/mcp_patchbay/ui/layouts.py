"""Boxes, cards and lines: how the parts of a window stand together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence

Margins = tuple[int, int, int, int]
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | None
NO_MARGINS: Margins = (0, 0, 0, 0)
Box = TypeVar("Box", bound=QBoxLayout)


def hbox(*items: Item, margins: Margins = NO_MARGINS, spacing: int = 8) -> QHBoxLayout:
    """Items side by side: widgets, layouts, either with a stretch as a tuple, pixels of space, or None (a stretch)."""
    return _filled(QHBoxLayout(), items, margins, spacing)


def vbox(*items: Item, margins: Margins = NO_MARGINS, spacing: int = 8) -> QVBoxLayout:
    """Items one below the other; see `hbox`."""
    return _filled(QVBoxLayout(), items, margins, spacing)


def _filled(box: Box, items: Sequence[Item], margins: Margins, spacing: int) -> Box:
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    for item in items:
        if item is None:
            box.addStretch(1)
        elif isinstance(item, int):
            box.addSpacing(item)
        else:
            part, stretch = item if isinstance(item, tuple) else (item, 0)
            if isinstance(part, QLayout):
                box.addLayout(part, stretch)
            else:
                box.addWidget(part, stretch)
    return box


def holder(layout: QLayout) -> QWidget:
    """A widget without a look of its own that holds `layout`."""
    widget = QWidget()
    widget.setLayout(layout)
    return widget


def card(layout: QLayout, *, highlighted: bool = False) -> QFrame:
    """A white, rounded frame; a highlighted one has a blue edge."""
    return _frame("hero" if highlighted else "card", layout)


def inset(layout: QLayout) -> QFrame:
    """A faint frame inside a card."""
    return _frame("inset", layout)


def bar(layout: QLayout) -> QFrame:
    """A frame for one line of news above or below other things."""
    return _frame("bar", layout)


def _frame(name: str, layout: QLayout) -> QFrame:
    frame = QFrame()
    frame.setObjectName(name)
    frame.setLayout(layout)
    return frame


def line(*, vertical: bool = False) -> QFrame:
    """A thin line between parts."""
    frame = QFrame()
    frame.setObjectName("vline" if vertical else "line")
    return frame
