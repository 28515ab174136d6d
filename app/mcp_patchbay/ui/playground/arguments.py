"""The arguments of a call: a form and raw JSON side by side, in step both ways. What is sent is the raw JSON."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QSplitter, QStackedLayout, QWidget

from mcp_patchbay.domain.forms import Field, form_of, initial
from mcp_patchbay.domain.json_text import ValueTextError, json_text, parse_json
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.schema import Checker, Problem
from mcp_patchbay.ui.code_view import CodeView
from mcp_patchbay.ui.playground.form import FormView
from mcp_patchbay.ui.texts import text_of, tooltip
from mcp_patchbay.ui.widgets import ElidedLabel, hbox, holder, label, line, set_role, vbox

QUICK_TEXT = 20_000
"""Characters of raw JSON up to which each key press is followed at once; a longer text is followed after a pause."""
PAUSE_MS = 250


class ArgumentsPane(QWidget):
    """Edits the arguments of one tool at a time."""

    changed = Signal()
    """The arguments, or what is wrong with them, changed."""

    def __init__(self) -> None:
        super().__init__()
        self._form: FormView | None = None
        self._checker: Checker | None = None
        self._arguments: dict[str, Any] | None = {}
        self._problems: tuple[Problem, ...] = ()
        self._revealed = False  # whether empty fields that are needed are pointed out
        self._form_place = QStackedLayout()
        self._no_form = label("", 12, role="dim", wrap=True)
        self._no_form.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._no_form.setContentsMargins(16, 12, 16, 12)
        self._form_place.addWidget(self._no_form)
        self._raw = CodeView(read_only=False)
        self._raw.setProperty("bare", True)
        self._raw.document().setDocumentMargin(8)
        self._raw.setAccessibleName(self.tr("Arguments as raw JSON"))
        self._state = ElidedLabel("", 12)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(PAUSE_MS)
        self._later.timeout.connect(self._follow_raw)
        self._raw.textChanged.connect(self.on_raw_edited)
        self._build()

    def _build(self) -> None:
        caption = label(self.tr("Raw JSON"), 12, role="dim")
        head = hbox(caption, None, self._state, margins=(14, 0, 14, 0))
        raw = holder(vbox(head, (self._raw, 1), margins=(0, 8, 3, 3), spacing=6))
        sides = QSplitter()
        sides.setHandleWidth(1)
        sides.setChildrenCollapsible(False)
        form = holder(vbox((self._form_place, 1), margins=(3, 0, 0, 3)))
        form.setMinimumWidth(350)
        raw.setMinimumWidth(180)
        sides.addWidget(form)
        sides.addWidget(holder(hbox(line(vertical=True), (raw, 1), spacing=0)))
        sides.setSizes([490, 396])
        self.setLayout(vbox((sides, 1)))
        self.splitter = sides

    def show_tool(self, schema: Any, text: str | None) -> None:
        """Show the form of a tool's `inputSchema` and its arguments: `text`, or those of a fresh form.

        A schema of None is one that is not known now: raw JSON only.
        """
        field = form_of(schema)
        self._checker = None if schema is None else Checker(schema)
        self._revealed = False
        self._replace_form(field if field.kind == "object" and field.fields else None)
        if schema is None:
            self._no_form.setText(self.tr("The server is not ready, so the tool's form is not known."))
        elif field.kind == "object":
            self._no_form.setText(self.tr("This tool names no arguments. Others can be written as raw JSON."))
        else:
            self._no_form.setText(self.tr("The tool's schema cannot be drawn. Write the arguments as raw JSON."))
        fresh = initial(field) if field.kind == "object" else {}
        with QSignalBlocker(self._raw):
            self._raw.setPlainText(json_text(fresh, indent=2) if text is None else text)
        self._follow_raw()

    def raw_text(self) -> str:
        """The raw JSON as it stands."""
        return self._raw.toPlainText()

    def set_raw_text(self, text: str) -> None:
        """Put other raw JSON in, which undo takes back."""
        cursor = QTextCursor(self._raw.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self._follow_raw()

    def arguments(self) -> dict[str, Any] | None:
        """What would be sent, or None while it is not valid JSON or the form has a text that is no value."""
        if self._later.isActive():
            self._follow_raw()
        return None if self._form is not None and self._form.errors() else self._arguments

    def problems(self) -> tuple[Problem, ...]:
        """What the tool's schema says against the arguments."""
        return self._problems

    def reveal_problems(self) -> None:
        """Point out everything that is wrong, also fields that are needed and empty, and go to the first."""
        self._revealed = True
        self._tell()
        if self._form is not None and (errors := self._form.errors()):
            self._form.show_editor(errors[0])
        elif self._arguments is None or self._form is None:
            self._raw.setFocus()
        elif self._problems and (slot := self._form.slot_at(self._problems[0].path)) is not None:
            self._form.show_editor(slot.editor)

    def focus_first(self) -> None:
        """Give the keyboard to the first field."""
        if self._form is not None and self._form.root.slots:
            next(iter(self._form.root.slots.values())).setFocus()
        else:
            self._raw.setFocus()

    def on_raw_edited(self) -> None:
        if self._raw.document().characterCount() > QUICK_TEXT:
            self._later.start()
        else:
            self._follow_raw()

    def on_form_edited(self) -> None:
        assert self._form is not None
        if not self._form.errors():
            self._arguments = self._form.value()
            scrolled = self._raw.verticalScrollBar().value()
            with QSignalBlocker(self._raw):
                cursor = QTextCursor(self._raw.document())
                cursor.select(QTextCursor.SelectionType.Document)
                cursor.insertText(json_text(self._arguments, indent=2))
            self._raw.verticalScrollBar().setValue(scrolled)
        self._check()

    def _follow_raw(self) -> None:
        self._later.stop()
        try:
            value = parse_json(self._raw.toPlainText())
        except ValueTextError as error:
            self._not_usable(text_of(error.text))
            return
        if not isinstance(value, dict):
            self._not_usable(text_of(message("form.not_object")))
            return
        self._arguments = value
        if self._form is not None:
            self._form.set_value(value)
        self._check()

    def _not_usable(self, why: str) -> None:
        self._arguments, self._problems = None, ()
        self._say(why, "error")
        self.changed.emit()

    def _check(self) -> None:
        found = self._checker.problems(self._arguments) if self._checker is not None else None
        self._problems = found or ()
        self._tell()
        errors = self._form.errors() if self._form is not None else []
        if errors:
            self._say(self.tr("the form has a text that is no value"), "error")
        elif found is None:
            self._say(self.tr("valid JSON, not checked against a schema"), "dim")
        elif self._problems:
            self._say(self._problem_words(), "warn")
        elif self._form is not None:
            self._say(self.tr("valid, in step with the form"), "ok")
        else:
            self._say(self.tr("valid"), "ok")
        self.changed.emit()

    def _problem_words(self) -> str:
        if len(self._problems) > 1:
            return self.tr("{0} problems").format(len(self._problems))
        problem = self._problems[0]
        place = ".".join(map(str, problem.path))
        return f"{place}: {text_of(problem.text)}" if place else text_of(problem.text)

    def _tell(self) -> None:
        if self._form is None:
            return
        shown = [p for p in self._problems if self._revealed or p.text.key != "form.required"]
        self._form.tell([(problem.path, text_of(problem.text)) for problem in shown])

    def _say(self, text: str, role: str) -> None:
        self._state.set_full_text(text)
        set_role(self._state, role)
        every = [f"{'.'.join(map(str, p.path))}: {text_of(p.text)}" for p in self._problems]
        self._raw.setAccessibleDescription("; ".join([text, *every]))
        if len(every) > 1:
            self._state.setToolTip(tooltip("\n".join(every)))

    def _replace_form(self, field: Field | None) -> None:
        if self._form is not None:
            self._form_place.removeWidget(self._form)
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        if field is not None:
            self._form = FormView(field)
            self._form.edited.connect(self.on_form_edited)
            self._form_place.addWidget(self._form)
        self._form_place.setCurrentWidget(self._form or self._no_form)
