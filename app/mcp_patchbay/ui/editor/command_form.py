"""The form of a server that is a command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFileDialog

from mcp_patchbay.domain.command_line import parse_command_line
from mcp_patchbay.domain.drafts import Draft, Entry, keep_by_default
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.fields import check_folder
from mcp_patchbay.domain.servers import StdioServer
from mcp_patchbay.engine import tasks
from mcp_patchbay.ui.editor.entry_table import EntryTable
from mcp_patchbay.ui.editor.folders import folder_problem, full_path, short_path
from mcp_patchbay.ui.editor.form_grid import FormGrid
from mcp_patchbay.ui.editor.line_list import LineList
from mcp_patchbay.ui.texts import text_of
from mcp_patchbay.ui.widgets import button, hbox, text_field

if TYPE_CHECKING:
    from mcp_patchbay.domain.messages import Message

FindCommand = Callable[[StdioServer], Awaitable[str]]
"""Says which file a server's command is. Raises a PatchbayError when it is none."""
PAUSE_MS = 300
"""How long typing must rest before a command or a folder is looked for."""
FIND_LIMIT = 30.0
"""Seconds for finding a command: the login shell may have to be asked for its PATH."""


class CommandForm(FormGrid):
    """Command, arguments, environment and folder."""

    changed = Signal()
    looked = Signal()
    """The disk was asked for the command and the folder."""

    def __init__(self, find_command: FindCommand | None) -> None:
        super().__init__()
        self._find_command = find_command
        self._looking: asyncio.Task[None] | None = None
        self._length = 0
        self.folder_problem: Message | None = None
        self.command = text_field(mono=True, placeholder=self.tr("npx, uvx, a path, or a whole command line"))
        self.command.setAccessibleName(self.tr("Command line"))
        self.browse_command = button(self.tr("Browse…"), "folder-open")
        self.args = LineList(self.tr("Arguments"), self.tr("Add argument"))
        self.env = EntryTable("env", self.tr("Environment"), self.tr("Add variable"))
        self.cwd = text_field(mono=True, placeholder=self.tr("The folder it runs in; empty for your own"))
        self.cwd.setAccessibleName(self.tr("Folder"))
        self.browse_cwd = button(self.tr("Browse…"), "folder-open")
        self._command_note = self.note("command", self.command)
        self.add_row(self.tr("Command line"), hbox((self.command, 1), self.browse_command), self._command_note)
        self.add_row(self.tr("Arguments"), self.args, self.note("args", self.args))
        self.add_row(self.tr("Environment"), self.env, self.note("env", self.env.view))
        self.add_row(self.tr("Folder"), hbox((self.cwd, 1), self.browse_cwd), self.note("cwd", self.cwd))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.look)
        self.command.textEdited.connect(self.on_command_edited)
        self.command.editingFinished.connect(self.split_command)
        self.command.textChanged.connect(self._on_changed)
        self.cwd.textChanged.connect(self._on_changed)
        self.cwd.editingFinished.connect(lambda: self.cwd.setText(full_path(self.cwd.text())))
        self.args.add_clicked.connect(lambda: self.args.add_line())
        self.args.changed.connect(self.changed)
        self.env.changed.connect(self._on_changed)
        self.browse_command.clicked.connect(self.on_browse_command_clicked)
        self.browse_cwd.clicked.connect(self.on_browse_cwd_clicked)

    def show_draft(self, draft: Draft) -> None:
        """Show a draft's command."""
        self.command.setText(draft.command)
        self.command.setCursorPosition(0)
        self.args.set_lines(draft.args)
        self.env.set_entries(draft.env)
        self.cwd.setText(draft.cwd)

    def into(self, draft: Draft) -> Draft:
        """The draft with what stands in the form."""
        return replace(
            draft,
            command=self.command.text(),
            args=self.args.lines(),
            env=self.env.entries(),
            cwd=self.cwd.text(),
        )

    def split_command(self) -> None:
        """Take a whole command line apart into command, arguments and variables."""
        text = self.command.text().strip()
        if not any(char.isspace() for char in text) or Path(text).is_file():
            return
        try:
            line = parse_command_line(text)
        except PatchbayError as error:
            self._command_note.show_error(text_of(error.message))
            return
        self.command.setText(line.command)
        self.args.set_lines([*line.args, *self.args.lines()])
        entries = [Entry(name, value, kept=keep_by_default(name, value)) for name, value in line.env.items()]
        rest = [entry for entry in self.env.entries() if entry.name not in line.env]
        self.env.set_entries([*rest, *entries])

    def look(self) -> None:
        """Look for the command and the folder, and say what was found."""
        self.stop_looking()
        self._looking = tasks.start(self._look(), name="look for a command")

    def stop_looking(self) -> None:
        """Give up looking."""
        self._pause.stop()
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def look_for_folder(self) -> Message | None:
        """Whether the folder is there: what is wrong with it, or None."""
        text = self.cwd.text().strip()
        can_be_there = bool(text) and "${" not in text and check_folder(text) is None
        self.folder_problem = await folder_problem(text) if can_be_there else None
        return self.folder_problem

    def on_command_edited(self, text: str) -> None:
        # Typing adds one character at a time; more of them were pasted or dropped.
        pasted = len(text) > self._length + 1
        self._length = len(text)
        if pasted:
            self.split_command()

    def on_browse_command_clicked(self) -> None:
        self._choose(QFileDialog.FileMode.ExistingFile, self.tr("Choose a command"), self.command.setText)

    def on_browse_cwd_clicked(self) -> None:
        self._choose(QFileDialog.FileMode.Directory, self.tr("Choose a folder"), self.cwd.setText)

    def _choose(self, mode: QFileDialog.FileMode, title: str, use: Callable[[str], None]) -> None:
        choose_file(self, mode, title, self.cwd.text(), use)

    def _on_changed(self) -> None:
        self._length = len(self.command.text())
        self._pause.start()
        self.changed.emit()

    async def _look(self) -> None:
        await self.look_for_folder()
        command = self.command.text().strip()
        if self._find_command is not None and command and "${" not in command and not self._command_note.is_error:
            env = {entry.name.strip(): entry.value for entry in self.env.entries() if not entry.kept}
            cwd = None if self.folder_problem else self.cwd.text().strip() or None
            server = StdioServer(command, env=env, cwd=cwd)
            try:
                path = await asyncio.wait_for(self._find_command(server), FIND_LIMIT)
            except PatchbayError as error:
                self._command_note.show_note(text_of(error.message), "triangle-exclamation", "warn")
            except TimeoutError:
                self._command_note.clear()
            else:
                self._command_note.show_note(self.tr("Found: {0}").format(short_path(path)), "circle-check", "ok")
        elif not self._command_note.is_error:
            self._command_note.clear()
        self.looked.emit()


def choose_file(
    parent: FormGrid, mode: QFileDialog.FileMode, title: str, start: str, use: Callable[[str], None]
) -> None:
    """Let a person choose a file or a folder; `use` gets its path."""
    dialog = QFileDialog(parent, title, full_path(start))
    dialog.setFileMode(mode)
    dialog.setFilter(dialog.filter() | dialog.filter().Hidden)  # ~/.local/bin is where many commands are
    dialog.fileSelected.connect(use)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
