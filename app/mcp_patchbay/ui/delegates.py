"""What paints the cells of tables and lists. Each is fed by item-data roles (`Role`), so that any model can use it."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.texts import NOT_KNOWN
from mcp_patchbay.ui.widgets import paint_badge

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft
RIGHT = Qt.AlignmentFlag.AlignRight
DOTS = "•" * 12
SPARK_WIDTH, SPARK_HEIGHT, SPARK_SPACE = 46, 14, 60


class Role(IntEnum):
    """What a model hands its delegates, besides Qt's own roles."""

    TONE = Qt.ItemDataRole.UserRole + 1
    """str: the role of the text's colour, such as "dim" or "error"."""
    STATE = Qt.ItemDataRole.UserRole + 2
    """ServerState: which badge; DisplayRole holds its text."""
    SUBTEXT = Qt.ItemDataRole.UserRole + 3
    """str: the second line, or what stands at the right."""
    POINTS = Qt.ItemDataRole.UserRole + 4
    """Sequence[float]: the points of a sparkline."""
    LINK = Qt.ItemDataRole.UserRole + 5
    """str: a link in front of the text."""
    ICON = Qt.ItemDataRole.UserRole + 6
    """tuple[str, str]: an icon's name and the role of its colour."""
    PATTERN = Qt.ItemDataRole.UserRole + 7
    """str: the pattern that decided; DisplayRole holds the rule ("allow", "block" ...)."""
    KEPT = Qt.ItemDataRole.UserRole + 8
    """bool: whether a value is kept in the keyring."""
    EXPANDED = Qt.ItemDataRole.UserRole + 9
    """bool: a group's row: whether it is open. None: a row inside a group."""
    SORT = Qt.ItemDataRole.UserRole + 10
    """What the row is sorted by in this column."""
    ITEM = Qt.ItemDataRole.UserRole + 11
    """The thing that the row shows, such as a ToolInfo."""
    SEARCH = Qt.ItemDataRole.UserRole + 12
    """str: the casefolded text of the whole row that a search looks in; only of column 0."""


class RowDelegate(QStyledItemDelegate):
    """Paints a text in its tone on the program's own selection: blue with focus, grey without, a hairline below."""

    def __init__(
        self, parent: QObject | None = None, *, px: int = 13, mono: bool = False, hairline: bool = True
    ) -> None:
        super().__init__(parent)
        self.px, self.mono, self.hairline = px, mono, hairline

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        """Paint the content of a cell into `box`; the background is there already."""
        align = RIGHT if _wants_right(index) else LEFT
        self.write(painter, box, _text(index), tone=_tone(index), align=align)

    def write(
        self,
        painter: QPainter,
        box: QRect,
        text: str,
        *,
        px: int = 0,
        tone: str = "text",
        bold: bool = False,
        mono: bool | None = None,
        align: Qt.AlignmentFlag = LEFT,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> int:
        """Write one line, cut to fit; returns the width that the whole text has."""
        font = theme.font(px or self.px, bold=bold, mono=self.mono if mono is None else mono)
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(theme.color(tone))
        painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, metrics.elidedText(text, elide, box.width()))
        return metrics.horizontalAdvance(text)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        box: QRect = option.rect
        view: QWidget | None = option.widget
        fill = "base" if not selected else "sel" if view is not None and view.hasFocus() else "hover"
        painter.save()
        painter.fillRect(box, theme.color(fill))
        if self.hairline:
            painter.setPen(theme.color("hair"))
            painter.drawLine(box.bottomLeft(), box.bottomRight())
        self.draw(painter, box.adjusted(8, 0, -8, -1), index)
        painter.restore()


class SwitchDelegate(RowDelegate):
    """An on/off switch, fed by CheckStateRole."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        on = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked
        usable = bool(index.flags() & Qt.ItemFlag.ItemIsUserCheckable)
        accent, control = theme.color("accent"), theme.color("control" if usable else "border")
        track = QRectF(box.center().x() - 16, box.center().y() - 9, 34, 20)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent if on else control, 1))
        painter.setBrush(accent if on else theme.color("base"))
        painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), 9.5, 9.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("on_accent") if on else control)
        radius = 7 if on else 6
        x = track.right() - 10 if on else track.x() + 10
        painter.drawEllipse(QPointF(x, track.center().y()), radius, radius)


class StateDelegate(RowDelegate):
    """A state's badge: Role.STATE, its words in DisplayRole."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        state = index.data(Role.STATE)
        if state is not None:
            paint_badge(painter, QRectF(box), theme.badge(state)._replace(text=_text(index)))


class NameDelegate(RowDelegate):
    """A name in bold and a second line below it (Role.SUBTEXT)."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        top = QRect(box.x(), box.y() + 1, box.width(), 18)
        below = QRect(box.x(), box.y() + 18, box.width(), 15)
        self.write(painter, top, _text(index), bold=True, tone=_tone(index))
        middle = Qt.TextElideMode.ElideMiddle
        self.write(painter, below, index.data(Role.SUBTEXT) or "", px=11, tone="dim", elide=middle)


class NumberDelegate(RowDelegate):
    """A number at the right; of "11 / 14" the second part is dim, or in its tone and bold (Role.TONE)."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        text = _text(index)
        first, slash, second = text.partition(" / ")
        tone = index.data(Role.TONE)
        if not slash:
            self.write(painter, box, text, tone=tone or ("dim" if text in ("", NOT_KNOWN) else "text"), align=RIGHT)
            return
        loud = tone == "error"
        width = self.write(painter, box, "/ " + second, tone=tone or "dim", bold=loud, align=RIGHT)
        self.write(painter, box.adjusted(0, 0, -width - 4, 0), first, align=RIGHT)


