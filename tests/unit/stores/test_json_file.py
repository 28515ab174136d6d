"""Atomic files, the memory and the settings on top of them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcp_patchbay.stores.first_start import first_start_spec
from mcp_patchbay.stores.json_file import JsonFile, write_atomically
from mcp_patchbay.stores.memory import StateFile
from mcp_patchbay.stores.paths import Paths, resource_root
from mcp_patchbay.stores.settings import Settings, SettingsFile

if TYPE_CHECKING:
    from pathlib import Path

    from checks.logs import ExpectLog

NEVER = 3600.0
"""A delay that does not run out during a test: what is written was written by `close`."""


def test_a_file_is_written_for_its_user_alone_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    path.chmod(0o644)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "real.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")

    def full_disk(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_killed_while_saving_the_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, b"0" * 200_000)
    code = (
        "import pathlib, sys\n"
        "from mcp_patchbay.stores.json_file import write_atomically\n"
        "path, n = pathlib.Path(sys.argv[1]), 0\n"
        "while True:\n"
        "    n += 1\n"
        "    write_atomically(path, str(n % 10).encode() * 200_000)\n"
        "    print(n, flush=True)\n"
    )
    for saved in (1, 3, 8):
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(saved):
                assert writer.stdout.readline()
            writer.kill()
        content = path.read_bytes()
        assert len(content) == 200_000
        assert len(set(content)) == 1


async def test_what_is_remembered_is_there_after_a_restart(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "state" / "state.json", NEVER)
    state.remember("eras", "a", {"era": "2025-06-18"})
    state.remember("eras", "b", 1)
    assert state.recall("eras", "a") == {"era": "2025-06-18"}
    state.remember("eras", "b", None)
    await state.close()
    again = StateFile(tmp_path / "state" / "state.json")
    assert again.topic("eras") == {"a": {"era": "2025-06-18"}}
    assert again.recall("eras", "b") is None
    assert again.recall("none", "x") is None


def test_a_change_is_written_by_itself_a_moment_later(tmp_path: Path) -> None:
    from checks.waiting import until_sync

    path = tmp_path / "state.json"
    StateFile(path, delay=0.01).remember("t", "k", 5)
    until_sync(path.exists)
    assert json.loads(path.read_bytes()) == {"t": {"k": 5}}


async def test_two_copies_of_the_app_keep_each_others_facts(tmp_path: Path) -> None:
    one, two = JsonFile(tmp_path / "s.json", NEVER), JsonFile(tmp_path / "s.json", NEVER)
    assert one.get("t") is None
    assert two.get("t") is None
    one.put("t", "a", value=1)
    two.put("t", "b", value=2)
    await one.close()
    await two.close()
    assert JsonFile(tmp_path / "s.json").get("t") == {"a": 1, "b": 2}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\0\0\0\0", b"\xff\xfe"])
async def test_a_damaged_state_is_kept_and_begun_anew(tmp_path: Path, expect_log: ExpectLog, damage: bytes) -> None:
    expect_log("is damaged")
    path = tmp_path / "state.json"
    path.write_bytes(damage)
    state = StateFile(path, NEVER)
    assert state.recall("t", "k") is None
    state.remember("t", "k", 1)
    await state.close()
    assert StateFile(path).recall("t", "k") == 1
    (kept,) = [name for name in os.listdir(tmp_path) if name.startswith("state.json.damaged-")]
    assert (tmp_path / kept).read_bytes() == damage


async def test_a_folder_that_cannot_be_written_costs_the_facts_and_nothing_else(
    tmp_path: Path, expect_log: ExpectLog
) -> None:
    expect_log("could not be")
    (tmp_path / "file").write_text("in the way")
    state = StateFile(tmp_path / "file" / "state.json", NEVER)
    state.remember("t", "k", 1)
    await state.close()
    assert state.recall("t", "k") == 1


async def test_settings_survive_a_restart_and_unknown_ones_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"later": [1], "theme": "pink", "default_timeout": -1, "notifications": false}')
    settings = SettingsFile(path, NEVER)
    assert settings.current == Settings(notifications=False)
    heard: list[Settings] = []
    leave = settings.subscribe(heard.append)
    settings.change(theme="dark", default_timeout=90)
    settings.change(theme="dark")
    leave()
    settings.change(close_to_tray=False)
    assert heard == [Settings(notifications=False, theme="dark", default_timeout=90)]
    await settings.close()
    again = SettingsFile(path).current
    assert again == Settings(notifications=False, theme="dark", default_timeout=90, close_to_tray=False)
    assert json.loads(path.read_bytes())["later"] == [1]


@pytest.mark.parametrize(
    "values", [{"theme": "pink"}, {"default_timeout": True}, {"nothing": True}, {"start_hidden": 1}]
)
def test_a_setting_that_makes_no_sense_is_refused(tmp_path: Path, values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        SettingsFile(tmp_path / "settings.json").change(**values)


def test_folders_are_made_for_their_user_alone(tmp_path: Path) -> None:
    paths = Paths(environ={"MCP_PATCHBAY_HOME": str(tmp_path / "home")})
    assert not (tmp_path / "home").exists()
    paths.create()
    for folder in (paths.config, paths.data, paths.state, paths.cache, paths.logs):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert tmp_path in folder.parents
    assert paths.servers_file == paths.config / "servers.json"
    assert first_start_spec(paths).to_mapping()["options"] == {"allowed_directories": [str(paths.data / "sample")]}


def test_the_file_given_goes_before_the_environment_and_that_before_the_usual_place(tmp_path: Path) -> None:
    environ = {"MCP_PATCHBAY_CONFIG": str(tmp_path / "env.json")}
    assert Paths(tmp_path / "given.json", environ).servers_file == tmp_path / "given.json"
    assert Paths(environ=environ).servers_file == tmp_path / "env.json"
    assert Paths(environ={}).servers_file.parts[-2:] == ("patchbay", "servers.json")


def test_the_resources_of_a_source_tree_are_found() -> None:
    assert (resource_root() / "icons" / "patchbay.svg").is_file()
