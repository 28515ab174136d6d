"""Servers out of any client's config: shapes, spellings, encodings, and errors that say where."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mcp_patchbay.domain.errors import ConfigFileError
from mcp_patchbay.domain.servers import HttpServer, InvalidServer, StdioServer
from mcp_patchbay.stores.config_text import decode, environment_servers, read_config_file, read_config_text

if TYPE_CHECKING:
    from pathlib import Path

SHAPES: list[tuple[Any, list[str]]] = [
    ({"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://h/mcp"}}}, ["a", "b"]),
    ({"servers": {"a": {"type": "stdio", "command": "x"}}, "inputs": [{"id": "k", "type": "promptString"}]}, ["a"]),
    ({"version": 1, "servers": {"a": {"command": "x"}}}, ["a"]),
    ({"mcp": {"servers": {"a": {"command": "x"}}}}, ["a"]),
    ({"mcp.servers": {"a": {"command": "x"}}, "editor.fontSize": 12}, ["a"]),
    ({"amp.mcpServers": {"a": {"command": "x"}}}, ["a"]),
    (
        {"context_servers": {"a": {"command": {"path": "x", "args": ["1"]}}, "b": {"command": "x"}}},
        ["a", "b"],
    ),
    ({"mcp": {"a": {"type": "local", "command": ["npx", "-y", "x"]}, "b": {"url": "https://h/mcp"}}}, ["a", "b"]),
    ({"a": {"command": "x"}, "b": {"url": "https://h/sse"}}, ["a", "b"]),
    ({"command": "npx", "args": ["-y", "only-one"]}, ["only-one"]),
    ({"name": "mine", "command": "npx"}, ["mine"]),
    ([{"name": "a", "transport": "http", "endpoint": "https://h/mcp"}], ["a"]),
    ([{"command": "x"}, {"command": "x"}, {"url": "https://api.example.com/mcp"}], ["x", "x 2", "example"]),
    (
        {"projects": {"/p": {"mcpServers": {"proj": {"command": "x"}}}}, "mcpServers": {"user": {"command": "x"}}},
        ["user", "proj"],
    ),
    ({"mcpServers": {}}, []),
    ({"mcpServers": None}, []),
    ({}, []),
    ([], []),
    ({"servers": [{"name": "a", "command": "x"}]}, ["a"]),
    ({"command": {"command": "x"}}, ["command"]),
]


@pytest.mark.parametrize(("document", "names"), SHAPES, ids=lambda value: json.dumps(value)[:50])
def test_servers_come_out_of_every_usual_shape(document: Any, names: list[str]) -> None:
    specs = read_config_text(json.dumps(document), "pasted")
    assert [spec.name for spec in specs] == names
    assert all(not isinstance(spec.target, InvalidServer) for spec in specs)


def only(document: Any) -> Any:
    (spec,) = read_config_text(json.dumps(document), "pasted")
    return spec.target


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "http", "url": "https://h/mcp"},
        {"type": "streamableHttp", "url": "https://h/mcp"},
        {"type": "streamable_http", "url": "https://h/mcp"},
        {"transport": "HTTP", "url": "https://h/mcp"},
        {"serverUrl": "https://h/mcp"},
        {"httpUrl": "https://h/mcp"},
        {"type": "remote", "uri": "https://h/mcp"},
    ],
)
def test_every_spelling_of_streamable_http_is_understood(raw: dict[str, str]) -> None:
    assert only({"mcpServers": {"t": raw}}) == HttpServer("https://h/mcp")


def test_other_words_for_the_parts_of_a_command_are_understood() -> None:
    wanted = StdioServer("x", ("a", "1"), {"T": "1", "ON": "true"})
    entry = {"transport": "stdio", "command": "x", "environment": {"T": 1, "ON": True}, "arguments": ["a", 1]}
    assert only({"mcpServers": {"k": entry}}) == wanted
    assert only({"mcp": {"k": {"type": "local", "command": ["x", "a", "1"], "env": {"T": "1", "ON": True}}}}) == wanted
    zed = {"command": {"path": "x", "args": ["a", "1"], "env": {"T": "1", "ON": "true"}}}
    assert only({"context_servers": {"k": zed}}) == wanted


def test_an_sse_server_stays_one() -> None:
    assert only({"mcpServers": {"t": {"transportType": "sse", "url": "https://h/sse"}}}).type == "sse"


def test_an_entry_that_cannot_be_used_says_why_and_spoils_no_other() -> None:
    bad, good = read_config_text('{"mcpServers": {"typo": {"comand": "x"}, "ok": {"command": "x"}}}', "pasted")
    assert isinstance(bad.target, InvalidServer)
    assert str(bad.target.error) == "No command or url provided for server"
    assert not bad.enabled
    assert good.target == StdioServer("x")


def test_a_projects_servers_are_offered_but_off() -> None:
    (project,) = read_config_text('{"projects": {"/home/u/p": {"mcpServers": {"p": {"command": "x"}}}}}', "pasted")
    assert not project.enabled
    assert project.description == "/home/u/p"


def test_the_piece_that_readmes_show_is_understood_without_its_braces() -> None:
    (spec,) = read_config_text('"github": {\n  "command": "npx", // run it\n  "args": ["-y", "x"],\n},\n', "pasted")
    assert (spec.name, spec.target) == ("github", StdioServer("npx", ("-y", "x")))


def test_comments_and_trailing_commas_are_fine_and_texts_stay_whole() -> None:
    text = """{
      // comment about servers
      "mcpServers": {
        /* "off": {"command": "old"}, */
        "url": { "url": "https://example.invalid//mcp", "headers": {"X": "/* not */ // nor this"} },
        "last": { "command": "python3", "args": ["x.py",], },
      },
    }"""
    first, last = read_config_text(text, "pasted")
    assert first.target == HttpServer("https://example.invalid//mcp", headers={"X": "/* not */ // nor this"})
    assert last.target == StdioServer("python3", ("x.py",))


@pytest.mark.parametrize("text", ['{"foo": 1}', '"text"', "5", '{"mcpServers": 5}', '{"a": {"b": {"c": 1}}}', "null"])
def test_an_unknown_shape_says_what_was_expected(text: str) -> None:
    with pytest.raises(ConfigFileError) as caught:
        read_config_text(text, "pasted")
    assert "mcpServers" in str(caught.value.hint)


def test_broken_text_says_line_and_column() -> None:
    with pytest.raises(ConfigFileError, match=r"some\.json, line 3, column 1") as caught:
        read_config_text('{"mcpServers": {\n"a": {"command": "x"}\n', "some.json")
    assert (caught.value.line, caught.value.column, caught.value.path) == (3, 1, "some.json")


GOOD = '{"mcpServers": {"grün": {"command": "python3"}}}\n'


@pytest.mark.parametrize(
    "raw",
    [
        GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
        GOOD.encode("utf-16"),
        GOOD.encode("utf-16-le"),
        b"\xfe\xff" + GOOD.encode("utf-16-be"),
    ],
    ids=["plain", "bom", "bom-crlf", "utf16", "utf16-no-bom", "utf16-be"],
)
def test_every_way_in_which_windows_saves_a_file_is_read(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(raw)
    assert [spec.name for spec in read_config_file(tmp_path / "c.json")] == ["grün"]


def test_another_encoding_is_named_with_its_place() -> None:
    with pytest.raises(ConfigFileError, match="0xFC") as caught:
        decode(GOOD.encode("cp1252"), "c.json")
    assert (caught.value.line, caught.value.column) == (1, 20)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="No such file"):
        read_config_file(tmp_path / "none.json")


def test_the_environment_gives_servers_with_lasting_ids() -> None:
    environ = {"MCP_SERVERS": '[{"name": "a", "command": "x"}, {"name": "b", "url": "https://h/mcp"}]'}
    first, second = environment_servers(environ)
    assert [first.name, second.name] == ["a", "b"]
    assert first.id != second.id
    assert environment_servers(environ) == [first, second]
    assert environment_servers({}) == environment_servers({"MCP_SERVERS": " "}) == []


def test_a_broken_environment_says_which_variable_and_where() -> None:
    with pytest.raises(ConfigFileError, match="MCP_SERVERS, line 1, column 3"):
        environment_servers({"MCP_SERVERS": "[{name: 1}]"})
