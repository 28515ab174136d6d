"""The form of a server that is a URL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import Signal

from mcp_patchbay.domain.servers import HttpType
from mcp_patchbay.ui.editor.entry_table import EntryTable
from mcp_patchbay.ui.editor.form_grid import FormGrid
from mcp_patchbay.ui.widgets import ElidedLabel, Segments, hbox, text_field

if TYPE_CHECKING:
    from mcp_patchbay.domain.drafts import Draft

TYPES: tuple[HttpType, ...] = get_args(HttpType)


class UrlForm(FormGrid):
    """URL, type and headers."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.url = text_field(mono=True, placeholder="https://example.com/mcp")
        self.url.setAccessibleName(self.tr("URL"))
        names = {"streamable-http": self.tr("Streamable HTTP"), "sse": self.tr("SSE")}
        self.type = Segments([(names[kind], "") for kind in TYPES], self.tr("Type"))
        self.headers = EntryTable("headers", self.tr("Headers"), self.tr("Add header"))
        self.add_row(self.tr("URL"), self.url, self.note("url", self.url))
        hint = ElidedLabel(self.tr("Most servers use streamable HTTP; SSE is the older way."), 12, role="dim")
        self.add_row(self.tr("Type"), hbox(self.type, (hint, 1), spacing=12))
        self.add_row(self.tr("Headers"), self.headers, self.note("headers", self.headers.view))
        self.url.textChanged.connect(self.changed)
        self.type.changed.connect(self.changed)
        self.headers.changed.connect(self.changed)

    def show_draft(self, draft: Draft) -> None:
        """Show a draft's URL."""
        self.url.setText(draft.url)
        self.url.setCursorPosition(0)
        self.type.set_current(TYPES.index(draft.http_type))
        self.headers.set_entries(draft.headers)

    def into(self, draft: Draft) -> Draft:
        """The draft with what stands in the form."""
        return replace(draft, url=self.url.text(), http_type=TYPES[self.type.current()], headers=self.headers.entries())
