"""Editors for the plain fields of a form: texts, numbers, choices and JSON.

An editor never loses a value: one that it cannot show as its own kind is shown as JSON and kept until it is edited.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QWidget,
)

from mcp_patchbay.domain.forms import ABSENT, Field, choice_index, parse_text
from mcp_patchbay.domain.forms import text_of as value_text
from mcp_patchbay.domain.json_text import ValueTextError, json_text, same_json
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.code_view import JsonHighlighter
from mcp_patchbay.ui.texts import text_of
from mcp_patchbay.ui.widgets import hbox, text_field

SEARCHED_CHOICES = 50
"""More choices than these are searched by typing."""
SLIDER_STEPS = 1000
"""A bounded whole number with no more steps than these gets a slider."""
PARAGRAPH_SEPARATOR = "\u2029"  # how Qt ends a line inside a document


class Editor(QWidget):
    """Shows and edits the value of one field."""

    edited = Signal()
    """A person changed the value."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self.error = ""
        """Why what is typed is no value at all; such an editor keeps the last value that was one."""
        self._value: Any = ABSENT

    def value(self) -> Any:
        """The JSON value, or ABSENT when there is none."""
        return self._value

    def set_value(self, value: Any) -> None:
        """Show a value, or ABSENT; not an edit."""
        if same_json_or_absent(value, self._value) and not self.errors():
            return
        self.error = ""
        self._value = value
        self._show(value)

    def set_placeholder(self, text: str) -> None:
        """What stands there while there is no value."""

    def input(self) -> QWidget:
        """The widget that takes the keyboard and shows what is wrong."""
        raise NotImplementedError

    def tell(self, problems: list[tuple[tuple[str | int, ...], str]]) -> list[str]:
        """Show problems (place below this field, words) where they belong; returns those that belong to the field."""
        return [text for _path, text in problems]

    def errors(self) -> list[Editor]:
        """The editors, this one or inside it, whose text is no value."""
        return [self] if self.error else []

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def _take(self, value: Any) -> None:
        """A person made it this value."""
        self.error = ""
        self._value = value
        self.edited.emit()

    def _take_text(self, text: str) -> None:
        """A person typed this text."""
        try:
            self._take(parse_text(self.field, text))
        except ValueTextError as error:
            self.error = text_of(error.text)
            self.edited.emit()


