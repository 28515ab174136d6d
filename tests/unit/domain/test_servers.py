"""How an entry of a config file is understood."""

from typing import Any

import pytest

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.servers import (
    BuiltinServer,
    HttpServer,
    InvalidServer,
    ServerSpec,
    StdioServer,
    Target,
    parse_server,
    read_server,
    renamed,
)


@pytest.mark.parametrize(
    ("raw", "target"),
    [
        ({"command": "npx"}, StdioServer("npx")),
        ({"command": " npx ", "args": ["-y", "x"]}, StdioServer("npx", ("-y", "x"))),
        ({"command": "x", "env": {"A": "1"}, "cwd": "/tmp"}, StdioServer("x", (), {"A": "1"}, "/tmp")),
        ({"command": "x", "args": [1, 2.5, True], "env": {"N": 5, "B": False}},
         StdioServer("x", ("1", "2.5", "true"), {"N": "5", "B": "false"})),
        ({"command": "x", "args": None, "env": None, "cwd": ""}, StdioServer("x")),
        ({"command": "x", "env": {"A": None, "B": "b"}}, StdioServer("x", (), {"B": "b"})),
        ({"command": "x", "type": "local"}, StdioServer("x")),
        ({"url": "https://h/mcp"}, HttpServer("https://h/mcp")),
        ({"url": " https://h/mcp\n"}, HttpServer("https://h/mcp")),
        ({"url": "https://h/sse", "type": "sse"}, HttpServer("https://h/sse", "sse")),
        ({"url": "https://h", "headers": {"X": "1"}}, HttpServer("https://h", headers={"X": "1"})),
        ({"builtin": "filesystem"}, BuiltinServer("filesystem")),
        ({"builtin": "filesystem", "type": "builtin", "options": {"a": [1]}}, BuiltinServer("filesystem", {"a": [1]})),
        # A url wins over a command, a command over a built-in.
        ({"url": "https://h", "command": "x", "builtin": "b"}, HttpServer("https://h")),
        ({"command": "x", "builtin": "b"}, StdioServer("x")),
        ({"url": "", "command": "x"}, StdioServer("x")),
    ],
)  # fmt: skip
def test_an_entry_is_understood_by_its_fields(raw: dict[str, Any], target: Target) -> None:
    assert parse_server("a", raw).target == target


@pytest.mark.parametrize(
    "alias", ["http", "HTTP", "streamable-http", "streamable_http", "streamableHttp", "remote", "Streamable-HTTP"]
)
def test_streamable_http_has_many_spellings(alias: str) -> None:
    assert parse_server("a", {"type": alias, "url": "https://h"}).transport == "streamable-http"


