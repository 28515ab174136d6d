"""What the playground calls the kinds of fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from mcp_patchbay.domain.json_text import json_text

if TYPE_CHECKING:
    from mcp_patchbay.domain.forms import Field


tr = QCoreApplication.translate


def type_words(field: Field) -> str:
    """What may be put into a field, in a few words such as "integer, 1–100" or "one of 3, or null"."""
    words = _kind_words(field)
    return tr("Form", "{0}, or null").format(words) if field.nullable else words


def _kind_words(field: Field) -> str:
    if field.kind == "enum":
        count = len(field.choices)
        return tr("Form", "one of {0}").format(f"{count:,}") if count > 1 else tr("Form", "one value")
    if field.kind == "string":
        return _text_words(field)
    if field.kind in ("integer", "number"):
        return _number_words(field)
    if field.kind == "boolean":
        return tr("Form", "true or false")
    if field.kind == "array":
        return _list_words(field)
    return tr("Form", "object") if field.kind == "object" else why_words(field)


def why_words(field: Field) -> str:
    """Why a part is a JSON box."""
    return {
        "recursive": tr("Form", "JSON, nests itself"),
        "reference": tr("Form", "JSON, its schema is missing"),
        "variants": tr("Form", "JSON, one of several forms"),
        "types": tr("Form", "JSON, of several types"),
        "map": tr("Form", "JSON object, any keys"),
        "tuple": tr("Form", "JSON list"),
        "too_large": tr("Form", "JSON, a large schema"),
    }.get(field.why, tr("Form", "any JSON"))


def _text_words(field: Field) -> str:
    words = field.format or tr("Form", "string")
    if field.max_length is not None and field.max_length < 10_000:
        return tr("Form", "{0}, up to {1} characters").format(words, field.max_length)
    return words


def _number_words(field: Field) -> str:
    words = tr("Form", "integer") if field.kind == "integer" else tr("Form", "number")
    low = None if field.minimum is None else json_text(field.minimum)
    high = None if field.maximum is None else json_text(field.maximum)
    if low is not None and high is not None and not (field.exclusive_minimum or field.exclusive_maximum):
        return tr("Form", "{0}, {1}–{2}").format(words, low, high)
    parts = [words]
    if low is not None:
        parts.append((tr("Form", "above {0}") if field.exclusive_minimum else tr("Form", "at least {0}")).format(low))
    if high is not None:
        parts.append((tr("Form", "below {0}") if field.exclusive_maximum else tr("Form", "at most {0}")).format(high))
    return ", ".join(parts)


def _list_words(field: Field) -> str:
    kinds = {
        "string": tr("Form", "list of strings"),
        "integer": tr("Form", "list of integers"),
        "number": tr("Form", "list of numbers"),
        "boolean": tr("Form", "list of true or false"),
        "enum": tr("Form", "list of choices"),
        "object": tr("Form", "list of objects"),
    }
    return kinds.get(field.item.kind if field.item else "", tr("Form", "list of lists"))
