"""The parts of a form: a place for each field, and the editors of objects and lists, which hold such places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QSizePolicy, QWidget

from mcp_patchbay.domain.forms import ABSENT, Field, given
from mcp_patchbay.ui.playground.captions import NAME_WIDTH, caption, described, is_table, is_wide, joined, short
from mcp_patchbay.ui.playground.editors import Editor, plain_editor
from mcp_patchbay.ui.playground.words import type_words
from mcp_patchbay.ui.texts import tooltip
from mcp_patchbay.ui.widgets import (
    ElidedLabel,
    FieldError,
    button,
    card,
    hbox,
    holder,
    inset,
    label,
    tool_button,
    vbox,
)

MAX_ROWS = 100
"""A list with more items than these is edited as raw JSON."""

Told = list[tuple[tuple[str | int, ...], str]]
"""Problems: a place, counted from the editor that is told, and what is wrong there."""


def editor_for(field: Field, name: str, *, in_table: bool = False) -> Editor:
    """The editor of any field. `name` is what a screen reader calls it."""
    if field.kind == "object":
        editor: Editor = ObjectEditor(field, name, in_table=in_table)
    elif field.kind == "array":
        editor = ListEditor(field, name)
    else:
        editor = plain_editor(field, in_table=in_table)
    editor.input().setAccessibleName(name)
    return editor


class Slot(QWidget):
    """A field's place: its editor, whether it is sent at all, whether it is null, and what is wrong with it."""

    edited = Signal()

    def __init__(self, field: Field, name: str, *, in_table: bool = False) -> None:
        super().__init__()
        self.field = field
        self.editor = editor_for(field, name, in_table=in_table)
        self._is_null = False
        self._before: Any = ABSENT  # what was there before a tick took it away
        self._set = self._tick(self.tr("Set"), self.tr("Send {0}").format(name))
        self._null = self._tick("null", self.tr("{0} is null").format(name))
        self._set.setVisible(not field.required and not in_table)
        self._null.setVisible(field.nullable and not in_table)
        self._error = FieldError(self.editor.input())
        top = Qt.AlignmentFlag.AlignTop
        row = hbox()
        for tick in (self._set, self._null):
            if not tick.isHidden():
                row.addWidget(tick, 0, top)
        row.addWidget(self.editor, 1)
        if field.description:
            self.editor.input().setToolTip(tooltip(field.description))
        self.setLayout(vbox(row, self._error, spacing=2))
        self.setFocusProxy(self.editor)
        self._set.clicked.connect(self.on_set_clicked)
        self._null.clicked.connect(self.on_null_clicked)
        self.editor.edited.connect(self.on_editor_edited)
        self._show_state()

    def value(self) -> Any:
        """The JSON value; ABSENT when the field is not sent."""
        return None if self._is_null else self.editor.value()

    def set_value(self, value: Any) -> None:
        """Show a value, or ABSENT; not an edit."""
        shows_null_itself = self.field.kind == "json" or None in self.field.choices
        self._is_null = value is None and not shows_null_itself
        self.editor.set_value(ABSENT if self._is_null else value)
        self._show_state()

    def tell(self, problems: Told) -> None:
        """Show what is wrong here and further inside."""
        texts = self.editor.tell(problems)
        text = self.editor.error or "; ".join(dict.fromkeys(texts))
        if text:
            self._error.show_error(text)
        else:
            self._error.clear()

    def on_set_clicked(self, on: bool) -> None:
        if on:
            self.set_value(given(self.field) if self._before is ABSENT else self._before)
            self.editor.setFocus()
            self._set.setChecked(True)  # also when only the person can say what: they are about to
        else:
            self._before = self.value()
            self.set_value(ABSENT)
        self.edited.emit()

    def on_null_clicked(self, on: bool) -> None:
        if on:
            self._before = self.editor.value()
            self.set_value(None)
        else:
            self.set_value(given(self.field) if self._before is ABSENT else self._before)
            self.editor.setFocus()
        self.edited.emit()

    def on_editor_edited(self) -> None:
        self._is_null = False
        self._show_state()
        self.edited.emit()

    def _tick(self, text: str, accessible_name: str) -> QCheckBox:
        tick = QCheckBox(text, self)
        tick.setFixedHeight(32)
        tick.setAccessibleName(accessible_name)
        return tick

    def _show_state(self) -> None:
        sent = self.value() is not ABSENT or bool(self.editor.error)
        self._set.setChecked(sent)
        self._null.setChecked(self._is_null)
        unset = "" if self.field.required else self.tr("not sent")
        self.editor.set_placeholder("null" if self._is_null else unset)
        if self.field.kind in ("object", "array"):
            self.editor.setVisible(self.field.required or (sent and not self._is_null))


