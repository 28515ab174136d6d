"""A form for a tool's arguments, made from its JSON Schema.

`form_of` turns a schema into a tree of `Field`s, which a view draws. What a field cannot express becomes a JSON box
for that part alone (`kind` is "json"). A value is plain JSON data; `ABSENT` stands for "not sent".
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from mcp_patchbay.domain.json_text import ValueTextError, json_text, parse_json, same_json
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.schema import UNRESOLVED, is_nothing, is_null, resolve, tidied

Kind = Literal["string", "integer", "number", "boolean", "enum", "array", "object", "json"]
Why = Literal["", "any", "recursive", "reference", "variants", "types", "map", "tuple", "too_large"]
"""Why a part is a JSON box."""

MAX_NESTING = 8
MAX_FIELDS = 400


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
"""A field that is not sent: neither null nor an empty text."""


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a form.

    Attributes:
        name: the key in the object that holds it; empty for the root and for a list's items.
        kind: what it is; "json" is a box of JSON text, and `why` says why.
        schema: its JSON Schema, tidied.
        nullable: null may be chosen beside the kind's own values.
        default: the schema's default, or ABSENT.
        minimum, maximum: bounds of a number; `exclusive_*` says that the bound itself is out.
        choices, labels: the values of an enum, of any type, and what to call each.
        fields: the parts of an object.
        item: what each item of a list is.
    """

    name: str
    kind: Kind
    schema: Any
    required: bool = False
    nullable: bool = False
    title: str = ""
    description: str = ""
    default: Any = ABSENT
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    format: str = ""
    choices: tuple[Any, ...] = ()
    labels: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    item: Field | None = None
    min_items: int = 0
    max_items: int | None = None
    why: Why = ""


def form_of(schema: Any) -> Field:
    """The form of a tool's `inputSchema`: an object with its fields, or a JSON box when the schema is not one."""
    tidy = tidied(schema)
    root = _Builder(tidy).field("", tidy, True, frozenset({"#"}), 0)
    if root is None:
        return Field("", "json", tidy, required=True, why="any")
    if root.why == "map":  # no named arguments: an object all the same
        return replace(root, kind="object")
    return root


def initial(field: Field) -> Any:
    """What a fresh form holds there: the default, what cannot be otherwise, or ABSENT. Null is never put in unasked."""
    if field.default is not ABSENT and (field.default is not None or field.required):
        return copy.deepcopy(field.default)
    cannot_be_otherwise = field.kind in ("object", "array") or len(field.choices) == 1
    return given(field) if field.required and cannot_be_otherwise else ABSENT


def given(field: Field) -> Any:
    """The value with which a field starts once a person wants it sent; ABSENT when only they can say."""
    if field.default is not ABSENT and field.default is not None:
        return copy.deepcopy(field.default)
    if field.kind == "object":
        parts = {part.name: initial(part) for part in field.fields}
        return {name: value for name, value in parts.items() if value is not ABSENT}
    if field.kind == "enum":
        return copy.deepcopy(field.choices[0])
    return {"array": [], "boolean": True, "string": ""}.get(field.kind, ABSENT)


def choice_index(field: Field, value: Any) -> int:
    """Where `value` is among an enum's choices, or -1. 1, 1.0, "1" and true are four different values."""
    for index, choice in enumerate(field.choices):
        if same_json(choice, value):
            return index
    return -1


def text_of(field: Field, value: Any) -> str:
    """The text that stands for `value` in an editor; `parse_text` gives the value back."""
    if value is ABSENT or value is None:
        return ""
    if field.kind == "string" and isinstance(value, str):
        return value
    return json_text(value)


def parse_text(field: Field, text: str) -> Any:
    """The value that a person's text means in this field. An empty text is ABSENT, also in a field of texts.

    Raises:
        ValueTextError: it is no value of the field's kind.
    """
    if not text or (field.kind != "string" and not text.strip()):
        return ABSENT
    if field.kind == "string":
        return text
    if field.kind == "integer":
        return _whole_number(text.strip())
    if field.kind == "number":
        return _number(text.strip())
    return parse_json(text)


