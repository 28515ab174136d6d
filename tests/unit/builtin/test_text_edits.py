"""How edit_file changes a text."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_patchbay.builtin.filesystem.edits import edited, unified_diff
from mcp_patchbay.builtin.filesystem.folders import FileError


@dataclass
class Edit:
    old_text: str
    new_text: str


def test_the_first_exact_match_is_replaced() -> None:
    assert edited("a b a", [Edit("a", "c")]) == "c b a"


def test_special_characters_are_taken_as_they_are() -> None:
    assert edited("price", [Edit("price", r"$& \1 \g<0>")]) == r"$& \1 \g<0>"


def test_edits_follow_each_other() -> None:
    assert edited("one", [Edit("one", "two"), Edit("two", "three")]) == "three"


def test_lines_match_with_other_indentation_and_keep_it() -> None:
    text = "def f():\n        if x:\n            return 1\n"
    result = edited(text, [Edit("if x:\n    return 1", "if y:\n    return 2\n    # done")])
    assert result == "def f():\n        if y:\n            return 2\n            # done\n"


def test_only_the_first_old_line_may_lack_its_indentation() -> None:
    text = "\tif x:\n\t\treturn 1\n"
    assert edited(text, [Edit("if x:\n\t\treturn 1", "if x:\n\t\treturn 2")]) == "\tif x:\n\t\treturn 2\n"
    assert edited(text, [Edit("if x:  \n    return 1", "if x:\n    pass\n\n    return 2")]) == (
        "\tif x:\n\t\tpass\n\n\t\treturn 2\n"
    )


def test_text_that_is_not_there_is_an_error_that_shows_it() -> None:
    with pytest.raises(FileError, match="missing words"):
        edited("something else", [Edit("missing words", "x")])


def test_an_empty_old_text_is_refused() -> None:
    with pytest.raises(FileError, match="empty"):
        edited("text", [Edit("", "x")])


def test_windows_newlines_stay() -> None:
    assert edited("a\r\nb\r\nc\r\n", [Edit("b\n", "x\ny\n")]) == "a\r\nx\r\ny\r\nc\r\n"


def test_mixed_newlines_stay_where_nothing_changed() -> None:
    assert edited("a\r\nb\nc\r\nd", [Edit("c", "x")]) == "a\r\nb\nx\r\nd"


def test_the_diff_is_unified_and_fenced() -> None:
    diff = unified_diff("a\nb\n", "a\nc\n", "f.txt")
    assert diff == "```diff\n--- f.txt\toriginal\n+++ f.txt\tmodified\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n```\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("".join(f"{n}\n" for n in range(50)), "".join(f"{n}\n" for n in range(50) if n != 25)),
        (
            "".join(f"{n}\n" for n in range(50)),
            "".join(f"{n}\n" for n in (*range(20), "new", *range(20, 45), *range(46, 50))),
        ),
        ("a\n" * 20, "a\n" * 21),
        ("a\n" * 20, ""),
        ("", "a\nb\n"),
        ("1\n2\n", "0\n1\n2\n"),
        ("1\n2\n", "1\n2\n3\n"),
        ("same\n", "same\n"),
    ],
)
def test_the_diff_is_one_that_patch_understands(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "f").write_text(before)
    diff = "\n".join(unified_diff(before, after, "f").split("\n")[1:-2]) + "\n"
    done = subprocess.run(["patch", "f"], input=diff, cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0 or before == after, done.stdout
    assert "fuzz" not in done.stdout
    assert "offset" not in done.stdout
    assert (tmp_path / "f").read_text() == after


@pytest.mark.limit(20)
def test_one_edit_in_a_long_text_of_equal_lines_is_quick() -> None:
    text = "a\r\nb\r\n" * 200_000
    result = edited(text, [Edit("a\nb\na", "c")])
    assert result == "c\r\n" + text[9:]
    assert "\n@@ -1,6 +1,4 @@\n-a\n+c\n b\n" in unified_diff(text, result, "f")


def test_the_fence_is_longer_than_any_in_the_text() -> None:
    assert unified_diff("```\nx\n", "```\ny\n", "f").startswith("````diff\n")


def test_a_missing_last_newline_is_said() -> None:
    assert "-a\n\\ No newline at end of file\n+b\n\\ No" in unified_diff("a", "b", "f")
