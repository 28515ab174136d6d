"""The lower part of the playground: a call's progress, and then what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QMenu,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from mcp_patchbay.ui import texts
from mcp_patchbay.ui.playground.blocks import LongText, block_view, note_view, value_view
from mcp_patchbay.ui.playground.failure import END_ICONS, CallEnd, end_words, error_json, failure_texts
from mcp_patchbay.ui.playground.json_views import JsonTree, table_rows
from mcp_patchbay.ui.widgets import (
    ElidedLabel,
    button,
    card,
    hbox,
    holder,
    icon_label,
    label,
    line,
    set_role,
    tabs,
    tool_button,
    vbox,
)

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from mcp_patchbay.domain.catalog import ToolResult
    from mcp_patchbay.ui.playground.call import RunningCall

RENDERED, STRUCTURED, RAW = range(3)
TICK_MS = 100
MOST_BLOCKS = 200
WIDE = 520
"""Pixels from which there is room for the words of every button."""


class RunningPage(QWidget):
    """How far a call is, and Cancel."""

    cancel_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._call: RunningCall | None = None
        self._said = ElidedLabel("", 15, bold=True)
        self._percent = label("", 13, role="dim")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress"))
        self._elapsed = label("", 12, role="dim")
        self.cancel = button(self.tr("Cancel"), "xmark")
        self.cancel.clicked.connect(self.cancel_requested)
        self._clock = QTimer(self)
        self._clock.setInterval(TICK_MS)
        self._clock.timeout.connect(self._tick)
        self.setLayout(
            vbox(
                None,
                hbox((self._said, 1), self._percent),
                self._bar,
                hbox(self._elapsed, None, self.cancel),
                None,
                margins=(32, 0, 32, 0),
                spacing=12,
            )
        )

    def follow(self, call: RunningCall | None) -> None:
        """Show how far `call` is from now on; None follows nothing."""
        if self._call is not None:
            self._call.progressed.disconnect(self._show)
        self._call = call
        if call is None:
            self._clock.stop()
            return
        call.progressed.connect(self._show)
        self._clock.start()
        self._show()

    def _show(self) -> None:
        call = self._call
        if call is None:
            return
        waiting = self.tr("Stopping {0}…") if call.is_cancelled else self.tr("Running {0}…")
        said = call.message if call.message and not call.is_cancelled else waiting.format(call.tool)
        self._said.set_full_text(said)
        percent = call.percent
        self._bar.setRange(0, 0 if percent is None else 100)
        if percent is not None:
            self._bar.setValue(percent)
            self._percent.setText(self.tr("{0} %").format(percent))
        else:
            self._percent.setText("" if call.progress is None else f"{call.progress:g}")
        self._bar.setAccessibleDescription(" ".join(part for part in (said, self._percent.text()) if part))
        self.cancel.setEnabled(not call.is_cancelled)
        self._tick()

    def _tick(self) -> None:
        if self._call is None:
            return
        took, limit = self._call.seconds, self._call.limit
        if took <= limit:
            self._elapsed.setText(self.tr("{0} s of at most {1} s").format(f"{took:.1f}", f"{limit:g}"))
        else:  # progress keeps a call alive beyond its limit
            self._elapsed.setText(self.tr("{0} s, the server reports progress").format(f"{took:.1f}"))


class ResultPane(QWidget):
    """Shows one call at a time: nothing yet, running, or ended."""

    cancel_requested = Signal()
    copy_requested = Signal(str)
    """The form that is wanted: "json-rpc", "python" or "command"."""

    def __init__(self) -> None:
        super().__init__()
        self._end: CallEnd | None = None
        self._views: dict[int, QWidget] = {}
        self.tabs = tabs([self.tr("Rendered"), self.tr("Structured"), self.tr("Raw")], small=True)
        self.tabs.setAccessibleName(self.tr("Ways to see the result"))
        self.tabs.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.tabs.currentChanged.connect(self._show_tab)
        self._icon = icon_label("", "dim", 13)
        self._status = label("", 12, bold=True)
        self._about = ElidedLabel("", 12, role="dim")
        self._copy = self._copy_button()
        self.running = RunningPage()
        self.running.cancel_requested.connect(self.cancel_requested)
        self._nothing = label("", 13, role="dim", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedLayout()
        self._pages.addWidget(self._nothing)
        self._pages.addWidget(self.running)
        head = hbox(self.tabs, None, self._icon, self._status, self._about, self._copy, margins=(4, 0, 4, 0), spacing=6)
        pages = QWidget()
        pages.setLayout(self._pages)
        self.setLayout(vbox(card(vbox(head, line(), (pages, 1), spacing=0))))
        self.show_nothing("")

    def show_nothing(self, text: str) -> None:
        """Before the first call: a hint."""
        self._forget()
        self._nothing.setText(text)
        self._pages.setCurrentWidget(self._nothing)
        self._say("", "dim", "")

    def show_running(self, call: RunningCall) -> None:
        """Follow a call under way."""
        self._forget()
        self.running.follow(call)
        self._pages.setCurrentWidget(self.running)
        self._say("spinner", "warn", self.tr("Running"))

    def show_end(self, end: CallEnd) -> None:
        """Show how a call ended."""
        self._forget()
        self._end = end
        words = end_words(end.outcome, end.seconds)
        self._say(words.icon, words.role, words.text)
        self._about.set_full_text(self._measures(end.result) if end.result is not None else "")
        self._show_tab()

    def _show_tab(self) -> None:
        if self._end is None:
            return
        tab = self.tabs.currentIndex()
        if tab not in self._views:
            make = (self._rendered, self._structured, self._raw)[tab]
            self._views[tab] = make(self._end)
            self._pages.addWidget(self._views[tab])
        self._pages.setCurrentWidget(self._views[tab])

    def _forget(self) -> None:
        self.running.follow(None)
        self._end = None
        for view in self._views.values():
            self._pages.removeWidget(view)
            view.hide()
            view.deleteLater()
        self._views = {}

    def _say(self, icon: str, role: str, text: str) -> None:
        self._icon.set_icon(icon, role)
        self._icon.setVisible(bool(icon))
        self._status.setText(text)
        set_role(self._status, role)
        self._about.set_full_text("")

    def _measures(self, result: ToolResult) -> str:
        parts = [texts.size(len(json.dumps(result.raw, ensure_ascii=False, separators=(",", ":"))))]
        rows = table_rows(rendered_value(result))
        if rows is not None:
            parts.insert(0, self.tr("1 row") if len(rows) == 1 else self.tr("{0} rows").format(len(rows)))
        return "· " + " · ".join(parts)

    def _rendered(self, end: CallEnd) -> QWidget:
        if end.result is None:
            return failure_view(end)
        result = end.result
        value = rendered_value(result)
        blocks = result.content
        if value is not None and not result.is_error and not result.warnings:
            return holder(vbox(value_view(value, alone=True), margins=(3, 0, 3, 4)))
        if len(blocks) == 1 and not result.warnings and not result.is_error:
            view = block_view(blocks[0], alone=True)
            if isinstance(view, LongText):
                return holder(vbox(view, margins=(3, 0, 3, 4)))
        notes = [note_view(text, "triangle-exclamation", "warn") for text in result.warnings]
        if result.is_error:
            said = self.tr("The server is well and answered; the tool itself reported this failure.")
            notes.insert(0, note_view(said, *END_ICONS["tool_error"]))
        views = [block_view(block) for block in blocks[:MOST_BLOCKS]]
        if len(blocks) > MOST_BLOCKS:
            views.append(note_view(self.tr("{0} more are in Raw.").format(len(blocks) - MOST_BLOCKS)))
        if not blocks and result.structured is not None:
            views.append(value_view(result.structured))
        elif not blocks:
            views.append(note_view(self.tr("The tool answered without any content.")))
        return _scrolling([*notes, *views])

    def _structured(self, end: CallEnd) -> QWidget:
        if end.result is not None and end.result.structured is not None:
            return holder(vbox(JsonTree(end.result.structured), margins=(3, 0, 3, 4)))
        return _centred(self.tr("The answer has no structured content."))

    def _raw(self, end: CallEnd) -> QWidget:
        answer = dict(end.result.raw) if end.result is not None else error_json(end.error)
        if answer is None:
            return _centred(self.tr("The server sent no answer."))
        return holder(vbox(LongText(answer, alone=True, code=True), margins=(3, 0, 3, 4)))

    def _copy_button(self) -> QToolButton:
        made = tool_button("copy", self.tr("Copy the call as JSON-RPC, Python or a command line"), self.tr("Copy as"))
        menu = QMenu(made)
        for text, form in (
            (self.tr("JSON-RPC request"), "json-rpc"),
            (self.tr("Python program"), "python"),
            (self.tr("Command line"), "command"),
        ):
            menu.addAction(text).triggered.connect(lambda _on=False, form=form: self.copy_requested.emit(form))
        made.setMenu(menu)
        made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return made

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= WIDE
        both, icon = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        self._copy.setToolButtonStyle(both if wide else icon)
        self._about.setVisible(wide)


def rendered_value(result: ToolResult) -> Any:
    """The one JSON value that stands for the whole result: structured content that the text only repeats, or that
    comes alone. None when the blocks have to be shown."""
    structured = result.structured
    if structured is None or len(result.content) > 1 or table_rows(structured) is None:
        return None
    if not result.content:
        return structured
    block = result.content[0]
    return structured if isinstance(block, dict) and block.get("type") == "text" else None


def failure_view(end: CallEnd) -> QWidget:
    """A call without a result: what happened and what would help."""
    said = failure_texts(end)
    icon, role = END_ICONS[end.outcome]
    parts: list[QWidget] = [label(said.title, 15, bold=True, wrap=True, selectable=True)]
    if said.text:
        parts.append(label(said.text, wrap=True, selectable=True))
    if said.hint:
        parts.append(label(said.hint, 12, role="dim", wrap=True, selectable=True))
    data = (error_json(end.error) or {}).get("error", {}).get("data")
    if data is not None:
        parts.append(LongText(data, code=True))
    words = QVBoxLayout()
    words.setSpacing(6)
    for part in parts:
        words.addWidget(part)
    mark = icon_label(icon, role, 20, 28)
    row = hbox(spacing=12)
    row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
    row.addLayout(words, 1)
    return _in_scroll_area(holder(vbox(None, row, None, margins=(48, 12, 48, 12))))


def _scrolling(views: list[QWidget]) -> QWidget:
    return _in_scroll_area(holder(vbox(*views, None, margins=(12, 10, 12, 10), spacing=8)))


def _in_scroll_area(inner: QWidget) -> QWidget:
    inner.setProperty("plain", True)
    inner.setObjectName("content")
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(inner)
    area.viewport().setAutoFillBackground(False)
    inner.setAutoFillBackground(False)
    return area


def _centred(text: str) -> QWidget:
    made = label(text, 13, role="dim", wrap=True)
    made.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return made
