"""The look: every colour, the palette, the style sheet, fonts and the badge of each state. Light, dark or the system's.

Colours are asked for by role (`color("dim")`), so that everything that paints follows a change of theme by itself.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPalette
from PySide6.QtWidgets import QApplication

from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.ui.icons import glyph_icon
from mcp_patchbay.ui.style_sheet import style_sheet

Mode = Literal["light", "dark", "system"]

LIGHT = {
    "window": "#f6f7f9", "base": "#ffffff", "alt": "#f3f5f8", "text": "#1d2025", "dim": "#5a616c",
    "disabled": "#9aa0a9", "border": "#d8dce2", "control": "#8a93a0", "hair": "#eceff3", "hover": "#e9ecf1",
    "accent": "#2f6feb", "on_accent": "#ffffff", "link": "#1f5fd6", "sel": "#dce8ff", "button": "#ffffff",
    "ok": "#136c2e", "error": "#b42318", "warn": "#835a00", "errorbg": "#fff5f4", "code": "#f8f9fb",
    "jkey": "#0b5394", "jstr": "#136c2e", "jnum": "#9a3412", "tip": "#ffffff",
}  # fmt: skip
DARK = {
    "window": "#1e1f22", "base": "#26282c", "alt": "#2b2d31", "text": "#e6e7ea", "dim": "#a2a8b1",
    "disabled": "#6c7178", "border": "#3a3d43", "control": "#7d848e", "hair": "#303338", "hover": "#34373c",
    "accent": "#2f6feb", "on_accent": "#ffffff", "link": "#79b0ff", "sel": "#28395a", "button": "#2f3237",
    "ok": "#56d364", "error": "#ff8f87", "warn": "#e3b341", "errorbg": "#33211f", "code": "#212327",
    "jkey": "#79b0ff", "jstr": "#7ee08d", "jnum": "#ffa657", "tip": "#2f3237",
}  # fmt: skip

_GREY = (("#57606a", "#eaeef2"), ("#aab2bc", "#33373d"))
_YELLOW = (("#7a5200", "#fff3c4"), ("#e3b341", "#41330f"))
BADGES = {  # state: glyph, (light text, light fill), (dark text, dark fill)
    ServerState.READY: ("circle-check", ("#136c2e", "#dafbe1"), ("#56d364", "#12361f")),
    ServerState.CONNECTING: ("spinner", *_YELLOW),
    ServerState.RETRYING: ("clock-rotate-left", ("#9a3f08", "#ffe8d6"), ("#ffa657", "#46280f")),
    ServerState.NEEDS_AUTH: ("key", ("#1d58c8", "#e1edff"), ("#79b0ff", "#1b3358")),
    ServerState.FAILED: ("circle-xmark", ("#b42318", "#ffebe9"), ("#ff8f87", "#4a1d1b")),
    ServerState.DISABLED: ("circle-minus", *_GREY),
    ServerState.STOPPED: ("circle-stop", *_GREY),
    ServerState.STOPPING: ("spinner", *_GREY),
}

SANS = ["Noto Sans", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif"]
MONO = ["DejaVu Sans Mono", "Cascadia Mono", "Consolas", "Menlo", "monospace"]
BODY_PX = 13

PALETTE_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "base",
    QPalette.ColorRole.AlternateBase: "alt",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "button",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Link: "link",
    QPalette.ColorRole.ToolTipBase: "tip",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.PlaceholderText: "dim",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Light: "button",
    QPalette.ColorRole.Dark: "border",
}


class Badge(NamedTuple):
    """How a state is shown: the glyph's name, the word, and the colours of both and of the pill behind them."""

    icon: str
    text: str
    fg: QColor
    bg: QColor


