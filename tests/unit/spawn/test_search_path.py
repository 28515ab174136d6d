"""Where commands are looked for besides PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_patchbay.engine.spawn.search_path import search_folders, usual_folders


def make(root: Path, *folders: str) -> None:
    for folder in folders:
        (root / folder).mkdir(parents=True)


def within(root: Path, folders: list[str]) -> list[str]:
    return [folder.removeprefix(f"{root}/") for folder in folders if folder.startswith(f"{root}/")]


def test_folders_come_in_order_and_once(tmp_path: Path) -> None:
    make(tmp_path, ".local/bin")
    local = str(tmp_path / ".local/bin")
    folders = search_folders(["/a:/b/", None, "", "/b:/c"], system="linux", environ={"HOME": str(tmp_path)})
    assert folders[:3] == ("/a", "/b/", "/c")
    assert local in folders
    assert search_folders([local], system="linux", environ={"HOME": str(tmp_path)}).count(local) == 1


def test_only_places_that_exist_are_given(tmp_path: Path) -> None:
    make(tmp_path, ".volta/bin", ".cargo/bin", ".pyenv/shims", ".local/share/mise/shims", ".bun/bin")
    assert sorted(within(tmp_path, usual_folders("linux", {"HOME": str(tmp_path)}))) == [
        ".bun/bin",
        ".cargo/bin",
        ".local/share/mise/shims",
        ".pyenv/shims",
        ".volta/bin",
    ]


def test_a_tool_that_was_moved_by_its_variable_is_found_there(tmp_path: Path) -> None:
    make(tmp_path, "elsewhere/volta/bin")
    environ = {"HOME": "/no/home", "VOLTA_HOME": str(tmp_path / "elsewhere/volta")}
    assert within(tmp_path, usual_folders("linux", environ)) == ["elsewhere/volta/bin"]


@pytest.mark.parametrize(
    ("aliases", "first"),
    [
        ({"default": "20"}, "v20.11.0"),
        ({"default": "v18.20.4"}, "v18.20.4"),
        ({"default": "lts/*", "lts/*": "lts/iron", "lts/iron": "v20.9.0"}, "v20.9.0"),
        ({"default": "node"}, "v22.1.0"),
        ({}, "v22.1.0"),
    ],
)
def test_nvms_default_comes_before_its_newest(tmp_path: Path, aliases: dict[str, str], first: str) -> None:
    for version in ("v9.0.0", "v18.20.4", "v20.9.0", "v20.11.0", "v22.1.0"):
        make(tmp_path, f".nvm/versions/node/{version}/bin")
    make(tmp_path, ".nvm/alias/lts")
    for name, target in aliases.items():
        (tmp_path / ".nvm/alias" / name).write_text(f"{target}\n")
    found = within(tmp_path, usual_folders("linux", {"HOME": str(tmp_path)}))
    assert found[0] == f".nvm/versions/node/{first}/bin"
    assert ".nvm/versions/node/v22.1.0/bin" in found


def test_without_a_home_nothing_is_made_up() -> None:
    assert all(folder.startswith("/") and "{" not in folder for folder in usual_folders("linux", {}))
