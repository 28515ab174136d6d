"""How Windows finds and runs a command: extensions tried by hand, batch files through cmd.exe with arguments intact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_patchbay.domain.errors import LaunchError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.engine.spawn.environment import variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcp_patchbay.engine.spawn.disk import Disk

RUNNABLE = (".com", ".exe", ".bat", ".cmd")
BATCH = (".bat", ".cmd")
DEFAULT_PATHEXT = ".COM;.EXE;.BAT;.CMD"


def candidate_names(command: str, pathext: str) -> list[str]:
    """The file names that a command stands for, in the order of PATHEXT: `npx` is `npx.com`, ... `npx.cmd`.

    Extensions that only the shell can open (`.vbs`, `.py`) are left out. A name with no extension is never a program:
    `npx` beside `npx.cmd` is a script for other shells.
    """
    listed = [extension.strip().lower() for extension in (pathext or DEFAULT_PATHEXT).split(";")]
    extensions = [extension for extension in listed if extension in RUNNABLE]
    extensions += [extension for extension in RUNNABLE if extension not in extensions]
    names = [command] if command.lower().endswith(RUNNABLE) else []
    return names + [command + extension for extension in extensions]


def find(command: str, folders: Iterable[str], disk: Disk, pathext: str) -> str | None:
    """The path of the program that `command` (a name, or a path without extension) stands for, or None."""
    places = [""] if disk.paths.dirname(command) else folders
    for folder in places:
        for name in candidate_names(command, pathext):
            if found := disk.file(disk.paths.join(folder, name)):
                return found
    return None


def find_powershell_script(command: str, folders: Iterable[str], disk: Disk) -> str | None:
    """The `.ps1` file of that name, which is there but cannot be started by itself."""
    name = command if command.lower().endswith(".ps1") else command + ".ps1"
    places = [""] if disk.paths.dirname(command) else folders
    return next((found for folder in places if (found := disk.file(disk.paths.join(folder, name)))), None)


def is_batch(path: str) -> bool:
    """Whether cmd.exe has to run the file."""
    return path.lower().endswith(BATCH)


def batch_line(script: str, args: Sequence[str]) -> str:
    """What cmd.exe has to run so that a batch file gets exactly these arguments.

    Raises:
        LaunchError: an argument that cannot reach a batch file unchanged.
    """
    return " ".join(_quoted(part) for part in [script, *args])


def cmd_command_line(line: str, environ: Mapping[str, str]) -> str:
    """The whole command line, for CreateProcess as it stands, that makes cmd.exe run `line`.

    `/d` skips AutoRun commands, `/e:on` and `/v:off` set what the escapes rely on, and with `/s` cmd.exe takes off the
    outer quotes and nothing else.
    """
    cmd = variable(environ, "ComSpec", "win32") or "cmd.exe"
    quoted = f'"{cmd}"' if " " in cmd else cmd
    return f'{quoted} /d /e:on /v:off /s /c "{line}"'


def _quoted(argument: str) -> str:
    """One argument, safe from cmd.exe and split by the program as intended.

    In quotes, `&`, `|`, `<`, `>`, `^` and brackets mean nothing to cmd.exe, however often they are passed on.
    A quote is doubled, which leaves cmd.exe inside the quotes and is one quote to the program. After each `%` stands
    an expansion that is always empty (the current folder, characters none to none), so that no `%NAME%` is seen.
    """
    if any(char in argument for char in "\r\n\0\x1a"):
        raise LaunchError(
            message("error.batch_argument.title"),
            message("error.batch_argument"),
            message("error.batch_argument.hint"),
        )
    quoted, backslashes = [], 0
    for char in argument:
        if char == "\\":
            backslashes += 1
        else:
            if char == '"':
                quoted.append("\\" * backslashes + '"')
            elif char == "%":
                quoted.append("%%cd:~,")
            backslashes = 0
        quoted.append(char)
    return '"' + "".join(quoted) + "\\" * backslashes + '"'
