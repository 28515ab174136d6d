"""A command line that a person pasted, taken apart into command, arguments and variables.

POSIX follows the shell's quoting (`shlex`), Windows the rules of `CommandLineToArgvW`. No shell ever runs what comes
out, so what only a shell understands (`&&`, `|`) is refused instead of being handed to the command as an argument.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.domain.messages import message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHELL_OPERATORS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<"})

# What READMEs and terminals put in front: "$ ", "% ", "PS C:\Users\me> ", "C:\Users\me>".
_PROMPT = re.compile(r"^\s*(?:[$%❯]\s+|PS\s[^<>|\n]*>\s*|[A-Za-z]:\\[^<>|\n]*>\s*)")
_POSIX_CONTINUATION = re.compile(r"\\\r?\n")
_WINDOWS_CONTINUATION = re.compile(r"[\^`]\r?\n")
_ASSIGNMENT = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.DOTALL)
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command, its arguments, and the variables that stood before it (`NAME=value command ...`)."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def parse_command_line(text: str, *, windows: bool = sys.platform == "win32") -> CommandLine:
    """Take a pasted command line apart.

    Raises:
        ConfigError: there is no command, a quote is not closed, or it needs a shell. It names the field "command".
    """
    bare = _PROMPT.sub("", text).strip()
    words = _split_windows(_WINDOWS_CONTINUATION.sub(" ", bare)) if windows else _split_posix(bare)
    env: dict[str, str] = {}
    while words and (assignment := _ASSIGNMENT.match(words[0])):
        env[assignment[1]] = assignment[2]
        words = words[1:]
    if not words or not words[0]:
        raise _refusal("field.command.empty")
    operator = next((word for word in words if word in SHELL_OPERATORS), None)
    if operator is not None:
        raise _refusal("field.command.shell", operator=operator)
    return CommandLine(words[0], tuple(words[1:]), env)


def shown_command_line(words: Sequence[str]) -> str:
    """The words as one line for people: exact, since each word with a blank in it stands in double quotes."""
    return " ".join(f'"{word}"' if not word or any(char.isspace() for char in word) else word for word in words)


def _split_posix(text: str) -> list[str]:
    try:
        return shlex.split(_POSIX_CONTINUATION.sub(" ", text))
    except ValueError:  # an open quote, or a backslash at the very end
        raise _refusal("field.command.quote") from None


def _split_windows(text: str) -> list[str]:
    """`CommandLineToArgvW`, with one difference: a quote left open is refused, not closed silently."""
    words: list[str] = []
    rest = text
    while rest := rest.lstrip(_BLANK):
        # Backslashes only mean something before a quote, and never in the command itself: `"C:\\Tools\\" -x`.
        is_command = all(_ASSIGNMENT.match(word) for word in words)
        word, rest = _windows_command(rest) if is_command else _windows_argument(rest)
        words.append(word)
    return words


def _windows_command(text: str) -> tuple[str, str]:
    """The first word and what follows it: a quote starts and ends a quoted part, backslashes are plain."""
    word, quoted = "", False
    for place, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif char in _BLANK and not quoted:
            return word, text[place:]
        else:
            word += char
    if quoted:
        raise _refusal("field.command.quote")
    return word, ""


def _windows_argument(text: str) -> tuple[str, str]:
    """One argument and what follows it.

    2n backslashes and a quote are n backslashes and the start or end of a quoted part; 2n + 1 are n backslashes and a
    plain quote. Inside a quoted part two quotes are one plain quote and end that part.
    """
    word, place, quoted = "", 0, False
    while place < len(text):
        char = text[place]
        if char == "\\":
            run = len(text) - place - len(text[place:].lstrip("\\"))
            place += run
            if text[place : place + 1] == '"':
                word += "\\" * (run // 2)
                if run % 2:
                    word += '"'
                    place += 1
            else:
                word += "\\" * run
            continue
        if char == '"':
            if quoted and text[place + 1 : place + 2] == '"':
                word += '"'
                place += 1
            quoted = not quoted
        elif char in _BLANK and not quoted:
            return word, text[place:]
        else:
            word += char
        place += 1
    if quoted:
        raise _refusal("field.command.quote")
    return word, ""


def _refusal(key: str, **args: str) -> ConfigError:
    return ConfigError(message("error.field.title"), message(key, **args), message("error.field.hint"), field="command")