class ObjectEditor(Editor):
    """The fields of an object, one below the other, or side by side in a table's row.

    Keys that the schema does not name are kept.
    """

    def __init__(self, field: Field, name: str, *, in_table: bool = False, root: bool = False) -> None:
        super().__init__(field)
        self.slots = {part.name: Slot(part, joined(name, part.name), in_table=in_table) for part in field.fields}
        self._note = label("", 12, role="dim", wrap=True)
        self._note.hide()
        for slot in self.slots.values():
            slot.edited.connect(self.on_part_edited)
        if in_table:
            row = hbox(spacing=6)
            for slot in self.slots.values():
                slot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                row.addWidget(slot, 1, Qt.AlignmentFlag.AlignTop)
            self._box = holder(vbox(row, self._note, spacing=2))
        elif root:
            self._box = holder(vbox(self._rows(), self._note, None, margins=(16, 12, 16, 9), spacing=10))
        else:
            self._box = inset(vbox(self._rows(), self._note, margins=(12, 10, 12, 10)))
        self.setLayout(vbox(self._box))
        self._box.setProperty("plain", root or in_table)
        if self.slots:
            self.setFocusProxy(next(iter(self.slots.values())))

    def input(self) -> QWidget:
        return self._box

    def on_part_edited(self) -> None:
        kept = self._value if isinstance(self._value, Mapping) else {}
        parts = {name: slot.value() for name, slot in self.slots.items()}
        more = {key: value for key, value in kept.items() if key not in parts}
        self._take({**{name: value for name, value in parts.items() if value is not ABSENT}, **more})

    def tell(self, problems: Told) -> list[str]:
        here, inside = [], {name: Told() for name in self.slots}
        for path, text in problems:
            if path and path[0] in inside:
                inside[str(path[0])].append((path[1:], text))
            else:
                here.append(f"{path[0]}: {text}" if path else text)
        for name, slot in self.slots.items():
            slot.tell(inside[name])
        return here

    def errors(self) -> list[Editor]:
        return [editor for slot in self.slots.values() for editor in slot.editor.errors()]

    def _rows(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, NAME_WIDTH[0])
        row = 0
        for name, slot in self.slots.items():
            grid.addWidget(caption(slot.field), row, 0, Qt.AlignmentFlag.AlignTop)
            body = described(slot, slot.field)
            if is_wide(slot.field):
                grid.addWidget(body, row + 1, 0, 1, 2)
                row += 1
            else:
                grid.addWidget(body, row, 1)
            slot.setObjectName(name)
            row += 1
        return grid

    def _show(self, value: Any) -> None:
        known = value if isinstance(value, Mapping) else {}
        for name, slot in self.slots.items():
            slot.set_value(known.get(name, ABSENT))
        more = [key for key in known if key not in self.slots]
        if value is not ABSENT and not isinstance(value, Mapping):
            self._note.setText(self.tr("Now {0}, as the raw JSON says.").format(short(value)))
        else:
            self._note.setText(self.tr("Also sent, from the raw JSON: {0}").format(", ".join(more)))
        self._note.setVisible(bool(more) or (value is not ABSENT and not isinstance(value, Mapping)))


class ListRow(QWidget):
    """One item of a list and the button that takes it out."""

    removed = Signal()

    def __init__(self, item: Field, name: str, *, in_table: bool) -> None:
        super().__init__()
        self.slot = Slot(item, name, in_table=in_table)
        remove = tool_button("trash-can", self.tr("Remove {0}").format(name))
        remove.setFixedHeight(32)
        remove.clicked.connect(self.removed)
        row = hbox((self.slot, 1), spacing=4)
        row.addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)
        self.setLayout(row)


