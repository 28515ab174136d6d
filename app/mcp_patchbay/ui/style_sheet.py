"""The style sheet: what Fusion does not give by palette alone.

`@role` stands for a colour, `@down` and its like for the file of a glyph.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

QSS = """
QToolBar { border: 0; border-bottom: 1px solid @border; padding: 5px 16px 5px 10px; spacing: 4px; background: @window }
QToolBar::separator { background: @border; width: 1px; margin: 6px 6px }
QToolButton { border: 1px solid transparent; border-radius: 6px; padding: 6px 8px; color: @text }
QToolButton:hover { background: @hover }
QToolButton:focus { border-color: @link }
QToolButton:disabled { color: @disabled }
QToolButton[popupMode="1"] { padding-right: 24px }
QToolButton::menu-button { border: 0; width: 20px }
QToolButton::menu-arrow { image: url(@down); width: 10px; height: 10px }
QToolButton::menu-indicator { image: none }
QToolButton[chip="true"] { padding: 0; border-radius: 8px }
QLineEdit, QSpinBox, QDoubleSpinBox { border: 1px solid @border; border-bottom: 1px solid @control; border-radius: 6px;
  padding: 0 8px; background: @base; color: @text; min-height: 30px; max-height: 30px;
  selection-background-color: @accent; placeholder-text-color: @dim }
QSpinBox QLineEdit, QDoubleSpinBox QLineEdit { border: 0; min-height: 0; background: transparent }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus { border: 1px solid @link }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled { color: @disabled; border-color: @border }
QLineEdit[bad="true"], QPlainTextEdit[bad="true"], QSpinBox[bad="true"], QDoubleSpinBox[bad="true"],
QComboBox[bad="true"], QTableView[bad="true"] { border: 1px solid @error; background: @errorbg }
QLineEdit[search="true"] { padding-left: 0 }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
  border: 0; width: 18px }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(@up); width: 8px; height: 8px }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url(@down); width: 8px; height: 8px }
QPushButton { border: 1px solid @border; border-bottom: 1px solid @control; border-radius: 6px; padding: 0 14px;
  background: @button; color: @text; min-height: 30px }
QPushButton:hover { background: @hover }
QPushButton:focus { border-color: @link }
QPushButton:disabled { color: @disabled; border-color: @border }
QPushButton[primary="true"] { background: @accent; color: @on_accent; border-color: @accent; font-weight: 600 }
QPushButton[primary="true"]:focus { border: 1px solid @text }
QPushButton[primary="true"]:disabled { background: @hover; color: @disabled; border-color: @border }
QPushButton[link="true"] { background: transparent; border-color: transparent; color: @link; padding: 0 4px }
QPushButton[link="true"]:focus { border-color: @link }
QPushButton[link="true"]:disabled { color: @disabled }
QPushButton[segment="first"], QPushButton[segment="middle"], QPushButton[segment="last"] { border-radius: 0; margin: 0;
  border-color: @border; padding: 0 14px }
QPushButton[segment="first"] { border-top-left-radius: 6px; border-bottom-left-radius: 6px }
QPushButton[segment="last"] { border-top-right-radius: 6px; border-bottom-right-radius: 6px }
QPushButton[segment]:checked { background: @sel; color: @text; border-color: @link; font-weight: 600 }
QComboBox { border: 1px solid @border; border-bottom: 1px solid @control; border-radius: 6px; padding: 0 10px;
  background: @button; color: @text; min-height: 30px; max-height: 30px }
QComboBox:focus { border-color: @link }
QComboBox:disabled { color: @disabled; border-color: @border }
QComboBox::drop-down { border: 0; width: 22px }
QComboBox QAbstractItemView { border: 1px solid @border; border-radius: 0; padding: 4px; background: @base }
QComboBox QAbstractItemView::item { min-height: 26px; padding: 0 8px; border-radius: 6px; color: @text }
QComboBox QAbstractItemView::item:selected { background: @sel }
QComboBox::down-arrow { image: url(@down); width: 10px; height: 10px }
QCheckBox { spacing: 8px }
QCheckBox::indicator, QTableView::indicator, QListView::indicator, QTreeView::indicator { width: 14px; height: 14px;
  border: 1px solid @control; border-radius: 4px; background: @base }
QCheckBox::indicator:checked, QTableView::indicator:checked, QListView::indicator:checked,
QTreeView::indicator:checked { background: @accent; border-color: @accent; image: url(@check) }
QCheckBox::indicator:focus { border-color: @link }
QRadioButton { spacing: 8px }
QTableView, QTreeView, QListView, QTextEdit, QPlainTextEdit { border: 1px solid @border; border-radius: 8px;
  background: @base; color: @text; outline: 0; selection-background-color: @sel; selection-color: @text }
QTextEdit:focus, QPlainTextEdit:focus { border-color: @link }
QTextEdit[code="true"], QPlainTextEdit[code="true"] { background: @code; padding: 4px }
QPlainTextEdit[field="true"] { border-bottom: 1px solid @control; border-radius: 6px; padding: 0 2px;
  placeholder-text-color: @dim }
QPlainTextEdit[field="true"]:focus { border: 1px solid @link }
QTableView { padding: 2px }
QTableView[inside="true"], QPlainTextEdit[inside="true"] { border: 0; border-top: 1px solid @border; border-radius: 0;
  padding: 0 }
