"""Commands that download a package before they run it, and where known commands come from."""

from __future__ import annotations

import ntpath
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNNERS = frozenset({"npx", "pnpx", "bunx", "uvx", "pipx", "docker", "podman", "nerdctl"})
RUNNING_SUBCOMMANDS: dict[str, frozenset[tuple[str, ...]]] = {
    "uv": frozenset({("tool", "run"), ("run",), ("x",)}),
    "npm": frozenset({("exec",), ("x",)}),
    "pnpm": frozenset({("dlx",), ("exec",)}),
    "yarn": frozenset({("dlx",)}),
    "bun": frozenset({("x",)}),
    "deno": frozenset({("run",)}),
}
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish"})
WRAPPERS = frozenset({"cmd", "env", "wsl", "sudo", "nice", "fnm", "mise", "asdf", "volta"})
PRODUCTS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("node", "npx", "npm"), ("Node.js", "https://nodejs.org")),
    **dict.fromkeys(("uv", "uvx"), ("uv", "https://docs.astral.sh/uv")),
    **dict.fromkeys(("bun", "bunx"), ("Bun", "https://bun.sh")),
    **dict.fromkeys(("python", "python3", "py"), ("Python", "https://www.python.org/downloads")),
    "pipx": ("pipx", "https://pipx.pypa.io"),
    "docker": ("Docker", "https://docs.docker.com/get-docker"),
    "podman": ("Podman", "https://podman.io"),
    "deno": ("Deno", "https://deno.com"),
    "pnpm": ("pnpm", "https://pnpm.io"),
    "yarn": ("Yarn", "https://yarnpkg.com"),
    "go": ("Go", "https://go.dev/dl"),
    "dotnet": (".NET", "https://dotnet.microsoft.com"),
    "java": ("Java", "https://adoptium.net"),
}


def program_name(command: str) -> str:
    """The bare, lower-case name of a program: `C:\\x\\NPX.cmd` is `npx`."""
    name = ntpath.basename(command.replace("/", "\\")).lower()
    stem, extension = ntpath.splitext(name)
    return stem if extension in (".exe", ".cmd", ".bat", ".com") else name


def package_runner(argv: Sequence[str]) -> bool:
    """Whether the command fetches a package first, so that its first start may take minutes.

    Looks through `cmd /c`, `sh -c "..."`, `env`, `fnm exec` and the like.
    """
    if not argv:
        return False
    name, rest = program_name(argv[0]), list(argv[1:])
    if name in RUNNERS:
        return True
    words = tuple(word for word in rest if not word.startswith("-"))
    if name in RUNNING_SUBCOMMANDS:
        return any(words[: len(wanted)] == wanted for wanted in RUNNING_SUBCOMMANDS[name])
    if name in SHELLS and "-c" in rest[:-1]:
        return package_runner(_split(rest[rest.index("-c") + 1]))
    if name in WRAPPERS:
        return any(package_runner(rest[start:]) for start in range(min(len(rest), 6)))
    return False


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # an open quote: the shell will say so
        return []
