"""Servers in the text of any MCP client's JSON config, as people paste, import or name it on the command line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.errors import ConfigFileError
from mcp_patchbay.domain.messages import Message, message
from mcp_patchbay.domain.server_names import free_name, suggested_name
from mcp_patchbay.domain.servers import ServerSpec, read_server, renamed
from mcp_patchbay.stores import jsonc

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT_VARIABLE = "MCP_SERVERS"
UNNAMED = "server"
MAX_BYTES = 32 * 1024 * 1024
SERVER_KEYS = ("mcpServers", "servers", "context_servers", "mcp_servers", "mcp", "amp.mcpServers", "mcp.servers")
_TARGET_KEYS = ("url", "command", "builtin")
_ALIASES = {
    "transport": "type",
    "transportType": "type",
    "serverUrl": "url",
    "httpUrl": "url",
    "endpoint": "url",
    "uri": "url",
    "environment": "env",
    "envs": "env",
    "arguments": "args",
    "http_headers": "headers",
}


def file_error(
    text: Message, path: str, hint: Message | None = None, line: int = 0, column: int = 0
) -> ConfigFileError:
    """A `ConfigFileError` about a file that cannot be read."""
    return ConfigFileError(
        message("error.file.title"), text, hint or message("error.file.hint"), path=path, line=line, column=column
    )


def access_error(path: Path, error: OSError) -> ConfigFileError:
    """A `ConfigFileError` about a file that the system does not let us read or write."""
    reason = error.strerror or type(error).__name__
    text = message("error.file_access", path=str(path), reason=reason)
    return file_error(text, str(path), message("error.file_access.hint"))


def syntax_error(path: str, reason: str, line: int, column: int, hint: Message | None = None) -> ConfigFileError:
    """A `ConfigFileError` about a place in a file; `line` and `column` count from 1."""
    text = message("error.file", path=path, line=line, column=column, reason=reason)
    return file_error(text, path, hint, line, column)


def decode(raw: bytes, source: str) -> str:
    """The text of a config file in UTF-8 or UTF-16, with or without a byte order mark (which is left out).

    Raises:
        ConfigFileError: another encoding; it names line and column.
    """
    encoding = json.detect_encoding(raw)
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        good = raw[: error.start].decode(encoding, "replace")
        line, column = jsonc.place(good, len(good))
        reason = f"byte 0x{raw[error.start]:02X} is not {encoding.upper()}; save the file as UTF-8"
        raise syntax_error(source, reason, line, column) from error


def parse_document(text: str, source: str) -> jsonc.Document:
    """`jsonc.parse`, with a `ConfigFileError` that names `source`."""
    try:
        return jsonc.parse(text)
    except jsonc.JsoncError as error:
        raise syntax_error(source, error.reason, error.line, error.column) from error


def read_config_file(path: Path) -> list[ServerSpec]:
    """`read_config_text` for a file. Blocking.

    Raises:
        ConfigFileError: it cannot be read; if the text is at fault, with line and column.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise access_error(path, error) from error
    if len(raw) > MAX_BYTES:
        raise syntax_error(str(path), "the file is too large to be a config", 1, 1)
    return read_config_text(decode(raw, str(path)), str(path))


def read_config_text(text: str, source: str) -> list[ServerSpec]:
    """The servers in a config of any usual shape, in order.

    Understood are `mcpServers`, `servers`, `mcp.servers`, `context_servers` and the like, a bare map of servers, one
    server alone (with a name, or one is made up from its command or URL), a list of servers, and the piece
    `"name": {...}` that READMEs show. An entry that cannot be used becomes a server that is off and says why.

    Args:
        text: the JSON; comments and trailing commas are fine.
        source: the file or variable, for errors.

    Raises:
        ConfigFileError: no JSON, or not a shape that holds servers; it names line and column.
    """
    text = text.removeprefix("\ufeff")
    try:
        value = parse_document(text, source).root.value
    except ConfigFileError:
        value = _braceless(text)
        if value is None:
            raise
    entries = _entries(value)
    if entries is None:
        line, column = jsonc.place(text, len(text) - len(text.lstrip()))
        raise syntax_error(source, "no servers found in this shape", line, column, message("error.file_shape.hint"))
    return _specs(entries)


