"""Understanding what a person pasted to add servers: a URL, a command line, or any client's JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_patchbay.domain.command_line import parse_command_line
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.fields import check_url
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.server_names import free_name, suggested_name
from mcp_patchbay.domain.servers import HttpServer, InvalidServer, ServerSpec, StdioServer, Target
from mcp_patchbay.stores.config_text import read_config_text

if TYPE_CHECKING:
    from collections.abc import Collection


def read_pasted(text: str, taken: Collection[str] = ()) -> list[ServerSpec]:
    """The servers in a pasted text, unconfirmed, with names that are not `taken`.

    Raises:
        PatchbayError: it is none of the things that are understood, or holds no server.
    """
    bare = _without_fence(text)
    if bare.startswith(("http://", "https://")) and check_url(bare) is None:
        return [_new(HttpServer(bare, "sse" if bare.rstrip("/").endswith("/sse") else "streamable-http"), taken)]
    if bare.startswith(("{", "[", '"', "//", "/*")):
        return _renamed_apart(read_config_text(bare, "the pasted text"), taken)
    line = parse_command_line(bare)
    return [_new(StdioServer(line.command, line.args, line.env), taken)]


def usable(servers: Collection[ServerSpec]) -> list[ServerSpec]:
    """Those that can be added; the others only say what is wrong with them."""
    return [spec for spec in servers if not isinstance(spec.target, InvalidServer)]


def _new(target: Target, taken: Collection[str]) -> ServerSpec:
    return ServerSpec(suggested_name(target, taken), target, unconfirmed=True)


def _renamed_apart(servers: list[ServerSpec], taken: Collection[str]) -> list[ServerSpec]:
    if not servers:
        raise PatchbayError(message("error.pasted.title"), message("error.pasted.empty"), message("error.pasted.hint"))
    names = set(taken)
    apart = []
    for spec in servers:
        name = free_name(spec.name, names)
        names.add(name)
        apart.append(replace(spec, name=name, unconfirmed=True))
    return apart


def _without_fence(text: str) -> str:
    """The text without the Markdown fence or backticks that pages put around code."""
    lines = text.strip().removeprefix("\ufeff").splitlines()
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    bare = "\n".join(lines).strip()
    return bare.strip("`").strip() if bare.startswith("`") and bare.endswith("`") else bare
