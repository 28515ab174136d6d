"""Globs. The table was recorded from npm's minimatch 10.2.5 with its default options."""

import pytest

from mcp_patchbay.domain.globs import MAX_LENGTH, check_pattern, matches

NAMES = [
    "a",
    "b",
    "A",
    "ab",
    "a.b",
    ".a",
    "a/b",
    "a/.b",
    "a/b/c",
    "a/c",
    "x",
    "!a",
    "#a",
    "[a",
    "]",
    "a-b",
    "a5",
    "read_file",
    "read_multiple_files",
    "write_file",
    "list_all",
    "get-x",
    "日本",
]


def only(*names: str) -> set[str]:
    return set(names)


def all_but(*names: str) -> set[str]:
    return set(NAMES) - set(names)


MINIMATCH = {
    "*": all_but(".a", "a/b", "a/.b", "a/b/c", "a/c"),
    "**": all_but(".a", "a/.b"),
    "?": only("a", "b", "A", "x", "]"),
    "a": only("a"),
    "A": only("A"),
    "a*": only("a", "ab", "a.b", "a-b", "a5"),
    "*a": only("a", "!a", "#a", "[a"),
    "[ab]": only("a", "b"),
    "[!a]": only("b", "A", "x", "]"),
    "[^a]": only("b", "A", "x", "]"),
    "[a-z]": only("a", "b", "x"),
    "[[:digit:]]5": only(),
    "a[[:digit:]]": only("a5"),
    "a{b,c}": only("ab"),
    "a{,b}": only("a", "ab"),
    "a{1..9}": only("a5"),
    "@(ab|x)": only("ab", "x"),
    "?(a)b": only("b", "ab"),
    "+(a|b)": only("a", "b", "ab"),
    "*(a|b)x": only("x"),
    "*.{b,c}": only("a.b"),
    "*.*": only("a.b"),
    "**/b": only("b", "a/b"),
    "a/**": only("a/b", "a/b/c", "a/c"),
    "a/**/c": only("a/b/c", "a/c"),
    "a/*": only("a/b", "a/c"),
    "*/b": only("a/b"),
    "{a}": only(),
    "#a": only(),
    "\\#a": only("#a"),
    "!a": all_but("a"),
    "!!a": only("a"),
    "!a*": all_but("a", "ab", "a.b", "a-b", "a5"),
    "!read_*": all_but("read_file", "read_multiple_files"),
    "\\!a": only("!a"),
    "[[]a": only("[a"),
    "[]]": only("]"),
    "a\\-b": only("a-b"),
    "read_*": only("read_file", "read_multiple_files"),
    "*_file": only("read_file", "write_file"),
    "*_file*": only("read_file", "read_multiple_files", "write_file"),
    "{read,write}_*": only("read_file", "read_multiple_files", "write_file"),
    "get-?": only("get-x"),
    ".*": only(".a"),
    ".a": only(".a"),
    "日*": only("日本"),
    "!": all_but(),
    "(a)": only(),
}


@pytest.mark.parametrize("pattern", MINIMATCH)
def test_a_pattern_matches_what_minimatch_matches(pattern: str) -> None:
    assert {name for name in NAMES if matches(name, pattern)} == MINIMATCH[pattern]


def test_the_empty_pattern_matches_only_the_empty_name() -> None:
    assert matches("", "")
    assert not matches("a", "")
    assert not matches("", "*")


def test_a_leading_exclamation_mark_negates_also_before_a_parenthesis_as_in_minimatch() -> None:
    assert matches("write_file", "!(read_*|list_*)")
    assert matches("read_file", "!(read_*|list_*)")
    assert not matches("(a)", "!(a)")


@pytest.mark.parametrize(
    "pattern", ["*", "[[]", "[]]", "[(]", "[{]", "\\[", "a)", "}", "!(a|b)", "{a,b}", "[[:alpha:]]x", "日*"]
)
def test_a_pattern_that_works_is_accepted(pattern: str) -> None:
    assert check_pattern(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "glob.empty"),
        ("  ", "glob.empty"),
        (" a", "glob.blank"),
        ("a ", "glob.blank"),
        ("[a", "glob.bracket"),
        ("[]", "glob.bracket"),
        ("[a]b[c", "glob.bracket"),
        ("[\\]", "glob.bracket"),
        ("{a,b", "glob.brace"),
        ("{a,{b,c}", "glob.brace"),
        ("@(a|b", "glob.parenthesis"),
        ("a" * (MAX_LENGTH + 1), "glob.long"),
    ],
)
def test_a_pattern_that_a_person_got_wrong_is_named(pattern: str, reason: str) -> None:
    problem = check_pattern(pattern)
    assert problem is not None
    assert problem.key == reason


def test_a_pattern_that_the_glob_library_refuses_is_refused_with_its_words() -> None:
    problem = check_pattern("{1..2000}")
    assert problem is not None
    assert "1000" in str(problem)