class GrowingText(QPlainTextEdit):
    """A field for text that is one line high and grows with its lines. Tab leaves it."""

    typed = Signal(str)

    def __init__(self, *, code: bool = False, most_lines: int = 8) -> None:
        super().__init__()
        self._most_lines = most_lines
        self.setFont(theme.font(12 if code else theme.BODY_PX, mono=code))
        self.setProperty("field", True)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(max(2.0, (30 - self.fontMetrics().lineSpacing()) / 2))
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.textChanged.connect(lambda: self.typed.emit(self.raw_text()))
        self._fit()

    def raw_text(self) -> str:
        """The text as it is; `toPlainText` would turn no-break spaces into spaces."""
        return self.document().toRawText().replace(PARAGRAPH_SEPARATOR, "\n")

    def show_text(self, text: str) -> None:
        """Show a text; not an edit."""
        with QSignalBlocker(self):
            self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._fit()

    def _fit(self) -> None:
        lines = round(self.document().size().height()) or 1  # a plain text document's height is counted in lines
        shown = min(lines, self._most_lines)
        self.setFixedHeight(max(32, 2 + 2 * int(self.document().documentMargin()) + shown * self._line_height()))
        always, off = Qt.ScrollBarPolicy.ScrollBarAsNeeded, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(always if lines > shown else off)

    def _line_height(self) -> int:
        return self.fontMetrics().lineSpacing()

    def sizeHint(self) -> QSize:
        return QSize(120, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(48, self.height())


class TextEditor(Editor):
    """A text, of one line or more."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._text = GrowingText()
        self._text.typed.connect(self._take_text)
        self.setFocusProxy(self._text)
        self.setLayout(hbox(self._text))

    def set_placeholder(self, text: str) -> None:
        self._text.setPlaceholderText(text)

    def input(self) -> QWidget:
        return self._text

    def _show(self, value: Any) -> None:
        self._text.show_text(value_text(self.field, value))


class NumberEditor(Editor):
    """A number of any size, typed."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._line = text_field()
        self._line.textEdited.connect(self._take_text)
        self.setFocusProxy(self._line)
        self.setLayout(hbox(self._line))

    def set_placeholder(self, text: str) -> None:
        self._line.setPlaceholderText(text)

    def input(self) -> QWidget:
        return self._line

    def _show(self, value: Any) -> None:
        self._line.setText(value_text(self.field, value))
        self._line.setCursorPosition(0)


class BoundedEditor(Editor):
    """A whole number between two bounds: a number to type or step, and a slider beside it."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        low, high = slider_bounds(field) or (0, 0)
        self._nothing = low - 1  # one step below the lowest stands for "no value"
        self._spin = QSpinBox()
        self._spin.setRange(self._nothing, high)
        self._spin.setFixedWidth(84)
        self._spin.lineEdit().setTextMargins(8, 0, 0, 0)  # the style sheet's padding does not reach it
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(low, high)
        self._slider.setAccessibleName(self.tr("{0}, as a slider").format(field.name))
        self.set_placeholder("")
        self._show(ABSENT)
        self._spin.valueChanged.connect(self.on_spin_changed)
        self._slider.valueChanged.connect(self._spin.setValue)
        self.setFocusProxy(self._spin)
        self.setLayout(hbox(self._spin, (self._slider, 1), spacing=12))

    def set_placeholder(self, text: str) -> None:
        self._placeholder = text or " "  # a spin box takes an empty one for none

    def input(self) -> QWidget:
        return self._spin

    def on_spin_changed(self, number: int) -> None:
        with QSignalBlocker(self._slider):
            self._slider.setValue(number)
        self._spin.setSpecialValueText(self._placeholder)
        self._take(ABSENT if number == self._nothing else number)

    def _show(self, value: Any) -> None:
        shown = isinstance(value, int) and not isinstance(value, bool) and self._nothing < value <= self._spin.maximum()
        with QSignalBlocker(self._spin), QSignalBlocker(self._slider):
            self._spin.setSpecialValueText(self._placeholder if value is ABSENT else json_text(value))
            self._spin.setValue(value if shown else self._nothing)
            self._slider.setValue(value if shown else self._slider.minimum())


def slider_bounds(field: Field) -> tuple[int, int] | None:
    """The lowest and highest whole number, when they are near enough for a slider."""
    if field.kind != "integer" or field.minimum is None or field.maximum is None:
        return None
    low = math.floor(field.minimum) + 1 if field.exclusive_minimum else math.ceil(field.minimum)
    high = math.ceil(field.maximum) - 1 if field.exclusive_maximum else math.floor(field.maximum)
    near = 0 < high - low <= SLIDER_STEPS and abs(low) < 2**30
    return (low, high) if near else None


class Choice(QComboBox):
    """A combo box that the wheel leaves alone while a person scrolls past it, and that is quick with many choices."""

    def __init__(self, labels: list[str]) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        view = QListView()
        view.setUniformItemSizes(True)
        view.setLayoutMode(QListView.LayoutMode.Batched)
        self.setView(view)
        self.setModel(QStringListModel(labels, self))
        self.setCurrentIndex(-1)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceEditor(Editor):
    """One of several values; many of them are searched by typing a part of the one that is meant."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._choices = field.choices if field.kind == "enum" else (True, False)
        labels = list(field.labels) if field.kind == "enum" else ["true", "false"]
        self._labels = labels
        self._placeholder = ""
        self._combo = Choice(labels)
        self._line: QLineEdit | None = None
        if len(labels) > SEARCHED_CHOICES:
            self._line = self._make_searchable()
        self._combo.activated.connect(self.on_choice_activated)
        self.setFocusProxy(self._combo)
        self.setLayout(hbox(self._combo))

    def _make_searchable(self) -> QLineEdit:
        self._combo.setEditable(True)
        self._combo.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        completer = QCompleter(self._combo.model(), self._combo)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setMaxVisibleItems(12)
        self._combo.setCompleter(completer)
        line = self._combo.lineEdit()
        assert line is not None  # an editable combo box has one
        line.editingFinished.connect(self.on_search_finished)
        return line

    def set_placeholder(self, text: str) -> None:
        self._placeholder = text
        self._show_placeholder(text)

    def input(self) -> QWidget:
        return self._combo

    def on_choice_activated(self, place: int) -> None:
        if 0 <= place < len(self._choices):
            self._take(self._choices[place])

    def on_search_finished(self) -> None:
        """What was typed is taken when it is a choice, emptied when it is empty, and put back otherwise."""
        typed = self._combo.currentText()
        if not typed and self._value is not ABSENT:
            self._take(ABSENT)
        elif typed in self._labels:
            place = self._labels.index(typed)
            if not same_json_or_absent(self._value, self._choices[place]):
                self._combo.setCurrentIndex(place)
                self._take(self._choices[place])
        else:
            self._show(self._value)

    def _show(self, value: Any) -> None:
        if self.field.kind == "enum":
            place = -1 if value is ABSENT else choice_index(self.field, value)
        else:
            place = self._choices.index(value) if isinstance(value, bool) else -1
        self._combo.setCurrentIndex(place)
        odd = place < 0 and value is not ABSENT
        if self._line is not None and place < 0:
            self._line.clear()
        self._show_placeholder(json_text(value) if odd else self._placeholder)

    def _show_placeholder(self, text: str) -> None:
        if self._line is not None:
            self._line.setPlaceholderText(text)
        else:
            self._combo.setPlaceholderText(text)


def same_json_or_absent(one: Any, other: Any) -> bool:
    """`same_json` for values that may be ABSENT."""
    return one is other if ABSENT in (one, other) else same_json(one, other)


class JsonEditor(Editor):
    """A box for the JSON of one part."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._text = GrowingText(code=True)
        self._highlighter = JsonHighlighter(self._text.document())
        self._text.typed.connect(self._take_text)
        self.setFocusProxy(self._text)
        self.setLayout(hbox(self._text))

    def set_placeholder(self, text: str) -> None:
        self._text.setPlaceholderText(text)

    def input(self) -> QWidget:
        return self._text

    def _show(self, value: Any) -> None:
        self._text.show_text("" if value is ABSENT else json_text(value, indent=2))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_highlighter"):
            self._highlighter.rehighlight()


def plain_editor(field: Field, *, in_table: bool = False) -> Editor:
    """The editor of a field that has no parts. In a table there is no room for a slider."""
    if field.kind in ("enum", "boolean"):
        return ChoiceEditor(field)
    if field.kind == "string":
        return TextEditor(field)
    if field.kind in ("integer", "number"):
        return BoundedEditor(field) if slider_bounds(field) and not in_table else NumberEditor(field)
    return JsonEditor(field)
