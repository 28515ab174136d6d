"""A view of code, mostly JSON, with colours."""

from __future__ import annotations

import json
import re
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.widgets import set_style_property

TOKENS = re.compile(
    r'(?P<jkey>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<jstr>"(?:[^"\\]|\\.)*")'
    r"|(?P<jnum>(?<![\w\"])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b|\b(?:true|false|null)\b)"
)
LONGEST_COLOURED_LINE = 5_000  # a line longer than this stays plain: colouring it would freeze the window


class JsonHighlighter(QSyntaxHighlighter):
    """Colours the keys, strings and numbers of JSON."""

    def highlightBlock(self, text: str) -> None:
        if len(text) > LONGEST_COLOURED_LINE:
            return
        for found in TOKENS.finditer(text):
            colours = QTextCharFormat()
            colours.setForeground(theme.color(found.lastgroup or "text"))
            self.setFormat(found.start(), found.end() - found.start(), colours)


class CodeView(QPlainTextEdit):
    """Monospaced text with JSON in colours. Tab leaves it, so that the keyboard gets on."""

    def __init__(self, text: str = "", *, read_only: bool = True, inside: bool = False) -> None:
        super().__init__()
        self.setFont(theme.font(12, mono=True))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.setReadOnly(read_only)
        self.setProperty("code", True)
        set_style_property(self, "inside", inside)
        self._highlighter = JsonHighlighter(self.document())
        self.setPlainText(text)

    def set_json(self, value: Any) -> None:
        """Show a JSON value, indented."""
        self.setPlainText(json.dumps(value, indent=2, ensure_ascii=False))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_highlighter"):
            self._highlighter.rehighlight()


def code_view(text: str = "", *, read_only: bool = True) -> CodeView:
    """A view of `text` in the code font, with JSON in colours."""
    return CodeView(text, read_only=read_only)
