"""The small parts that every window is made of. All text is shown as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QTabBar,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.texts import menu_text, tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

Margins = tuple[int, int, int, int]
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | None
NO_MARGINS: Margins = (0, 0, 0, 0)
BUTTON_ICON = QSize(20, 14)  # wider than the glyph, so that the text keeps its distance
BADGE_HEIGHT = 22
Box = TypeVar("Box", bound=QBoxLayout)


# --- layouts and frames


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


# --- texts and icons


def label(
    text: str = "",
    px: int = theme.BODY_PX,
    *,
    bold: bool = False,
    role: str = "",
    mono: bool = False,
    wrap: bool = False,
    selectable: bool = False,
) -> QLabel:
    """A plain text. `role` is "dim", "link", "ok", "error" or "warn"."""
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    made.setFont(theme.font(px, bold=bold, mono=mono))
    made.setWordWrap(wrap)
    set_role(made, role)
    if selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return made


def set_role(widget: QWidget, role: str) -> None:
    """Give a label the colour of `role` from now on."""
    set_style_property(widget, "role", role)


def set_style_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet looks at, and let it look again."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class ElidedLabel(QLabel):
    """One line of plain text that is cut to the room there is; the tooltip holds all of it."""

    def __init__(
        self,
        text: str = "",
        px: int = theme.BODY_PX,
        *,
        bold: bool = False,
        role: str = "",
        mono: bool = False,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__()
        self._full, self._elide = text, elide
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font(px, bold=bold, mono=mono))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        set_role(self, role)
        self.set_full_text(text)

    def set_full_text(self, text: str) -> None:
        """Show another text."""
        self._full = " ".join(text.split())
        self.setAccessibleName(self._full)
        self.updateGeometry()
        self._fit()

    def _fit(self) -> None:
        fitted = self.fontMetrics().elidedText(self._full, self._elide, self.width())
        self.setText(fitted)
        self.setToolTip(tooltip(self._full) if fitted != self._full else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self._full) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())


class IconLabel(QWidget):
    """A picture that only decorates; what it says must be said in words too."""

    def __init__(self, name: str, role: str = "dim", px: int = 14, width: int = 0) -> None:
        super().__init__()
        self._px = px
        self.set_icon(name, role)
        self.setFixedSize(width or px + 2, px + 2)

    def set_icon(self, name: str, role: str) -> None:
        """Show another icon; "" shows none."""
        self._icon = theme.icon(name, role) if name else None
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._icon is not None:
            box = QRect(0, 0, self._px, self._px)
            box.moveCenter(self.rect().center())
            self._icon.paint(QPainter(self), box)


def icon_label(name: str, role: str = "dim", px: int = 14, width: int = 0) -> IconLabel:
    """The Font Awesome icon `name` in the colour of `role`, `px` pixels high."""
    return IconLabel(name, role, px, width)


def paint_badge(painter: QPainter, box: QRectF, badge: theme.Badge) -> float:
    """Paint a state's pill at the left of `box`, centred in its height; returns the pill's width."""
    font = theme.font(12, bold=True)
    width = QFontMetrics(font).horizontalAdvance(badge.text) + 35
    pill = QRectF(box.x(), box.center().y() - BADGE_HEIGHT / 2 + 0.5, width, BADGE_HEIGHT)
    edge = badge.fg.toRgb()
    edge.setAlphaF(0.27)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(edge, 1))
    painter.setBrush(badge.bg)
    painter.drawRoundedRect(pill.adjusted(0.5, 0.5, -0.5, -0.5), 10.5, 10.5)
    theme.icon(badge.icon, badge.fg.name()).paint(painter, QRect(int(pill.x()) + 8, int(pill.y()) + 5, 12, 12))
    painter.setPen(badge.fg)
    painter.setFont(font)
    painter.drawText(pill.adjusted(24, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, badge.text)
    painter.restore()
    return width


class StateBadge(QWidget):
    """The pill that names a server's state."""

    def __init__(self, state: ServerState = ServerState.STOPPED, text: str = "") -> None:
        super().__init__()
        self.set_state(state, text)

    def set_state(self, state: ServerState, text: str = "") -> None:
        """Show a state, in other words than its own when `text` is given."""
        self._state, self._text = state, text or theme.state_text(state)
        self.setFixedSize(QFontMetrics(theme.font(12, bold=True)).horizontalAdvance(self._text) + 36, 24)
        self.setAccessibleName(self._text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_badge(QPainter(self), QRectF(self.rect()), theme.badge(self._state)._replace(text=self._text))


# --- buttons


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


# --- fields


def search_field(placeholder: str, width: int = 0) -> QLineEdit:
    """A field to search with; Escape empties it."""
    made = SearchField(placeholder)
    if width:
        made.setFixedWidth(width)
    return made


class SearchField(QLineEdit):
    """A line with a magnifying glass; Escape empties it."""

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self.setProperty("search", True)
        self.addAction(theme.icon("magnifying-glass", "dim"), QLineEdit.ActionPosition.LeadingPosition)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


def text_field(text: str = "", *, mono: bool = False, placeholder: str = "") -> QLineEdit:
    """A line of text."""
    made = QLineEdit(text)
    made.setPlaceholderText(placeholder)
    made.setCursorPosition(0)
    if mono:
        made.setFont(theme.font(12, mono=True))
    return made


class SecondsField(QDoubleSpinBox):
    """A number of seconds; whole ones are shown without a fraction."""

    def __init__(self, value: float, minimum: float = 0.1, maximum: float = 9_999_999) -> None:
        super().__init__()
        self.setDecimals(3)
        self.setRange(minimum, maximum)
        self.setSuffix(self.tr(" s"))
        self.setFixedWidth(96)
        self.setValue(value)
        # The style sheet's padding does not reach a spin box's own line.
        self.lineEdit().setTextMargins(8, 0, 0, 0)

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "f", -128)


def spin_seconds(value: float, minimum: float = 0.1, maximum: float = 9_999_999) -> SecondsField:
    """A field for a time limit in seconds."""
    return SecondsField(value, minimum, maximum)


class FieldError(QWidget):
    """The line under a field that says what is wrong with it, or what was found out about it.

    While it shows an error, the field's edge is red and its accessible description is that error.
    """

    def __init__(self, field: QWidget) -> None:
        super().__init__()
        self._field = field
        self._icon = icon_label("circle-info", "dim", 12)
        self._text = label("", 12, wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setLayout(hbox(self._icon, (self._text, 1), spacing=6))
        self.is_error = False
        self.clear()

    def text(self) -> str:
        """What it says now; "" when nothing."""
        return self._text.text()

    def show_error(self, text: str) -> None:
        """Say what is wrong."""
        self._show(text, "circle-exclamation", "error", error=True)

    def show_note(self, text: str, icon: str = "circle-info", role: str = "dim") -> None:
        """Say something that is no error."""
        self._show(text, icon, role, error=False)

    def clear(self) -> None:
        """Say nothing."""
        self._show("", "", "dim", error=False)

    def _show(self, text: str, icon: str, role: str, *, error: bool) -> None:
        self.is_error = error
        self._icon.set_icon(icon, role)
        self._text.setText(text)
        set_role(self._text, role)
        set_style_property(self._field, "bad", error)
        self._field.setAccessibleDescription(text)
        self.setVisible(bool(text))


# --- tables


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


def is_theme_change(event: QEvent) -> bool:
    """Whether an event says that the colours are others now."""
    return event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)
