"""The filters of a server as chips that can be removed, and fields to add some."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QToolTip, QWidget

from mcp_patchbay.domain.filters import Patterns
from mcp_patchbay.domain.globs import check_pattern
from mcp_patchbay.ui.details.overview import empty
from mcp_patchbay.ui.flow_layout import FlowLayout
from mcp_patchbay.ui.texts import text_of, tooltip
from mcp_patchbay.ui.widgets import Chip, below, button, label, set_style_property, text_field

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

List = Literal["allow", "block"]


class FilterChips(QWidget):
    """Allow and block patterns. It shows what it is given; a change is only asked for."""

    change_requested = Signal(object)
    """The `Patterns` that are wanted instead."""

    def __init__(self) -> None:
        super().__init__()
        self._patterns = Patterns()
        self._flow = FlowLayout()
        self._adding: List | None = None
        self._new: PatternField | None = None
        self.setLayout(self._flow)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._rebuild()

    def set_patterns(self, patterns: Patterns) -> None:
        """Show these patterns. A field that is being filled in stays."""
        if patterns != self._patterns:
            self._patterns = patterns
            self._adding = None
            self._rebuild()

    def with_blocked(self, name: str) -> Patterns:
        """The patterns that would block `name` as well."""
        return replace(self._patterns, block=(*self._patterns.block, name))

    def _rebuild(self) -> None:
        empty(self._flow)
        self._add_list("allow", self.tr("Allow"), self._patterns.allow, "check", "ok")
        self._add_list("block", self.tr("Block"), self._patterns.block, "ban", "dim")

    def _add_list(self, which: List, title: str, patterns: tuple[str, ...], icon: str, role: str) -> None:
        caption = label(title, 12, role="dim")
        caption.setFixedHeight(24)
        self._flow.addWidget(caption)
        for pattern in patterns:
            chip = Chip(pattern, icon, role, self.tr("Remove {0}").format(pattern))
            chip.removed.connect(lambda pattern=pattern: self._on_removed(which, pattern))
            self._flow.addWidget(chip)
        if self._adding == which:
            self._new = self._field(which, title)
            self._flow.addWidget(self._new)
            return
        add = button(self.tr("Add pattern"), "plus", link=True)
        add.setAccessibleName(f"{title}: {add.text()}")
        add.clicked.connect(lambda: self._on_add(which))
        self._flow.addWidget(add)

    def _field(self, which: List, title: str) -> PatternField:
        field = PatternField(self.tr("such as read_*"))
        field.setAccessibleName(self.tr("{0}: new pattern").format(title))
        field.returnPressed.connect(lambda: self._on_entered(which, field))
        field.abandoned.connect(self._on_abandoned)
        return field

    def _on_add(self, which: List) -> None:
        self._adding = which
        self._rebuild()
        if self._new is not None:
            self._new.show()  # the layout would show it only later, and what is hidden takes no focus
            self._new.setFocus()

    def _on_abandoned(self) -> None:
        self._adding = None
        self._rebuild()

    def _on_entered(self, which: List, field: QLineEdit) -> None:
        pattern = field.text().strip()
        problem = check_pattern(pattern)
        if problem is not None:
            set_style_property(field, "bad", True)
            field.setAccessibleDescription(text_of(problem))
            QToolTip.showText(below(field), tooltip(text_of(problem)), field)
            return
        present: tuple[str, ...] = getattr(self._patterns, which)
        self._adding = None
        if pattern in present:
            self._rebuild()
        else:
            self.change_requested.emit(replace(self._patterns, **{which: (*present, pattern)}))

    def _on_removed(self, which: List, pattern: str) -> None:
        left = tuple(p for p in getattr(self._patterns, which) if p != pattern)
        self.change_requested.emit(replace(self._patterns, **{which: left}))


class PatternField(QLineEdit):
    """The line for a new pattern; Escape leaves it."""

    abandoned = Signal()

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.setFont(text_field(mono=True).font())
        self.setPlaceholderText(placeholder)
        self.setFixedWidth(150)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.abandoned.emit()
        else:
            super().keyPressEvent(event)
