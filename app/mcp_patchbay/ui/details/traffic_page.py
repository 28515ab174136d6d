"""The Traffic: every JSON-RPC message between Patchbay and a server, live."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QSplitter, QWidget

from mcp_patchbay.ui.code_view import CodeView
from mcp_patchbay.ui.delegates import IconDelegate, MonoDelegate, Role, RowDelegate
from mcp_patchbay.ui.details.file_saving import ask_and_save
from mcp_patchbay.ui.details.ring_table import RingTable
from mcp_patchbay.ui.models.sorted_model import SortedModel
from mcp_patchbay.ui.models.traffic_model import TrafficModel
from mcp_patchbay.ui.texts import size
from mcp_patchbay.ui.widgets import button, hbox, search_field, tool_button, vbox

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from mcp_patchbay.domain.records import TrafficEntry
    from mcp_patchbay.ui.models.ring_model import Ring
    from mcp_patchbay.ui.window_tasks import WindowTasks

LONGEST_BODY = 200_000  # characters that the body pane shows; a saved file holds all


class TrafficPage(QWidget):
    """Messages at the left, the body of the selected one at the right. It reads its ring only while it is seen."""

    def __init__(self, tasks: WindowTasks) -> None:
        super().__init__()
        self._tasks = tasks
        self.name = ""
        self.model = TrafficModel(self)
        self._messages = SortedModel(self)
        self._messages.setSourceModel(self.model)

        self.search = search_field(self.tr("Search methods and ids"), 220)
        self.search.textChanged.connect(self._messages.search)
        self._to_end = button(self.tr("Jump to the end"), "arrow-down", link=True)
        self._to_end.hide()
        clear = tool_button("broom", self.tr("Clear the view of the traffic"), self.tr("Clear"))
        clear.clicked.connect(self.model.clear)
        save = tool_button("file-arrow-down", self.tr("Save the traffic as JSON Lines"), self.tr("Save…"))
        save.clicked.connect(self.save)

        self.table = RingTable(lambda entry: entry.raw.decode("utf-8", "replace"), row=24)
        self.table.setAccessibleName(self.tr("Traffic"))
        self.table.setModel(self._messages)
        self.table.setItemDelegate(RowDelegate(self.table, px=12))
        for column, delegate in {0: IconDelegate(self.table), 2: MonoDelegate(self.table)}.items():
            self.table.setItemDelegateForColumn(column, delegate)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.set_widths(36, 104, 0, 56, 78, 72)
        self.table.following_changed.connect(lambda on: self._to_end.setVisible(not on))
        self._to_end.clicked.connect(self.table.jump_to_end)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.body = CodeView(inside=True)
        self.body.setPlaceholderText(self.tr("Select a message to see its body"))
        self.body.setAccessibleName(self.tr("Body of the selected message"))

        panes = QSplitter(Qt.Orientation.Horizontal)
        panes.addWidget(self.table)
        panes.addWidget(self.body)
        panes.setHandleWidth(8)
        panes.setChildrenCollapsible(False)
        panes.setStretchFactor(0, 3)
        panes.setStretchFactor(1, 2)
        head = hbox(self.search, None, self._to_end, clear, save, margins=(16, 0, 8, 0))
        self.setLayout(vbox(head, (panes, 1), margins=(3, 8, 3, 3)))

    def show_ring(self, name: str, ring: Ring | None) -> None:
        """Show the traffic of the server `name`."""
        self.name = name
        self.model.set_ring(ring)
        self._on_current_changed(self.table.currentIndex())

    def on_grew(self) -> None:
        """The ring has more now."""
        if self.isVisible():
            self.model.refresh()

    def save(self) -> None:
        """Ask for a file and write the messages that the ring holds, one JSON object a line."""

        def content() -> str:
            return "".join(json_line(entry) + "\n" for entry in self.model.entries())

        ask_and_save(self, self.tr("Save the traffic"), f"{self.name}-traffic.jsonl", content, self._tasks)

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex | None = None) -> None:
        entry: TrafficEntry | None = current.data(Role.ITEM) if current.isValid() else None
        self.body.setPlainText("" if entry is None else self._body(entry))

    def _body(self, entry: TrafficEntry) -> str:
        text = pretty(entry.raw)
        if len(text) <= LONGEST_BODY:
            return text
        return text[:LONGEST_BODY] + "\n" + self.tr("… {0} in all; Save writes everything").format(size(entry.size))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.model.refresh()


def pretty(raw: bytes) -> str:
    """A message's JSON indented, or the text as it is when it is none."""
    try:
        return orjson.dumps(orjson.loads(raw), option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return raw.decode("utf-8", "replace")


def json_line(entry: TrafficEntry) -> str:
    """One message as a line of a JSON Lines file: time (Unix seconds), direction, and the message."""
    line: dict[str, Any] = {"time": entry.time, "direction": entry.direction}
    try:
        line["message"] = json.loads(entry.raw)
    except ValueError:
        line["raw"] = entry.raw.decode("utf-8", "replace")
    return json.dumps(line, ensure_ascii=False)