class _Builder:
    """Builds the fields of one schema, at most `MAX_FIELDS` of them."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.left = MAX_FIELDS

    def field(self, name: str, schema: Any, required: bool, refs: frozenset[str], depth: int) -> Field | None:
        """The field of one sub-schema; None when nothing is allowed there. `refs` are those that led here."""
        self.left -= 1
        whole, refs, why = self._expanded(schema, refs)
        if is_nothing(whole):
            return None
        nullable = False
        if isinstance(whole, Mapping) and not why:
            whole, refs, nullable, why = self._chosen(whole, refs)
        if not isinstance(whole, Mapping):
            whole = {}
        field = Field(
            name=name,
            kind="json",
            schema=whole,
            required=required,
            nullable=nullable,
            title=_text(whole, "title"),
            description=_text(whole, "description"),
            default=whole.get("default", ABSENT),
            why=why,
        )
        if not why:
            field = self._with_kind(field, whole, refs, depth)
        # In a JSON box null is written as what it is.
        return replace(field, nullable=False) if field.kind == "json" else field

    def _expanded(self, schema: Any, refs: frozenset[str]) -> tuple[Any, frozenset[str], Why]:
        """The schema with its references followed and its `allOf` merged; why not, when that cannot be done."""
        while isinstance(schema, Mapping) and ("$ref" in schema or "allOf" in schema or UNRESOLVED in schema):
            self.left -= 1
            if self.left < 0:
                return schema, refs, "too_large"
            if UNRESOLVED in schema:
                return schema, refs, "reference"
            if "$ref" in schema:
                ref = schema["$ref"]
                beside = {key: value for key, value in schema.items() if key != "$ref"}
                if ref in refs:
                    return beside, refs, "recursive"
                refs = refs | {ref}
                target = resolve(self.root, ref)
                schema = {**target, **beside} if isinstance(target, Mapping) else beside
            else:
                merged = {key: value for key, value in schema.items() if key != "allOf"}
                for branch in schema["allOf"]:
                    part, refs, why = self._expanded(branch, refs)
                    if is_nothing(part):
                        return part, refs, ""
                    if why:
                        return schema, refs, why
                    merged = _merged(merged, part if isinstance(part, Mapping) else {})
                schema = merged
        return schema, refs, ""

    def _chosen(self, schema: Mapping[str, Any], refs: frozenset[str]) -> tuple[Any, frozenset[str], bool, Why]:
        """The schema with `anyOf` or `oneOf` gone, and whether null was among the variants.

        "X or null" is a nullable X, constants are an enum; other variants cannot be drawn.
        """
        words = [word for word in ("anyOf", "oneOf") if word in schema]
        if not words:
            return schema, refs, False, ""
        beside = {key: value for key, value in schema.items() if key not in words}
        branches = [branch for branch in schema[words[0]] if not is_nothing(branch)]
        real = [branch for branch in branches if not is_null(branch)]
        nullable = len(real) < len(branches)
        # Variants that only say which of the object's own keys go together leave its form as it is.
        if "properties" in schema and not any(_has_own_form(branch) for word in words for branch in schema[word]):
            return beside, refs, nullable, ""
        if len(words) > 1:
            return beside, refs, nullable, "variants"
        if len(real) == 1:
            branch, refs, why = self._expanded(real[0], refs)
            if not isinstance(branch, Mapping):
                return beside, refs, nullable, why
            nested = branch.keys() & {"anyOf", "oneOf"}
            return {**branch, **beside}, refs, nullable, why or ("variants" if nested else "")
        if real and all(isinstance(branch, Mapping) and "const" in branch for branch in real):
            titles = [_text(branch, "title") for branch in real]
            return {**beside, "enum": [b["const"] for b in real], _TITLES: titles}, refs, nullable, ""
        return beside, refs, nullable, "variants"

    def _with_kind(self, field: Field, schema: Mapping[str, Any], refs: frozenset[str], depth: int) -> Field:
        if "const" in schema:
            return _enum(field, [schema["const"]])
        if "enum" in schema:
            return _enum(field, schema["enum"], schema.get(_TITLES))
        kind, null_type = _kind_of(schema)
        field = replace(field, nullable=field.nullable or null_type or schema.get("nullable") is True)
        if kind == "object":
            return self._object(field, schema, refs, depth)
        if kind == "array":
            return self._array(field, schema, refs, depth)
        if kind in ("integer", "number"):
            return _bounded(replace(field, kind=kind), schema)
        if kind == "string":
            return replace(
                field,
                kind="string",
                min_length=schema.get("minLength"),
                max_length=schema.get("maxLength"),
                pattern=schema.get("pattern", ""),
                format=schema.get("format", ""),
            )
        return replace(field, kind=kind, why="" if kind == "boolean" else "types" if "type" in schema else "any")

    def _object(self, field: Field, schema: Mapping[str, Any], refs: frozenset[str], depth: int) -> Field:
        required = set(schema.get("required", ()))
        properties = schema.get("properties", {})
        if len(properties) > self.left or depth > MAX_NESTING:
            return replace(field, why="too_large")
        parts = [self.field(key, part, key in required, refs, depth + 1) for key, part in properties.items()]
        fields = tuple(part for part in parts if part is not None)
        return replace(field, kind="object", fields=fields) if fields else replace(field, why="map")

    def _array(self, field: Field, schema: Mapping[str, Any], refs: frozenset[str], depth: int) -> Field:
        if "prefixItems" in schema:
            return replace(field, why="tuple")
        item = self.field("", schema.get("items", True), True, refs, depth + 1)
        if item is None or item.kind == "json":
            return replace(field, why=item.why if item else "any")
        return replace(
            field, kind="array", item=item, min_items=schema.get("minItems", 0), max_items=schema.get("maxItems")
        )


_TITLES = "x-patchbay-titles"
_KINDS: dict[str, Kind] = {
    "array": "array",
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "object": "object",
    "string": "string",
}


def _kind_of(schema: Mapping[str, Any]) -> tuple[Kind, bool]:
    """The kind that a schema without variants asks for, and whether its types include null."""
    types = schema.get("type")
    names = {types} if isinstance(types, str) else set(types or ())
    null, names = "null" in names, names - {"null"}
    if names == {"integer", "number"}:
        names = {"number"}
    if len(names) == 1:
        return _KINDS[names.pop()], null
    if names or null:
        return "json", False
    if "properties" in schema:
        return "object", False
    if "items" in schema:
        return "array", False
    if schema.keys() & {"pattern", "minLength", "maxLength", "format"}:
        return "string", False
    return "json", False


def _enum(field: Field, choices: list[Any], titles: list[str] | None = None) -> Field:
    """A choice among the values. A text that reads like another value's JSON is shown in quotes."""
    others = {json_text(choice) for choice in choices if not isinstance(choice, str)}
    labels = [
        choice if isinstance(choice, str) and choice.strip() and choice not in others else json_text(choice)
        for choice in choices
    ]
    if titles:
        labels = [f"{title} ({label})" if title else label for title, label in zip(titles, labels, strict=True)]
    nullable = field.nullable and None not in choices
    return replace(field, kind="enum", choices=tuple(choices), labels=tuple(labels), nullable=nullable)


