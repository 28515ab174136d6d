"""Which tools or prompts pass: patterns, and a live list of what they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QPlainTextEdit, QStackedWidget, QVBoxLayout, QWidget

from mcp_patchbay.domain.drafts import good_patterns
from mcp_patchbay.domain.filters import Decision, Patterns
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.delegates import IconDelegate, MonoDelegate, NumberDelegate, Role, RuleDelegate
from mcp_patchbay.ui.models.catalog_model import offer_tokens
from mcp_patchbay.ui.texts import text_of, tokens, tooltip
from mcp_patchbay.ui.widgets import FieldError, Table, button, card, hbox, icon_label, label, search_field, vbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_patchbay.domain.catalog import PromptInfo, ToolInfo
    from mcp_patchbay.domain.fields import FieldProblem

Index = QModelIndex | QPersistentModelIndex
What = Literal["tools", "prompts"]
EYE, NAME, DECIDED, COST = range(4)
PATTERNS_HEIGHT = 88
PAGE_MARGINS = (20, 16, 20, 12)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool or prompt that may pass. `cost` is about how many tokens it takes in a model's context."""

    name: str
    description: str
    cost: int


def candidate(info: ToolInfo | PromptInfo) -> Candidate:
    """What the preview needs to know of a tool or prompt."""
    return Candidate(info.name, info.description, offer_tokens(info))


