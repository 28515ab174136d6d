"""The calls of now and of earlier runs, newest first."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from mcp_patchbay.engine import tasks
from mcp_patchbay.ui.delegates import HistoryDelegate, Role
from mcp_patchbay.ui.playground.failure import END_ICONS, end_words, outcome_note
from mcp_patchbay.ui.texts import milliseconds, tooltip
from mcp_patchbay.ui.widgets import Table, card, hbox, holder, label, line, tool_button, vbox

if TYPE_CHECKING:
    from mcp_patchbay.stores.history import HistoryStore, PastCall

ROOT = QModelIndex()
MOST_SHOWN = 500
DAY = 24 * 3600


class HistoryModel(QAbstractListModel):
    """Past calls, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.calls: list[PastCall] = []

    def set_calls(self, calls: list[PastCall]) -> None:
        """Show other calls."""
        self.beginResetModel()
        self.calls = calls[:MOST_SHOWN]
        self.endResetModel()

    def add(self, call: PastCall) -> None:
        """Put a call on top."""
        self.beginInsertRows(ROOT, 0, 0)
        self.calls.insert(0, call)
        self.endInsertRows()
        if len(self.calls) > MOST_SHOWN:
            self.beginRemoveRows(ROOT, MOST_SHOWN, len(self.calls) - 1)
            del self.calls[MOST_SHOWN:]
            self.endRemoveRows()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = ROOT) -> int:
        return 0 if parent.isValid() else len(self.calls)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        call = self.calls[index.row()]
        went_well = call.outcome == "ok"
        if role == Qt.ItemDataRole.DisplayRole:
            return call.tool
        if role == Role.ICON:
            return ("check", "ok") if went_well else ("xmark", END_ICONS[call.outcome][1])
        if role == Role.PATTERN:
            return milliseconds(call.seconds * 1000) if went_well else call.note or outcome_note(call.outcome)
        if role == Role.TONE:
            return END_ICONS[call.outcome][1]
        if role == Role.SUBTEXT:
            return _when(call.at)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _told(call)
        return tooltip(_told(call)) if role == Qt.ItemDataRole.ToolTipRole else None


class HistoryPane(QWidget):
    """The list of past calls. Choosing one brings its arguments and its result back."""

    chosen = Signal(object)
    """A PastCall."""

    def __init__(self, store: HistoryStore) -> None:
        super().__init__()
        self._store = store
        self._is_loaded = False
        self._loading = asyncio.Lock()
        self.model = HistoryModel(self)
        self.table = Table(row=28, head=0)
        self.table.setProperty("bare", True)
        self.table.setModel(self.model)
        self.table.setItemDelegate(HistoryDelegate(self))
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.setAccessibleName(self.tr("History of calls"))
        self.table.clicked.connect(self.on_row_chosen)
        self.table.activated.connect(self.on_row_chosen)
        self.clear = tool_button("trash-can", self.tr("Clear history"))
        self.clear.clicked.connect(self.on_clear_clicked)
        head = hbox(
            label(self.tr("History"), 13, bold=True),
            label(self.tr("kept after a restart"), 12, role="dim"),
            None,
            self.clear,
            margins=(12, 0, 4, 0),
        )
        table = holder(vbox(self.table, margins=(3, 0, 3, 4)))
        self.setLayout(vbox(card(vbox(head, line(), (table, 1), spacing=0))))
        self._show_count()

    async def load(self) -> None:
        """Bring in what was kept; once."""
        async with self._loading:
            if not self._is_loaded:
                self.model.set_calls(await self._store.load())
                self._is_loaded = True
                self._show_count()

    async def add(self, call: PastCall) -> None:
        """Show one more call, and keep it."""
        await self.load()
        self.model.add(call)
        self._show_count()
        await self._store.add(call)

    def on_row_chosen(self, index: QModelIndex) -> None:
        self.chosen.emit(self.model.calls[index.row()])

    def on_clear_clicked(self) -> None:
        self.model.set_calls([])
        self._show_count()
        tasks.start(self._store.clear(), name="playground: clear history")

    def _show_count(self) -> None:
        self.clear.setEnabled(bool(self.model.calls))


def _told(call: PastCall) -> str:
    went = " ".join(part for part in (end_words(call.outcome, call.seconds).text, call.note) if part)
    return f"{call.tool} · {call.server} · {went} · {_date(call.at)}"


def _when(at: float) -> str:
    """The time of day of a recent call, the day of an older one."""
    recent = abs(time.time() - at) < DAY
    return time.strftime("%H:%M" if recent else "%d %b", time.localtime(at))


def _date(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
