"""How a server is reached: its name, its command, URL or built-in, its time limits, and a test of all that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QScrollArea, QSizePolicy, QStackedWidget, QWidget

from mcp_patchbay.domain.drafts import Draft, Kind
from mcp_patchbay.domain.servers import DEFAULT_CONNECT_TIMEOUT, DEFAULT_TIMEOUT
from mcp_patchbay.ui.editor.builtin_form import BuiltinForm
from mcp_patchbay.ui.editor.check_card import CheckCard
from mcp_patchbay.ui.editor.command_form import CommandForm, FindCommand
from mcp_patchbay.ui.editor.form_grid import FormGrid
from mcp_patchbay.ui.editor.url_form import UrlForm
from mcp_patchbay.ui.widgets import hbox, holder, label, text_field, vbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_patchbay.domain.fields import FieldProblem

KINDS: tuple[Kind, ...] = get_args(Kind)
LIMIT_WIDTH = 96


class ConnectionTab(QWidget):
    """The first tab. It scrolls when the window is small."""

    changed = Signal()

    def __init__(self, find_command: FindCommand | None, builtins: Sequence[str]) -> None:
        super().__init__()
        self.name = text_field(placeholder=self.tr("A short name, such as files"))
        self.name.setAccessibleName(self.tr("Name"))
        self._top = FormGrid()
        self._top.add_row(self.tr("Name"), self.name, self._top.note("name", self.name))
        self.command = CommandForm(find_command)
        self.url = UrlForm()
        self.builtin = BuiltinForm(builtins)
        self._forms: dict[Kind, CommandForm | UrlForm | BuiltinForm] = {
            "command": self.command,
            "url": self.url,
            "builtin": self.builtin,
        }
        self._stack = QStackedWidget()
        for kind in KINDS:
            self._stack.addWidget(self._forms[kind])
        self.connect_timeout = self._limit(self.tr("Time limit for connecting"), DEFAULT_CONNECT_TIMEOUT)
        self.timeout = self._limit(self.tr("Time limit for one tool call"), DEFAULT_TIMEOUT)
        self._bottom = FormGrid()
        limits = hbox(
            label(self.tr("Connect"), role="dim"),
            self.connect_timeout,
            16,
            label(self.tr("One tool call"), role="dim"),
            self.timeout,
            None,
        )
        self._bottom.add_row(
            self.tr("Time limits"),
            limits,
            self._bottom.note("connect_timeout", self.connect_timeout),
            self._bottom.note("timeout", self.timeout),
        )
        self.card = CheckCard()
        form = vbox(self._top, self._stack, self._bottom, None, self.card, margins=(20, 16, 20, 12), spacing=12)
        self._area = _scrolled(holder(form))
        self.setLayout(vbox(self._area, spacing=0))
        self.name.textChanged.connect(self.changed)
        for field in (self.connect_timeout, self.timeout):
            field.textChanged.connect(self.changed)
        for part in self._forms.values():
            part.changed.connect(self.changed)
        self.show_kind("command")

    def show_draft(self, draft: Draft) -> None:
        """Show a draft's name, target and time limits."""
        self.name.setText(draft.name)
        for form in self._forms.values():
            form.show_draft(draft)
        self.connect_timeout.setText(draft.connect_timeout)
        self.timeout.setText(draft.timeout)
        self.show_kind(draft.kind)

    def into(self, draft: Draft) -> Draft:
        """The draft with what stands in the tab."""
        for form in self._forms.values():
            draft = form.into(draft)
        return replace(
            draft,
            name=self.name.text(),
            connect_timeout=self.connect_timeout.text(),
            timeout=self.timeout.text(),
        )

    def show_kind(self, kind: Kind) -> None:
        """Show the form of a command, a URL or a built-in."""
        for other, form in self._forms.items():
            # A form that is not shown must not keep the place that it would need.
            policy = QSizePolicy.Policy.Preferred if other == kind else QSizePolicy.Policy.Ignored
            form.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self._stack.setCurrentWidget(self._forms[kind])

    def show_problems(self, problems: list[FieldProblem]) -> None:
        """Show problems beside their fields."""
        for form in self._all_forms():
            form.show_problems(problems)

    def has_field(self, name: str) -> bool:
        """Whether a field of that name is in this tab."""
        return any(form.has_field(name) for form in self._all_forms())

    def jump_to(self, problem: FieldProblem) -> None:
        """Give the keyboard to the field that a problem is about."""
        for form in self._all_forms():
            if form.has_field(problem.field):
                form.jump_to(problem)

    def show_card(self) -> None:
        """Bring the test's outcome into sight."""
        self._area.ensureWidgetVisible(self.card)

    def _all_forms(self) -> list[FormGrid]:
        return [self._top, *self._forms.values(), self._bottom]

    def _limit(self, name: str, default: float) -> QLineEdit:
        field = text_field(placeholder=self.tr("{0} s").format(f"{default:g}"))
        field.setAccessibleName(name)
        field.setFixedWidth(LIMIT_WIDTH)
        field.setToolTip(self.tr("Seconds; empty for the default"))
        return field


def _scrolled(widget: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    widget.setProperty("plain", True)
    area.setWidget(widget)
    return area
