"""The form of a tool's arguments, scrolling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea

from mcp_patchbay.ui.playground.fields import ObjectEditor, Slot, Told

if TYPE_CHECKING:
    from mcp_patchbay.domain.forms import Field
    from mcp_patchbay.ui.playground.editors import Editor


class FormView(QScrollArea):
    """A tool's arguments, one row a field."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.root = ObjectEditor(field, "", root=True)
        self.root.setProperty("plain", True)
        self.root.edited.connect(self.edited)
        self.setWidget(self.root)
        self.viewport().setAutoFillBackground(False)
        self.root.setAutoFillBackground(False)

    def value(self) -> Any:
        """The arguments as the form has them."""
        return self.root.value()

    def set_value(self, value: Any) -> None:
        """Show other arguments; not an edit."""
        self.root.set_value(value)

    def tell(self, problems: Told) -> list[str]:
        """Show problems at their fields; returns those that belong to no field."""
        return self.root.tell(problems)

    def errors(self) -> list[Editor]:
        """The editors whose text is no value."""
        return self.root.errors()

    def show_editor(self, editor: Editor) -> None:
        """Bring an editor into view and give it the keyboard."""
        editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.ensureWidgetVisible(editor)

    def slot_at(self, path: tuple[str | int, ...]) -> Slot | None:
        """The place of the topmost field of `path`."""
        return self.root.slots.get(str(path[0])) if path else None
