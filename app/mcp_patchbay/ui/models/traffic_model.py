"""The JSON-RPC messages that went between Patchbay and a server."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.models.ring_model import TOP, RingModel
from mcp_patchbay.ui.texts import clock_time, milliseconds, size

if TYPE_CHECKING:
    from mcp_patchbay.domain.records import TrafficEntry

Index = QModelIndex | QPersistentModelIndex
ItemRole = Qt.ItemDataRole
LARGEST_PARSED = 2**20  # bytes; larger messages are listed without being understood
REQUESTS_KEPT = 20_000


class TrafficColumn(IntEnum):
    """The columns, from left to right."""

    DIRECTION = 0
    TIME = 1
    METHOD = 2
    ID = 3
    SIZE = 4
    TOOK = 5


RIGHT_ALIGNED = {TrafficColumn.ID, TrafficColumn.SIZE, TrafficColumn.TOOK}


class Reading(NamedTuple):
    """What one message is about. `took` is the time in ms between a request and this answer to it."""

    method: str
    id: str
    failed: bool = False
    took: float | None = None


class TrafficModel(RingModel):
    """Direction, time, method, id, size and, for answers, how long they took."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._titles = ("", self.tr("Time"), self.tr("Method"), self.tr("Id"), self.tr("Size"), self.tr("Took"))
        self._readings: dict[int, Reading] = {}
        self._requests: dict[tuple[str, str], tuple[str, float]] = {}
        self._read_until = 0

    def reading(self, row: int) -> Reading:
        """What the message in `row` is about."""
        self._read_on(self.number(row) + 1)
        return self._readings.get(self.number(row), Reading("", ""))

    def forget(self) -> None:
        self._readings.clear()
        self._requests.clear()
        self._read_until = 0

    def _read_on(self, until: int) -> None:
        """Read the messages up to `until`, in order, so that answers find the requests they belong to."""
        if self._read_until >= until or self._ring is None:
            return
        start = max(self._read_until, self._ring.first)
        stop = min(until + 256, self._stop)  # some more at once: the next rows are asked for soon
        for number, entry in enumerate(self._ring.read(start, stop), start):
            self._readings[number] = self._read(entry)
        self._read_until = max(until, stop)
        for number in [n for n in self._readings if n < self._ring.first]:
            del self._readings[number]

    def _read(self, entry: TrafficEntry) -> Reading:
        if entry.size > LARGEST_PARSED:
            return Reading(self.tr("(large message)"), "")
        try:
            message = orjson.loads(entry.raw)
        except orjson.JSONDecodeError:
            return Reading(self.tr("(not JSON)"), "", failed=True)
        if not isinstance(message, dict):
            return Reading(self.tr("(no JSON-RPC object)"), "", failed=True)
        raw_id = message.get("id")
        shown_id = "" if raw_id is None else str(raw_id)
        if "method" in message:
            method = str(message["method"])
            if shown_id:
                self._remember(entry, shown_id, method)
            return Reading(method, shown_id)
        asker = "out" if entry.direction == "in" else "in"
        method, asked = self._requests.pop((asker, shown_id), ("", entry.time))
        took = (entry.time - asked) * 1000 if method else None
        return Reading(method, shown_id, "error" in message, took)

    def _remember(self, entry: TrafficEntry, shown_id: str, method: str) -> None:
        if len(self._requests) >= REQUESTS_KEPT:
            self._requests.pop(next(iter(self._requests)))
        self._requests[entry.direction, shown_id] = (method, entry.time)

    def columnCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else len(TrafficColumn)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = ItemRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == ItemRole.DisplayRole:
            return self._titles[section]
        if role == ItemRole.TextAlignmentRole and section in RIGHT_ALIGNED:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = ItemRole.DisplayRole) -> Any:
        entry: TrafficEntry | None = self.entry(index.row()) if index.isValid() else None
        if entry is None:
            return None
        column = TrafficColumn(index.column())
        match role:
            case ItemRole.DisplayRole:
                return self._cell(index.row(), entry, column)
            case ItemRole.AccessibleTextRole:
                return self._spoken(index.row(), entry, column)
            case ItemRole.TextAlignmentRole if column in RIGHT_ALIGNED:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Role.ICON if column is TrafficColumn.DIRECTION:
                return ("arrow-left", "ok") if entry.direction == "in" else ("arrow-right", "link")
            case Role.TONE:
                return self._tone(index.row(), column)
            case Role.ITEM:
                return entry
            case Role.SEARCH:
                reading = self.reading(index.row())
                return f"{reading.method} {reading.id}".casefold()
        return None

    def _cell(self, row: int, entry: TrafficEntry, column: TrafficColumn) -> str:
        match column:
            case TrafficColumn.DIRECTION:
                return ""
            case TrafficColumn.TIME:
                return clock_time(entry.time)
            case TrafficColumn.SIZE:
                return size(entry.size)
        reading = self.reading(row)
        if column is TrafficColumn.METHOD:
            if reading.took is None:
                return reading.method or self.tr("answer")
            return (self.tr("{0} · error") if reading.failed else self.tr("{0} · result")).format(reading.method)
        if column is TrafficColumn.ID:
            return reading.id
        return "" if reading.took is None else milliseconds(reading.took)

    def _spoken(self, row: int, entry: TrafficEntry, column: TrafficColumn) -> str:
        if column is TrafficColumn.DIRECTION:
            return self.tr("received") if entry.direction == "in" else self.tr("sent")
        return self._cell(row, entry, column)

    def _tone(self, row: int, column: TrafficColumn) -> str | None:
        if column is TrafficColumn.METHOD:
            return "error" if self.reading(row).failed else None
        return "dim"
