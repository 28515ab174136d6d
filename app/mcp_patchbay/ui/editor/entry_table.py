"""The table of headers or variables, with where each value is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QLineEdit,
    QMenu,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from mcp_patchbay.domain.drafts import Entry, Section, keep_by_default
from mcp_patchbay.domain.fields import header_line, variable_line
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.delegates import IconDelegate, KeepDelegate, MonoDelegate, Role, SecretValueDelegate
from mcp_patchbay.ui.widgets import ElidedLabel, Table, button, hbox, vbox

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QKeyEvent, QPainter

Index = QModelIndex | QPersistentModelIndex
NAME, VALUE, WHERE, MORE = range(4)
ROW_HEIGHT = HEAD_HEIGHT = 32
MOST_ROWS_SHOWN = 6


class EntryModel(QAbstractTableModel):
    """Entries as rows. A name that looks secret ticks "keep in keyring" until its user has decided."""

    def __init__(self, section: Section) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self._section = section
        self._decided: set[int] = set()  # rows whose place was chosen by hand

    def set_entries(self, entries: Iterable[Entry]) -> None:
        """Show other entries."""
        self.beginResetModel()
        self.entries = list(entries)
        self._decided = set(range(len(self.entries)))
        self.endResetModel()

    def add(self, entry: Entry) -> int:
        """Add a row at the end; returns its place."""
        row = len(self.entries)
        self.beginInsertRows(QModelIndex(), row, row)
        self.entries.append(entry)
        self.endInsertRows()
        return row

    def remove(self, row: int) -> None:
        """Take a row out."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self.entries[row]
        self._decided = {place - (place > row) for place in self._decided if place != row}
        self.endRemoveRows()

    def change(self, row: int, **changes: Any) -> None:
        """Change parts of a row's entry."""
        self.entries[row] = replace(self.entries[row], **changes)
        self.dataChanged.emit(self.index(row, 0), self.index(row, MORE))

    def keep(self, row: int, kept: bool) -> None:
        """Say by hand where a row's value is kept."""
        self._decided.add(row)
        self.change(row, kept=kept)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        return 4

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Name"), self.tr("Value"), self.tr("Where"), "")[section]
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() in (NAME, VALUE) else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self.entries[index.row()], index.column()
        if role == Qt.ItemDataRole.EditRole:
            return entry.name if column == NAME else entry.value
        if role == Role.KEPT:
            return entry.kept and (column == WHERE or bool(entry.value or entry.stored))
        if role == Role.ICON and column == MORE:
            return ("ellipsis", "dim")
        if role == Qt.ItemDataRole.AccessibleTextRole or role == Qt.ItemDataRole.DisplayRole:
            return self._text(entry, column, spoken=role == Qt.ItemDataRole.AccessibleTextRole)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole:
            return False
        row, text = index.row(), str(value)
        entry = self.entries[row]
        # People paste whole lines into one cell: "Authorization: Bearer x", "API_KEY=x".
        line = (header_line if self._section == "headers" else variable_line)(text)
        if line is not None and (index.column() == NAME or line[0].lower() == entry.name.lower()):
            entry = replace(entry, name=line[0], value=line[1] or entry.value)
        elif index.column() == NAME:
            entry = replace(entry, name=text.strip())
        else:
            entry = replace(entry, value=text)
        kept = entry.kept if row in self._decided else keep_by_default(entry.name, entry.value)
        self.change(row, name=entry.name, value=entry.value, kept=kept)
        return True

    def _text(self, entry: Entry, column: int, *, spoken: bool) -> str:
        if column == NAME:
            return entry.name
        if column == WHERE:
            return self.tr("Kept in keyring") if entry.kept else self.tr("In the file")
        if column == MORE:
            return self.tr("More") if spoken else ""
        if not entry.kept:
            return entry.value
        return self.tr("hidden") if spoken and (entry.value or entry.stored) else ""


class EntryTable(QWidget):
    """Headers or variables with their buttons. Space moves a value to the keyring or back, Delete removes a row."""

    changed = Signal()

    def __init__(self, section: Section, accessible_name: str, add_text: str) -> None:
        super().__init__()
        self.model = EntryModel(section)
        self.view = EntryView(self.model)
        self.view.setAccessibleName(accessible_name)
        self.add_button = button(add_text, "plus", link=True)
        self._hint = ElidedLabel(self.tr("Values in the keyring are never shown or exported."), 12, role="dim")
        self.setLayout(vbox(self.view, hbox(self.add_button, None, self._hint), spacing=4))
        self.add_button.clicked.connect(self.add_entry)
        for signal in (self.model.dataChanged, self.model.rowsInserted, self.model.rowsRemoved, self.model.modelReset):
            signal.connect(self._on_model_changed)
        self._fit()

    def entries(self) -> tuple[Entry, ...]:
        """The rows as they stand."""
        return tuple(self.model.entries)

    def set_entries(self, entries: Iterable[Entry]) -> None:
        """Show other rows."""
        self.model.set_entries(entries)

    def add_entry(self) -> None:
        """Add a row and open its name for typing."""
        row = self.model.add(Entry())
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.view.edit_cell(row, NAME)

    def _on_model_changed(self) -> None:
        self._fit()
        self.changed.emit()

    def _fit(self) -> None:
        rows = self.model.rowCount()
        self.view.setFixedHeight(HEAD_HEIGHT + min(rows, MOST_ROWS_SHOWN) * ROW_HEIGHT + 6)
        self.view.setVisible(rows > 0)
        self._hint.setVisible(any(entry.kept for entry in self.model.entries))


