"""The folders in which a command is looked for, in order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcp_patchbay.engine.spawn.disk import Disk
from mcp_patchbay.engine.spawn.environment import variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")

# A folder under the home, or under the variable that moves its tool; "{NAME|default}" is that variable or its default.
POSIX_FOLDERS = (
    "{HOME}/.local/bin",
    "{NVM_DIR|{HOME}/.nvm}/current/bin",
    "{FNM_DIR|{HOME}/.local/share/fnm}/aliases/default/bin",
    "{HOME}/.fnm/aliases/default/bin",
    "{VOLTA_HOME|{HOME}/.volta}/bin",
    "{ASDF_DATA_DIR|{HOME}/.asdf}/shims",
    "{HOME}/.asdf/bin",
    "{MISE_DATA_DIR|{HOME}/.local/share/mise}/shims",
    "{HOME}/.npm-global/bin",
    "{HOME}/.npm-packages/bin",
    "{NPM_CONFIG_PREFIX|{HOME}/.npm}/bin",
    "{N_PREFIX|{HOME}/n}/bin",
    "{PNPM_HOME|{HOME}/.local/share/pnpm}",
    "{HOME}/.yarn/bin",
    "{HOME}/.config/yarn/global/node_modules/.bin",
    "{BUN_INSTALL|{HOME}/.bun}/bin",
    "{DENO_INSTALL|{HOME}/.deno}/bin",
    "{CARGO_HOME|{HOME}/.cargo}/bin",
    "{PYENV_ROOT|{HOME}/.pyenv}/shims",
    "{HOME}/.rye/shims",
    "{GOPATH|{HOME}/go}/bin",
    "{HOME}/.docker/bin",
    "{HOME}/.rd/bin",
    "{HOME}/.orbstack/bin",
    "{HOME}/.nix-profile/bin",
    "{HOME}/bin",
)
DARWIN_FOLDERS = (
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/opt/local/bin",
    "{HOME}/Library/Application Support/fnm/aliases/default/bin",
    "{HOME}/Library/pnpm",
    "/Applications/Docker.app/Contents/Resources/bin",
)
LINUX_FOLDERS = ("/home/linuxbrew/.linuxbrew/bin", "/snap/bin", "/var/lib/snapd/snap/bin", "/run/current-system/sw/bin")
WINDOWS_FOLDERS = (
    "{APPDATA}\\npm",
    "{ProgramFiles}\\nodejs",
    "{NVM_SYMLINK|{ProgramFiles}\\nodejs}",
    "{LOCALAPPDATA}\\Volta\\bin",
    "{FNM_DIR|{APPDATA}\\fnm}\\aliases\\default",
    "{LOCALAPPDATA}\\Yarn\\bin",
    "{PNPM_HOME|{LOCALAPPDATA}\\pnpm}",
    "{SCOOP|{USERPROFILE}\\scoop}\\shims",
    "{SCOOP_GLOBAL|{ProgramData}\\scoop}\\shims",
    "{ChocolateyInstall|{ProgramData}\\chocolatey}\\bin",
    "{LOCALAPPDATA}\\Microsoft\\WinGet\\Links",
    "{USERPROFILE}\\.local\\bin",
    "{BUN_INSTALL|{USERPROFILE}\\.bun}\\bin",
    "{DENO_INSTALL|{USERPROFILE}\\.deno}\\bin",
    "{CARGO_HOME|{USERPROFILE}\\.cargo}\\bin",
    "{USERPROFILE}\\.pyenv\\pyenv-win\\shims",
    "{ProgramFiles}\\Docker\\Docker\\resources\\bin",
    "{ProgramFiles}\\Git\\cmd",
    "{LOCALAPPDATA}\\Microsoft\\WindowsApps",
    "{SystemRoot}\\System32",
    "{SystemRoot}",
)
WINDOWS_PYTHONS = (
    ("{LOCALAPPDATA}\\Programs\\Python", ("", "\\Scripts")),
    ("{APPDATA}\\Python", ("\\Scripts",)),
    ("{ProgramFiles}", ("", "\\Scripts")),
)


def search_folders(paths: Iterable[str | None], *, system: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of the given PATH values, in order, then the usual places that exist. Each once. Reads the disk.

    Args:
        paths: values of PATH, the most important first; None and empty ones are skipped. An entry `$PATH` (or
            `%PATH%`) in one of them stands for the app's own PATH.
        system: "win32", "linux" or "darwin".
        environ: the environment of this app.
    """
    disk = Disk(system)
    app_path = variable(environ, "PATH", system)
    seen: dict[str, str] = {}
    for folder in [*_entries(paths, app_path, disk.separator), *usual_folders(system, environ)]:
        seen.setdefault(folder.lower().rstrip("\\/") if disk.windows else folder.rstrip("/") or "/", folder)
    return tuple(seen.values())


