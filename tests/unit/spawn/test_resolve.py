"""How a command is found on POSIX, and what its process gets."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from mcp_patchbay.domain.errors import LaunchError
from mcp_patchbay.domain.servers import StdioServer
from mcp_patchbay.engine.spawn import resolve

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


def script(path: Path, body: str = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body)
    path.chmod(mode)
    return path


@pytest.fixture
def desktop(tmp_path: Path) -> dict[str, str]:
    """The environment of an app that was started from the Dock: a home with rc files, and a PATH that is bare."""
    home = tmp_path / "home"
    tools = home / ".fakenvm" / "bin"
    script(tools / "fakenode", "#!/bin/sh\necho it is node\n")
    script(tools / "fakenpx", "#!/usr/bin/env fakenode\n")
    rc = f'echo "welcome back"\nexport PATH="{tools}:$PATH"\nprintf "no newline"\nsleep 600 &\n'
    for name in (".bashrc", ".bash_profile", ".profile"):
        (home / name).write_text(rc)
    return {"HOME": str(home), "SHELL": "/bin/bash", "PATH": "/usr/bin:/bin"}


async def test_a_command_is_found_on_the_path_of_the_login_shell_and_the_child_gets_that_path(
    desktop: dict[str, str],
) -> None:
    resolved = await resolve(StdioServer("fakenpx", ("-y", "x")), system="linux", environ=desktop)
    tools = str(Path(desktop["HOME"]) / ".fakenvm" / "bin")
    assert resolved.argv == (f"{tools}/fakenpx", "-y", "x")
    folders = resolved.env["PATH"].split(":")
    assert folders[:2] == ["/usr/bin", "/bin"]
    assert tools in folders
    assert "welcome" not in resolved.env["PATH"]
    process = await asyncio.create_subprocess_exec(*resolved.argv, env=resolved.env, stdout=asyncio.subprocess.PIPE)
    assert (await process.communicate())[0] == b"it is node\n"  # through the `env` line: PATH was needed twice


async def test_the_servers_own_path_wins(desktop: dict[str, str], tmp_path: Path) -> None:
    own = script(tmp_path / "own" / "fakenpx")
    resolved = await resolve(StdioServer("fakenpx", env={"PATH": str(own.parent)}), system="linux", environ=desktop)
    assert resolved.found == str(own)
    assert resolved.env["PATH"].startswith(f"{own.parent}:")


async def test_an_own_path_may_hold_the_apps_path(desktop: dict[str, str], tmp_path: Path) -> None:
    resolved = await resolve(StdioServer("sh", env={"PATH": f"{tmp_path}:$PATH"}), system="linux", environ=desktop)
    assert resolved.env["PATH"].startswith(f"{tmp_path}:/usr/bin:/bin:")
    assert "$PATH" not in resolved.env["PATH"]


async def test_a_terminals_environment_is_enough_when_everything_is_on_its_path(
    desktop: dict[str, str], tmp_path: Path
) -> None:
    asked = tmp_path / "asked"
    shell = script(tmp_path / "shell", f"#!/bin/sh\ntouch {asked}\n")
    terminal = desktop | {"TERM": "xterm", "SHLVL": "1", "SHELL": str(shell)}
    await resolve(StdioServer("sh"), system="linux", environ=terminal)
    assert not asked.exists()
    script(tmp_path / "bin" / "needs-it", "#!/usr/bin/env no-such-interpreter\n")
    await resolve(StdioServer("needs-it"), system="linux", environ=terminal | {"PATH": f"{tmp_path}/bin:/bin"})
    assert asked.exists()


async def test_a_missing_command_says_where_it_was_searched_and_what_would_help(desktop: dict[str, str]) -> None:
    with pytest.raises(LaunchError) as caught:
        await resolve(StdioServer("no-such-program-xyz"), system="linux", environ=desktop)
    assert str(caught.value) == "no-such-program-xyz was not found"
    said = str(caught.value.hint)
    assert "/usr/bin" in said
    assert str(Path(desktop["HOME"]) / ".fakenvm" / "bin") in said


async def test_a_missing_well_known_command_names_its_product(desktop: dict[str, str]) -> None:
    with pytest.raises(LaunchError) as caught:
        await resolve(StdioServer("bunx"), system="linux", environ=desktop)
    assert "Install Bun" in str(caught.value.hint)


async def test_a_whole_line_as_the_command_gets_a_hint(desktop: dict[str, str]) -> None:
    with pytest.raises(LaunchError) as caught:
        await resolve(StdioServer("my-server --stdio"), system="linux", environ=desktop)
    assert "arguments" in str(caught.value.hint)


async def test_a_file_that_may_not_be_run_is_said_to_be_one(desktop: dict[str, str], tmp_path: Path) -> None:
    file = script(tmp_path / "server.sh", mode=0o644)
    with pytest.raises(LaunchError, match="is not executable"):
        await resolve(StdioServer(str(file)), system="linux", environ=desktop)


async def test_a_tilde_is_the_home_and_a_relative_path_starts_at_the_servers_folder(
    desktop: dict[str, str], tmp_path: Path
) -> None:
    inside = script(Path(desktop["HOME"]) / "bin" / "server")
    relative = script(tmp_path / "project" / "run" / "it")
    resolved = await resolve(StdioServer("~/bin/server", cwd="~"), system="linux", environ=desktop)
    assert (resolved.found, resolved.cwd) == (str(inside), desktop["HOME"])
    resolved = await resolve(StdioServer("./run/it", cwd=str(tmp_path / "project")), system="linux", environ=desktop)
    assert resolved.found == str(relative)


async def test_a_folder_that_is_not_there_is_said_before_anything_starts(desktop: dict[str, str]) -> None:
    with pytest.raises(LaunchError, match="The folder /no/such/folder does not exist"):
        await resolve(StdioServer("sh", cwd="/no/such/folder"), system="linux", environ=desktop)


async def test_arguments_and_environment_stay_out_of_the_repr(desktop: dict[str, str]) -> None:
    server = StdioServer("sh", ("--key=secret-123",), env={"TOKEN": "secret-123"})
    assert "secret-123" not in repr(await resolve(server, system="linux", environ=desktop))