def _bounded(field: Field, schema: Mapping[str, Any]) -> Field:
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    low_is_out = above is not None and (low is None or above >= low)
    high_is_out = below is not None and (high is None or below <= high)
    return replace(
        field,
        minimum=above if low_is_out else low,
        maximum=below if high_is_out else high,
        exclusive_minimum=low_is_out,
        exclusive_maximum=high_is_out,
    )


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two schemas that hold together, as one for drawing. The checker still applies each on its own."""
    merged = {**other, **one}
    if "properties" in one and "properties" in other:
        both = {key: {"allOf": [one["properties"][key], other["properties"][key]]} for key in one["properties"]
                if key in other["properties"]}  # fmt: skip
        merged["properties"] = {**one["properties"], **other["properties"], **both}
    if "required" in one and "required" in other:
        merged["required"] = [*one["required"], *other["required"]]
    return merged


def _has_own_form(schema: Any) -> bool:
    return not isinstance(schema, Mapping) or bool(schema.keys() & {"properties", "$ref", "type", "allOf", "const"})


def _text(schema: Mapping[str, Any], key: str) -> str:
    value = schema.get(key)
    return value.strip() if isinstance(value, str) else ""


def _whole_number(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,4000}", text):
        raise ValueTextError(message("form.whole_number"))
    return int(text)


def _number(text: str) -> int | float:
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", text):
        return int(text)
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) or not math.isfinite(float(text)):
        raise ValueTextError(message("form.number"))
    return float(text)