class PreviewModel(QAbstractTableModel):
    """What the patterns decide on each tool or prompt."""

    def __init__(self, name_heading: str) -> None:
        super().__init__()
        self._headings = ("", name_heading, self.tr("Decided by"), self.tr("Tokens"))
        self._rules = {
            "all": self.tr("no filter"),
            "allow": self.tr("allow"),
            "block": self.tr("block"),
            "not allowed": self.tr("not allowed"),
        }
        self._rows: list[tuple[Candidate, Decision]] = []

    def set_rows(self, rows: list[tuple[Candidate, Decision]]) -> None:
        """Show other rows, in this order."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        return len(self._headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == COST:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return self._headings[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        (item, decision), column = self._rows[index.row()], index.column()
        passes = decision.visible
        if role == Qt.ItemDataRole.DisplayRole:
            cost = tokens(item.cost) if passes else "0"
            return ("", item.name, self._rules[decision.rule], cost)[column]
        if role == Qt.ItemDataRole.ToolTipRole and column == NAME:
            return tooltip(item.description)
        if role == Qt.ItemDataRole.AccessibleTextRole and column == EYE:
            return self.tr("passes") if passes else self.tr("held back")
        if role == Role.ICON and column == EYE:
            return ("eye", "ok") if passes else ("eye-slash", "dim")
        if role == Role.TONE:
            return "ok" if passes and column == DECIDED else "text" if passes else "dim"
        if role == Role.PATTERN and column == DECIDED:
            return decision.pattern
        return None


class PatternsField(QPlainTextEdit):
    """Patterns, one a line. Tab leaves the field."""

    def __init__(self, accessible_name: str) -> None:
        super().__init__()
        self.setAccessibleName(accessible_name)
        self.setFont(theme.font(12, mono=True))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(8)
        self.setFixedHeight(PATTERNS_HEIGHT)

    def show_row(self, row: int) -> None:
        """Put the cursor at the end of a line."""
        cursor = self.textCursor()
        cursor.setPosition(self.document().findBlockByNumber(row).position())
        cursor.movePosition(cursor.MoveOperation.EndOfBlock)
        self.setTextCursor(cursor)


class FiltersTab(QWidget):
    """Allow and block patterns of tools or of prompts, and below them what they decide."""

    changed = Signal()
    test_clicked = Signal()
    """Nothing is known of the server, and its user wants to know."""

    def __init__(self, what: What) -> None:
        super().__init__()
        self._what = what
        is_tools = what == "tools"
        self._candidates: list[Candidate] | None = None
        self.allow = PatternsField(self.tr("Allow"))
        self.block = PatternsField(self.tr("Block"))
        self._notes = {
            f"filters.{what}.allow": FieldError(self.allow),
            f"filters.{what}.block": FieldError(self.block),
        }
        self._fields = dict(zip(self._notes, (self.allow, self.block), strict=True))
        allow_hint = self.tr("One pattern a line. Empty: everything is allowed.")
        sides = hbox(
            (self._side("check", "ok", self.tr("Allow"), self.allow, "allow", allow_hint), 1),
            (self._side("ban", "dim", self.tr("Block"), self.block, "block", self.tr("Wins over Allow.")), 1),
            spacing=16,
        )
        self._model = PreviewModel(self.tr("Tool") if is_tools else self.tr("Prompt"))
        self.preview = Table(head=32)
        self.preview.setModel(self._model)
        self.preview.setAccessibleName(self.tr("Preview"))
        for column, delegate in (
            (EYE, IconDelegate(self.preview)),
            (NAME, MonoDelegate(self.preview)),
            (DECIDED, RuleDelegate(self.preview)),
            (COST, NumberDelegate(self.preview)),
        ):
            self.preview.setItemDelegateForColumn(column, delegate)
        self.preview.set_widths(36, 240, 0, 90)
        self.summary = label("", 12, role="dim")
        self.search = search_field(self.tr("Filter list"), 200)
        self._empty = label(
            self.tr("Test the connection to see the tools")
            if is_tools
            else self.tr("Test the connection to see the prompts"),
            role="dim",
        )
        self.test = button(self.tr("Test connection"), "rotate-right")
        self.test.clicked.connect(self.test_clicked)
        self._nothing = card(vbox(None, hbox(None, self._empty, None), hbox(None, self.test, None), None, spacing=12))
        self._stack = QStackedWidget()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.preview)
        intro = (
            self.tr("Choose which tools clients can see and call.")
            if is_tools
            else self.tr("Choose which prompts clients can see and use.")
        )
        self.setLayout(
            vbox(
                label(intro, role="dim"),
                sides,
                6,
                hbox(label(self.tr("Preview"), bold=True), self.summary, None, self.search),
                (self._stack, 1),
                margins=PAGE_MARGINS,
            )
        )
        for field in (self.allow, self.block):
            field.textChanged.connect(self._on_patterns_changed)
        self.search.textChanged.connect(self._update_preview)
        self._update_preview()

    def texts(self) -> tuple[str, str]:
        """What stands in Allow and in Block."""
        return self.allow.toPlainText(), self.block.toPlainText()

    def set_texts(self, allow: str, block: str) -> None:
        """Show other patterns."""
        self.allow.setPlainText(allow)
        self.block.setPlainText(block)

    def set_candidates(self, infos: Sequence[ToolInfo | PromptInfo]) -> None:
        """Say which tools or prompts there are."""
        self._candidates = [candidate(info) for info in infos]
        self._update_preview()

    def show_testing(self, testing: bool) -> None:
        """Say whether a test is under way."""
        self.test.setEnabled(not testing)
        self.test.setText(self.tr("Connecting…") if testing else self.tr("Test connection"))

    def show_problems(self, problems: list[FieldProblem]) -> None:
        """Show the first problem of each field beside it."""
        for name, note in self._notes.items():
            problem = next((problem for problem in problems if problem.field == name), None)
            if problem is not None:
                note.show_error(text_of(problem.message))
            else:
                note.clear()

    def has_field(self, name: str) -> bool:
        """Whether a field of that name is in this tab."""
        return name in self._fields

    def jump_to(self, problem: FieldProblem) -> None:
        """Give the keyboard to the field that a problem is about."""
        field = self._fields[problem.field]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        if problem.row is not None:
            field.show_row(problem.row)

    def _side(self, icon: str, role: str, title: str, field: QWidget, side: str, hint: str) -> QVBoxLayout:
        note = self._notes[f"filters.{self._what}.{side}"]
        heading = hbox(icon_label(icon, role, 13), label(title, bold=True), None)
        return vbox(heading, field, note, label(hint, 12, role="dim"), None, spacing=6)

    def _on_patterns_changed(self) -> None:
        self._update_preview()
        self.changed.emit()

    def _update_preview(self) -> None:
        known = self._candidates
        self._stack.setCurrentWidget(self._nothing if known is None else self.preview)
        self.search.setEnabled(bool(known))
        if known is None:
            self.summary.clear()
            return
        patterns = Patterns(*(good_patterns(text) for text in self.texts()))
        decided = [(item, patterns.decide(item.name)) for item in known]
        wanted = self.search.text().strip().lower()
        self._model.set_rows([row for row in decided if wanted in row[0].name.lower()])
        self.summary.setText(self._summed_up(decided))

    def _summed_up(self, decided: list[tuple[Candidate, Decision]]) -> str:
        passing = [item for item, decision in decided if decision.visible]
        counts = self.tr("{0} of {1} tools pass") if self._what == "tools" else self.tr("{0} of {1} prompts pass")
        cost = self.tr("{0} of {1} tokens").format(
            tokens(sum(item.cost for item in passing)), tokens(sum(item.cost for item, _ in decided))
        )
        counted = counts.format(len(passing), len(decided))
        return f"{counted} · {cost}" if decided else counted
