"""What a server's settings are, and how a raw mapping from a config file is understood."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mcp_patchbay.domain.errors import ConfigError, field_error
from mcp_patchbay.domain.filters import Filters
from mcp_patchbay.domain.messages import message

HttpType = Literal["streamable-http", "sse"]
DEFAULT_TIMEOUT = 60.0
DEFAULT_CONNECT_TIMEOUT = 30.0

TYPE_ALIASES: dict[str, str] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "streamable-http",
    "streamable-http": "streamable-http",
    "streamablehttp": "streamable-http",
    "remote": "streamable-http",
    "sse": "sse",
    "builtin": "builtin",
}
COMMON_KEYS = frozenset(
    {"id", "name", "type", "enabled", "disabled", "status", "description", "timeout", "connect_timeout", "filters"}
    | {"unconfirmed"}
)


def new_server_id() -> str:
    """A fresh id of a server: 32 hex digits. Secrets hang on it, so it survives renaming."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A command that speaks MCP on its standard input and output."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None

    transport = "stdio"
    keys = frozenset({"command", "args", "env", "cwd"})

    def summary(self) -> str:
        """The command line, for people."""
        return " ".join([self.command, *self.args])


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A URL that speaks MCP over streamable HTTP or the older SSE."""

    url: str
    type: HttpType = "streamable-http"
    headers: Mapping[str, str] = field(default_factory=dict)

    keys = frozenset({"url", "headers"})

    @property
    def transport(self) -> str:
        return self.type

    def summary(self) -> str:
        """The URL, for people."""
        return self.url


@dataclass(frozen=True, slots=True)
class BuiltinServer:
    """A server inside this process: a name that the `Builtins` port knows or, in code, an `MCPServer` object."""

    builtin: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    transport = "builtin"
    keys = frozenset({"builtin", "options"})

    def summary(self) -> str:
        """The built-in's name, for people."""
        return self.builtin if isinstance(self.builtin, str) else type(self.builtin).__name__


@dataclass(frozen=True, slots=True)
class InvalidServer:
    """An entry of a config file that cannot be used. It is shown, kept and written back as it was."""

    error: ConfigError = field(compare=False)
    raw: Any

    transport = "invalid"
    keys: frozenset[str] = frozenset()

    def summary(self) -> str:
        """What is wrong, for people."""
        return str(self.error)


