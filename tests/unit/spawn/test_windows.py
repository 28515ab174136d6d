"""The rules of Windows, run on any system against a made-up PATH and PATHEXT."""

from __future__ import annotations

import ntpath
import re
from pathlib import Path

import pytest

from mcp_patchbay.domain.errors import LaunchError
from mcp_patchbay.domain.servers import StdioServer
from mcp_patchbay.engine.spawn import resolve
from mcp_patchbay.engine.spawn.windows import batch_line, candidate_names

PATHEXT = ".COM;.EXE;.BAT;.CMD;.VBS;.PY"
QUOTING_ARGS = ("C:\\My Files\\", "", "two  spaces", 'say "hi"', "100%PATH%", "a&b|c^d", "--x=ä", "(1)", "!x!")


@pytest.fixture
def windows(tmp_path: Path) -> dict[str, str]:
    """The environment of a Windows with node, a shim that is a PowerShell script only, and a script for cmd.exe."""
    node = tmp_path / "Program Files" / "nodejs"
    tools = tmp_path / "tools"
    for file in (
        node / "node.exe",
        node / "npx",
        node / "npx.cmd",
        tools / "only.ps1",
        tools / "cmd.exe",
        tools / "x.py",
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    return {"Path": f"{tools};{node}", "PATHEXT": PATHEXT, "ComSpec": r"C:\Windows\System32\cmd.exe", "windir": r"C:\W"}


async def found(command: str, environ: dict[str, str], *args: str) -> str:
    resolved = await resolve(StdioServer(command, args), system="win32", environ=environ)
    return ntpath.basename(resolved.found)


@pytest.mark.parametrize(
    ("command", "file"),
    [("npx", "npx.cmd"), ("NPX", "npx.cmd"), ("npx.cmd", "npx.cmd"), ("node", "node.exe"), ("NODE.EXE", "node.exe")],
)
async def test_a_bare_name_is_found_with_the_extensions_of_pathext(
    windows: dict[str, str], command: str, file: str
) -> None:
    assert await found(command, windows) == file


async def test_a_path_without_extension_is_completed(windows: dict[str, str], tmp_path: Path) -> None:
    assert await found(f"{tmp_path}\\Program Files\\nodejs\\npx", windows) == "npx.cmd"


async def test_the_order_of_pathext_decides_between_files_of_one_folder(
    windows: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tools" / "npx.exe").write_text("")
    (tmp_path / "tools" / "npx.bat").write_text("")
    assert await found("npx", windows) == "npx.exe"
    assert await found("npx", windows | {"PATHEXT": ".BAT;.EXE"}) == "npx.bat"


async def test_without_pathext_programs_and_batch_files_are_still_found(windows: dict[str, str]) -> None:
    del windows["PATHEXT"]
    assert await found("npx", windows) == "npx.cmd"


async def test_a_batch_file_runs_through_cmd_with_every_argument_in_quotes(windows: dict[str, str]) -> None:
    resolved = await resolve(StdioServer("npx", ("-y", "a & b")), system="win32", environ=windows)
    assert resolved.batch_line == f'"{resolved.found}" "-y" "a & b"'
    assert resolved.command_line == f'C:\\Windows\\System32\\cmd.exe /d /e:on /v:off /s /c "{resolved.batch_line}"'
    assert resolved.argv == (resolved.found, "-y", "a & b")


async def test_a_program_needs_no_cmd(windows: dict[str, str]) -> None:
    resolved = await resolve(StdioServer("node", ("a & b",)), system="win32", environ=windows)
    assert resolved.batch_line is None
    assert resolved.command_line is None


async def test_a_hand_written_cmd_c_is_left_alone(windows: dict[str, str]) -> None:
    resolved = await resolve(StdioServer("cmd", ("/c", "npx", "-y", "x")), system="win32", environ=windows)
    assert resolved.argv[1:] == ("/c", "npx", "-y", "x")
    assert ntpath.basename(resolved.argv[0]) == "cmd.exe"
    assert resolved.batch_line is None


async def test_a_powershell_script_alone_is_said_to_be_one(windows: dict[str, str]) -> None:
    with pytest.raises(LaunchError, match=r"only is only there as .*only\.ps1") as caught:
        await resolve(StdioServer("only"), system="win32", environ=windows)
    assert "powershell" in str(caught.value.hint)


async def test_a_missing_command_names_the_names_and_folders_that_were_searched(
    windows: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(LaunchError) as caught:
        await resolve(StdioServer("no-such-program-xyz"), system="win32", environ=windows)
    said = str(caught.value.hint)
    assert "no-such-program-xyz.com, no-such-program-xyz.exe, no-such-program-xyz.bat, no-such-program-xyz.cmd" in said
    assert str(tmp_path / "tools") in said


async def test_what_only_the_shell_can_open_is_no_program(windows: dict[str, str]) -> None:
    assert not any(name.endswith((".py", ".vbs")) for name in candidate_names("x", PATHEXT))
    with pytest.raises(LaunchError):
        await resolve(StdioServer("x"), system="win32", environ=windows)


def test_arguments_of_a_batch_file_arrive_unchanged() -> None:
    line = batch_line("C:\\Program Files (x86)\\a & b\\my server.cmd", QUOTING_ARGS)
    assert split_like_the_c_runtime(parsed_by_cmd(line))[1:] == list(QUOTING_ARGS)


@pytest.mark.parametrize("argument", ["a\nb", "a\rb", "a\0b"])
def test_an_argument_that_cannot_reach_a_batch_file_is_refused_without_showing_it(argument: str) -> None:
    with pytest.raises(LaunchError) as caught:
        batch_line("x.cmd", ["secret" + argument])
    assert "secret" not in str(caught.value)


async def test_path_is_merged_once_whatever_its_spelling(windows: dict[str, str]) -> None:
    server = StdioServer("own", env={"path": "C:\\own", "Path": "C:\\more"})
    with pytest.raises(LaunchError) as caught:
        await resolve(server, system="win32", environ=windows)
    assert "C:\\own, C:\\more" in str(caught.value.hint)
    resolved = await resolve(
        StdioServer("node", env={"CASE_FOO": "1", "WINDIR": "D:"}), system="win32", environ=windows
    )
    assert [name for name in resolved.env if name.upper() == "PATH"] == ["PATH"]
    assert {name: value for name, value in resolved.env.items() if name.upper() == "WINDIR"} == {"WINDIR": "D:"}
    assert resolved.env["CASE_FOO"] == "1"
    assert resolved.env["PATH"].split(";")[0].endswith("tools")


async def test_the_usual_places_of_windows_are_searched(tmp_path: Path) -> None:
    places = [
        "Roaming/npm",
        "Local/Programs/Python/Python312/Scripts",
        "Local/Programs/Python/Python39/Scripts",
        "home/scoop/shims",
        "home/.cargo/bin",
        "data/chocolatey/bin",
        "Files/nodejs",
    ]
    for place in places:
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "home/.cargo/bin/uvx.exe").write_text("")
    names = {"APPDATA": "Roaming", "LOCALAPPDATA": "Local", "USERPROFILE": "home", "ProgramData": "data"}
    environ = {name: str(tmp_path / folder) for name, folder in names.items()} | {
        "ProgramFiles": str(tmp_path / "Files")
    }
    resolved = await resolve(StdioServer("uvx"), system="win32", environ=environ)
    searched = [folder.replace("\\", "/").removeprefix(f"{tmp_path}/") for folder in resolved.searched]
    assert set(places) <= set(searched)
    assert searched.index(places[1]) < searched.index(places[2])


def parsed_by_cmd(line: str) -> str:
    """What cmd.exe makes of a line that it is given with /c: variables expanded, then operators outside quotes act.

    Rules of "How does the Windows Command Interpreter parse scripts", command line mode, phases 1 and 2.
    """
    variables = {"PATH": "EXPANDED", "CD": "C:\\now"}

    def expand(match: re.Match[str]) -> str:
        name, colon, cut = match[1].partition(":")
        value = variables.get(name.upper())
        if value is None:
            return match[0]
        return "" if colon and cut == "~," else value

    out, rest = "", line
    while rest:
        if rest.startswith("%%"):  # an empty name is left as it is, and the second one may begin a variable
            out, rest = out + "%", rest[1:]
        elif (match := re.match(r"%([^%]+)%", rest)) and (new := expand(match)) != match[0]:
            out, rest = out + new, rest[match.end() :]
        else:
            out, rest = out + rest[0], rest[1:]
    quoted = False
    for char in out:
        quoted ^= char == '"'
        assert quoted or char not in "&|<>^()", f"cmd.exe would act on {char}: {out}"
    return out


def split_like_the_c_runtime(line: str) -> list[str]:
    """The arguments that a program sees, by the rules of Microsoft's C runtime since 2008."""
    arguments: list[str] = []
    position = 0
    while position < len(line):
        current, quoted = "", False
        while position < len(line) and (quoted or line[position] != " "):
            backslashes = len(line[position:]) - len(line[position:].lstrip("\\"))
            position += backslashes
            if line[position : position + 1] != '"':
                current += "\\" * backslashes
                if position < len(line) and not backslashes:
                    current, position = current + line[position], position + 1
                continue
            current += "\\" * (backslashes // 2)
            if backslashes % 2:
                current, position = current + '"', position + 1
            elif quoted and line[position + 1 : position + 2] == '"':
                current, position = current + '"', position + 2
            else:
                quoted, position = not quoted, position + 1
        arguments.append(current)
        position += 1
    return arguments
