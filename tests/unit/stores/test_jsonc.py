"""JSON with comments: read as people write it, changed without touching the rest."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from mcp_patchbay.stores import jsonc

COMMENTED = """// head
{
  // about a
  "a": {"x": 1, /* in */ "y": [1, 2,], }, // beside a
  /* "off": {"command": "old"}, */
  "url": "https://h//mcp /* no comment */", "c": {
      "deep": true
  } // last
}
// tail
"""


def root_of(document: jsonc.Document) -> jsonc.Object:
    assert isinstance(document.root, jsonc.Object)
    return document.root


def test_comments_and_trailing_commas_are_read_over() -> None:
    assert jsonc.loads(COMMENTED) == {
        "a": {"x": 1, "y": [1, 2]},
        "url": "https://h//mcp /* no comment */",
        "c": {"deep": True},
    }


@pytest.mark.parametrize("text", [COMMENTED, COMMENTED.replace("\n", "\r\n"), "[]", ' {"a":{}} ', '{"a":1,}', "{/**/}"])
def test_what_was_read_is_written_back_to_the_letter(text: str) -> None:
    assert jsonc.parse(text).render() == text


def any_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(7 if depth < 4 else 5)
    if kind < 5:
        texts = ["", 'é\\"\n', "\u2028", "🎉"]
        return [None, True, rng.uniform(-1e9, 1e9), rng.randrange(10**20), rng.choice(texts)][kind]
    if kind == 5:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {f"k{number}": any_value(rng, depth + 1) for number in range(rng.randrange(4))}


@pytest.mark.parametrize("seed", range(40))
def test_it_agrees_with_the_standard_parser_on_plain_json(seed: int) -> None:
    value = any_value(random.Random(seed))
    for indent in (None, 2):
        text = json.dumps(value, indent=indent, ensure_ascii=bool(seed % 2))
        assert jsonc.loads(text) == value
        assert jsonc.parse(text).render() == text
    assert json.loads(jsonc.formatted(value)) == value


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("", 1, 1, "empty"),
        ("// only this", 1, 13, "nothing but comments"),
        ('{"a": 1\n "b": 2}', 2, 2, "comma"),
        ('{"a" 1}', 1, 6, "colon"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{\n  "a": "C:\\Users"}', 2, 11, "backslash"),
        ('{"a": "open}\n', 1, 7, "not closed"),
        ('{"a": /* open', 1, 7, "comment is not closed"),
        ('{"a": tru}', 1, 7, "tru stands"),
        ('{"a": 01}', 1, 7, "no number"),
        ('{"a": 1e999}', 1, 7, "too large"),
        ('{"a": 1} {"a": 1}', 1, 10, "more text"),
        ('{"mcpServers": {"x": {\ufeff"command": "y"}}}', 1, 23, "U+FEFF"),
        ('{"a": [1, 2', 1, 12, "ends"),
        ("[" * 5000, 1, 202, "deeply"),
        ("{,}", 1, 2, "name in quotes"),
        ('{"a": NaN}', 1, 7, "NaN"),
        ("\r\n\r\n  ?", 3, 3, "?"),
    ],
)
def test_an_error_says_where_and_what(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(jsonc.JsoncError) as caught:
        jsonc.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason


def test_a_change_touches_only_what_it_changes() -> None:
    document = jsonc.parse(COMMENTED)
    root = root_of(document)
    old: dict[str, Any] = root.value
    document.update(root, old, {**old, "c": {"deep": False}})
    assert document.render() == COMMENTED.replace('"deep": true', '"deep": false')


def test_a_new_key_follows_the_style_around_it() -> None:
    document = jsonc.parse('{\n\t"a": 1 // one\n}')
    document.update(root_of(document), {}, {"b": {"c": ["x", 2.0]}})
    assert document.render() == '{\n\t"a": 1, // one\n\t"b": {\n\t\t"c": ["x", 2]\n\t}\n}'


def test_a_new_key_in_a_one_line_object_stays_on_the_line() -> None:
    document = jsonc.parse('{"a": 1}')
    document.update(root_of(document), {}, {"b": {"c": [1]}})
    assert document.render() == '{"a": 1, "b": {"c": [1]}}'


def test_windows_line_ends_stay() -> None:
    document = jsonc.parse('{\r\n  "a": 1\r\n}\r\n')
    document.update(root_of(document), {}, {"b": {"c": 1}})
    assert document.render() == '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 1\r\n  }\r\n}\r\n'


@pytest.mark.parametrize("key", ["a", "url", "c"])
def test_removing_a_key_leaves_the_rest_and_the_comments_above(key: str) -> None:
    document = jsonc.parse(COMMENTED)
    root_of(document).remove(key)
    text = document.render()
    assert jsonc.loads(text) == {k: v for k, v in jsonc.loads(COMMENTED).items() if k != key}
    for comment in ("// head", "// about a", '/* "off": {"command": "old"}, */', "// tail"):
        assert comment in text


def test_removing_all_keys_one_by_one_keeps_a_file_that_can_be_read() -> None:
    document = jsonc.parse(COMMENTED)
    for key in ("url", "a", "c"):
        root_of(document).remove(key)
        assert key not in jsonc.loads(document.render())
    assert "// about a" in document.render()


def test_of_a_key_that_is_there_twice_the_last_counts_and_both_can_be_removed() -> None:
    document = jsonc.parse('{"a": 1, "a": 2}')
    assert root_of(document).value == {"a": 2}
    root_of(document).remove("a")
    assert jsonc.loads(document.render()) == {}


def test_half_a_surrogate_pair_is_escaped() -> None:
    assert jsonc.dumps({"a\ud800": "\udc00"}).encode() == b'{"a\\ud800": "\\udc00"}'
