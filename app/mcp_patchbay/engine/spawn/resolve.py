"""From a server's settings to what is started: the file, its arguments, its environment and its folder."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_patchbay.domain.errors import LaunchError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.engine.spawn import windows
from mcp_patchbay.engine.spawn.disk import Disk
from mcp_patchbay.engine.spawn.environment import child_environment, own_path, variable
from mcp_patchbay.engine.spawn.login_shell import login_path
from mcp_patchbay.engine.spawn.runners import PRODUCTS, program_name
from mcp_patchbay.engine.spawn.search_path import search_folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_patchbay.domain.servers import StdioServer


@dataclass(frozen=True, slots=True)
class Resolved:
    """A command that is ready to start. Arguments and environment may hold secrets, so its repr shows neither.

    Attributes:
        argv: the program's full path and its arguments.
        env: the whole environment of the process.
        cwd: its folder; None means that of this app.
        found: the file that was found for the command.
        searched: the folders that were searched, in order.
        batch_line: for a Windows batch file, the line that cmd.exe is to run in the place of `argv`; else None. It must
            not be quoted again: `loop.subprocess_shell` takes it as it is.
        command_line: the same with `cmd.exe` and its options before it, for `subprocess.Popen` as one string.
    """

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None
    found: str
    searched: tuple[str, ...]
    batch_line: str | None = field(default=None, repr=False)

    @property
    def command_line(self) -> str | None:
        return None if self.batch_line is None else windows.cmd_command_line(self.batch_line, self.env)


async def resolve(
    server: StdioServer, *, system: str = sys.platform, environ: Mapping[str, str] = os.environ
) -> Resolved:
    """Find the command of a server and prepare its environment. The disk is read in a thread.

    Args:
        server: the settings, with secrets and variables already put in.
        system: "win32", "linux" or "darwin".
        environ: the environment of this app.

    Raises:
        LaunchError: the command, or the folder it is to run in, is not there; it says what was searched where.
    """
    environ = dict(environ)
    near: list[str | None] = [own_path(server.env, system) or variable(environ, "PATH", system)]
    if system == "win32":
        return await asyncio.to_thread(_prepare, server, near, system, environ)
    if not _from_terminal(environ) or not await asyncio.to_thread(_all_found, server, near[0], system):
        near.append(await login_path(environ))
    return await asyncio.to_thread(_prepare, server, near, system, environ)


def _prepare(server: StdioServer, paths: list[str | None], system: str, environ: Mapping[str, str]) -> Resolved:
    disk = Disk(system)
    cwd = _folder(server.cwd, disk, environ)
    folders = search_folders(paths, system=system, environ=environ)
    command = _expanded(server.command, disk, environ, cwd)
    found = find(command, folders, disk, variable(environ, "PATHEXT", system))
    if found is None:
        raise _not_found(server, command, folders, disk, environ)
    if not disk.executable(found):
        raise LaunchError(
            message("error.spawn.title"),
            message("error.not_executable", path=found),
            message("error.not_executable.hint", path=found),
        )
    batch = disk.windows and windows.is_batch(found)
    return Resolved(
        argv=(found, *server.args),
        env=child_environment(server.env, folders, system=system, environ=environ),
        cwd=cwd,
        found=found,
        searched=folders,
        batch_line=windows.batch_line(found, server.args) if batch else None,
    )


def find(command: str, folders: tuple[str, ...], disk: Disk, pathext: str = "") -> str | None:
    """The file that a command stands for: by its path, else by its name in the first folder that has it.

    On POSIX a file that may be run is preferred to one that may not.
    """
    if disk.windows:
        return windows.find(command, folders, disk, pathext)
    places = [command] if "/" in command else [disk.paths.join(folder, command) for folder in folders]
    files = [place for place in places if disk.file(place)]
    return next(filter(disk.executable, files), files[0] if files else None)


def _from_terminal(environ: Mapping[str, str]) -> bool:
    """Whether the app has the environment of a terminal, where the shell's rc files were read already."""
    return environ.get("TERM", "dumb") != "dumb" and "SHLVL" in environ


def _all_found(server: StdioServer, path: str | None, system: str) -> bool:
    """Whether the command, and the interpreter that its `#!/usr/bin/env NAME` line names, are on this PATH."""
    disk = Disk(system)
    folders = tuple(folder for folder in (path or "").split(disk.separator) if folder)
    found = find(server.command, folders, disk)
    if found is None:
        return False
    words = disk.text(found, 256).partition("\n")[0].split()
    if not words or not words[0].endswith("/env"):
        return True
    names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return not names or find(names[0], folders, disk) is not None


def _home(disk: Disk, environ: Mapping[str, str]) -> str:
    return variable(environ, "USERPROFILE" if disk.windows else "HOME", disk.system) or os.path.expanduser("~")


def _expanded(command: str, disk: Disk, environ: Mapping[str, str], cwd: str | None) -> str:
    """A command as a bare name or an absolute path: `~` is the home, a relative path starts at the server's folder."""
    command = command.strip()
    if len(command) > 1 and command[0] == command[-1] == '"':
        command = command[1:-1]
    if command.startswith(("~/", "~\\")):
        return str(disk.paths.join(_home(disk, environ), command[2:]))
    if disk.paths.dirname(command) and not disk.paths.isabs(command):
        return str(disk.paths.normpath(disk.paths.join(cwd or os.getcwd(), command)))
    return command


def _folder(cwd: str | None, disk: Disk, environ: Mapping[str, str]) -> str | None:
    if not cwd or not cwd.strip():
        return None
    folder = cwd.strip()
    if folder == "~" or folder.startswith(("~/", "~\\")):
        folder = str(disk.paths.join(_home(disk, environ), folder[2:])) if len(folder) > 2 else _home(disk, environ)
    if not disk.folder(folder):
        raise LaunchError(
            message("error.no_folder.title"), message("error.no_folder", folder=folder), message("error.no_folder.hint")
        )
    return folder


def _not_found(
    server: StdioServer, command: str, folders: tuple[str, ...], disk: Disk, environ: Mapping[str, str]
) -> LaunchError:
    if disk.windows:
        names = windows.candidate_names(command, variable(environ, "PATHEXT", disk.system))
        if script := windows.find_powershell_script(command, folders, disk):
            return LaunchError(
                message("error.powershell.title"),
                message("error.powershell", command=server.command, path=script, names=", ".join(names)),
                message("error.powershell.hint", path=script),
            )
    else:
        names = [command]
    in_folders = [str(disk.paths.dirname(command))] if disk.paths.dirname(command) else list(folders)
    name = program_name(server.command)
    where = {
        "names": ", ".join(str(disk.paths.basename(name)) for name in names),
        "folders": ", ".join(in_folders) or "PATH",
    }
    if name in PRODUCTS:
        product, site = PRODUCTS[name]
        hint = message("error.command.known.hint", product=product, site=site, **where)
    elif " " in server.command.strip():
        hint = message("error.command.words.hint", **where)
    else:
        hint = message("error.command.hint", **where)
    what = message("error.command", command=server.command)
    return LaunchError(message("error.command.title"), what, hint)
