"""The form of a server that comes with Patchbay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFileDialog

from mcp_patchbay.domain.fields import FieldProblem, check_folder
from mcp_patchbay.ui.editor.command_form import choose_file
from mcp_patchbay.ui.editor.folders import folder_problem
from mcp_patchbay.ui.editor.form_grid import FormGrid
from mcp_patchbay.ui.editor.line_list import LineList
from mcp_patchbay.ui.widgets import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_patchbay.domain.drafts import Draft


class BuiltinForm(FormGrid):
    """Which built-in server, and the folders it may use."""

    changed = Signal()

    def __init__(self, builtins: Sequence[str]) -> None:
        super().__init__()
        self.builtin = QComboBox()
        self.builtin.setAccessibleName(self.tr("Built-in server"))
        self.builtin.addItems(list(builtins))
        self.folders = LineList(self.tr("Folders"), self.tr("Add folder…"))
        hint = label(self.tr("It runs inside Patchbay and needs nothing installed."), 12, role="dim")
        self.add_row(self.tr("Server"), self.builtin, self.note("builtin", self.builtin), hint)
        reach = label(self.tr("It reads and writes inside these folders, nowhere else."), 12, role="dim")
        self.add_row(self.tr("Folders"), self.folders, self.note("folders", self.folders), reach)
        self.builtin.currentTextChanged.connect(self.changed)
        self.folders.changed.connect(self.changed)
        self.folders.add_clicked.connect(self.on_add_folder_clicked)

    def show_draft(self, draft: Draft) -> None:
        """Show a draft's built-in server."""
        if self.builtin.findText(draft.builtin) < 0:
            self.builtin.addItem(draft.builtin)
        self.builtin.setCurrentText(draft.builtin)
        self.folders.set_lines(draft.folders)

    def into(self, draft: Draft) -> Draft:
        """The draft with what stands in the form."""
        return replace(draft, builtin=self.builtin.currentText(), folders=self.folders.lines())

    async def look_for_folders(self) -> list[FieldProblem]:
        """Which of the folders are not there."""
        missing = []
        for row, text in enumerate(self.folders.lines()):
            if text.strip() and check_folder(text) is None and (problem := await folder_problem(text)):
                missing.append(FieldProblem("folders", problem, row))
        return missing

    def on_add_folder_clicked(self) -> None:
        choose_file(self, QFileDialog.FileMode.Directory, self.tr("Choose a folder"), "~", self.folders.add_line)
