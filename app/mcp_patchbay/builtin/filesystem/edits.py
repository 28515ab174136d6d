"""Changing a text by its own words: pure, no files. What matches is as in npm's filesystem server."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Protocol

from mcp_patchbay.builtin.filesystem.folders import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTEXT = 3
"""Unchanged lines around a change in a diff."""


class Edit(Protocol):
    """One replacement: the first place where `old_text` stands becomes `new_text`."""

    @property
    def old_text(self) -> str: ...
    @property
    def new_text(self) -> str: ...


def edited(text: str, edits: Sequence[Edit]) -> str:
    r"""The text after all edits, one after the other. Newlines may be \n or \r\n; each line keeps its own.

    Raises:
        FileError: the old text of an edit is not found; the message shows it.
    """
    before = _plain(text)
    after = before
    for edit in edits:
        after = _replaced(after, _plain(edit.old_text), _plain(edit.new_text))
    return _with_newlines_of(text, before, after)


def unified_diff(before: str, after: str, name: str) -> str:
    """What changed, as a fenced unified diff; the fence is longer than any in the text."""
    old, new = _plain(before).splitlines(keepends=True), _plain(after).splitlines(keepends=True)
    start, end = _common_ends(old, new)  # left out, so that one edit in a long text is found at once
    start, end = max(0, start - CONTEXT), max(0, end - CONTEXT)
    changed = old[start : len(old) - end], new[start : len(new) - end]
    lines = [
        _moved(line, start) if line.startswith("@@") else line
        for line in difflib.unified_diff(*changed, name, name, "original", "modified", n=CONTEXT)
    ]
    diff = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    fence = "```"
    while fence in diff:
        fence += "`"
    return f"{fence}diff\n{diff}{fence}\n"


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines at the start and at the end are the same."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    return start, end


def _moved(header: str, lines: int) -> str:
    """A hunk's header, as of a text that has so many more lines before it."""
    return re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + lines}", header)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _replaced(text: str, old: str, new: str) -> str:
    if not old:
        raise FileError("oldText is empty: say which text is to be replaced")
    if old in text:
        return text.replace(old, new, 1)
    lines, wanted = text.split("\n"), [line.strip() for line in old.split("\n")]
    for start in range(len(lines) - len(wanted) + 1):
        found = lines[start : start + len(wanted)]
        if [line.strip() for line in found] == wanted:
            lines[start : start + len(wanted)] = _indented(new.split("\n"), old.split("\n"), found)
            return "\n".join(lines)
    raise FileError(f"Could not find this text, so nothing was changed:\n{old}")


def _indented(new: list[str], old: list[str], found: list[str]) -> list[str]:
    """The new lines, each moved as far as the found line was from the old line that matched it."""
    moved, said, real = [], "", ""
    for number, line in enumerate(new):
        if number < len(found) and found[number].strip():
            said, real = _indent(old[number]), _indent(found[number])
        now = _indent(line)
        indent = real + now[len(said) :] if now.startswith(said) else real[: max(0, len(real) - len(said) + len(now))]
        moved.append(indent + line.lstrip() if line.strip() else "")
    return moved


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _with_newlines_of(text: str, before: str, after: str) -> str:
    r"""`after` with the \r\n of `text` where its lines stayed, and of most of its lines where they are new."""
    crlf = text.count("\r\n")
    if not crlf:
        return after
    usual = "\r\n" if crlf * 2 >= text.count("\n") else "\n"
    originals, old, new = text.split("\n"), before.split("\n"), after.split("\n")
    endings = ["\r\n" if line.endswith("\r") else "\n" for line in originals]
    start, end = _common_ends(old, new)
    result = [usual] * len(new)
    result[:start] = endings[:start]
    result[len(new) - end :] = endings[len(old) - end :]
    middle = difflib.SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end])
    for place, to, size in middle.get_matching_blocks():
        result[start + to : start + to + size] = endings[start + place : start + place + size]
    return "".join(line + end for line, end in zip(new[:-1], result[:-1], strict=True)) + new[-1]
