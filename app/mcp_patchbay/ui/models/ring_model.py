"""Models over the engine's bounded rings, which only ever grow at the end and lose at the front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Signal

if TYPE_CHECKING:
    from collections.abc import Sequence

Index = QModelIndex | QPersistentModelIndex
TOP = QModelIndex()
CHUNK = 128  # reading deep inside a ring costs a walk, so entries are read by the chunk


class Ring(Protocol):
    """What the models need of a ring: indexes count from the first entry ever and never change."""

    @property
    def first(self) -> int:
        """The index of the oldest entry that is kept."""
        ...

    @property
    def total(self) -> int:
        """The index that the next entry gets."""
        ...

    def read(self, start: int, stop: int | None = None) -> Sequence[Any]:
        """The entries from `start` up to `stop`, as far as they are kept."""
        ...


class RingModel(QAbstractTableModel):
    """One row an entry. `refresh` takes in what came and went; nothing is read before it is shown."""

    dropped = Signal(int)
    """So many rows have gone at the front."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ring: Ring | None = None
        self._start = self._stop = 0
        self._chunk: Sequence[Any] = ()
        self._chunk_start = 0

    def set_ring(self, ring: Ring | None) -> None:
        """Show another ring, or none."""
        if ring is self._ring:
            self.refresh()
            return
        self.beginResetModel()
        self._ring = ring
        self._start, self._stop = (ring.first, ring.total) if ring else (0, 0)
        self._forget_chunk()
        self.forget()
        self.endResetModel()

    def refresh(self) -> None:
        """Take in what the ring got and lost since the last time."""
        if self._ring is None:
            return
        first, total = self._ring.first, self._ring.total
        gone = min(first, self._stop) - self._start
        if gone > 0:
            self.beginRemoveRows(TOP, 0, gone - 1)
            self._start += gone
            self.endRemoveRows()
            self.dropped.emit(gone)
        if self._start == self._stop and first > self._stop:
            self._start = self._stop = first
        if total > self._stop:
            self._forget_chunk()
            self.beginInsertRows(TOP, self._stop - self._start, total - self._start - 1)
            self._stop = total
            self.endInsertRows()

    def clear(self) -> None:
        """Show only what comes from now on. The ring keeps what it has."""
        if self._stop > self._start:
            self.beginRemoveRows(TOP, 0, self._stop - self._start - 1)
            self._start = self._stop
            self.endRemoveRows()

    def number(self, row: int) -> int:
        """The index in the ring of the entry in `row`."""
        return self._start + row

    def entry(self, row: int) -> Any:
        """The entry in `row`; None when the ring has lost it since the last refresh."""
        number = self._start + row
        if not self._chunk_start <= number < self._chunk_start + len(self._chunk):
            if self._ring is None:
                return None
            start = max(number // CHUNK * CHUNK, self._ring.first)
            self._chunk = self._ring.read(start, number // CHUNK * CHUNK + CHUNK)
            self._chunk_start = start
        place = number - self._chunk_start
        return self._chunk[place] if 0 <= place < len(self._chunk) else None

    def entries(self) -> Sequence[Any]:
        """All entries that are shown."""
        return self._ring.read(self._start, self._stop) if self._ring else ()

    def forget(self) -> None:
        """Another ring is shown: for what a subclass remembers of the old one."""

    def _forget_chunk(self) -> None:
        self._chunk_start, self._chunk = 0, ()

    def rowCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else self._stop - self._start