class Theme(QObject):
    """The theme of the running program. There is one; the functions below speak for it."""

    changed = Signal()
    """The colours are others now."""

    def __init__(self) -> None:
        super().__init__()
        self.mode: Mode = "system"
        self.dark = False
        self._glyphs: Path | None = None
        atexit.register(self._drop_glyphs)

    @property
    def tokens(self) -> dict[str, str]:
        return DARK if self.dark else LIGHT

    def apply(self, app: QApplication, mode: Mode) -> None:
        self.mode = mode
        hints = app.styleHints()
        hints.colorSchemeChanged.connect(self._on_scheme_changed, Qt.ConnectionType.UniqueConnection)
        if mode == "system":
            hints.unsetColorScheme()
            self._paint(app, hints.colorScheme() == Qt.ColorScheme.Dark)
        else:
            hints.setColorScheme(Qt.ColorScheme.Dark if mode == "dark" else Qt.ColorScheme.Light)
            self._paint(app, mode == "dark")

    def _on_scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        app = QApplication.instance()
        if self.mode == "system" and isinstance(app, QApplication):
            self._paint(app, scheme == Qt.ColorScheme.Dark)

    def _paint(self, app: QApplication, dark: bool) -> None:
        # Some desktops ignore setColorScheme, so the palette is set as well.
        if app.style().objectName().lower() != "fusion":
            app.setStyle("Fusion")
        self.dark = dark
        app.setPalette(palette())
        app.setFont(font())
        self._drop_glyphs()
        self._glyphs = Path(tempfile.mkdtemp(prefix="patchbay-glyphs-"))
        app.setStyleSheet(style_sheet(self.tokens, self._glyphs))
        self.changed.emit()

    def _drop_glyphs(self) -> None:
        if self._glyphs is not None:
            shutil.rmtree(self._glyphs, ignore_errors=True)


theme = Theme()


def apply(app: QApplication, mode: Mode) -> None:
    """Give the whole program its look. With "system" it follows the desktop's colour scheme, also when that changes."""
    theme.apply(app, mode)


def is_dark() -> bool:
    """Whether the dark colours are in use."""
    return theme.dark


def color(role: str) -> QColor:
    """The colour of a role such as "dim" in the current theme; a "#rrggbb" stands for itself."""
    return QColor(theme.tokens.get(role, role))


@cache
def icon(name: str, role: str = "text") -> QIcon:
    """The Font Awesome (solid) icon `name`, such as "circle-check", in the colour of `role`.

    Raises:
        KeyError: there is no icon of that name.
    """
    return glyph_icon(name, lambda mode: color("disabled" if mode == QIcon.Mode.Disabled else role))


@cache
def _shared_font(px: int, bold: bool, mono: bool) -> QFont:
    made = QFont(MONO if mono else SANS)
    made.setPixelSize(px)
    if mono:
        made.setStyleHint(QFont.StyleHint.Monospace)
    if bold:
        made.setWeight(QFont.Weight.DemiBold)
    return made


def font(px: int = BODY_PX, *, bold: bool = False, mono: bool = False) -> QFont:
    """The program's font, `px` pixels high."""
    return QFont(_shared_font(px, bold, mono))


def badge(state: ServerState) -> Badge:
    """How a state is shown in the current theme."""
    glyph, light, dark = BADGES[state]
    fg, bg = dark if theme.dark else light
    return Badge(glyph, state_text(state), QColor(fg), QColor(bg))


def state_text(state: ServerState) -> str:
    """The word for a state."""
    tr = QCoreApplication.translate
    return {
        ServerState.DISABLED: tr("State", "Off"),
        ServerState.STOPPED: tr("State", "Stopped"),
        ServerState.CONNECTING: tr("State", "Connecting"),
        ServerState.READY: tr("State", "Ready"),
        ServerState.RETRYING: tr("State", "Retrying"),
        ServerState.NEEDS_AUTH: tr("State", "Needs sign-in"),
        ServerState.FAILED: tr("State", "Failed"),
        ServerState.STOPPING: tr("State", "Stopping"),
    }[state]


def palette() -> QPalette:
    """The palette of the current theme, for what the style sheet does not reach."""
    made = QPalette()
    for role, token in PALETTE_ROLES.items():
        made.setColor(role, color(token))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, color("disabled"))
    return made
