"""The tray's icon for each health level, with marks that are readable on the panel it stands on."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QImage, QPainter, QPixmap

from mcp_patchbay.stores.paths import resource_root

if TYPE_CHECKING:
    from mcp_patchbay.domain.state import Level

SIZES = (16, 22, 24, 32, 44, 48, 64)
SHARP_AT_22 = (22, 24, 44, 48)
"""Sizes in pixels for which the drawing on the 22 px grid is the sharper one."""
WINDOWS_TASKBAR = r"HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"
MIDDLE_GREY = 128


Panel = Literal["dark", "light", "unknown"]
"""What the icon stands on, as far as it can be known."""
OUTLINE = "#fbfbfc"


@cache
def tray_icon(level: Level, panel: Panel) -> QIcon:
    """The icon of a level. Where the panel is not known, a light outline makes the dark mark readable on any."""
    icon = QIcon()
    for size in SIZES:
        grid = "-22" if size in SHARP_AT_22 else ""
        file = resource_root() / "icons" / f"tray-{level}-{'dark' if panel == 'dark' else 'light'}{grid}.svg"
        drawing = QIcon(str(file)).pixmap(QSize(size, size), 1.0)
        icon.addPixmap(_outlined(drawing) if panel == "unknown" else drawing)
    return icon


def panel_under(icon_area: QRect) -> Panel:
    """What panel holds the icon.

    Windows and GNOME say it, X11 shows it in the corners of `icon_area` (screen coordinates; empty when not known), and
    macOS has its menu bar follow the system's colours. Elsewhere it is not known: the app's own theme says nothing.
    """
    if sys.platform == "win32":
        taskbar = QSettings(WINDOWS_TASKBAR, QSettings.Format.NativeFormat)
        return "dark" if taskbar.value("SystemUsesLightTheme", 1) in (0, "0") else "light"
    if sys.platform == "darwin":
        return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"
    if icon_area.isValid() and QGuiApplication.platformName() == "xcb" and (seen := _seen_at(icon_area)) is not None:
        return "dark" if seen < MIDDLE_GREY else "light"
    if "GNOME" in os.environ.get("XDG_CURRENT_DESKTOP", "").upper().split(":"):
        return "dark"  # its bar is dark in both of its themes
    return "unknown"


def _outlined(drawing: QPixmap) -> QPixmap:
    """The drawing, a little smaller, on a light outline of its own shape."""
    width = max(1, drawing.width() // 16)
    inner = drawing.scaled(
        drawing.size() - QSize(2 * width, 2 * width),
        Qt.AspectRatioMode.KeepAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
    shape = inner.copy()
    with QPainter(shape) as painter:
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(shape.rect(), QColor(OUTLINE))
    outlined = QPixmap(drawing.size())
    outlined.fill(Qt.GlobalColor.transparent)
    with QPainter(outlined) as painter:
        for x in range(2 * width + 1):
            for y in range(2 * width + 1):
                painter.drawPixmap(x, y, shape)
        painter.drawPixmap(width, width, inner)
    return outlined


def _seen_at(area: QRect) -> float | None:
    """The mean brightness (0 to 255) of the corners that no icon paints on."""
    screen = QGuiApplication.screenAt(area.center())
    if screen is None:
        return None
    place = area.topLeft() - screen.geometry().topLeft()
    image = screen.grabWindow(0, place.x(), place.y(), area.width(), area.height()).toImage()
    return None if image.isNull() else _corner_brightness(image)


def _corner_brightness(image: QImage) -> float:
    right, bottom = image.width() - 1, image.height() - 1
    corners = [QPoint(0, 0), QPoint(right, 0), QPoint(0, bottom)]
    return sum(image.pixelColor(corner).lightness() for corner in corners) / len(corners)
