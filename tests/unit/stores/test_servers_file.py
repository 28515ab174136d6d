"""servers.json: never lost, never half-written, changed only where something changed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcp_patchbay.domain.errors import ConfigFileError
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, InvalidServer, ServerSpec, StdioServer
from mcp_patchbay.stores.json_file import locked
from mcp_patchbay.stores.servers_file import ServersFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = """// my servers
{
    "version": 1,
    "mine": [1,2 /* kept */],
    "servers": {
        // work
        "a": {"id": "id-a", "command": "x", "args": ["1"], "note": "n"}, // first
        // "old": {"command": "y"},
        "b": {
            "id": "id-b",
            "url": "https://h//mcp", // the url
            "headers": {"X": "/* no */"}
        },
        "broken": {"comand": 1} // last
    }
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "config" / "servers.json"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def names(file: ServersFile) -> list[str]:
    return [spec.name for spec in file.load()]


def edited(name: str, **changes: Any) -> Callable[[dict[str, ServerSpec]], dict[str, ServerSpec]]:
    return lambda servers: {key: replace(s, **changes) if key == name else s for key, s in servers.items()}


def new(name: str) -> ServerSpec:
    return ServerSpec(name, StdioServer("npx", ("-y", "pkg"), {"K": "v"}), timeout=5.0)


# ---- reading
def test_servers_come_in_the_files_order_and_a_broken_one_is_a_row_that_says_so(path: Path) -> None:
    a, b, broken = ServersFile(path).load()
    assert (a.name, a.id, a.extra) == ("a", "id-a", {"note": "n"})
    assert b.target == HttpServer("https://h//mcp", headers={"X": "/* no */"})
    assert isinstance(broken.target, InvalidServer)
    assert not broken.enabled


def test_without_a_file_there_are_no_servers(tmp_path: Path) -> None:
    file = ServersFile(tmp_path / "none" / "servers.json")
    assert not file.exists()
    assert file.load() == ()
    assert file.problem is None


def test_an_entry_without_an_id_gets_one_that_lasts_and_is_written_at_the_next_save(path: Path) -> None:
    path.write_text('{"servers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
    file = ServersFile(path)
    first = file.load()
    assert file.load() == first
    assert "id" not in json.loads(path.read_text())["servers"]["a"]
    file.change(edited("b", enabled=False))
    assert [spec.id for spec in ServersFile(path).load()] == [spec.id for spec in first]


def test_an_entry_copied_with_its_id_gets_one_of_its_own(path: Path) -> None:
    path.write_text('{"servers": {"a": {"id": "same", "command": "x"}, "b": {"id": "same", "command": "x"}}}')
    first, second = ServersFile(path).load()
    assert first.id == "same"
    assert second.id != "same"


def test_a_file_of_another_client_is_read_and_changed_in_its_own_shape(path: Path) -> None:
    path.write_text('{"mcpServers": {"a": {"serverUrl": "https://h/mcp"}}, "theme": "x"}')
    file = ServersFile(path)
    file.change(lambda servers: {**servers, "n": new("n")})
    written = json.loads(path.read_text())
    assert list(written) == ["mcpServers", "theme"]
    assert written["mcpServers"]["a"]["serverUrl"] == "https://h/mcp"
    assert names(file) == ["a", "n"]


@pytest.mark.parametrize("text", ['{"servers": null}', '{"mcpServers": null}', "{}", '{"servers": {}}'])
def test_a_file_without_servers_loads_and_takes_new_ones(path: Path, text: str) -> None:
    path.write_text(text)
    file = ServersFile(path)
    assert file.load() == ()
    file.change(lambda _servers: {"n": new("n")})
    assert names(file) == ["n"]


@pytest.mark.parametrize("encode", [lambda t: b"\xef\xbb\xbf" + t.encode(), lambda t: t.encode("utf-16")])
def test_a_byte_order_mark_is_read_over_and_never_written(path: Path, encode: Callable[[str], bytes]) -> None:
    path.write_bytes(encode(TEXT.replace('"note": "n"', '"note": "grün"')))
    ServersFile(path).change(edited("b", enabled=False))
    assert "grün" in path.read_bytes().decode()
    assert path.read_bytes().startswith(b"// my servers")


# ---- writing
def test_a_change_leaves_every_other_entry_and_comment_to_the_letter(path: Path) -> None:
    ServersFile(path).change(edited("b", enabled=False))
    wanted = TEXT.replace('{"X": "/* no */"}', '{"X": "/* no */"},\n            "enabled": false')
    assert path.read_text() == wanted


def test_no_change_writes_nothing(path: Path) -> None:
    before = path.stat().st_mtime_ns
    ServersFile(path).change(lambda servers: servers)
    assert path.stat().st_mtime_ns == before


def test_a_rename_keeps_place_comments_and_unknown_keys(path: Path) -> None:
    ServersFile(path).change(lambda servers: {"z" if name == "a" else name: spec for name, spec in servers.items()})
    assert path.read_text() == TEXT.replace('"a": {', '"z": {')


def test_a_new_server_comes_where_it_was_put(path: Path) -> None:
    file = ServersFile(path)
    spec = new("n")
    file.change(lambda servers: {"a": servers["a"], "n": spec, **servers})
    assert names(file) == ["a", "n", "b", "broken"]
    assert file.load()[1] == spec
    entry = json.loads("".join(path.read_text().partition('"n": ')[2].partition("},\n        // ")[:1]) + "}")
    assert entry == {
        "id": spec.id,
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "pkg"],
        "env": {"K": "v"},
        "timeout": 5,
    }


def test_a_deleted_server_comes_back_with_its_own_comments(path: Path) -> None:
    file = ServersFile(path)
    gone = next(spec for spec in file.load() if spec.name == "b")
    file.change(lambda servers: {name: spec for name, spec in servers.items() if name != "b"})
    assert "// the url" not in path.read_text()
    assert '// "old": {"command": "y"},' in path.read_text()
    file.change(lambda servers: {"a": servers["a"], "b": gone, "broken": servers["broken"]})
    assert "// the url" in path.read_text()
    assert names(file) == ["a", "b", "broken"]


def test_a_server_that_other_words_switched_off_can_be_switched_on(path: Path) -> None:
    path.write_text('{"servers": {"a": {"command": "x", "disabled": true}, "b": {"command": "x", "status": "error"}}}')
    file = ServersFile(path)
    assert not any(spec.enabled for spec in file.load())
    file.change(lambda servers: {name: replace(spec, enabled=True) for name, spec in servers.items()})
    assert all(spec.enabled for spec in ServersFile(path).load())
    assert json.loads(path.read_text())["servers"]["a"]["disabled"] is True


@pytest.mark.parametrize(
    "target",
    [
        StdioServer("y", ("--q", "a b", 'c"d\\'), {"É": "ü"}, "/tmp"),
        HttpServer("https://other/sse", "sse", {"A": "${secret:i/headers.A}"}),
        BuiltinServer("filesystem", {"allowed_directories": ["/x"], "deep": {"n": [1, None]}}),
    ],
)
@pytest.mark.parametrize("name", ["a", "b"])
def test_any_change_of_a_server_is_read_back_as_it_was_meant(path: Path, name: str, target: Any) -> None:
    file = ServersFile(path)
    change = edited(name, target=target, timeout=2.5, description="d", unconfirmed=True)
    wanted = {spec.name: spec for spec in file.change(change)}[name]
    assert (wanted.target, wanted.timeout, wanted.description, wanted.unconfirmed) == (target, 2.5, "d", True)
    assert {spec.name: spec for spec in ServersFile(path).load()}[name] == wanted


def test_a_broken_entry_that_is_corrected_keeps_its_unknown_keys(path: Path) -> None:
    path.write_text('{"servers": {"x": {"comand": "y", "type": "nonsense", "note": 1}}}')
    file = ServersFile(path)
    file.change(edited("x", target=StdioServer("y"), enabled=True))
    entry = json.loads(path.read_text())["servers"]["x"]
    assert entry["note"] == 1
    assert (entry["type"], entry["command"]) == ("stdio", "y")


def test_the_file_is_for_its_user_alone_and_a_link_stays_one(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(path)
    path.chmod(0o644)
    ServersFile(link).change(edited("a", enabled=False))
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert '"enabled": false' in path.read_text()


def test_two_copies_of_the_app_never_lose_each_others_change(path: Path) -> None:
    one, two = ServersFile(path), ServersFile(path)
    one.load(), two.load()
    one.change(lambda servers: {**servers, "one": new("one")})
    two.change(lambda servers: {**servers, "two": new("two")})
    assert names(one) == ["a", "b", "broken", "one", "two"]


def test_many_processes_that_change_the_file_at_once_all_count(path: Path) -> None:
    code = (
        "import pathlib, sys\n"
        "from mcp_patchbay.domain.servers import ServerSpec, StdioServer\n"
        "from mcp_patchbay.stores.servers_file import ServersFile\n"
        "file = ServersFile(pathlib.Path(sys.argv[1]))\n"
        "for n in range(5):\n"
        "    name = f'{sys.argv[2]}-{n}'\n"
        "    file.change(lambda servers: {**servers, name: ServerSpec(name, StdioServer('x'))})\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(3)]
    assert [writer.wait(timeout=50) for writer in writers] == [0, 0, 0]
    assert len(names(ServersFile(path))) == 3 + 15


def test_a_file_that_another_program_holds_is_said_to_be_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_patchbay.stores.servers_file.locked", lambda p: locked(p, limit=0.01))
    with locked(path), pytest.raises(ConfigFileError, match="being changed by another program"):
        ServersFile(path).change(edited("a", enabled=False))
    assert path.read_text() == TEXT


# ---- damage
DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "zeros": b"\0" * len(TEXT),
    "cut": TEXT.encode()[: len(TEXT) * 2 // 3],
    "tail": TEXT.encode() + TEXT.encode()[-100:],
    "two-docs": TEXT.encode() * 2,
    "null": b"null",
    "list": b"[]",
    "servers-list": b'{"servers": []}',
    "ansi": TEXT.replace("note", "grün").encode("cp1252"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_said_kept_and_never_overwritten_and_the_last_good_one_comes_back(
    path: Path, damage: bytes
) -> None:
    file = ServersFile(path)
    good = file.load()
    path.write_bytes(damage)
    for attempt in (file.load, lambda: file.change(edited("a", enabled=False))):
        with pytest.raises(ConfigFileError) as caught:
            attempt()
        assert str(path) in str(caught.value)
        assert caught.value.line >= 1
        assert caught.value.column >= 1
        assert file.problem is caught.value
    assert path.read_bytes() == damage
    assert file.has_last_good()
    assert file.restore_last_good() == good
    assert file.problem is None
    assert path.read_text() == TEXT
    (kept,) = path.parent.glob("servers.json.damaged-*")
    assert kept.read_bytes() == damage


def test_without_a_good_version_nothing_is_restored(path: Path) -> None:
    path.write_text("{")
    file = ServersFile(path)
    assert not file.has_last_good()
    with pytest.raises(ConfigFileError, match="no earlier good version"):
        file.restore_last_good()
    assert path.read_text() == "{"


def test_the_last_five_good_versions_are_kept(path: Path) -> None:
    file = ServersFile(path)
    for number in range(8):
        file.change(edited("a", description=str(number)))
    backups = path.parent / "backups"
    assert sorted(os.listdir(backups)) == [f"servers.json.{n}" for n in range(1, 6)]
    assert '"description": "7"' in (backups / "servers.json.1").read_text()
    assert '"description": "3"' in (backups / "servers.json.5").read_text()
    assert stat.S_IMODE((backups / "servers.json.1").stat().st_mode) == 0o600


def test_a_file_of_a_newer_patchbay_is_read_but_not_changed(path: Path) -> None:
    text = TEXT.replace('"version": 1', '"version": 2')
    path.write_text(text)
    file = ServersFile(path)
    assert names(file) == ["a", "b", "broken"]
    assert file.read_only
    with pytest.raises(ConfigFileError, match="version 2"):
        file.change(edited("a", enabled=False))
    assert path.read_text() == text


def test_a_change_that_fails_leaves_the_file_alone(path: Path) -> None:
    def fail(_servers: dict[str, ServerSpec]) -> dict[str, ServerSpec]:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        ServersFile(path).change(fail)
    assert path.read_text() == TEXT