def usual_folders(system: str, environ: Mapping[str, str]) -> list[str]:
    """The places where package and version managers put commands, as far as they exist."""
    disk = Disk(system)
    if disk.windows:
        templates = [*WINDOWS_FOLDERS, *_windows_python_templates(disk, environ)]
    elif system == "darwin":
        templates = [*_nvm_folders(disk, environ), *DARWIN_FOLDERS, *POSIX_FOLDERS, *SYSTEM_FOLDERS]
    else:
        templates = [*_nvm_folders(disk, environ), *POSIX_FOLDERS, *LINUX_FOLDERS, *SYSTEM_FOLDERS]
    places = (_fill(template, environ, system) for template in templates)
    return [place for place in places if place and disk.folder(place)]


def _entries(paths: Iterable[str | None], app_path: str, separator: str) -> Iterator[str]:
    for path in paths:
        for entry in (path or "").split(separator):
            entry = entry.strip().strip('"')
            if entry in ("$PATH", "${PATH}") or entry.upper() == "%PATH%":
                yield from (folder for folder in app_path.split(separator) if folder)
            elif entry:
                yield entry


def _fill(template: str, environ: Mapping[str, str], system: str) -> str:
    """Put variables into a template; empty when one without a default is not set."""
    filled = template
    while match := re.search(r"\{([A-Za-z_]+)(?:\|([^{}]*))?\}", filled):
        value = variable(environ, match[1], system) or match[2]
        if not value:
            # An outer default may still be replaced by its variable: "{NVM_DIR|{HOME}/.nvm}" without a HOME.
            value = "\0"
        filled = filled[: match.start()] + value + filled[match.end() :]
    return "" if "\0" in filled else filled


def _nvm_folders(disk: Disk, environ: Mapping[str, str]) -> list[str]:
    """nvm's default version, then its newest."""
    root = _fill("{NVM_DIR|{HOME}/.nvm}", environ, disk.system)
    versions = sorted((name for name in disk.names(f"{root}/versions/node") if name.startswith("v")), key=_version)
    if not root or not versions:
        return []
    wanted = disk.text(f"{root}/alias/default").strip()
    for _ in range(5):  # an alias may name another: default -> lts/* -> lts/jod -> v22.1.0
        if not wanted or not (target := disk.text(f"{root}/alias/{wanted}").strip()):
            break
        wanted = target
    number = wanted.removeprefix("v")
    default = [name for name in versions if number and f"{name[1:]}.".startswith(f"{number}.")]
    return [f"{root}/versions/node/{name}/bin" for name in [*default[-1:], versions[-1]]]


def _windows_python_templates(disk: Disk, environ: Mapping[str, str]) -> list[str]:
    """The folders of installed Pythons and of their scripts, newest first."""
    found = []
    for template, endings in WINDOWS_PYTHONS:
        root = _fill(template, environ, disk.system)
        if not root:
            continue
        installed = [name for name in disk.names(root) if re.fullmatch(r"Python\d+(-\d+)?", name, re.IGNORECASE)]
        for name in sorted(installed, key=_version, reverse=True):
            found += [f"{root}\\{name}{ending}" for ending in endings]
    return found


def _version(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]
