"""JSON Schema as servers really send it: made safe to read, local references followed, values checked against it.

Nothing is ever fetched. Whatever draft a schema is written in, `tidied` brings it to draft 2020-12, without the parts
that no validator could use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from mcp_patchbay.domain.messages import Message, message, plain

UNRESOLVED = "x-patchbay-unresolved"
"""The key under which `tidied` keeps a reference that leads nowhere (or out of the schema)."""

TYPES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})
MAX_DEPTH = 64
MAX_PROBLEMS = 100

_ONE_SCHEMA = frozenset(
    {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_SCHEMA_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NUMBERS = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_COUNTS = frozenset(
    {"maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength", "minProperties"}
)
# Identifiers would move the base that local references count from; the rest has another shape in other drafts.
_DROPPED = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$schema", "$vocabulary"}
    | {"additionalItems", "dependencies", "id", UNRESOLVED}
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a value: where (keys and indexes from the root) and what."""

    path: tuple[str | int, ...]
    text: Message


class Checker:
    """Checks values against one schema. Made once, used at each edit."""

    def __init__(self, schema: Any) -> None:
        from jsonschema import Draft202012Validator
        from referencing import Registry

        # An empty registry of our own: the default one would fetch remote references.
        self._validator = Draft202012Validator(
            tidied(schema), registry=Registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
        )

    def problems(self, value: Any) -> tuple[Problem, ...] | None:
        """What is wrong with `value`; empty when it is valid, None when the schema cannot be used for checking."""
        found: dict[tuple[tuple[str | int, ...], str], Problem] = {}
        try:
            for error in self._validator.iter_errors(value):
                found.update(((problem.path, str(problem.text)), problem) for problem in _problems_of(error))
                if len(found) >= MAX_PROBLEMS:
                    break
        except Exception:  # a schema that refers to itself without end, or one that confuses the validator
            return None
        return tuple(found.values())


def resolve(root: Any, ref: str) -> Any:
    """What a local reference such as "#/$defs/Node" leads to. Raises LookupError when it leads nowhere."""
    if ref != "#" and not ref.startswith("#/"):
        raise LookupError(ref)
    found = root
    for part in ref.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found[key]
        elif isinstance(found, list) and key.isdecimal():
            found = found[int(key)]
        else:
            raise LookupError(ref)
    if not isinstance(found, Mapping | bool):
        raise LookupError(ref)
    return found


def tidied(schema: Any) -> Any:
    """A copy in draft 2020-12 that holds only what a validator can use. What is no schema becomes True (anything)."""
    return _tidied(schema, schema, 0)


def _tidied(schema: Any, root: Any, depth: int) -> Any:
    if schema is False:  # said in another way: the validator forgets where a bare False stood
        return {"not": {}}
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return True
    tidy: dict[str, Any] = {}
    for key, value in _in_2020_12(schema).items():
        if key in _DROPPED:
            continue
        if key == "$ref":
            tidy[key if _leads_somewhere(root, value) else UNRESOLVED] = value
        elif key in _ONE_SCHEMA:
            tidy[key] = value if value is False else _tidied(value, root, depth + 1)
        elif key in _SCHEMA_MAPS:
            if isinstance(value, Mapping):
                tidy[key] = {name: _tidied(part, root, depth + 1) for name, part in value.items()}
        elif key in _SCHEMA_LISTS:
            if isinstance(value, list) and value:
                tidy[key] = [_tidied(part, root, depth + 1) for part in value]
        elif (usable := _usable(key, value)) is not None:
            tidy[key] = usable
        elif value is None and key in ("const", "default"):
            tidy[key] = None
    return tidy


