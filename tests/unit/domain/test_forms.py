"""What form a tool's JSON Schema becomes, and what its texts and values mean."""

from __future__ import annotations

import random
from typing import Any

import pytest

from mcp_patchbay.domain.forms import (
    ABSENT,
    MAX_FIELDS,
    Field,
    choice_index,
    form_of,
    given,
    initial,
    parse_text,
    text_of,
)
from mcp_patchbay.domain.json_text import ValueTextError, json_text, parse_json, same_json
from mcp_patchbay.domain.schema import Checker

NULL = {"type": "null"}


def of(properties: dict[str, Any], **rest: Any) -> dict[str, Field]:
    """The fields, by name, of an object with these properties."""
    form = form_of({"type": "object", "properties": properties, **rest})
    return {field.name: field for field in form.fields}


def one(schema: Any, *, required: bool = False, **rest: Any) -> Field:
    return of({"x": schema}, required=["x"] if required else [], **rest)["x"]


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean"])
def test_a_plain_type_becomes_the_field_of_its_kind(kind: str) -> None:
    field = one({"type": kind, "title": "T", "description": " What it is. "}, required=True)
    assert (field.kind, field.required, field.nullable) == (kind, True, False)
    assert (field.title, field.description) == ("T", "What it is.")


def test_bounds_patterns_and_formats_are_kept() -> None:
    fields = of(
        {
            "n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 100},
            "s": {"type": "string", "pattern": "^a", "minLength": 2, "maxLength": 9, "format": "date"},
        }
    )
    number, text = fields["n"], fields["s"]
    assert (number.minimum, number.exclusive_minimum) == (1, False)
    assert (number.maximum, number.exclusive_maximum) == (100, True)
    assert (text.pattern, text.min_length, text.max_length, text.format) == ("^a", 2, 9, "date")


def test_draft_04_exclusive_bounds_are_understood() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}}
    field = form_of({"$schema": "http://json-schema.org/draft-04/schema#", "id": "x", **schema}).fields[0]
    assert (field.minimum, field.exclusive_minimum) == (0, True)
    assert [str(problem.text) for problem in Checker(schema).problems({"n": 0}) or ()] == ["must be more than 0"]


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string"}, NULL]},
        {"oneOf": [NULL, {"type": "string"}]},
        {"type": ["string", "null"]},
        {"type": "string", "nullable": True},
        {"anyOf": [{"$ref": "#/$defs/S"}, NULL]},
    ],
)
def test_every_way_to_say_x_or_null_is_a_nullable_x(schema: Any) -> None:
    field = one(schema, **{"$defs": {"S": {"type": "string"}}})
    assert (field.kind, field.nullable) == ("string", True)


def test_the_words_beside_a_union_with_null_are_kept() -> None:
    field = one({"anyOf": [{"type": "integer", "minimum": 1}, NULL], "default": 3, "description": "Page."})
    assert (field.kind, field.minimum, field.default, field.description) == ("integer", 1, 3, "Page.")


def test_enum_values_of_any_type_stay_apart() -> None:
    field = one({"enum": [1, "1", None, True, 1.5, "", "true"]})
    assert field.kind == "enum"
    assert not field.nullable
    assert field.labels == ("1", '"1"', "null", "true", "1.5", '""', '"true"')
    assert [choice_index(field, value) for value in (1, "1", None, True, 1.0)] == [0, 1, 2, 3, -1]


def test_an_enum_of_twenty_thousand_values_keeps_them_all() -> None:
    values = [f"v{n:05d}" for n in range(20_000)]
    field = one({"enum": values})
    assert (list(field.choices), len(field.labels)) == (values, 20_000)


def test_constants_with_titles_are_an_enum_with_their_titles() -> None:
    field = one({"oneOf": [{"const": "a", "title": "First"}, {"const": "b"}, NULL]})
    assert (field.kind, field.choices, field.labels, field.nullable) == ("enum", ("a", "b"), ("First (a)", "b"), True)


def test_a_needed_const_is_filled_in_and_an_optional_one_is_left_out() -> None:
    form = form_of({"type": "object", "properties": {"k": {"const": "id"}, "o": {"const": 1}}, "required": ["k"]})
    assert initial(form) == {"k": "id"}
    assert given(form.fields[1]) == 1


def test_nested_objects_and_lists_become_nested_fields() -> None:
    row = {"type": "object", "properties": {"category": {"type": "string"}, "value": {"type": "number"}}}
    fields = of(
        {
            "opts": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
            "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4},
            "rows": {"type": "array", "items": row},
        }
    )
    assert [(part.name, part.kind) for part in fields["opts"].fields] == [("deep", "boolean")]
    names, rows = fields["names"], fields["rows"]
    assert names.item is not None
    assert (names.item.kind, names.min_items, names.max_items) == ("string", 1, 4)
    assert rows.item is not None
    assert [(part.name, part.kind) for part in rows.item.fields] == [("category", "string"), ("value", "number")]