def environment_servers(environ: Mapping[str, str]) -> list[ServerSpec]:
    """The servers of the variable `MCP_SERVERS`, a JSON array, for this run only; none when it is not set.

    Their ids are the same in every run, so that what is remembered of a server holds.

    Raises:
        ConfigFileError: the variable holds something else; it names line and column.
    """
    text = environ.get(ENVIRONMENT_VARIABLE, "")
    if not text.strip():
        return []
    return [replace(spec, id=_lasting_id(spec.name)) for spec in read_config_text(text, ENVIRONMENT_VARIABLE)]


def _lasting_id(name: str) -> str:
    return hashlib.sha256(f"{ENVIRONMENT_VARIABLE}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _braceless(text: str) -> dict[str, Any] | None:
    """The piece `"name": {...},` as READMEs show it."""
    try:
        value = jsonc.loads("{" + text + "\n}")
    except jsonc.JsoncError:
        return None
    return value if isinstance(value, dict) and value and _entries(value) else None


Entry = tuple[str, Any]
"""A server's name (empty when it has none) and its raw settings."""


def _entries(value: Any) -> list[Entry] | None:
    """The servers in a document; None when its shape holds none."""
    if isinstance(value, list):
        return [_listed(item) for item in value]
    if not isinstance(value, Mapping):
        return None
    if _is_server(value):
        return [_listed(value)]
    found: list[Entry] | None = None
    for key in SERVER_KEYS:
        if key in value:
            inner = _inner(value[key])
            found = inner if found is None else found + (inner or [])
    projects = value.get("projects")
    if isinstance(projects, Mapping):  # Claude Code keeps a project's servers beside the user's
        offered = [entry for folder, inner in projects.items() for entry in _project(str(folder), inner)]
        found = (found or []) + offered if found is not None or offered else None
    if found is None and all(isinstance(item, Mapping) for item in value.values()):
        looks_like_servers = not value or any(_is_server(item) for item in value.values())
        found = [(str(name), item) for name, item in value.items()] if looks_like_servers else None
    return found


def _inner(value: Any) -> list[Entry] | None:
    """What stands under a key such as `mcpServers`."""
    if value is None:
        return []
    if isinstance(value, list):
        return [_listed(item) for item in value]
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("servers"), Mapping) and not _is_server(value["servers"]):  # "mcp": {"servers": {...}}
        return [(str(name), item) for name, item in value["servers"].items()]
    return [(str(name), item) for name, item in value.items()]


def _project(folder: str, value: Any) -> list[Entry]:
    """A project's servers: offered, but off, for they are meant for that folder only."""
    servers = value.get("mcpServers") if isinstance(value, Mapping) else None
    if not isinstance(servers, Mapping):
        return []
    return [
        (str(name), {"description": folder, **item, "enabled": False} if isinstance(item, Mapping) else item)
        for name, item in servers.items()
    ]


def _listed(item: Any) -> Entry:
    """A server that carries its own name."""
    if not isinstance(item, Mapping):
        return "", item
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        return "", item
    return name, {key: inner for key, inner in item.items() if key != "name"}


def _is_server(value: Any) -> bool:
    """Whether a mapping is one server's settings, not a map of servers."""
    if not isinstance(value, Mapping):
        return False
    known = {_ALIASES.get(key, key): inner for key, inner in value.items()}
    command = known.get("command")
    if isinstance(command, Mapping):  # either Zed's command object, or a server that is named "command"
        return "path" in command
    return any(isinstance(known.get(key), str | list) for key in _TARGET_KEYS)


def _specs(entries: Iterable[Entry]) -> list[ServerSpec]:
    specs: list[ServerSpec] = []
    taken: set[str] = set()
    for given, raw in entries:
        spec = read_server(given.strip() or UNNAMED, normal_entry(raw))
        name = free_name(spec.name, taken) if given.strip() else suggested_name(spec.target, taken)
        taken.add(name)
        specs.append(renamed(spec, name))
    return specs


def normal_entry(raw: Any) -> Any:
    """One server's settings with the key names of other clients turned into ours; unknown keys stay."""
    if not isinstance(raw, Mapping):
        return raw
    entry: dict[str, Any] = {}
    for key, value in raw.items():
        ours = _ALIASES.get(str(key), str(key))
        if ours == key or ours not in raw:
            entry[ours] = value
    command = entry.get("command")
    if isinstance(command, Mapping):  # Zed: {"path": ..., "args": [...], "env": {...}}
        entry["command"] = command.get("path")
        for key in ("args", "env"):
            if command.get(key):
                entry.setdefault(key, command[key])
    elif isinstance(command, list) and command:  # OpenCode: the whole command line as a list
        entry["command"] = command[0]
        entry["args"] = [*command[1:], *(entry.get("args") or [])]
    return entry
