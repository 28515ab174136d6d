"""Font Awesome glyphs as icons that are coloured at the moment they are painted.

The font is the one inside the qtawesome package. Only its files are used: importing qtawesome costs 0.3 s before the
first paint, and its icons keep the colours of the theme they were made in.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap

from mcp_patchbay.stores.paths import resource_root

ColourOf = Callable[[QIcon.Mode], QColor]
GLYPH_SCALE = 0.875  # Font Awesome glyphs are drawn for 14 px in a 16 px box


def app_icon() -> QIcon:
    """The mark of the program, for windows."""
    return QIcon(str(resource_root() / "icons" / "patchbay.svg"))


def paint_glyph(painter: QPainter, rect: QRect, name: str, colour: QColor) -> None:
    """Draw the Font Awesome glyph `name` (such as "circle-check") centred in `rect`, as high as `rect` asks for.

    Raises:
        KeyError: there is no glyph of that name.
    """
    family, characters = _glyph_font()
    font = QFont(family)
    font.setPixelSize(max(1, round(GLYPH_SCALE * rect.height())))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, characters[name])
    painter.restore()


def glyph_icon(name: str, colour_of: ColourOf) -> QIcon:
    """An icon of the Font Awesome glyph `name`; `colour_of` is asked for its colour at every painting.

    Raises:
        KeyError: there is no glyph of that name.
    """
    _, characters = _glyph_font()
    if name not in characters:
        raise KeyError(name)
    return QIcon(GlyphEngine(name, colour_of))


class GlyphEngine(QIconEngine):
    """Paints one glyph in the colour of the moment."""

    def __init__(self, name: str, colour_of: ColourOf) -> None:
        super().__init__()
        self._name = name
        self._colour_of = colour_of

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        paint_glyph(painter, rect, self._name, self._colour_of(mode))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        if pixmap.isNull():  # a button that is squeezed to nothing asks for that
            return pixmap
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return GlyphEngine(self._name, self._colour_of)


@cache
def _glyph_font() -> tuple[str, dict[str, str]]:
    """The font's family and its characters by glyph name. Needs a QGuiApplication."""
    fonts = _fonts_folder()
    font_file = next(fonts.glob("fontawesome6-solid-webfont-6*.ttf"))
    charmap_file = next(fonts.glob("fontawesome6-solid-webfont-charmap-6*.json"))
    families = QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(font_file)))
    codes: dict[str, str] = json.loads(charmap_file.read_text("utf-8"))
    return families[0], {name: chr(int(code, 16)) for name, code in codes.items()}


def _fonts_folder() -> Path:
    spec = find_spec("qtawesome")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("qtawesome, the package that holds the icon font, is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "fonts"
