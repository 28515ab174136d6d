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
    return tr("PlaygroundForm", "{0}, or null").format(words) if field.nullable else words


def _kind_words(field: Field) -> str:
    if field.kind == "enum":
        count = len(field.choices)
        return (
            tr("PlaygroundForm", "one of {0}").format(f"{count:,}") if count > 1 else tr("PlaygroundForm", "one value")
        )
    if field.kind == "string":
        return _text_words(field)
    if field.kind in ("integer", "number"):
        return _number_words(field)
    if field.kind == "boolean":
        return tr("PlaygroundForm", "true or false")
    if field.kind == "array":
        return _list_words(field)
    return tr("PlaygroundForm", "object") if field.kind == "object" else why_words(field)


def why_words(field: Field) -> str:
    """Why a part is a JSON box."""
    return {
        "recursive": tr("PlaygroundForm", "JSON, nests itself"),
        "reference": tr("PlaygroundForm", "JSON, its schema is missing"),
        "variants": tr("PlaygroundForm", "JSON, one of several forms"),
        "types": tr("PlaygroundForm", "JSON, of several types"),
        "map": tr("PlaygroundForm", "JSON object, any keys"),
        "tuple": tr("PlaygroundForm", "JSON list"),
        "too_large": tr("PlaygroundForm", "JSON, a large schema"),
    }.get(field.why, tr("PlaygroundForm", "any JSON"))


def _text_words(field: Field) -> str:
    words = field.format or tr("PlaygroundForm", "string")
    if field.max_length is not None and field.max_length < 10_000:
        return tr("PlaygroundForm", "{0}, up to {1} characters").format(words, field.max_length)
    return words


def _number_words(field: Field) -> str:
    words = tr("PlaygroundForm", "integer") if field.kind == "integer" else tr("PlaygroundForm", "number")
    low = None if field.minimum is None else json_text(field.minimum)
    high = None if field.maximum is None else json_text(field.maximum)
    if low is not None and high is not None and not (field.exclusive_minimum or field.exclusive_maximum):
        return tr("PlaygroundForm", "{0}, {1}–{2}").format(words, low, high)
    parts = [words]
    if low is not None:
        parts.append(
            (
                tr("PlaygroundForm", "above {0}") if field.exclusive_minimum else tr("PlaygroundForm", "at least {0}")
            ).format(low)
        )
    if high is not None:
        parts.append(
            (
                tr("PlaygroundForm", "below {0}") if field.exclusive_maximum else tr("PlaygroundForm", "at most {0}")
            ).format(high)
        )
    return ", ".join(parts)


def _list_words(field: Field) -> str:
    kinds = {
        "string": tr("PlaygroundForm", "list of strings"),
        "integer": tr("PlaygroundForm", "list of integers"),
        "number": tr("PlaygroundForm", "list of numbers"),
        "boolean": tr("PlaygroundForm", "list of true or false"),
        "enum": tr("PlaygroundForm", "list of choices"),
        "object": tr("PlaygroundForm", "list of objects"),
    }
    return kinds.get(field.item.kind if field.item else "", tr("PlaygroundForm", "list of lists"))
