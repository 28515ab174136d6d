"""The server editor: one dialog for adding a server and for changing one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QStackedWidget, QWidget

from mcp_patchbay.domain.drafts import Draft, Kind
from mcp_patchbay.domain.errors import ConfigError, PatchbayError
from mcp_patchbay.domain.fields import FieldProblem
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec
from mcp_patchbay.engine import tasks
from mcp_patchbay.ui.editor.connection_tab import KINDS, ConnectionTab
from mcp_patchbay.ui.editor.filters_tab import PAGE_MARGINS, FiltersTab
from mcp_patchbay.ui.texts import error_text
from mcp_patchbay.ui.widgets import Segments, bar, button, hbox, holder, icon_label, label, line, set_role, tabs, vbox

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from PySide6.QtGui import QShowEvent

    from mcp_patchbay.ui.editor.command_form import FindCommand
    from mcp_patchbay.ui.workspace import Workspace

CONNECTION, FILTERS, PROMPTS, NOTES = range(4)
PAUSE_MS = 500
"""How long typing must rest before the form says what is wrong."""
END_LIMIT = 10.0
"""Seconds that a test has to end when the editor is closed."""
SAVE_LIMIT = 150.0
"""Seconds for saving: a locked keyring asks for its password."""
# What is not wrong as long as its user has not come that far.
UNFINISHED = frozenset(
    {"field.name.empty", "field.command.empty", "field.url.empty", "field.builtin.empty", "field.folders.none"}
    | {"field.entry.name", "field.entry.value"}
)


class ServerEditor(QDialog):
    """Adds a server or changes one. Open it with `open()`; it saves by itself and closes when that worked."""

    saved = Signal(object)
    """The server was saved: its ServerSpec."""

    def __init__(
        self,
        workspace: Workspace,
        spec: ServerSpec | None = None,
        parent: QWidget | None = None,
        *,
        kind: Kind = "command",
        pasted: ServerSpec | None = None,
        find_command: FindCommand | None = None,
        builtins: Sequence[str] = ("filesystem",),
    ) -> None:
        """
        Args:
            workspace: where it is saved and tested.
            spec: the server to change; None to add one.
            kind: what a new server starts as.
            pasted: a new server's settings, as they were pasted. It is saved unconfirmed, secrets go to the keyring.
            find_command: says which file a command is, for "Found: ..."
            builtins: the built-in servers there are.
        """
        super().__init__(parent)
        self._workspace = workspace
        self._old_name = spec.name if spec is not None else ""
        self._is_new = spec is None
        self._initial = _initial_draft(spec, pasted, kind)
        self._tested: Draft | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._test: asyncio.Task[None] | None = None
        self._save_tried = spec is not None and isinstance(spec.target, InvalidServer)
        self._saved = False
        self._missing: list[FieldProblem] = []  # folders that are not there
        self.setWindowTitle(self.tr("Add server") if self._is_new else self.tr("Edit server"))
        self._build(find_command, builtins)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.show_problems)
        self._show_draft()
        self._connect()
        self.resize(760, 736)
        self.setMinimumHeight(400)
        self.connection.name.setFocus()

    # ---- making it
    def _build(self, find_command: FindCommand | None, builtins: Sequence[str]) -> None:
        self.tabs = tabs([self.tr("Connection"), self.tr("Filters"), self.tr("Prompts"), self.tr("Notes")])
        self.tabs.setAccessibleName(self.tr("Parts of the settings"))
        choices = [(self.tr("Command"), "terminal"), (self.tr("URL"), "globe"), (self.tr("Built-in"), "folder-tree")]
        self.kind = Segments(choices, self.tr("Transport"))
        self.connection = ConnectionTab(find_command, builtins)
        self.tool_filters, self.prompt_filters = FiltersTab("tools"), FiltersTab("prompts")
        self.notes = QPlainTextEdit()
        self.notes.setAccessibleName(self.tr("Notes"))
        self.notes.setTabChangesFocus(True)
        self.notes.document().setDocumentMargin(8)
        notes_hint = label(self.tr("What this server is for; for yourself."), role="dim")
        notes = vbox(notes_hint, (self.notes, 1), margins=PAGE_MARGINS)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.connection)
        for page in (self.tool_filters, self.prompt_filters, holder(notes)):
            self._pages.addWidget(page)
        self._foot_icon = icon_label("circle-info", "dim", 12)
        self._foot = label("", 12, role="dim", wrap=True)
        self.cancel = button(self.tr("Cancel"))
        self.save = button(self.tr("Save"), primary=True)
        self.save.setDefault(True)
        self._leave_bar = self._build_leave_bar()
        head = hbox(
            self.tabs, None, label(self.tr("Transport"), 12, role="dim"), self.kind, margins=(8, 6, 20, 0), spacing=8
        )
        foot = hbox(self._foot_icon, (self._foot, 1), self.cancel, self.save, margins=(20, 10, 20, 12))
        self.setLayout(vbox(head, line(), (self._pages, 1), line(), self._leave_bar, foot, spacing=0))

    def _build_leave_bar(self) -> QWidget:
        """The question whether to throw changes away; not a window of its own."""
        self.discard = button(self.tr("Discard"), "trash-can")
        self.keep_editing = button(self.tr("Keep editing"), primary=True)
        text = label(self.tr("You have changes that are not saved."), bold=True)
        icon = icon_label("triangle-exclamation", "warn")
        frame = bar(hbox(icon, text, None, self.discard, self.keep_editing, margins=(12, 8, 8, 8)))
        holding = holder(vbox(frame, margins=(20, 10, 20, 0)))
        holding.setVisible(False)
        return holding

    def _show_draft(self) -> None:
        draft = self._initial
        self.connection.show_draft(draft)
        self.kind.set_current(KINDS.index(draft.kind))
        self.tool_filters.set_texts(draft.allow_tools, draft.block_tools)
        self.prompt_filters.set_texts(draft.allow_prompts, draft.block_prompts)
        self.notes.setPlainText(draft.description)
        self._show_footer([])

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self.kind.changed.connect(self._on_kind_changed)
        self.connection.changed.connect(self._on_changed)
        self.connection.command.looked.connect(self.show_problems)
        self.tool_filters.changed.connect(self._on_changed)
        self.prompt_filters.changed.connect(self._on_changed)
        self.notes.textChanged.connect(self._on_changed)
        self.connection.card.test_clicked.connect(self.on_test_clicked)
        self.tool_filters.test_clicked.connect(self.on_test_clicked)
        self.prompt_filters.test_clicked.connect(self.on_test_clicked)
        self.connection.card.cancel_clicked.connect(self.on_test_cancelled)
        self.save.clicked.connect(self.on_save_clicked)
        self.cancel.clicked.connect(self.reject)
        self.discard.clicked.connect(self.on_discard_clicked)
        self.keep_editing.clicked.connect(self.on_keep_editing_clicked)

    # ---- what stands in it
    def draft(self) -> Draft:
        """What stands in the form now."""
        allow_tools, block_tools = self.tool_filters.texts()
        allow_prompts, block_prompts = self.prompt_filters.texts()
        return replace(
            self.connection.into(self._initial),
            kind=KINDS[self.kind.current()],
            allow_tools=allow_tools,
            block_tools=block_tools,
            allow_prompts=allow_prompts,
            block_prompts=block_prompts,
            description=self.notes.toPlainText(),
        )

    def is_changed(self) -> bool:
        """Whether there is something to lose."""
        return not self._saved and self.draft() != self._initial

    def problems(self) -> list[FieldProblem]:
        """Everything that is wrong with the form now, in its order."""
        taken = {server.name for server in self._workspace.servers()} - {self._old_name}
        draft = self.draft()
        found = draft.problems(taken)
        folder = self.connection.command.folder_problem
        if draft.kind == "command" and folder is not None and draft.cwd.strip():
            found.append(FieldProblem("cwd", folder))
        if draft.kind == "builtin":
            found += [missing for missing in self._missing if (missing.row or 0) < len(draft.folders)]
        return found

    def show_problems(self) -> list[FieldProblem]:
        """Show what is wrong beside the fields, and how much it is in the footer; returns what is shown."""
        shown = [p for p in self.problems() if self._save_tried or p.message.key not in UNFINISHED]
        for _, page in self._problem_pages():
            page.show_problems(shown)
        self._show_footer(shown)
        return shown

    def _show_footer(self, problems: list[FieldProblem]) -> None:
        count = len({problem.field for problem in problems})
        if count:
            one, several = self.tr("1 field needs your attention"), self.tr("{0} fields need your attention")
            self._say(one if count == 1 else several.format(count), error=True)
        elif self.tabs.currentIndex() == FILTERS:
            self._say(self.tr("Blocked tools cannot be called from anywhere, the Playground included."))
        elif self.tabs.currentIndex() == PROMPTS:
            self._say(self.tr("Blocked prompts cannot be used from anywhere."))
        elif self._initial.base.unconfirmed:
            self._say(self.tr("This was pasted: it starts only after you have clicked Start."))
        else:
            self._say("")

    def _say(self, text: str, *, error: bool = False) -> None:
        role = "error" if error else "dim"
        self._foot_icon.set_icon("circle-exclamation" if error else "circle-info" if text else "", role)
        set_role(self._foot, role)
        self._foot.setText(text)

    def _jump_to(self, problem: FieldProblem) -> None:
        for tab, page in self._problem_pages():
            if page.has_field(problem.field):
                self.tabs.setCurrentIndex(tab)  # first: a field that is not in sight cannot take the keyboard
                page.jump_to(problem)

    def _problem_pages(self) -> tuple[tuple[int, ConnectionTab | FiltersTab], ...]:
        return ((CONNECTION, self.connection), (FILTERS, self.tool_filters), (PROMPTS, self.prompt_filters))

    def _on_changed(self) -> None:
        self._leave_bar.setVisible(False)
        self._pause.start()
        if self._tested is not None and self._connects_differently(self._tested):
            self.connection.card.show_outdated()

    def _connects_differently(self, tested: Draft) -> bool:
        return _connection_of(self.draft()) != _connection_of(tested)

    def _on_tab_changed(self, tab: int) -> None:
        self._pages.setCurrentIndex(tab)
        self.show_problems()

    def _on_kind_changed(self, place: int) -> None:
        self.connection.show_kind(KINDS[place])
        self.tabs.setCurrentIndex(CONNECTION)
        self._on_changed()

    # ---- saving
    def on_save_clicked(self) -> None:
        self._start(self._save(), "save a server")

    async def _save(self) -> None:
        if not await self._is_right():
            return
        spec, secrets = self.draft().to_spec()
        self._set_busy(True)
        self._say(self.tr("Saving…"))
        try:
            if self._is_new:
                action = self._workspace.add(spec, secrets)
            else:
                action = self._workspace.update(self._old_name, spec, secrets)
            await asyncio.wait_for(action, SAVE_LIMIT)
        except PatchbayError as error:
            self._show_refusal(error)
        except TimeoutError:
            self._say(self.tr("The keyring did not answer. Unlock it and save again."), error=True)
        else:
            self._saved = True
            self.saved.emit(spec)
            self.accept()
        finally:
            self._set_busy(False)

    async def _is_right(self) -> bool:
        """Whether nothing is wrong, the disk asked as well. Otherwise it says so and jumps to the first problem."""
        self._save_tried = True
        kind = self.draft().kind
        if kind == "command":
            await self.connection.command.look_for_folder()
        elif kind == "builtin":
            self._missing = await self.connection.builtin.look_for_folders()
        problems = self.show_problems()
        if problems:
            self._jump_to(problems[0])
        return not problems

    def _show_refusal(self, error: PatchbayError) -> None:
        """Show why it was not saved: beside the field when the error names one of the form's."""
        if isinstance(error, ConfigError) and error.field:
            problem = FieldProblem(error.field, error.message)
            for _, page in self._problem_pages():
                page.show_problems([problem])
            self._jump_to(problem)
        self._say(error_text(error), error=True)

    def _set_busy(self, busy: bool) -> None:
        self.save.setEnabled(not busy)
        self._pages.setEnabled(not busy)

    # ---- testing
    def on_test_clicked(self) -> None:
        if self._test is None:
            self._test = self._start(self._check(), "test a connection")

    def on_test_cancelled(self) -> None:
        if self._test is not None:
            self._test.cancel()

    async def _check(self) -> None:
        card = self.connection.card
        try:
            if not await self._is_right_to_test():
                return
            draft = self.draft()
            card.show_running()
            self.tool_filters.show_testing(True)
            self.prompt_filters.show_testing(True)
            spec, secrets = draft.to_spec()
            report = await self._workspace.check(replace(spec, name=spec.name or self.tr("New server")), secrets)
        except PatchbayError as error:
            card.show_error(error)
            QTimer.singleShot(0, self.connection.show_card)  # after the layout has made room for it
        except asyncio.CancelledError:
            card.show_nothing()
            raise
        else:
            self._tested = draft
            card.show_report(report)
            QTimer.singleShot(0, self.connection.show_card)
            if report.ok:
                self.tool_filters.set_candidates(report.tools)
                self.prompt_filters.set_candidates(report.prompts)
        finally:
            self._test = None
            self.tool_filters.show_testing(False)
            self.prompt_filters.show_testing(False)

    async def _is_right_to_test(self) -> bool:
        """As for saving; a name is not needed for a test."""
        if not self.connection.name.text().strip():
            return not [p for p in self.show_problems() if p.field != "name"]
        return await self._is_right()

    async def _show_known(self) -> None:
        """Show the tools and prompts that the running server has."""
        hub = self._workspace.hub
        if hub is None or self._is_new or hub.get_server(self._old_name) is None:
            return
        tools = await hub.list_tools(self._old_name, include_hidden=True)
        prompts = await hub.list_prompts(self._old_name, include_hidden=True)
        if self._tested is None and (tools or prompts):
            self.tool_filters.set_candidates(tools)
            self.prompt_filters.set_candidates(prompts)

    # ---- opening and leaving
    def on_discard_clicked(self) -> None:
        super().reject()

    def on_keep_editing_clicked(self) -> None:
        self._leave_bar.setVisible(False)
        self.connection.name.setFocus()

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = tasks.start(work, name=name)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task

    async def _end(self, work: list[asyncio.Task[None]]) -> None:
        """Go only after what uses the widgets."""
        await tasks.stop(work, within=END_LIMIT)
        self.deleteLater()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self._start(self._show_known(), "list what a server offers")

    def reject(self) -> None:
        """Leave, unless something would be lost: then ask first."""
        if self.is_changed():
            self._leave_bar.setVisible(True)
            self.keep_editing.setFocus()
        else:
            super().reject()

    def done(self, result: int) -> None:
        self._pause.stop()
        self.connection.command.stop_looking()
        super().done(result)
        if work := [task for task in self._work if task is not asyncio.current_task()]:
            tasks.start(self._end(work), name="close a server editor")
        else:
            self.deleteLater()


def _initial_draft(spec: ServerSpec | None, pasted: ServerSpec | None, kind: Kind) -> Draft:
    if spec is not None:
        return Draft.from_spec(spec)
    if pasted is not None:
        return Draft.from_spec(replace(pasted, unconfirmed=True)).with_secrets_kept()
    return Draft.blank(kind)


def _connection_of(draft: Draft) -> Draft:
    """The draft without what makes no difference to a connection."""
    return replace(
        draft,
        name="",
        timeout="",
        allow_tools="",
        block_tools="",
        allow_prompts="",
        block_prompts="",
        description="",
    )