class EntryView(Table):
    """The table itself."""

    def __init__(self, model: EntryModel) -> None:
        super().__init__(row=ROW_HEIGHT, head=HEAD_HEIGHT)
        self._entries = model
        self.setModel(model)
        self.setItemDelegateForColumn(NAME, NameCellDelegate(self))
        self.setItemDelegateForColumn(VALUE, ValueCellDelegate(self))
        self.setItemDelegateForColumn(WHERE, WhereCellDelegate(self))
        self.setItemDelegateForColumn(MORE, MoreCellDelegate(self))
        self.set_widths(180, 0, 160, 40)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self.on_context_menu_requested)
        self.clicked.connect(self.on_cell_clicked)

    def edit_cell(self, row: int, column: int) -> None:
        """Open a cell for typing."""
        index = self._entries.index(row, column)
        self.setCurrentIndex(index)
        self.edit(index)

    def show_row(self, row: int) -> None:
        """Make a row the current one."""
        self.setCurrentIndex(self._entries.index(row, NAME))

    def toggle_kept(self, row: int) -> None:
        """Move a value to the keyring, or into the file. What is in the keyring is not read: it is typed again."""
        entry = self._entries.entries[row]
        self._entries.keep(row, not entry.kept)
        if entry.unchanged_secret:
            self.edit_cell(row, VALUE)

    def on_cell_clicked(self, index: Index) -> None:
        if index.column() == WHERE:
            self.toggle_kept(index.row())
        elif index.column() == MORE:
            self._open_menu(index.row(), self.visualRect(index).bottomLeft())

    def on_context_menu_requested(self, place: QPoint) -> None:
        index = self.indexAt(place)
        row = index.row() if index.isValid() else self.currentIndex().row()
        if row >= 0:
            self._open_menu(row, place)

    def _open_menu(self, row: int, place: QPoint) -> None:
        entry = self._entries.entries[row]
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        replace_text = self.tr("Replace value…") if entry.kept else self.tr("Edit value…")
        menu.addAction(theme.icon("pen"), replace_text, lambda: self.edit_cell(row, VALUE))
        clear = menu.addAction(
            theme.icon("xmark"), self.tr("Clear value"), lambda: self._entries.change(row, value="", stored="")
        )
        clear.setEnabled(bool(entry.value or entry.stored))
        keep_text = self.tr("Move into the file") if entry.kept else self.tr("Keep in keyring")
        menu.addAction(theme.icon("lock-open" if entry.kept else "lock"), keep_text, lambda: self.toggle_kept(row))
        menu.addSeparator()
        menu.addAction(theme.icon("trash-can"), self.tr("Remove"), lambda: self._entries.remove(row))
        menu.popup(self.viewport().mapToGlobal(place))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        if not index.isValid() or self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)  # while a cell is typed in, what comes here is what its line let through
        elif key == Qt.Key.Key_Delete:
            self._entries.remove(index.row())
        elif key == Qt.Key.Key_Space and index.column() in (WHERE, MORE):
            self.on_cell_clicked(index)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if index.column() in (NAME, VALUE):
                self.edit(index)
            else:
                self.on_cell_clicked(index)
        else:
            super().keyPressEvent(event)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        index = self.currentIndex()
        typed_a_name = index.isValid() and index.column() == NAME and bool(index.data())
        if hint == QAbstractItemDelegate.EndEditHint.SubmitModelCache and typed_a_name:
            entry = self._entries.entries[index.row()]
            if not entry.value and not entry.stored:  # a new row: on to its value
                self.edit_cell(index.row(), VALUE)


class _CurrentCell:
    """Draws an edge around the cell that the keyboard is in; a row alone would not tell which one that is."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)  # type: ignore[misc]
        if option.state & QStyle.StateFlag.State_HasFocus:
            box: QRect = option.rect
            painter.save()
            painter.setPen(theme.color("link"))
            painter.drawRect(box.adjusted(1, 1, -2, -3))
            painter.restore()


class NameCellDelegate(_CurrentCell, MonoDelegate):
    """A name."""

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setFont(theme.font(12, mono=True))
        editor.setAccessibleName(self.tr("Name"))
        return editor


class ValueCellDelegate(_CurrentCell, SecretValueDelegate):
    """A value; one that goes to the keyring is typed unseen."""

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setFont(theme.font(12, mono=True))
        editor.setAccessibleName(self.tr("Value"))
        model = index.model()
        if isinstance(model, EntryModel) and model.entries[index.row()].kept:
            editor.setEchoMode(QLineEdit.EchoMode.Password)
            stored = bool(model.entries[index.row()].stored)
            editor.setPlaceholderText(self.tr("New value; empty keeps the old one") if stored else self.tr("Value"))
        return editor


class WhereCellDelegate(_CurrentCell, KeepDelegate):
    """Where a value is kept."""


class MoreCellDelegate(_CurrentCell, IconDelegate):
    """The button that opens a row's menu."""
