"""A pasted command line is taken apart as the system's own rules say."""

import pytest

from mcp_patchbay.domain.command_line import CommandLine, parse_command_line, shown_command_line
from mcp_patchbay.domain.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "command", "args"),
    [
        ("uvx", "uvx", ()),
        ("npx -y @modelcontextprotocol/server-everything", "npx", ("-y", "@modelcontextprotocol/server-everything")),
        ("  uvx \t postgres-mcp\n", "uvx", ("postgres-mcp",)),
        ("""run "a b" 'c "d"' e\\ f""", "run", ("a b", 'c "d"', "e f")),
        ("""run '{"a": 1}' "it's" ''""", "run", ('{"a": 1}', "it's", "")),
        (r'run "a\"b" "c\\d" \$HOME', "run", ('a"b', r"c\d", "$HOME")),
        ("run a#b #c", "run", ("a#b", "#c")),
        ("docker run -i \\\n  --rm \\\r\n  mcp/time", "docker", ("run", "-i", "--rm", "mcp/time")),
        ("$ npx -y x", "npx", ("-y", "x")),
        ("  % npx", "npx", ()),
        ("run 'a && b' c;d", "run", ("a && b", "c;d")),
        ("'/opt/my app/run' -x", "/opt/my app/run", ("-x",)),
        ("run grün 日本", "run", ("grün", "日本")),
    ],
)
def test_posix_words_are_split_as_the_shell_does(text: str, command: str, args: tuple[str, ...]) -> None:
    assert parse_command_line(text, windows=False) == CommandLine(command, args, {})


@pytest.mark.parametrize(
    ("text", "command", "args"),
    [
        ("npx -y foo", "npx", ("-y", "foo")),
        (r'"C:\Program Files\nodejs\npx.cmd" -y foo', r"C:\Program Files\nodejs\npx.cmd", ("-y", "foo")),
        (r'"C:\Tools\" x', "C:\\Tools\\", ("x",)),
        (r"C:\Tools\run.exe C:\data\ x", r"C:\Tools\run.exe", ("C:\\data\\", "x")),
        # From Microsoft's page on CommandLineToArgvW.
        (r'x "abc" d e', "x", ("abc", "d", "e")),
        (r'x a\\\b d"e f"g h', "x", (r"a\\\b", "de fg", "h")),
        (r"x a\\\"b c d", "x", (r"a\"b", "c", "d")),
        (r'x a\\\\"b c" d e', "x", (r"a\\b c", "d", "e")),
        (r'x "a"" b', "x", ('a"', "b")),
        (r'x "" "a b"', "x", ("", "a b")),
        (r'x "{\"a\": \"b c\"}"', "x", ('{"a": "b c"}',)),
        ("x 'a b'", "x", ("'a", "b'")),
        ("x a ^\r\n b `\n c", "x", ("a", "b", "c")),
        (r"C:\Users\me> npx foo", "npx", ("foo",)),
        (r"PS C:\Users\me> npx foo", "npx", ("foo",)),
        ("$ npx foo", "npx", ("foo",)),
    ],
)
def test_windows_words_are_split_as_windows_does(text: str, command: str, args: tuple[str, ...]) -> None:
    assert parse_command_line(text, windows=True) == CommandLine(command, args, {})


@pytest.mark.parametrize("windows", [False, True])
def test_assignments_in_front_of_the_command_are_variables(windows: bool) -> None:
    parsed = parse_command_line('$ API_KEY="a b=c" EMPTY= npx -y X=1', windows=windows)
    assert parsed == CommandLine("npx", ("-y", "X=1"), {"API_KEY": "a b=c", "EMPTY": ""})


def test_a_path_with_an_equals_sign_is_no_variable() -> None:
    assert parse_command_line("./a=b c", windows=False) == CommandLine("./a=b", ("c",), {})


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "field.command.empty"),
        ("$ ", "field.command.empty"),
        ("A=1", "field.command.empty"),
        ('""', "field.command.empty"),
        ('run "a', "field.command.quote"),
        ('"run a', "field.command.quote"),
        ("cd /x && npx y", "field.command.shell"),
        ("npx y | tee log", "field.command.shell"),
        ("npx y > log", "field.command.shell"),
    ],
)
def test_what_is_no_command_is_refused(text: str, reason: str, windows: bool) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_command_line(text, windows=windows)
    assert refusal.value.message.key == reason
    assert refusal.value.field == "command"


def test_a_backslash_at_the_very_end_is_refused_as_an_open_quote() -> None:
    with pytest.raises(ConfigError, match="quote"):
        parse_command_line("run a\\", windows=False)


def test_the_shown_line_tells_words_with_blanks_apart() -> None:
    assert shown_command_line(["npx", "-y", "a b", "", "c"]) == 'npx -y "a b" "" c'