QPlainTextEdit[inside="true"] { padding: 4px 8px }
QTableView[inside="top"] { border: 0; border-radius: 0; padding: 0 }
QTreeView#plain_list::item { padding: 4px 6px }
QTableView[bare="true"], QTreeView[bare="true"], QPlainTextEdit[bare="true"] { border: 0; border-radius: 0; padding: 0;
  background: @base }
QTableView::item, QListView::item, QTreeView::item { border: 0 }
QHeaderView { background: @base; border: 0 }
QHeaderView::section { background: @base; border: 0; border-bottom: 1px solid @border; padding: 0 8px; color: @dim;
  font-size: 12px }
QHeaderView::up-arrow, QHeaderView::down-arrow { image: none }
QTableCornerButton::section { background: @base; border: 0 }
QProgressBar { border: 0; border-radius: 3px; background: @border; min-height: 6px; max-height: 6px }
QProgressBar::chunk { border-radius: 3px; background: @accent }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @border }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -6px 0; border-radius: 8px; background: @base;
  border: 2px solid @accent }
QTabBar { qproperty-drawBase: 0 }
QTabBar::tab { padding: 0 12px; min-height: 38px; border: 0; border-bottom: 2px solid transparent; color: @dim;
  background: transparent }
QTabBar::tab:selected { color: @text; border-bottom-color: @link; font-weight: 600 }
QTabBar::tab:hover { color: @text }
QTabBar::tab:focus { color: @link }
QTabBar::tab:disabled { color: @disabled }
QTabBar[small="true"]::tab { min-height: 32px }
QFrame#card { border: 1px solid @border; border-radius: 8px; background: @base }
QFrame#hero { border: 1px solid @link; border-radius: 8px; background: @base }
QFrame#inset { border: 1px solid @hair; border-radius: 8px; background: @code }
QFrame#bar { border: 1px solid @border; border-radius: 8px; background: @alt }
QFrame#line { background: @border; max-height: 1px; min-height: 1px; border: 0 }
QFrame#vline { background: @border; max-width: 1px; min-width: 1px; border: 0 }
QFrame#chip { border: 1px solid @border; border-radius: 12px; background: @alt }
QSplitter::handle { background: transparent }
QSplitter::handle:vertical { image: url(@grip_h) }
QSplitter::handle:horizontal { image: url(@grip_v) }
QStatusBar { border-top: 1px solid @border; background: @window; min-height: 28px }
QStatusBar::item { border: 0 }
QMenu { background: @base; border: 1px solid @border; border-radius: 8px; padding: 4px; color: @text }
QMenu::item { padding: 6px 28px 6px 10px; border-radius: 6px }
QMenu::item:selected { background: @sel }
QMenu::item:disabled { color: @dim }
QMenu::separator { height: 1px; background: @border; margin: 4px 8px }
QMenu::icon { padding-left: 8px }
QMenu::right-arrow { image: url(@right); width: 10px; height: 10px; right: 10px }
QMenu::indicator { width: 14px; height: 14px; left: 8px }
QMenu::indicator:checked { image: url(@tick) }
QScrollBar:vertical { width: 10px; background: transparent }
QScrollBar::handle:vertical { background: @border; border-radius: 3px; margin: 2px; min-height: 24px }
QScrollBar:horizontal { height: 10px; background: transparent }
QScrollBar::handle:horizontal { background: @border; border-radius: 3px; margin: 2px; min-width: 24px }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0 }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent }
QScrollArea { border: 0; background: transparent }
QWidget[plain="true"] { background: transparent }
QToolTip { border: 1px solid @border; background: @tip; color: @text; padding: 4px }
QLabel[role="dim"] { color: @dim }
QLabel[role="link"] { color: @link }
QLabel[role="ok"] { color: @ok }
QLabel[role="error"] { color: @error }
QLabel[role="warn"] { color: @warn }
QLabel:disabled { color: @disabled }
"""

STROKES = {  # glyph: its path in a box of 10 by 10, the role of its colour
    "down": ("M1 3l4 4 4-4", "dim"),
    "up": ("M1 7l4-4 4 4", "dim"),
    "right": ("M3 1l4 4-4 4", "dim"),
    "check": ("M1.5 5l2.5 2.6 4.5-5", "on_accent"),
    "tick": ("M1.5 5l2.5 2.6 4.5-5", "link"),
}
GRIPS = {"grip_h": (96, 12), "grip_v": (12, 96)}  # glyph: size of the splitter handle's picture


def style_sheet(tokens: dict[str, str], folder: Path) -> str:
    """The style sheet in the colours of `tokens`; the glyphs it needs are written into `folder` as SVG files."""
    values = dict(tokens)
    for name, (path, role) in STROKES.items():
        values[name] = _write(folder / f"{name}.svg", _stroke_svg(path, tokens[role]))
    for name, (width, height) in GRIPS.items():
        values[name] = _write(folder / f"{name}.svg", _grip_svg(width, height, tokens["border"]))
    return re.sub(r"@(\w+)", lambda found: values[found[1]], QSS)


def _write(file: Path, svg: str) -> str:
    file.write_text(svg, "utf-8")
    return file.as_posix()


def _stroke_svg(path: str, colour: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" width="10" height="10">'
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-linecap="round" '
        'stroke-linejoin="round"/></svg>'
    )


def _grip_svg(width: int, height: int, colour: str) -> str:
    long_side, short_side = 32, 4
    w, h = (long_side, short_side) if width > height else (short_side, long_side)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect x="{(width - w) / 2}" y="{(height - h) / 2}" width="{w}" height="{h}" rx="2" fill="{colour}"/></svg>'
    )
