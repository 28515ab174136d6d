"""What stands beside a form's editors: names, kinds, descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from mcp_patchbay.domain.json_text import json_text
from mcp_patchbay.ui.playground.words import type_words
from mcp_patchbay.ui.texts import tooltip
from mcp_patchbay.ui.widgets import ElidedLabel, hbox, holder, label, vbox

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from mcp_patchbay.domain.forms import Field

TABLE_COLUMNS = 4
"""Objects with no more plain fields than these are the rows of a table."""
LONGEST_DESCRIPTION = 160
NAME_WIDTH = (96, 150)


def is_table(item: Field) -> bool:
    """Whether items are small enough to be the rows of a table."""
    plain = all(part.kind not in ("object", "array", "json") for part in item.fields)
    return item.kind == "object" and plain and len(item.fields) <= TABLE_COLUMNS


def is_wide(field: Field) -> bool:
    """Whether a field needs the whole width."""
    if field.kind == "array" and field.item is not None:
        return field.item.kind in ("object", "array") and not is_table(field.item)
    return field.kind == "object"


def caption(field: Field) -> QWidget:
    """A field's name, a star when it is needed, and what may be put in."""
    name: QWidget = label(field.name, 12, bold=True, mono=True)
    if name.sizeHint().width() > NAME_WIDTH[1] - 12:
        name = ElidedLabel(field.name, 12, bold=True, mono=True)
        name.setMaximumWidth(NAME_WIDTH[1] - 12)
    star = label("*" if field.required else "", 12, bold=True, role="error")
    star.setAccessibleName(QCoreApplication.translate("Form", "needed") if field.required else "")
    words = label(type_words(field), 11, role="dim", wrap=True)
    words.setMaximumWidth(NAME_WIDTH[1])
    words.setMinimumWidth(NAME_WIDTH[0])
    made = holder(vbox(hbox(name, star, None, spacing=3), words, spacing=0))
    said = "\n\n".join(text for text in (field.title, field.description) if text)
    if said:
        made.setToolTip(tooltip(said))
    return made


def described(place: QWidget, field: Field) -> QWidget:
    """A field's place with the schema's description below it."""
    text = field.description or field.title
    if not text:
        return place
    shown = text if len(text) <= LONGEST_DESCRIPTION else text[: LONGEST_DESCRIPTION - 1].rstrip() + "…"
    words = label(" ".join(shown.split()), 11, role="dim", wrap=True)
    if shown != text:
        words.setToolTip(tooltip(text))
    return holder(vbox(place, words, spacing=3))


def joined(outer: str, name: str) -> str:
    """What a screen reader calls a field inside another."""
    return f"{outer}, {name}" if outer else name


def short(value: Any) -> str:
    """The beginning of a value's JSON."""
    text = json_text(value)
    return text if len(text) <= 60 else text[:59] + "…"