Target = StdioServer | HttpServer | BuiltinServer | InvalidServer


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server's settings.

    Attributes:
        name: unique; the key everywhere.
        target: what to connect to.
        id: the server's own id, which survives renaming; its secrets are kept under it.
        enabled: whether it is started with the app.
        timeout: seconds for one tool call; None means the default (60).
        connect_timeout: seconds for connecting; None means the default (30).
        unconfirmed: pasted or imported; it starts only after one "Start" by the user.
        extra: unknown keys of the entry, written back as they were.
    """

    name: str
    target: Target
    id: str = field(default_factory=new_server_id)
    enabled: bool = True
    description: str = ""
    timeout: float | None = None
    connect_timeout: float | None = None
    filters: Filters = field(default_factory=Filters)
    unconfirmed: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def transport(self) -> str:
        """`stdio`, `sse`, `streamable-http`, `builtin` or `invalid`."""
        return self.target.transport

    def connects_like(self, other: ServerSpec) -> bool:
        """Whether both lead to the same connection, so that a change from one to the other needs no reconnect."""
        return (self.target, self.id, self.connect_timeout) == (other.target, other.id, other.connect_timeout)

    def to_mapping(self) -> dict[str, Any]:
        """The entry as `servers.json` holds it (without the name, which is its key)."""
        target = self.target
        if isinstance(target, InvalidServer):
            return dict(target.raw) if isinstance(target.raw, Mapping) else {"raw": target.raw}
        entry: dict[str, Any] = {"id": self.id, "type": target.transport}
        if isinstance(target, StdioServer):
            entry |= {"command": target.command, "args": list(target.args), "env": dict(target.env), "cwd": target.cwd}
        elif isinstance(target, HttpServer):
            entry |= {"url": target.url, "headers": dict(target.headers)}
        else:
            entry |= {"builtin": target.builtin, "options": dict(target.options)}
        entry |= {
            "description": self.description,
            "timeout": self.timeout,
            "connect_timeout": self.connect_timeout,
            "filters": self.filters.to_mapping(),
        }
        entry = {key: value for key, value in entry.items() if value not in (None, "", [], {})}
        if not self.enabled:
            entry["enabled"] = False
        if self.unconfirmed:
            entry["unconfirmed"] = True
        return {**entry, **self.extra}


def parse_server(name: str, raw: Any) -> ServerSpec:
    """Understand one entry of a config by its fields: `url` first, then `command`, then `builtin`; `type` only refines.

    Raises:
        ConfigError: "No command or url provided for server", "Invalid server type", or a field that is not valid.
    """
    if not name.strip():
        raise field_error("name", "a server needs a name")
    if not isinstance(raw, Mapping):
        raise field_error("", f"{name} must be an object, not {type(raw).__name__}")
    target = _target(raw)
    known = COMMON_KEYS | target.keys
    return ServerSpec(
        name=name,
        target=target,
        id=_text(raw, "id") or new_server_id(),
        enabled=_enabled(raw),
        description=_text(raw, "description") or "",
        timeout=_seconds(raw, "timeout"),
        connect_timeout=_seconds(raw, "connect_timeout"),
        filters=Filters.parse(raw.get("filters")),
        unconfirmed=raw.get("unconfirmed") is True,
        extra={key: value for key, value in raw.items() if key not in known},
    )


def read_server(name: str, raw: Any) -> ServerSpec:
    """`parse_server` for files: an entry that cannot be used becomes a row that is off and says what is wrong."""
    try:
        return parse_server(name, raw)
    except ConfigError as error:
        entry = raw if isinstance(raw, Mapping) else {}
        server_id = entry.get("id")
        known = COMMON_KEYS | StdioServer.keys | HttpServer.keys | BuiltinServer.keys
        return ServerSpec(
            name=name,
            target=InvalidServer(error, raw),
            id=server_id if isinstance(server_id, str) and server_id else new_server_id(),
            enabled=False,
            extra={key: value for key, value in entry.items() if key not in known},
        )


def renamed(spec: ServerSpec, name: str) -> ServerSpec:
    """The same server under another name."""
    return replace(spec, name=name)


def _target(raw: Mapping[str, Any]) -> Target:
    kind = _kind(raw)
    if raw.get("url"):
        if kind == "stdio" or kind == "builtin":
            raise field_error("type", f"{raw['type']} does not go with a url")
        return HttpServer(
            url=str(_text(raw, "url")).strip(),
            type="sse" if kind == "sse" else "streamable-http",
            headers=_texts(raw, "headers"),
        )
    if raw.get("command"):
        if kind in ("sse", "streamable-http", "builtin"):
            raise field_error("type", f"{raw['type']} does not go with a command")
        return StdioServer(
            command=str(_text(raw, "command")).strip(),
            args=_args(raw),
            env=_texts(raw, "env"),
            cwd=_text(raw, "cwd") or None,
        )
    if raw.get("builtin"):
        options = raw.get("options") or {}
        if not isinstance(options, Mapping):
            raise field_error("options", "must be an object")
        return BuiltinServer(builtin=raw["builtin"], options=dict(options))
    raise ConfigError(
        message("error.no_target.title"), message("error.no_target"), message("error.no_target.hint"), field="command"
    )


def _kind(raw: Mapping[str, Any]) -> str | None:
    value = raw.get("type")
    if value is None:
        return None
    kind = TYPE_ALIASES.get(str(value).lower().replace("_", "-"))
    if kind is None:
        raise ConfigError(
            message("error.type.title"), message("error.type", type=value), message("error.type.hint"), field="type"
        )
    return kind


def _enabled(raw: Mapping[str, Any]) -> bool:
    """Ours is `enabled`; other tools write `disabled` or a `status` of `activate`, `error` or `disabled`."""
    if isinstance(raw.get("enabled"), bool):
        return bool(raw["enabled"])
    if isinstance(raw.get("disabled"), bool):
        return not raw["disabled"]
    return raw.get("status") not in ("error", "disabled")


def _text(raw: Mapping[str, Any], key: str) -> str | None:
    value = raw.get(key)
    if value is None or isinstance(value, str):
        return value
    raise field_error(key, f"must be a text, not {type(value).__name__}")


def _scalar(value: Any, field: str) -> str:
    """Numbers and booleans that people write without quotes, as the text they mean."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise field_error(field, f"must be a text, not {type(value).__name__}")


def _args(raw: Mapping[str, Any]) -> tuple[str, ...]:
    value = raw.get("args") or ()
    if isinstance(value, str | Mapping):
        raise field_error("args", "must be a list of texts, one argument each")
    return tuple(_scalar(item, "args") for item in value)


def _texts(raw: Mapping[str, Any], key: str) -> dict[str, str]:
    value = raw.get(key) or {}
    if not isinstance(value, Mapping):
        raise field_error(key, "must be an object of names and texts")
    return {str(name): _scalar(item, f"{key}.{name}") for name, item in value.items() if item is not None}


def _seconds(raw: Mapping[str, Any], key: str) -> float | None:
    value = raw.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e7:
        raise field_error(key, "must be a number of seconds above 0")
    return float(value)
