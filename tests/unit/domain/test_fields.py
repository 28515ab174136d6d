"""What may stand in a field."""

import pytest

from mcp_patchbay.domain import fields
from mcp_patchbay.domain.messages import Message


def key(problem: Message | None) -> str | None:
    return None if problem is None else problem.key


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://example.com/mcp", None),
        ("  http://localhost:3000/sse ", None),
        ("http://[::1]:8080/mcp", None),
        ("HTTPS://Example.com", None),
        ("https://grün.example/mcp?a=1#b", None),
        ("http://127.0.0.1:${PORT:-9103}/mcp", None),
        ("https://${env:HOST}/mcp", None),
        ("${env:BASE}/mcp", None),
        ("https://h/${A:-x y}", None),
        ("", "field.url.empty"),
        ("   ", "field.url.empty"),
        ("example.com/mcp", "field.url.scheme"),
        ("localhost:3000", "field.url.scheme"),
        ("ftp://example.com", "field.url.scheme"),
        ("file:///etc/passwd", "field.url.scheme"),
        ("https://", "field.url.host"),
        ("https:///mcp", "field.url.host"),
        ("https://:80/", "field.url.host"),
        ("http://[::1", "field.url.host"),
        ("https://h:99999", "field.url.port"),
        ("https://h:0", "field.url.port"),
        ("https://h:abc", "field.url.port"),
        ("https://h/a b", "field.url.space"),
        ("https://me:secret@h/", "field.url.userinfo"),
        ("https://me@h/", "field.url.userinfo"),
    ],
)
def test_a_url_must_be_one_that_can_be_reached(url: str, problem: str | None) -> None:
    assert key(fields.check_url(url)) == problem


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Authorization", None),
        ("X-Api_Key.1", None),
        ("", "field.entry.name"),
        ("X Key", "field.header.name"),
        ("X:", "field.header.name"),
        ("Schlüssel", "field.header.name"),
        ("A\n", "field.header.name"),
    ],
)
def test_a_header_is_named_by_a_token(name: str, problem: str | None) -> None:
    assert key(fields.check_header_name(name)) == problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("Bearer secret-123", None),
        ("bearer secret-123", None),
        ("Basic dXNlcjpwYXNz", None),
        ("a:b:c", None),
        ("a\tb", None),
        ("Bearer secret-123\n", None),
        ("  Bearer secret-123  ", None),
        ("Bearer secret-123\r\nX-Evil: 1", "field.header.lines"),
        ("Bearer s\u00e9cret-123", "field.header.ascii"),
        ("Bearer secret-123\u200b", "field.header.invisible"),
        ("Bearer\u00a0secret-123", "field.header.invisible"),
        ("Bearer \x07secret-123", "field.header.invisible"),
        ("\ufeffsecret-123", "field.header.invisible"),
    ],
)
def test_a_header_value_is_one_line_of_ascii_and_never_quoted_back(value: str, problem: str | None) -> None:
    found = fields.check_header_value("Authorization", value)
    assert key(found) == problem
    assert "cret-123" not in str(found)


def test_an_invisible_character_is_named() -> None:
    assert "U+200B ZERO WIDTH SPACE" in str(fields.check_header_value("X", "a\u200bb"))
    assert "U+0007" in str(fields.check_header_value("X", "a\x07b"))


def test_a_variable_needs_a_name_without_an_equals_sign() -> None:
    assert key(fields.check_variable_name("ProgramFiles(x86)")) is None
    assert key(fields.check_variable_name("")) == "field.entry.name"
    assert key(fields.check_variable_name("A=B")) == "field.env.equals"
    assert key(fields.check_variable_name("A\0")) == "field.nul"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30.0), (" 0.5 ", 0.5), ("90 s", 90.0), ("5s", 5.0), ("1e3", 1000.0)],
)
def test_seconds_are_read(text: str, seconds: float) -> None:
    assert fields.check_seconds(text) is None
    assert fields.read_seconds(text) == seconds
    assert fields.read_seconds(fields.write_seconds(seconds)) == seconds


@pytest.mark.parametrize("text", ["0", "-1", "abc", "nan", "inf", "1,5", "5 min", "1e9", "s"])
def test_what_is_no_time_limit_is_refused(text: str) -> None:
    assert key(fields.check_seconds(text)) == "field.seconds"
    assert fields.read_seconds(text) is None


def test_no_time_limit_is_an_empty_text() -> None:
    assert fields.check_seconds(" ") is None
    assert fields.read_seconds("") is None
    assert fields.write_seconds(None) == ""
    assert fields.write_seconds(30.0) == "30"


@pytest.mark.parametrize("path", ["/tmp", "C:\\x", "C:/x", "\\\\host\\share", "~/Projects", "~", "${HOME}/x"])
def test_a_folder_is_a_full_path(path: str) -> None:
    assert fields.check_folder(path) is None


@pytest.mark.parametrize("path", ["x", "./x", "../x", "C:x"])
def test_a_relative_folder_is_refused(path: str) -> None:
    assert key(fields.check_folder(path)) == "field.cwd.absolute"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Authorization: Bearer x", ("Authorization", "Bearer x")),
        ("X-Team: a:b:c", ("X-Team", "a:b:c")),
        ("X-Empty:", ("X-Empty", "")),
        ("Bearer x", None),
        ("https://h/", None),
        ("a b: c", None),
        ("", None),
    ],
)
def test_a_whole_header_line_is_recognised(text: str, line: tuple[str, str] | None) -> None:
    assert fields.header_line(text) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("KEY=a=b", ("KEY", "a=b")),
        ("export KEY=x", ("KEY", "x")),
        ("KEY=", ("KEY", "")),
        ("KEY", None),
        ("a b=c", None),
        ("1=2", None),
    ],
)
def test_an_assignment_is_recognised(text: str, line: tuple[str, str] | None) -> None:
    assert fields.variable_line(text) == line
