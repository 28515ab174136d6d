"""The page of three cards for someone who has no servers yet: import, add, or try the built-in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from mcp_patchbay.ui.icons import app_icon
from mcp_patchbay.ui.widgets import Item, button, card, hbox, holder, icon_label, label, tool_button, vbox

if TYPE_CHECKING:
    from collections.abc import Sequence

CARDS_WIDTH = 960
CARD_HEIGHT = 228


class FirstStart(QWidget):
    """Three cards. `whole` is the page of an empty program; without it, the cards stand below the table."""

    import_requested = Signal()
    add_requested = Signal()
    folder_requested = Signal()
    dismissed = Signal()

    def __init__(self, *, whole: bool, found: Sequence[tuple[str, int]] = ()) -> None:
        """`found` are other programs on this computer that have servers, and how many."""
        super().__init__()
        self._whole = whole
        cards = hbox((self._import_card(found), 1), (self._add_card(), 1), (self._built_in_card(), 1), spacing=16)
        drop = label(self.tr("You can also drop an mcp.json file on this window."), 12, role="dim")
        drop.setAlignment(Qt.AlignmentFlag.AlignCenter)
        if whole:
            column = holder(vbox(*self._welcome(), 20, cards, 12, drop))
            column.setMaximumWidth(CARDS_WIDTH)
            column.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            row = hbox((holder(hbox()), 0), (column, 1), (holder(hbox()), 0))
            self.setLayout(vbox(None, row, None, None))
        else:
            self.setLayout(vbox(self._head(), cards, drop, None, spacing=12))

    def start_button(self) -> QPushButton:
        """The button that a newcomer most likely wants."""
        return self._import

    def _welcome(self) -> list[Item]:
        mark = QLabel()
        mark.setPixmap(app_icon().pixmap(QSize(56, 56)))
        mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        title = label(self.tr("No servers yet"), 22, bold=True)
        title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        text = self.tr("Patchbay runs your MCP servers in one place and shows what each one does.")
        line = label(text, 14, role="dim", wrap=True)
        line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        return [mark, 6, title, line]

    def _head(self) -> QWidget:
        close = tool_button("xmark", self.tr("Do not show this again"))
        close.clicked.connect(self.dismissed)
        title = label(self.tr("Bring in your servers"), 15, bold=True)
        text = self.tr("The server above is built in and ready: press Playground to try its tools.")
        return holder(hbox(title, 8, (label(text, role="dim", wrap=True), 1), close))

    def _import_card(self, found: Sequence[tuple[str, int]]) -> QFrame:
        count = sum(servers for _, servers in found)
        text = self.tr("Import {0} servers…").format(count) if count else self.tr("Import…")
        self._import = button(text, "file-import", primary=True)
        self._import.clicked.connect(self.import_requested)
        lines: list[Item]
        if found:
            lines = [label(self.tr("Found on this computer:"), role="dim"), *map(self._found_line, found)]
        else:
            body = self.tr("Take over servers from the JSON of Claude, Cursor, VS Code or any other program.")
            lines = [label(body, role="dim", wrap=True)]
        lines.append(label(self.tr("Your files stay as they are."), 12, role="dim"))
        title = self.tr("Import what you have")
        return self._card("file-import", title, lines, self._import, highlighted=True)

    def _found_line(self, client: tuple[str, int]) -> Item:
        name, servers = client
        counted = self.tr("1 server") if servers == 1 else self.tr("{0} servers").format(servers)
        return hbox(icon_label("circle-check", "ok"), label(name, bold=True), label(counted), None)

    def _add_card(self) -> QFrame:
        add = button(self.tr("Add a server…"), "plus")
        add.clicked.connect(self.add_requested)
        text = self.tr("Paste a command such as “uvx mcp-server-fetch”, a URL, or a JSON snippet from a README.")
        return self._card("plus", self.tr("Add a server"), [label(text, role="dim", wrap=True)], add)

    def _built_in_card(self) -> QFrame:
        choose = button(self.tr("Choose a folder…"), "folder-open")
        choose.clicked.connect(self.folder_requested)
        text = self.tr(
            "A file server that needs no download. Pick a folder; it can only read there until you say otherwise."
        )
        title = self.tr("Try the built-in one")
        return self._card("folder-open", title, [label(text, role="dim", wrap=True)], choose)

    def _card(
        self, icon: str, title: str, lines: Sequence[Item], action: QPushButton, *, highlighted: bool = False
    ) -> QFrame:
        head = hbox(icon_label(icon, "link", 20), (label(title, 15, bold=True, wrap=True), 1), spacing=10)
        made = card(
            vbox(head, *lines, None, hbox(action, None), margins=(20, 18, 20, 18), spacing=12), highlighted=highlighted
        )
        if self._whole:
            made.setFixedHeight(CARD_HEIGHT)
        return made