def _in_2020_12(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The older drafts' exclusive bounds (booleans) and tuples (`items` as a list) in today's words."""
    modern = dict(schema)
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(modern.get(exclusive), bool) and modern.pop(exclusive) and bound in modern:
            modern[exclusive] = modern.pop(bound)
    if isinstance(modern.get("items"), list):
        modern["prefixItems"] = modern.pop("items")
        if "additionalItems" in modern:
            modern["items"] = modern["additionalItems"]
    return modern


def _leads_somewhere(root: Any, ref: Any) -> bool:
    try:
        resolve(root, ref)
    except (LookupError, TypeError, AttributeError):
        return False
    return True


def _usable(key: str, value: Any) -> Any:
    """The keyword's value, without what is not of the form that JSON Schema asks for; None when nothing is left."""
    if key in _NUMBERS:
        usable = isinstance(value, int | float) and not isinstance(value, bool)
        return value if usable and (key != "multipleOf" or value > 0) else None
    if key in _COUNTS:
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
    if key == "type":
        names = [name for name in (value if isinstance(value, list) else [value]) if _is_type(name)]
        return (names if len(names) > 1 else names[0]) if names else None
    if key == "required":
        return [name for name in value if isinstance(name, str)] if isinstance(value, list) else None
    if key == "enum":
        return value if isinstance(value, list) and value else None
    if key == "pattern":
        return value if isinstance(value, str) and _compiles(value) else None
    if key == "format":
        return value if isinstance(value, str) else None
    if key == "uniqueItems":
        return value if isinstance(value, bool) else None
    if key == "dependentRequired":
        return value if isinstance(value, Mapping) and all(isinstance(v, list) for v in value.values()) else None
    return value


def _is_type(name: Any) -> bool:
    return isinstance(name, str) and name in TYPES


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _problems_of(error: Any) -> Iterator[Problem]:
    """A validator's error in words that a person understands."""
    path, limit, value = tuple(error.absolute_path), error.validator_value, error.instance
    if error.validator == "required":
        yield from (Problem((*path, name), message("form.required")) for name in limit if name not in value)
    elif error.validator == "additionalProperties" and isinstance(error.schema.get("properties", {}), Mapping):
        known = error.schema.get("properties", {})
        yield from (Problem((*path, key), message("form.unknown_key", name=key)) for key in value if key not in known)
    elif error.validator in ("anyOf", "oneOf"):
        yield from _problems_of_variants(error, path)
    else:
        yield Problem(path, _words(error.validator, limit, error.message))


def _problems_of_variants(error: Any, path: tuple[str | int, ...]) -> Iterator[Problem]:
    """For "X or null", what is wrong with the value as an X; otherwise only that it fits no variant."""
    if not error.context:
        yield Problem(path, message("form.many_variants"))
        return
    real = [k for k, branch in enumerate(error.validator_value) if not is_null(branch)]
    if len(real) != 1:
        yield Problem(path, message("form.no_variant"))
        return
    for cause in error.context:
        if cause.relative_schema_path[0] == real[0]:
            yield from _problems_of(cause)


def is_nothing(schema: Any) -> bool:
    """Whether a schema allows no value at all."""
    return schema is False or (isinstance(schema, Mapping) and schema.get("not") == {})


def is_null(schema: Any) -> bool:
    """Whether a schema allows null and nothing else."""
    if not isinstance(schema, Mapping):
        return False
    return (
        schema.get("type") == "null" or schema.get("enum") == [None] or ("const" in schema and schema["const"] is None)
    )


_LIMITS = {
    "exclusiveMaximum": "form.below",
    "exclusiveMinimum": "form.above",
    "maxItems": "form.max_items",
    "maxLength": "form.max_length",
    "maximum": "form.maximum",
    "minItems": "form.min_items",
    "minLength": "form.min_length",
    "minimum": "form.minimum",
    "multipleOf": "form.multiple",
}


def _words(keyword: str, limit: Any, fallback: str) -> Message:
    if keyword in _LIMITS:
        return message(_LIMITS[keyword], limit=limit)
    if keyword == "type":
        return message("form.type", kind=" or ".join(limit) if isinstance(limit, list) else limit)
    if keyword in ("enum", "const"):
        return message("form.choice")
    if keyword == "pattern":
        return message("form.pattern", pattern=limit)
    if keyword == "format":
        return message("form.format", format=limit)
    if keyword == "uniqueItems":
        return message("form.unique")
    if keyword == "not" and limit == {}:
        return message("form.not_allowed")
    return plain(fallback if len(fallback) <= 200 else fallback[:199] + "…")