class LatencyDelegate(RowDelegate):
    """A latency and its sparkline (Role.POINTS)."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        points = index.data(Role.POINTS) or ()
        number = box.adjusted(0, 0, -SPARK_SPACE, 0)
        text = _text(index)
        self.write(painter, number, text, tone="dim" if text == NOT_KNOWN else "text", align=RIGHT)
        if len(points) < 2:
            return
        low, span = min(points), max(max(points) - min(points), 1e-9)
        x, y = box.right() - 48, box.center().y() + SPARK_HEIGHT / 2
        step = SPARK_WIDTH / (len(points) - 1)
        spark = [QPointF(x + step * i, y - SPARK_HEIGHT * (value - low) / span) for i, value in enumerate(points)]
        link = theme.color("link")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(link, 1.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.drawPolyline(QPolygonF(spark))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(link)
        painter.drawEllipse(spark[-1], 2.2, 2.2)


class MessageDelegate(RowDelegate):
    """A text with a link in front of it (Role.LINK); `link_box` says where the link is, for clicks."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        link = index.data(Role.LINK)
        if link:
            width = self.write(painter, box, link, tone="link", bold=True)
            box = box.adjusted(width + 12, 0, 0, 0)
        self.write(painter, box, _text(index), tone=_tone(index))

    def link_box(self, cell: QRect, index: Index) -> QRect:
        """Where in `cell` (the whole cell's rectangle) the link is painted; empty without a link."""
        link = index.data(Role.LINK)
        if not link:
            return QRect()
        width = QFontMetrics(theme.font(13, bold=True)).horizontalAdvance(link)
        return QRect(cell.x() + 8, cell.y(), min(width, cell.width() - 16), cell.height())


class IconDelegate(RowDelegate):
    """An icon in the middle (Role.ICON)."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        named = index.data(Role.ICON)
        if named:
            theme.icon(*named).paint(painter, QRect(box.center().x() - 6, box.center().y() - 6, 14, 14))


class MonoDelegate(RowDelegate):
    """A text in the code font."""

    def __init__(self, parent: QObject | None = None, *, hairline: bool = True) -> None:
        super().__init__(parent, px=12, mono=True, hairline=hairline)


class RuleDelegate(RowDelegate):
    """Which rule decided and by which pattern: "allow" in DisplayRole, `*_file*` in Role.PATTERN. Blocked is grey."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        rule, pattern = _text(index), index.data(Role.PATTERN) or ""
        tone = "ok" if index.data(Role.TONE) == "ok" else "dim"
        mark = QRect(box.x(), box.center().y() - 6, 12, 12)
        theme.icon("check" if tone == "ok" else "ban", tone).paint(painter, mark)
        width = self.write(painter, box.adjusted(20, 0, 0, 0), rule, px=12, tone=tone, bold=True)
        if pattern:
            self.write(painter, box.adjusted(28 + width, 0, 0, 0), pattern, px=12, mono=True)


class SecretValueDelegate(RowDelegate):
    """A value of a header or variable: dots when it is kept in the keyring (Role.KEPT)."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        shown = DOTS if index.data(Role.KEPT) else _text(index)
        self.write(painter, box, shown, px=12, mono=True)


class KeepDelegate(RowDelegate):
    """Where a value is kept (Role.KEPT), in words (DisplayRole) and as a lock."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        kept = bool(index.data(Role.KEPT))
        tone = "ok" if kept else "dim"
        mark = QRect(box.x(), box.center().y() - 6, 14, 14)
        theme.icon("lock" if kept else "lock-open", tone).paint(painter, mark)
        self.write(painter, box.adjusted(22, 0, 0, 0), _text(index), px=12, tone=tone)


class ToolTreeDelegate(RowDelegate):
    """Groups with a chevron (Role.EXPANDED) and a count at the right (Role.SUBTEXT); inside them names in mono."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, hairline=False)

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        expanded = index.data(Role.EXPANDED)
        inner = box.adjusted(18, 0, 0, 0)
        if expanded is None:
            self.write(painter, inner, _text(index), px=12, mono=True, tone=_tone(index))
            return
        chevron = QRect(box.x(), box.center().y() - 4, 10, 10)
        theme.icon("chevron-down" if expanded else "chevron-right", "dim").paint(painter, chevron)
        width = self.write(painter, box, index.data(Role.SUBTEXT) or "", px=12, tone="dim", align=RIGHT)
        self.write(painter, inner.adjusted(0, 0, -width - 8, 0), _text(index), bold=True, tone=_tone(index))


class HistoryDelegate(RowDelegate):
    """A past call: icon (Role.ICON), tool in mono, how it went (Role.PATTERN) and when (Role.SUBTEXT) at the right."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, hairline=False)

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        named = index.data(Role.ICON)
        if named:
            theme.icon(*named).paint(painter, QRect(box.x(), box.center().y() - 5, 12, 12))
        when, outcome = index.data(Role.SUBTEXT) or "", index.data(Role.PATTERN) or ""
        self.write(painter, box.adjusted(20, 0, -104, 0), _text(index), px=12, mono=True)
        tone = "error" if index.data(Role.TONE) == "error" else "dim"
        self.write(painter, box.adjusted(0, 0, -44, 0), outcome, px=12, tone=tone, align=RIGHT)
        self.write(painter, box, when, px=12, tone="dim", align=RIGHT)


def _text(index: Index) -> str:
    value: Any = index.data(Qt.ItemDataRole.DisplayRole)
    return "" if value is None else str(value)


def _tone(index: Index) -> str:
    return index.data(Role.TONE) or "text"


def _wants_right(index: Index) -> bool:
    alignment = index.data(Qt.ItemDataRole.TextAlignmentRole)
    return alignment is not None and bool(Qt.AlignmentFlag(alignment) & RIGHT)
