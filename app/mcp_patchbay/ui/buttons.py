"""Buttons, segments, chips and tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QSizePolicy, QTabBar, QToolButton, QWidget

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.labels import icon_label, label
from mcp_patchbay.ui.layouts import hbox
from mcp_patchbay.ui.texts import menu_text

if TYPE_CHECKING:
    from collections.abc import Sequence

BUTTON_ICON = QSize(20, 14)  # wider than the glyph, so that the text keeps its distance


def button(text: str, icon: str = "", *, primary: bool = False, link: bool = False) -> QPushButton:
    """A push button. `primary` is the one that a window wants pressed; `link` looks like a link."""
    made = QPushButton(text)
    made.setAutoDefault(False)
    if icon:
        made.setIcon(theme.icon(icon, "on_accent" if primary else "link" if link else "text"))
        made.setIconSize(BUTTON_ICON)
    if primary:
        made.setProperty("primary", True)
    if link:
        made.setProperty("link", True)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
    return made


def tool_button(icon: str, tip: str, text: str = "") -> QToolButton:
    """A flat button of an icon, with a text beside it when there is one. `tip` is its tooltip and accessible name."""
    made = QToolButton()
    made.setIcon(theme.icon(icon, "dim"))
    made.setIconSize(BUTTON_ICON if text else QSize(14, 14))
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    if text:
        made.setText(text)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return made


class Segments(QWidget):
    """A row of joined buttons of which one is chosen; the arrow keys move the choice."""

    changed = Signal(int)
    """Another one was chosen: its place."""

    def __init__(self, choices: Sequence[tuple[str, str]], accessible_name: str) -> None:
        """`choices` are texts and icons ("" for none)."""
        super().__init__()
        self.setAccessibleName(accessible_name)
        self._group = QButtonGroup(self)
        row = hbox(spacing=0)
        for place, (text, icon) in enumerate(choices):
            segment = button(text, icon)
            segment.setCheckable(True)
            segment.setMinimumWidth(QFontMetrics(theme.font(bold=True)).horizontalAdvance(text) + 30 + 24 * bool(icon))
            last = place == len(choices) - 1
            segment.setProperty("segment", "first" if place == 0 else "last" if last else "middle")
            self._group.addButton(segment, place)
            row.addWidget(segment)
        self._group.button(0).setChecked(True)
        self.setLayout(row)
        self._group.idToggled.connect(self._on_toggled)

    def current(self) -> int:
        """The place of the chosen one."""
        return self._group.checkedId()

    def set_current(self, place: int) -> None:
        """Choose another one."""
        self._group.button(place).setChecked(True)

    def _on_toggled(self, place: int, checked: bool) -> None:
        if checked:
            self.changed.emit(place)


class Chip(QFrame):
    """A short text, such as a pattern, in a pill; one that can be removed has a cross."""

    removed = Signal()

    def __init__(self, text: str, icon: str = "", role: str = "dim", remove_tip: str = "") -> None:
        """Without a `remove_tip` (the cross's accessible name) there is no cross."""
        super().__init__()
        self.setObjectName("chip")
        row = hbox(margins=(8, 0, 5 if remove_tip else 10, 0), spacing=5)
        if icon:
            row.addWidget(icon_label(icon, role, 11))
        row.addWidget(label(text, 12, mono=True))
        if remove_tip:
            cross = tool_button("xmark", remove_tip)
            cross.setProperty("chip", True)
            cross.setIconSize(QSize(10, 10))
            cross.setFixedSize(16, 16)
            cross.clicked.connect(self.removed)
            row.addWidget(cross)
        self.setLayout(row)
        self.setFixedHeight(24)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


def tabs(names: Sequence[str], *, small: bool = False) -> QTabBar:
    """A bar of tabs that are underlined when chosen."""
    made = QTabBar()
    made.setExpanding(False)
    made.setDrawBase(False)
    made.setProperty("small", small)
    made.setElideMode(Qt.TextElideMode.ElideNone)
    made.setUsesScrollButtons(False)
    for name in names:
        made.addTab(menu_text(name))
    return made
