"""JSON with comments and trailing commas, kept as it was written.

`parse` gives a `Document` whose parts hold their own text, so that `render` gives back what was read, character by
character, and a change touches only what it changes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 200
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?(?=[\r\n]|\Z)")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_BAD_ESCAPE = re.compile(r'(?:[^\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*?(?=\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4}))')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_WORDS = {"true": True, "false": False, "null": None}
_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_LINE_LENGTH = 100


class JsoncError(ValueError):
    """Text that is no JSON. `line` and `column` count from 1."""

    def __init__(self, reason: str, text: str, offset: int) -> None:
        self.reason = reason
        self.line, self.column = place(text, offset)
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a position in a text."""
    line, start = 1, 0
    for end in _LINE_END.finditer(text, 0, offset):
        line, start = line + 1, end.end()
    return line, offset - start + 1


@dataclass(slots=True)
class Leaf:
    """A value that is changed as a whole: a text, number, word or array."""

    text: str
    value: Any

    def render(self) -> str:
        return self.text


@dataclass(slots=True)
class Member:
    """One key and value of an object, with the white space and comments that go with them.

    `before` comes before the key, `colon` between key and value, `after` between value and comma, and `note` is what
    follows on the same line.
    """

    key: str
    value: Leaf | Object
    before: str = ""
    key_text: str = ""
    colon: str = ": "
    after: str = ""
    comma: bool = False
    note: str = ""

    def render(self) -> str:
        comma = "," if self.comma else ""
        return f"{self.before}{self.key_text}{self.colon}{self.value.render()}{self.after}{comma}{self.note}"

    def rename(self, key: str) -> None:
        self.key, self.key_text = key, dumps(key)


@dataclass(slots=True)
class Object:
    """An object; `end` is the white space and comments before its closing brace."""

    members: list[Member] = field(default_factory=list)
    end: str = ""

    @property
    def value(self) -> dict[str, Any]:
        """The plain mapping; of a key that is there twice the last counts."""
        return {member.key: member.value.value for member in self.members}

    def render(self) -> str:
        return "{" + "".join(member.render() for member in self.members) + self.end + "}"

    def member(self, key: str) -> Member | None:
        return next((m for m in reversed(self.members) if m.key == key), None)

    def remove(self, key: str) -> None:
        """Take a key out. Comments on the lines above it stay: they may be headings or servers put aside."""
        for member in [m for m in self.members if m.key == key]:
            index = self.members.index(member)
            del self.members[index]
            comments = member.before.rstrip() if member.before.strip() else ""
            if index < len(self.members):
                following = self.members[index]
                if comments:
                    following.before = _joined(comments, following.before)
                elif index == 0 and not following.before.strip():
                    following.before = member.before
            else:
                if comments:
                    self.end = _joined(comments, self.end)
                if self.members:
                    self.members[-1].comma = member.comma


def _joined(comments: str, space: str) -> str:
    """`comments` may end in a line comment, which must not swallow what comes next."""
    return comments + (space if space.startswith(("\n", "\r")) else "\n" + space)


@dataclass(slots=True)
class Document:
    """A whole text: its value, and what stands before and after it."""

    root: Leaf | Object
    before: str = ""
    after: str = ""
    unit: str = "  "
    line_end: str = "\n"

    def render(self) -> str:
        return self.before + self.root.render() + self.after

    def update(self, node: Object, old: Mapping[str, Any], new: Mapping[str, Any], indent: str = "") -> None:
        """Change in `node` what differs between `old` and `new`; all else keeps its text.

        `indent` is the indentation of the line on which `node` begins.
        """
        for key in old:
            if key not in new:
                node.remove(key)
        for key, value in new.items():
            if key in old and old[key] == value and type(old[key]) is type(value):
                continue
            member = node.member(key)
            if member is None:
                self.insert(node, len(node.members), key, value, indent)
            elif isinstance(member.value, Object) and isinstance(value, Mapping):
                self.update(member.value, member.value.value, value, self.child_indent(node, indent))
            else:
                member.value = self.node(value, self.child_indent(node, indent), inline=_is_inline(node))

    def insert(self, node: Object, index: int, key: str, value: Any, indent: str) -> Member:
        """Put a new key into `node` at a position."""
        inline = _is_inline(node)
        child = self.child_indent(node, indent)
        before = (" " if index else "") if inline else self.line_end + child
        member = Member(key, self.node(value, child, inline=inline), before, dumps(key))
        if not node.members and not _LINE_END.search(node.end):
            node.end += self.line_end + indent
        node.members.insert(index, member)
        self.set_commas(node)
        return member

    def set_commas(self, node: Object) -> None:
        """A comma after every member but the last; a comma after the last stays where it was the file's custom."""
        for member in node.members[:-1]:
            member.comma = True

    def child_indent(self, node: Object, indent: str) -> str:
        """The indentation of `node`'s members."""
        for member in node.members:
            lines = _LINE_END.split(member.before)
            if len(lines) > 1 and not lines[-1].strip():
                return lines[-1]
        return indent + self.unit

    def node(self, value: Any, indent: str, *, inline: bool = False) -> Leaf | Object:
        """A new value, written in this document's style."""
        text = dumps(value) if inline else formatted(value, indent, self.unit)
        return _Parser(text.replace("\n", self.line_end)).value(0)


