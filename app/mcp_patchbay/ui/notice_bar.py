"""One calm line of news above the table: what went wrong, or what can be undone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from mcp_patchbay.ui.widgets import ElidedLabel, button, hbox, icon_label, tool_button

Deed = Callable[[], None]
ICONS = {"info": ("circle-info", "link"), "error": ("circle-exclamation", "error"), "done": ("circle-check", "ok")}


class NoticeBar(QFrame):
    """Shows one notice at a time, with at most one thing to do about it. It never takes the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("bar")
        self._deed: Deed | None = None
        self._icon = icon_label("circle-info", "link", 14)
        self._text = ElidedLabel("")
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._button = button("", link=True)
        self._button.clicked.connect(self._on_clicked)
        close = tool_button("xmark", self.tr("Close this notice"))
        close.clicked.connect(self.clear)
        self.setLayout(hbox(self._icon, (self._text, 1), self._button, close, margins=(14, 3, 6, 3)))
        self.hide()

    @property
    def text(self) -> str:
        """What is said now; "" when nothing."""
        return "" if self.isHidden() else self._text.accessibleName()

    def say(self, text: str, kind: str = "info", action: str = "", deed: Deed | None = None) -> None:
        """Show a text. `kind` is "info", "error" or "done"; `action` is the text of the button that does `deed`."""
        self._deed = deed
        self._icon.set_icon(*ICONS[kind])
        self._text.set_full_text(text)
        self._button.setText(action)
        self._button.setVisible(deed is not None)
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self._text, QAccessible.Event.Alert))

    def clear(self) -> None:
        """Show nothing."""
        self._deed = None
        self.hide()

    def _on_clicked(self) -> None:
        deed = self._deed
        self.clear()
        if deed is not None:
            deed()
