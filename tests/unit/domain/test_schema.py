"""What is said about values that break their schema."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from mcp_patchbay.domain.schema import Checker, tidied

NULL = {"type": "null"}


def said(schema: Any, value: Any) -> list[tuple[tuple[str | int, ...], str]]:
    problems = Checker(schema).problems(value)
    assert problems is not None
    return [(problem.path, str(problem.text)) for problem in problems]


def test_each_problem_names_its_place() -> None:
    schema = {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "rows": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}},
            },
        },
        "required": ["q", "z"],
        "additionalProperties": False,
    }
    assert said(schema, {"rows": [{"n": 1}, {"n": 0}], "other": 1}) == [
        (("rows", 1, "n"), "must be at least 1"),
        (("q",), "needed"),
        (("z",), "needed"),
        (("other",), "other is not known here"),
    ]


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [({"type": ["integer", "boolean"]}, "x", "must be integer or boolean"), ({"enum": ["a"]}, "c", "must be one of"),
     ({"const": 1}, True, "must be one of"), ({"maximum": 5}, 6, "at most 5"), ({"multipleOf": 2}, 3, "multiple"),
     ({"exclusiveMaximum": 5}, 5, "must be less than 5"), ({"minLength": 2}, "a", "at least 2 characters"),
     ({"maxLength": 2}, "abc", "at most 2 characters"), ({"pattern": "^a$"}, "b", "must match ^a$"),
     ({"format": "ipv4"}, "x", "valid ipv4"), ({"minItems": 1}, [], "at least 1 items"),
     ({"maxItems": 1}, [1, 2], "at most 1 items"), ({"uniqueItems": True}, [1, 1], "twice"),
     ({"anyOf": [{"type": "string"}, {"type": "array"}]}, 1, "none of the allowed"),
     ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, "more than one"),
     ({"anyOf": [{"type": "integer", "minimum": 3}, NULL]}, 1, "must be at least 3")],
)  # fmt: skip
def test_a_problem_is_told_in_plain_words(schema: Any, value: Any, words: str) -> None:
    [(path, text)] = said({"properties": {"x": schema}}, {"x": value})
    assert path == ("x",)
    assert words in text


def test_null_is_valid_where_it_is_allowed_and_nowhere_else() -> None:
    assert said({"properties": {"x": {"anyOf": [{"type": "string"}, NULL]}}}, {"x": None}) == []
    assert said({"properties": {"x": {"type": "string"}}}, {"x": None}) == [(("x",), "must be string")]


def test_a_forbidden_argument_is_named() -> None:
    assert said({"properties": {"never": False}}, {"never": 1}) == [(("never",), "must be left out")]


def test_a_long_value_is_not_repeated_in_full() -> None:
    [(_, text)] = said({"properties": {"x": {"not": {"type": "string"}}}}, {"x": "y" * 10_000})
    assert len(text) <= 200


def test_a_remote_reference_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: Any, **_kwargs: Any) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    schema = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/a.json"}, "y": {"type": "string"}}}
    assert said(schema, {"x": 1, "y": 2}) == [(("y",), "must be string")]


def test_a_schema_that_never_ends_is_said_to_be_unusable() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert Checker(schema).problems({}) is None


def test_many_problems_are_cut_off() -> None:
    problems = Checker({"items": {"type": "string"}}).problems(list(range(10_000)))
    assert problems is not None
    assert len(problems) == 100


def test_tidying_leaves_the_servers_schema_as_it_was() -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#/nowhere", "items": [{"type": "string"}]}}}
    tidied(schema)
    assert schema == {"type": "object", "properties": {"x": {"$ref": "#/nowhere", "items": [{"type": "string"}]}}}
