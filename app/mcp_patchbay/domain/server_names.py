"""A name for a server that was pasted without one, taken from its package or host."""

from __future__ import annotations

import re
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, StdioServer, Target

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_RUNNERS = frozenset(
    {"npx", "bunx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "deno", "uv", "docker", "podman"}
    | {"node", "python", "python3", "py", "cmd", "sh", "bash"}
)
_SUBCOMMANDS = frozenset({"run", "exec", "dlx", "x", "tool", "start", "/c"} | {"npx", "uvx"})
# Options whose value stands in the next word, so that the value is not taken for the package.
_WITH_VALUE = frozenset({"-e", "--env", "-v", "--volume", "--mount", "-p", "--network", "--name", "-w", "--directory"})
_AFFIXES = re.compile(r"^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])|(?:[-_]mcp[-_]server|[-_]server|[-_]mcp)$")
_SUFFIXES = (".exe", ".cmd", ".bat", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh")
_PLAIN_LABELS = frozenset({"www", "mcp", "api", "server"})


def suggested_name(target: Target, taken: Collection[str] = ()) -> str:
    """A short name such as "everything" for `npx -y @modelcontextprotocol/server-everything`; never one of `taken`."""
    if isinstance(target, StdioServer):
        name = _from_command(target.command, target.args)
    elif isinstance(target, HttpServer):
        name = _from_url(target.url)
    else:
        name = target.summary() if isinstance(target, BuiltinServer) else ""
    return free_name(name or "server", taken)


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or the first of "name 2", "name 3" ... that is not taken."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name} {number}"
    return free


def _from_command(command: str, args: Sequence[str]) -> str:
    program = _bare(command)
    if program.lower() not in _RUNNERS:
        return program
    is_value = False
    for arg in args:
        if is_value:
            is_value = False
        elif arg.startswith("-"):
            is_value = arg in _WITH_VALUE
        elif arg.lower() not in _SUBCOMMANDS and (name := _bare(arg)):
            return name
    return program


def _from_url(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    labels = host.split(".")
    if len(labels) < 2 or labels[-1].isdigit():
        return host
    return next((label for label in labels[:-1] if label not in _PLAIN_LABELS), labels[0])


def _bare(word: str) -> str:
    """A package, file or image without folder, scope, version and the words that all servers have in their names."""
    name = PureWindowsPath(word).name
    name = re.split(r"(?<!^)@|==|:", name)[0]
    name = next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.lower().endswith(suffix)), name)
    return _AFFIXES.sub("", name) or name
