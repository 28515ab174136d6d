"""The small parts that every window is made of, in one place to import from."""

from mcp_patchbay.ui.buttons import BUTTON_ICON, Chip, Segments, button, tabs, tool_button
from mcp_patchbay.ui.fields import FieldError, SearchField, SecondsField, search_field, spin_seconds, text_field
from mcp_patchbay.ui.labels import (
    ElidedLabel,
    IconLabel,
    StateBadge,
    icon_label,
    label,
    paint_badge,
    set_role,
    set_style_property,
)
from mcp_patchbay.ui.layouts import NO_MARGINS, Item, Margins, bar, card, hbox, holder, inset, line, vbox
from mcp_patchbay.ui.tables import Table, below

__all__ = [
    "BUTTON_ICON",
    "NO_MARGINS",
    "Chip",
    "ElidedLabel",
    "FieldError",
    "IconLabel",
    "Item",
    "Margins",
    "SearchField",
    "SecondsField",
    "Segments",
    "StateBadge",
    "Table",
    "bar",
    "below",
    "button",
    "card",
    "hbox",
    "holder",
    "icon_label",
    "inset",
    "label",
    "line",
    "paint_badge",
    "search_field",
    "set_role",
    "set_style_property",
    "spin_seconds",
    "tabs",
    "text_field",
    "tool_button",
    "vbox",
]