def test_local_references_are_followed_wherever_they_lead() -> None:
    fields = of(
        {
            "params": {"$ref": "#/$defs/a~1b%20c"},
            "begin": {"type": "string", "pattern": "^[0-9-]{10}$"},
            "end": {"$ref": "#/properties/begin", "description": "Later."},
        },
        **{"$defs": {"a/b c": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}}},
    )
    assert [(part.name, part.required) for part in fields["params"].fields] == [("q", True)]
    assert (fields["end"].kind, fields["end"].pattern, fields["end"].description) == (
        "string",
        "^[0-9-]{10}$",
        "Later.",
    )


def test_recursion_becomes_a_json_box_for_that_part_only() -> None:
    node = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    field = one({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})
    assert [(part.name, part.kind, part.why) for part in field.fields] == [
        ("title", "string", ""),
        ("children", "json", "recursive"),
    ]
    assert one({"$ref": "#"}).why == "recursive"


def test_a_reference_to_itself_is_no_endless_loop() -> None:
    form = form_of({"type": "object", "$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}})
    assert (form.kind, form.why) == ("json", "recursive")


def test_a_reference_that_leads_nowhere_costs_that_part_only() -> None:
    fields = of({"x": {"$ref": "#/$defs/nowhere"}, "y": {"type": "string"}})
    assert [(f.kind, f.why) for f in fields.values()] == [("json", "reference"), ("string", "")]


def test_references_that_multiply_do_not_make_an_endless_form() -> None:
    level = {
        f"L{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/L{n + 1}"} for k in ("a", "b", "c")}}
        for n in range(20)
    }
    form = form_of({"$ref": "#/$defs/L0", "$defs": {**level, "L20": {"type": "string"}}})

    def count(field: Field) -> int:
        return 1 + sum(count(part) for part in field.fields)

    assert count(form) <= MAX_FIELDS + 1


def test_all_of_is_drawn_as_one_object() -> None:
    schema = {
        "type": "object",
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"enum": [1, "1", None, True]}, "a": {"minLength": 2}}, "required": ["b"]},
        ],
    }
    form = form_of(schema)
    assert [(part.name, part.kind, part.required) for part in form.fields] == [
        ("a", "string", True),
        ("b", "enum", True),
    ]
    assert form.fields[0].min_length == 2


def test_other_unions_become_a_json_box_for_that_part() -> None:
    kinds = [{"type": "object", "properties": {"kind": {"const": kind}}} for kind in ("id", "name")]
    fields = of(
        {
            "target": {"oneOf": kinds},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, NULL]},
            "types": {"type": ["string", "array", "null"]},
            "plain": {"type": "string"},
        }
    )
    assert [(f.kind, f.why, f.nullable) for f in fields.values()] == [
        ("json", "variants", False),
        ("json", "variants", False),
        ("json", "types", False),
        ("string", "", False),
    ]


def test_variants_that_only_say_which_keys_go_together_keep_the_form() -> None:
    form = form_of(
        {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
        }
    )
    assert [part.kind for part in form.fields] == ["integer", "string"]


def test_boolean_schemas_mean_anything_and_nothing() -> None:
    fields = of({"raw": True, "never": False, "list": {"type": "array", "items": True}})
    assert {name: (f.kind, f.why) for name, f in fields.items()} == {"raw": ("json", "any"), "list": ("json", "any")}


def test_maps_and_tuples_are_json_boxes() -> None:
    fields = of(
        {
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
        }
    )
    assert [(f.kind, f.why) for f in fields.values()] == [("json", "map"), ("json", "tuple")]


@pytest.mark.parametrize(
    "schema",
    [{}, True, {"type": "object"}, {"type": "object", "properties": []}, {"type": "object", "properties": None},
     {"type": ["object", "null"], "properties": {}}, {"type": "object", "additionalProperties": {"type": "string"}}],
)  # fmt: skip
def test_a_schema_without_named_arguments_starts_as_an_empty_object(schema: Any) -> None:
    form = form_of(schema)
    assert form.fields == ()
    assert initial(form) in ({}, ABSENT)


@pytest.mark.parametrize("schema", [None, [], "object", 7, {"type": "array"}, {"type": "string"}, False])
def test_what_is_no_schema_of_an_object_does_not_break_the_form(schema: Any) -> None:
    assert form_of(schema).kind in ("json", "array", "string")


