"""Texts, icons and badges. All text is shown as plain text."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.texts import tooltip

BADGE_HEIGHT = 22


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
