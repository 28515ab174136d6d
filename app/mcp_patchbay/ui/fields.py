"""Fields to type into, and the line below one that says what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QSizePolicy, QWidget

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.labels import icon_label, label, set_role, set_style_property
from mcp_patchbay.ui.layouts import hbox

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent


def search_field(placeholder: str, width: int = 0) -> QLineEdit:
    """A field to search with; Escape empties it."""
    made = SearchField(placeholder)
    if width:
        made.setFixedWidth(width)
    return made


class SearchField(QLineEdit):
    """A line with a magnifying glass; Escape empties it."""

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self.setProperty("search", True)
        self.addAction(theme.icon("magnifying-glass", "dim"), QLineEdit.ActionPosition.LeadingPosition)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


def text_field(text: str = "", *, mono: bool = False, placeholder: str = "") -> QLineEdit:
    """A line of text."""
    made = QLineEdit(text)
    made.setPlaceholderText(placeholder)
    made.setCursorPosition(0)
    if mono:
        made.setFont(theme.font(12, mono=True))
    return made


class SecondsField(QDoubleSpinBox):
    """A number of seconds; whole ones are shown without a fraction."""

    def __init__(self, value: float, minimum: float = 0.1, maximum: float = 9_999_999) -> None:
        super().__init__()
        self.setDecimals(3)
        self.setRange(minimum, maximum)
        self.setSuffix(self.tr(" s"))
        self.setFixedWidth(96)
        self.setValue(value)
        # The style sheet's padding does not reach a spin box's own line.
        self.lineEdit().setTextMargins(8, 0, 0, 0)

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "f", -128)


def spin_seconds(value: float, minimum: float = 0.1, maximum: float = 9_999_999) -> SecondsField:
    """A field for a time limit in seconds."""
    return SecondsField(value, minimum, maximum)


class FieldError(QWidget):
    """The line under a field that says what is wrong with it, or what was found out about it.

    While it shows an error, the field's edge is red and its accessible description is that error.
    """

    def __init__(self, field: QWidget) -> None:
        super().__init__()
        self._field = field
        self._icon = icon_label("circle-info", "dim", 12)
        self._text = label("", 12, wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setLayout(hbox(self._icon, (self._text, 1), spacing=6))
        self.is_error = False
        self.clear()

    def text(self) -> str:
        """What it says now; "" when nothing."""
        return self._text.text()

    def show_error(self, text: str) -> None:
        """Say what is wrong."""
        self._show(text, "circle-exclamation", "error", error=True)

    def show_note(self, text: str, icon: str = "circle-info", role: str = "dim") -> None:
        """Say something that is no error."""
        self._show(text, icon, role, error=False)

    def clear(self) -> None:
        """Say nothing."""
        self._show("", "", "dim", error=False)

    def _show(self, text: str, icon: str, role: str, *, error: bool) -> None:
        self.is_error = error
        self._icon.set_icon(icon, role)
        self._text.setText(text)
        set_role(self._text, role)
        set_style_property(self._field, "bad", error)
        self._field.setAccessibleDescription(text)
        self.setVisible(bool(text))