@pytest.mark.parametrize(
    "schema",
    [{"type": "strnig"}, {"type": 7}, {"enum": []}, {"enum": "ab"}, {"minimum": "1", "type": "number"},
     {"pattern": "(", "type": "string"}, {"required": True, "type": "string"}, {"$ref": 3}, {"anyOf": []},
     {"anyOf": "x"}, {"type": "array", "items": None}, {"type": "string", "maxLength": -1}, {"allOf": [False]}],
)  # fmt: skip
def test_keywords_of_the_wrong_shape_are_passed_over(schema: Any) -> None:
    form_of({"type": "object", "properties": {"x": schema, "y": {"type": "string"}}})
    problems = Checker({"type": "object", "properties": {"x": schema, "y": {"type": "string"}}}).problems({"y": 1})
    assert [(problem.path, str(problem.text)) for problem in problems or ()] == [(("y",), "must be string")]


def test_a_fresh_form_holds_defaults_and_no_unasked_null() -> None:
    form = form_of(
        {
            "type": "object",
            "properties": {
                "q": {"type": "string"},
                "category": {"anyOf": [{"type": "string"}, NULL], "default": None},
                "big": {"type": "integer", "default": 9007199254740993},
                "on": {"type": "boolean", "default": True},
                "ids": {"type": "array", "items": {"type": "integer"}},
                "needed_ids": {"type": "array", "items": {"type": "integer"}},
                "search": {"type": "object", "properties": {"page": {"type": "integer", "default": 1}}},
                "needed_search": {"type": "object", "properties": {"page": {"type": "integer", "default": 1}}},
            },
            "required": ["q", "needed_ids", "needed_search"],
        }
    )
    assert initial(form) == {"big": 9007199254740993, "on": True, "needed_ids": [], "needed_search": {"page": 1}}
    assert given(form.fields[6]) == {"page": 1}


def test_a_default_is_copied_so_that_an_edit_does_not_change_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]}},
    }
    first = initial(form_of(schema))
    first["tags"].append("b")
    assert initial(form_of(schema)) == {"tags": ["a"]}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [("integer", "1", 1), ("integer", " -7 ", -7), ("integer", "9007199254740993", 9007199254740993),
     ("number", "1", 1), ("number", "1.0", 1.0), ("number", "0.5", 0.5), ("number", "1e3", 1000.0),
     ("number", "18446744073709551617", 18446744073709551617), ("string", "1", "1"), ("string", " ", " "),
     ("string", "null", "null")],
)  # fmt: skip
def test_a_text_means_a_value_of_the_fields_own_type(kind: str, text: str, value: Any) -> None:
    parsed = parse_text(one({"type": kind}), text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize("kind", ["string", "integer", "number"])
def test_an_empty_text_is_not_sent(kind: str) -> None:
    assert parse_text(one({"type": kind}), "") is ABSENT


@pytest.mark.parametrize(
    ("kind", "text"),
    [("integer", "1.0"), ("integer", "one"), ("integer", "1_000"), ("integer", "٣"), ("integer", "1e3"),
     ("number", "nan"), ("number", "inf"), ("number", "1e999"), ("number", "0x1"), ("number", "1,5"), ("number", "-")],
)  # fmt: skip
def test_a_text_of_another_type_is_refused_with_a_reason(kind: str, text: str) -> None:
    with pytest.raises(ValueTextError, match="must be a"):
        parse_text(one({"type": kind}), text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"a": 1,}', "line 1, column"), ('{"a": NaN}', "NaN"), ('{"a": 1, "a": 2}', "a is there twice"),
     ("1e999", "1e999"), ("[" * 100_000, "nested"), ("9" * 5000, "digit"), ("", "line 1")],
)  # fmt: skip
def test_bad_json_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueTextError, match=reason):
        parse_json(text)


def test_json_text_is_exact_and_readable() -> None:
    value = {"n": 9007199254740993, "x": 1.0, "t": "é\n\u00a0", "lone": "\ud800"}
    assert same_json(parse_json(json_text(value, indent=2)), value)
    assert json_text({"t": "é"}) == '{"t": "é"}'


def test_same_json_tells_types_apart() -> None:
    assert not same_json(1, True)
    assert not same_json(1, 1.0)
    assert not same_json("1", 1)
    assert same_json({"a": [1], "b": None}, {"b": None, "a": [1]})


def test_text_and_value_agree_for_every_value_of_the_kind() -> None:
    chance = random.Random(7)
    for _ in range(500):
        kind = chance.choice(["string", "integer", "number"])
        value = {
            "string": "".join(chance.choices('ab1 "\\\n{}é', k=chance.randint(1, 8))),
            "integer": chance.randint(-(10**20), 10**20),
            "number": chance.choice([chance.random() * 10 ** chance.randint(-9, 9), chance.randint(-9, 9)]),
        }[kind]
        field = one({"type": kind})
        assert same_json(parse_text(field, text_of(field, value)), value)
