"""The tray's icon for each health level, with marks that are readable on the panel it stands on."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QImage

from mcp_patchbay.stores.paths import resource_root

if TYPE_CHECKING:
    from mcp_patchbay.domain.state import Level

SIZES = (16, 22, 24, 32, 44, 48, 64)
SHARP_AT_22 = (22, 24, 44, 48)
"""Sizes in pixels for which the drawing on the 22 px grid is the sharper one."""
WINDOWS_TASKBAR = r"HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"
MIDDLE_GREY = 128


@cache
def tray_icon(level: Level, dark_panel: bool) -> QIcon:
    """The icon of a level, for a dark or a light panel."""
    icon = QIcon()
    for size in SIZES:
        grid = "-22" if size in SHARP_AT_22 else ""
        file = resource_root() / "icons" / f"tray-{level}-{'dark' if dark_panel else 'light'}{grid}.svg"
        icon.addPixmap(QIcon(str(file)).pixmap(QSize(size, size), 1.0))
    return icon


def panel_is_dark(icon_area: QRect) -> bool:
    """Whether the panel that holds the icon is dark.

    Windows and GNOME say it, X11 shows it in the corners of `icon_area` (screen coordinates; empty when not known);
    elsewhere the panel is taken to follow the system's colour scheme.
    """
    if sys.platform == "win32":
        return QSettings(WINDOWS_TASKBAR, QSettings.Format.NativeFormat).value("SystemUsesLightTheme", 1) in (0, "0")
    if icon_area.isValid() and QGuiApplication.platformName() == "xcb" and (seen := _seen_at(icon_area)) is not None:
        return seen < MIDDLE_GREY
    if "GNOME" in os.environ.get("XDG_CURRENT_DESKTOP", "").upper().split(":"):
        return True  # its bar is dark in both of its themes
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


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