def _is_inline(node: Object) -> bool:
    return bool(node.members) and not any(_LINE_END.search(member.before) for member in node.members)


def dumps(value: Any) -> str:
    """JSON on one line. Half surrogate pairs, which UTF-8 cannot hold, are escaped; whole numbers lose their `.0`."""
    text = json.dumps(_whole_numbers(value), ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return value


def formatted(value: Any, indent: str = "", unit: str = "  ") -> str:
    """JSON for people: an object's keys on lines of their own, a short list on one."""
    inner = indent + unit
    if isinstance(value, Mapping) and value:
        lines = [f"{inner}{dumps(str(key))}: {formatted(item, inner, unit)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and value:
        short = dumps(value)
        if len(indent) + len(short) <= _LINE_LENGTH and not any(isinstance(item, Mapping) for item in value):
            return short
        return "[\n" + ",\n".join(inner + formatted(item, inner, unit) for item in value) + f"\n{indent}]"
    return dumps(value)


def parse(text: str) -> Document:
    """Read JSON that may hold comments and trailing commas.

    Raises:
        JsoncError: anything else; it says where.
    """
    parser = _Parser(text)
    before = parser.space()
    if parser.at == len(text):
        raise parser.error("the text is empty" if not text.strip() else "there is nothing but comments")
    root = parser.value(0)
    after = parser.space()
    if parser.at < len(text):
        raise parser.error("there is more text after the end")
    indent = _INDENT.search(text)
    return Document(root, before, after, indent[1] if indent else "  ", "\r\n" if "\r\n" in text else "\n")


def loads(text: str) -> Any:
    """The plain value of `parse(text)`."""
    return parse(text).root.value


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def error(self, reason: str, offset: int | None = None) -> JsoncError:
        return JsoncError(reason, self.text, self.at if offset is None else offset)

    def space(self) -> str:
        """White space and comments from here on."""
        match = _SPACE.match(self.text, self.at)
        skipped = match[0] if match else ""
        self.at += len(skipped)
        if self.text.startswith("/*", self.at):
            raise self.error("the comment is not closed")
        return skipped

    def value(self, depth: int) -> Leaf | Object:
        if depth > MAX_DEPTH:
            raise self.error("it is nested too deeply")
        char = self.text[self.at : self.at + 1]
        if char == "{":
            return self.object(depth)
        if char == "[":
            return self.array(depth)
        if char == '"':
            return self.string()
        if number := _NUMBER.match(self.text, self.at):
            return self.number(number)
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return Leaf(word[0], _WORDS[word[0]])
        raise self.unexpected("a value")

    def unexpected(self, wanted: str) -> JsoncError:
        if self.at >= len(self.text):
            return self.error(f"the text ends where {wanted} should be")
        char = self.text[self.at]
        if char == "'":
            return self.error("texts need double quotes, not single ones")
        word = _WORD.match(self.text, self.at)
        shown = word[0] if word else char if char.isprintable() and not char.isspace() else f"U+{ord(char):04X}"
        return self.error(f"{shown[:40]} stands where {wanted} should be")

    def string(self) -> Leaf:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("the text in quotes is not closed on its line")
        try:
            value = json.loads(match[0])
        except ValueError as error:
            bad = _BAD_ESCAPE.match(self.text, self.at + 1)
            where = bad.end() if bad else self.at
            sign = self.text[where : where + 2]
            raise self.error(f"{sign} is no escape; write a backslash as \\\\", where) from error
        self.at = match.end()
        return Leaf(match[0], value)

    def number(self, match: re.Match[str]) -> Leaf:
        try:
            value = float(match[0]) if match[1] or match[2] else int(match[0])
        except ValueError:  # Python converts at most some thousand digits
            value = math.inf
        if not math.isfinite(value) if isinstance(value, float) else False:
            raise self.error("the number is too large")
        self.at = match.end()
        if _WORD.match(self.text, self.at) or self.text[self.at : self.at + 1].isdigit():
            raise self.error("this is no number", match.start())
        return Leaf(match[0], value)

    def array(self, depth: int) -> Leaf:
        start, items = self.at, []
        self.at += 1
        while True:
            self.space()
            if self.text.startswith("]", self.at):
                break
            items.append(self.value(depth + 1).value)
            self.space()
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith("]", self.at):
                raise self.unexpected("a comma or ]")
        self.at += 1
        return Leaf(self.text[start : self.at], items)

    def object(self, depth: int) -> Object:
        node = Object()
        self.at += 1
        while True:
            before = self.space()
            if self.text.startswith("}", self.at):
                break
            if not self.text.startswith('"', self.at):
                raise self.unexpected("a name in quotes or }")
            key = self.string()
            colon = self.space()
            if not self.text.startswith(":", self.at):
                raise self.unexpected("a colon")
            self.at += 1
            colon += ":" + self.space()
            member = Member(key.value, self.value(depth + 1), before, key.text, colon)
            node.members.append(member)
            here = self.at
            member.after = self.space()
            if self.text.startswith(",", self.at):
                self.at += 1
                member.comma = True
            elif self.text.startswith("}", self.at):
                member.after, self.at = "", here
            else:
                raise self.unexpected("a comma or }")
            if rest := _REST_OF_LINE.match(self.text, self.at):
                member.note, self.at = rest[0], rest.end()
        node.end = before
        self.at += 1
        return node