class ListEditor(Editor):
    """The items of a list, one below the other; small objects as the rows of a table. Empty rows are not sent."""

    def __init__(self, field: Field, name: str) -> None:
        super().__init__(field)
        assert field.item is not None
        self._item = field.item
        self._name = name
        self._rows: list[ListRow] = []
        self._is_table = is_table(self._item)
        self._body = vbox(spacing=6)
        self._note = label("", 12, role="dim", wrap=True)
        self._note.hide()
        self._head = self._header()
        self._add = button(self.tr("Add row") if self._is_table else self.tr("Add"), "plus", link=True)
        self._add.setAccessibleName(self.tr("Add to {0}").format(name))
        self._add.clicked.connect(self.on_add_clicked)
        self._frame = card(vbox(self._head, self._body, self._note, margins=(8, 8, 8, 8), spacing=6))
        self._frame.setVisible(False)
        self.setLayout(vbox(self._frame, hbox(self._add, None), spacing=0))
        self.setFocusProxy(self._add)

    def input(self) -> QWidget:
        return self._frame

    def on_add_clicked(self) -> None:
        row = self._append()
        row.slot.set_value(given(self._item))
        self._show_frame()
        row.slot.editor.setFocus()
        self.on_item_edited()

    def on_item_edited(self) -> None:
        self._take([value for row in self._rows if (value := row.slot.value()) is not ABSENT])

    def remove(self, row: ListRow) -> None:
        """A person takes an item out."""
        place = self._rows.index(row)
        self._drop(row)
        self._show_frame()
        (self._rows[min(place, len(self._rows) - 1)].slot.editor if self._rows else self._add).setFocus()
        self.on_item_edited()

    def tell(self, problems: Told) -> list[str]:
        sent = [row for row in self._rows if row.slot.value() is not ABSENT]
        here: list[str] = []
        inside = {row: Told() for row in self._rows}
        for path, text in problems:
            if path and isinstance(path[0], int) and path[0] < len(sent):
                inside[sent[path[0]]].append((path[1:], text))
            else:
                here.append(text)
        for row, told in inside.items():
            row.slot.tell(told)
        return here

    def errors(self) -> list[Editor]:
        return [editor for row in self._rows for editor in row.slot.editor.errors()]

    def _header(self) -> QWidget:
        row = hbox(margins=(2, 0, 36, 0), spacing=6)
        for part in self._item.fields if self._is_table else ():
            head = ElidedLabel(part.name + (" *" if part.required else ""), 12, role="dim")
            head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            head.setToolTip(tooltip("\n".join(t for t in (type_words(part), part.description) if t)))
            row.addWidget(head, 1)
        header = holder(row)
        header.setVisible(False)
        return header

    def _append(self) -> ListRow:
        name = self.tr("{0}, item {1}").format(self._name, len(self._rows) + 1)
        row = ListRow(self._item, name, in_table=self._is_table)
        row.slot.edited.connect(self.on_item_edited)
        row.removed.connect(lambda: self.remove(row))
        self._rows.append(row)
        self._body.addWidget(row)
        return row

    def _drop(self, row: ListRow) -> None:
        self._rows.remove(row)
        self._body.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _show(self, value: Any) -> None:
        items = value if isinstance(value, list) and len(value) <= MAX_ROWS else []
        odd = value is not ABSENT and value is not items
        for row in self._rows[len(items) :]:
            self._drop(row)
        while len(self._rows) < len(items):
            self._append()
        for row, item in zip(self._rows, items, strict=True):
            row.slot.set_value(item)
        if odd:
            count = self.tr("{0} items").format(len(value)) if isinstance(value, list) else short(value)
            self._note.setText(self.tr("Now {0}: edit it as raw JSON.").format(count))
        self._note.setVisible(odd)
        self._add.setEnabled(not odd)
        self._show_frame()

    def _show_frame(self) -> None:
        self._head.setVisible(self._is_table and bool(self._rows))
        self._frame.setVisible(bool(self._rows) or not self._note.isHidden())
