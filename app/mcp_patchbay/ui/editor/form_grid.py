"""The two columns of a form: captions at the left, fields with their notes at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLayout, QWidget

from mcp_patchbay.ui.texts import text_of
from mcp_patchbay.ui.widgets import FieldError, label, vbox

if TYPE_CHECKING:
    from mcp_patchbay.domain.fields import FieldProblem


@runtime_checkable
class ShowsRow(Protocol):
    """A field of several rows."""

    def show_row(self, row: int) -> None:
        """Make a row the current one."""


CAPTION_WIDTH = 104
FIELD_HEIGHT = 32


class FormGrid(QWidget):
    """A form whose fields are known by the names that problems use, such as "command"."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[str, FieldError] = {}
        self._fields: dict[str, QWidget] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(12)
        self._grid.setColumnMinimumWidth(0, CAPTION_WIDTH)
        self._grid.setColumnStretch(1, 1)

    def add_row(self, caption: str, *parts: QWidget | QLayout) -> None:
        """Add a caption and, beside it, one or more parts below each other."""
        row = self._grid.rowCount()
        text = label(caption)
        text.setMinimumHeight(FIELD_HEIGHT)
        self._grid.addWidget(text, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addLayout(vbox(*parts, spacing=4), row, 1)

    def note(self, name: str, field: QWidget) -> FieldError:
        """The line under a field. The field is known as `name` from now on."""
        self._fields[name] = field
        self.notes[name] = FieldError(field)
        return self.notes[name]

    def show_problems(self, problems: list[FieldProblem]) -> None:
        """Show the first problem of every field beside it, and take back what is no longer wrong."""
        for name, note in self.notes.items():
            problem = next((problem for problem in problems if problem.field == name), None)
            if problem is not None:
                note.show_error(text_of(problem.message))
            elif note.is_error:
                note.clear()

    def has_field(self, name: str) -> bool:
        """Whether a field of that name is in this form."""
        return name in self._fields

    def jump_to(self, problem: FieldProblem) -> None:
        """Give the keyboard to the field that a problem is about."""
        field = self._fields[problem.field]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        if problem.row is not None and isinstance(field, ShowsRow):
            field.show_row(problem.row)