@pytest.mark.parametrize(
    ("raw", "text", "field"),
    [
        ({}, "No command or url provided for server", "command"),
        ({"comand": "x"}, "No command or url provided for server", "command"),
        ({"command": ""}, "No command or url provided for server", "command"),
        ({"type": "carrier-pigeon", "command": "x"}, "Invalid server type: carrier-pigeon", "type"),
        ({"type": 3, "url": "https://h"}, "Invalid server type: 3", "type"),
        ({"type": "stdio", "url": "https://h"}, "type: stdio does not go with a url", "type"),
        ({"type": "http", "command": "x"}, "type: http does not go with a command", "type"),
        ({"command": ["x"]}, "command: must be a text, not list", "command"),
        ({"command": "x", "args": "a b"}, "args: must be a list of texts, one argument each", "args"),
        ({"command": "x", "args": [None]}, "args: must be a text, not NoneType", "args"),
        ({"command": "x", "env": ["A=1"]}, "env: must be an object of names and texts", "env"),
        ({"command": "x", "env": {"A": []}}, "env.A: must be a text, not list", "env.A"),
        ({"url": "https://h", "headers": "X: 1"}, "headers: must be an object of names and texts", "headers"),
        ({"builtin": "f", "options": ["a"]}, "options: must be an object", "options"),
        ({"command": "x", "timeout": 0}, "timeout: must be a number of seconds above 0", "timeout"),
        ({"command": "x", "timeout": True}, "timeout: must be a number of seconds above 0", "timeout"),
        ({"command": "x", "timeout": "5"}, "timeout: must be a number of seconds above 0", "timeout"),
        ({"command": "x", "connect_timeout": float("nan")}, "connect_timeout: must be", "connect_timeout"),
        ({"command": "x", "timeout": float("inf")}, "timeout: must be", "timeout"),
        ({"command": "x", "description": 5}, "description: must be a text, not int", "description"),
        ("npx", "a must be an object, not str", ""),
        (None, "a must be an object, not NoneType", ""),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(raw: Any, text: str, field: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        parse_server("a", raw)
    assert text in str(refusal.value)
    assert refusal.value.field == field


@pytest.mark.parametrize("name", ["", "  "])
def test_a_server_needs_a_name(name: str) -> None:
    with pytest.raises(ConfigError, match="a server needs a name"):
        parse_server(name, {"command": "x"})


@pytest.mark.parametrize(
    ("raw", "enabled"),
    [
        ({}, True),
        ({"enabled": False}, False),
        ({"disabled": True}, False),
        ({"enabled": True, "disabled": True}, True),
        ({"status": "activate"}, True),
        ({"status": None}, True),
        ({"status": "error"}, False),
        ({"status": "disabled"}, False),
        ({"enabled": "no"}, True),
    ],
)
def test_whether_it_is_on_is_read_from_other_tools_files_too(raw: dict[str, Any], enabled: bool) -> None:
    assert parse_server("a", {"command": "x", **raw}).enabled is enabled


def test_an_entry_of_a_file_that_cannot_be_used_is_a_row_that_is_off() -> None:
    raw = {"id": "abc", "comand": "x", "note": 1}
    spec = read_server("typo", raw)
    assert isinstance(spec.target, InvalidServer)
    assert (spec.enabled, spec.id, spec.transport) == (False, "abc", "invalid")
    assert spec.target.summary() == "No command or url provided for server"
    assert spec.to_mapping() == raw
    assert read_server("odd", 5).to_mapping() == {"raw": 5}
    assert read_server("fine", {"command": "x"}).target == StdioServer("x")


@pytest.mark.parametrize(
    "raw",
    [
        {"id": "1", "type": "stdio", "command": "npx", "args": ["-y"], "env": {"A": "b"}, "cwd": "/tmp"},
        {"id": "1", "type": "sse", "url": "https://h/sse", "headers": {"X": "1"}},
        {"id": "1", "type": "streamable-http", "url": "https://h"},
        {"id": "1", "type": "builtin", "builtin": "filesystem", "options": {"allowed_directories": ["/tmp"]}},
        {"id": "1", "type": "stdio", "command": "x", "enabled": False, "unconfirmed": True, "timeout": 0.5},
        {"id": "1", "type": "stdio", "command": "x", "filters": {"tools": {"allow": ["a"]}}, "gallery": {"k": [1]}},
        {"id": "1", "type": "stdio", "command": "x", "description": "d", "connect_timeout": 300.0},
    ],
)
def test_an_entry_is_written_back_as_it_was_read(raw: dict[str, Any]) -> None:
    spec = parse_server("a", raw)
    assert spec.to_mapping() == raw
    assert parse_server("a", spec.to_mapping()) == spec


def test_unknown_keys_are_kept() -> None:
    spec = parse_server("a", {"command": "x", "url": "", "autoApprove": ["t"], "headers": {"X": "1"}})
    assert spec.extra["autoApprove"] == ["t"]
    assert spec.to_mapping()["autoApprove"] == ["t"]


def test_every_server_gets_an_id_of_its_own() -> None:
    ids = {parse_server("a", {"command": "x"}).id for _ in range(3)}
    assert len(ids) == 3
    assert all(len(server_id) == 32 for server_id in ids)


def test_only_what_it_connects_with_makes_a_server_reconnect() -> None:
    spec = ServerSpec("a", StdioServer("x"))
    same = ServerSpec(
        "b", StdioServer("x"), id=spec.id, timeout=5, description="d", filters=Filters(tools=Patterns(block=("t",)))
    )
    assert spec.connects_like(same)
    assert not spec.connects_like(ServerSpec("a", StdioServer("x", ("y",)), id=spec.id))
    assert not spec.connects_like(ServerSpec("a", StdioServer("x"), id=spec.id, connect_timeout=5))
    assert not spec.connects_like(ServerSpec("a", StdioServer("x")))


def test_a_renamed_server_keeps_its_id() -> None:
    spec = ServerSpec("a", StdioServer("x"))
    assert renamed(spec, "b") == ServerSpec("b", StdioServer("x"), id=spec.id)


def test_a_target_reads_as_what_it_is() -> None:
    assert StdioServer("npx", ("-y", "x")).summary() == "npx -y x"
    assert HttpServer("https://h/mcp").summary() == "https://h/mcp"
    assert BuiltinServer("filesystem").summary() == "filesystem"
    assert BuiltinServer(object()).summary() == "object"
