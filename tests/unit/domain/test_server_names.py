"""A pasted server gets a name from what it is."""

import pytest

from mcp_patchbay.domain.command_line import parse_command_line
from mcp_patchbay.domain.server_names import free_name, suggested_name
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, StdioServer


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("npx -y @scope/foo-mcp@1.2.3", "foo"),
        ("uvx mcp-server-git --repository x", "git"),
        ("uvx postgres-mcp==0.3", "postgres"),
        ("docker run -i --rm -e TOKEN mcp/time:latest x", "time"),
        ("python3 -m my_tools", "my_tools"),
        ("uv --directory /x run weather.py", "weather"),
        ("cmd /c npx -y foo", "foo"),
        ("/usr/bin/weather-mcp --stdio", "weather"),
        ("npx", "npx"),
        ("server", "server"),
    ],
)
def test_a_command_is_named_after_its_package(line: str, name: str) -> None:
    parsed = parse_command_line(line, windows=False)
    assert suggested_name(StdioServer(parsed.command, parsed.args)) == name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://mcp.linear.app/sse", "linear"),
        ("https://www.example.com/mcp", "example"),
        ("http://localhost:3000/mcp", "localhost"),
        ("http://127.0.0.1:9", "127.0.0.1"),
        ("http://[::1", "server"),
    ],
)
def test_a_url_is_named_after_its_host(url: str, name: str) -> None:
    assert suggested_name(HttpServer(url)) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert suggested_name(BuiltinServer("filesystem"), {"filesystem", "filesystem 2"}) == "filesystem 3"
    assert free_name("a", ()) == "a"
