"""Understanding what a person pasted to add servers: a URL, a command line, or any client's JSON."""

from __future__ import annotations

import re
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

_JSON_STARTS = ("{", "[", '"', "//", "/*")
_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_JSON_BETWEEN_PROSE = re.compile(r"^[ \t]*\{[ \t]*\n.*\n[ \t]*\}(?=[ \t]*$)", re.MULTILINE | re.DOTALL)


def read_pasted(text: str, taken: Collection[str] = ()) -> list[ServerSpec]:
    """The servers in a pasted text, unconfirmed, with names that are not `taken`.

    Raises:
        PatchbayError: it is none of the things that are understood, or holds no server.
    """
    bare = _code_in(text)
    if bare.startswith(("http://", "https://")) and check_url(bare) is None:
        return [_new(HttpServer(bare, "sse" if bare.rstrip("/").endswith("/sse") else "streamable-http"), taken)]
    if bare.startswith(_JSON_STARTS):
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


def _code_in(text: str) -> str:
    """What of a page is meant: the first fenced block, else JSON between lines of prose, else all; no backticks."""
    bare = text.strip().removeprefix("\ufeff").strip()
    if fenced := _FENCED.search(bare):
        return fenced[1].strip()
    if not bare.startswith(_JSON_STARTS) and (between := _JSON_BETWEEN_PROSE.search(bare)):
        return between[0]
    return bare.strip("`").strip() if bare.startswith("`") and bare.endswith("`") else bare
