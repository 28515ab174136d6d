"""What may stand in one field of a server's settings. Each check gives a message for people, or None when all is well.

No message ever repeats a value: it may be a secret.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

from mcp_patchbay.domain.messages import Message, message

MOST_SECONDS = 1e7

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
_INVISIBLE = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one field of a form.

    Attributes:
        field: as in the config file: "name", "command", "url", "env", "headers", "filters.tools.allow" ...
        message: for people, to be shown beside the field.
        row: in a table or a list the line that is meant, from 0; None for the field as a whole.
    """

    field: str
    message: Message
    row: int | None = None


def check_url(text: str) -> Message | None:
    """Whether an MCP server can be there. What stands in `${...}` may be anything."""
    url = text.strip()
    if not url:
        return message("field.url.empty")
    if url.startswith("${"):
        return None
    if any(char.isspace() for char in _PLACEHOLDER.sub("", url)):
        return message("field.url.space")
    try:
        parts = urlsplit(_PLACEHOLDER.sub("1", url))
        port = parts.port
    except ValueError as error:
        return message("field.url.port" if "ort" in str(error) else "field.url.host")
    if parts.scheme not in ("http", "https"):
        return message("field.url.scheme")
    if not parts.hostname:
        return message("field.url.host")
    if port == 0:
        return message("field.url.port")
    if parts.username is not None or parts.password is not None:
        return message("field.url.userinfo")
    return None


def check_header_name(name: str) -> Message | None:
    """Whether HTTP allows a header of that name (RFC 9110, "token")."""
    if not name:
        return message("field.entry.name")
    return None if _HEADER_NAME.fullmatch(name) else message("field.header.name", name=name)


def check_header_value(name: str, value: str) -> Message | None:
    """Whether the value can travel in a header: one line of ASCII. Blanks around it are cut off and do no harm."""
    text = value.strip()
    if "\r" in text or "\n" in text:
        return message("field.header.lines", name=name)
    for char in text:
        if char != "\t" and (unicodedata.category(char) in _INVISIBLE or char == "\N{NO-BREAK SPACE}"):
            return message("field.header.invisible", name=name, character=_described(char))
    return None if text.isascii() else message("field.header.ascii", name=name)


def check_variable_name(name: str) -> Message | None:
    """Whether an environment variable can have that name."""
    if not name:
        return message("field.entry.name")
    if "=" in name:
        return message("field.env.equals")
    return message("field.nul") if "\0" in name else None


def check_seconds(text: str) -> Message | None:
    """Whether the text is a time limit: empty for the default, or a number of seconds above 0."""
    return message("field.seconds") if text.strip() and read_seconds(text) is None else None


def read_seconds(text: str) -> float | None:
    """The seconds that the text says; None when it is empty or says none."""
    try:
        seconds = float(text.strip().removesuffix("s").rstrip())
    except ValueError:
        return None
    return seconds if 0 < seconds < MOST_SECONDS else None


def write_seconds(seconds: float | None) -> str:
    """The text that `read_seconds` understands; empty for None."""
    if seconds is None:
        return ""
    return str(int(seconds)) if seconds == int(seconds) else repr(seconds)


def check_folder(text: str) -> Message | None:
    """Whether the text is a full path. Whether the folder exists is for the caller to find out."""
    path = text.strip()
    if "\0" in path:
        return message("field.nul")
    full = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    return None if full or path.startswith(("~", "${")) else message("field.cwd.absolute")


def header_line(text: str) -> tuple[str, str] | None:
    """Name and value of a whole header line such as "Authorization: Bearer x"; None when it is none."""
    name, colon, value = text.partition(":")
    name = name.strip()
    return (name, value.strip()) if colon and _HEADER_NAME.fullmatch(name) and not value.startswith("//") else None


def variable_line(text: str) -> tuple[str, str] | None:
    """Name and value of "NAME=value", also after `export`; None when it is none."""
    name, equals, value = text.strip().removeprefix("export ").strip().partition("=")
    return (name.strip(), value) if equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name.strip()) else None


def _described(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()
