"""What stands in a setting for something kept elsewhere: secrets in the keyring and variables of the environment.

Understood are `${secret:ID/FIELD}`, `${env:NAME}`, `${NAME}` and `${NAME:-default}`. Everything else that merely looks
alike (`$HOME`, `$$`, `$5`, `pa${ss`) stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from mcp_patchbay.domain.errors import ConfigError, SecretError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer, Target

if TYPE_CHECKING:
    from mcp_patchbay.domain.ports import Secrets

TextOrBytes = TypeVar("TextOrBytes", str, bytes)

MASK = "•••"
MIN_MASKED = 4
"""Shorter values are not replaced: they stand in too many innocent places."""

_PLACEHOLDER = re.compile(
    r"\$\{(?:"
    r"secret:(?P<id>[^/{}]+)/(?P<field>[^{}]+)"
    r"|env:(?P<env>[^{}:]+?)(?::-(?P<env_default>[^{}]*))?"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?"
    r"|(?P<unknown>[A-Za-z][A-Za-z0-9_-]*:[^{}\s]+)"
    r")\}"
)
_SECRET_NAMES = re.compile(
    r"authorization|cookie|secret|passw(?:or)?d|passphrase|credential|api-?key|token"
    r"|(?:^|-)(?:auth|key|keys|pat|pass|pwd|jwt|bearer|session-id|dsn)(?:-|$)"
)
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def looks_secret(name: str) -> bool:
    """Whether a header or variable of that name usually holds a secret: `Authorization`, `GITHUB_TOKEN`, `apiKey`."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", _CAMEL_CASE.sub("-", name)).lower()
    return _SECRET_NAMES.search(words) is not None


def secret_reference(server_id: str, field: str) -> str:
    """The placeholder of a secret. `field` is such as "headers.Authorization" or "env.API_KEY"."""
    return f"${{secret:{server_id}/{field}}}"


def secret_references(value: Any) -> set[tuple[str, str]]:
    """The (id, field) of every secret that a text, a setting or a whole `ServerSpec` uses."""
    if isinstance(value, str):
        return {(m["id"], m["field"]) for m in _PLACEHOLDER.finditer(value) if m["id"]}
    parts = _parts(value)
    return set().union(*(secret_references(part) for part in parts)) if parts else set()


def _parts(value: Any) -> list[Any]:
    if isinstance(value, ServerSpec):
        return [value.target]
    if isinstance(value, StdioServer):
        return [value.command, value.args, value.env, value.cwd]
    if isinstance(value, HttpServer):
        return [value.url, value.headers]
    if isinstance(value, BuiltinServer):
        return [value.options]
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def moved_references(target: Target, old_id: str, new_id: str) -> Target:
    """The same target with the secrets of server `old_id` looked for under `new_id`."""
    old, new = f"${{secret:{old_id}/", f"${{secret:{new_id}/"

    def moved(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, Mapping):
            return {key: moved(item) for key, item in value.items()}
        return [moved(item) for item in value] if isinstance(value, list | tuple) else value

    if isinstance(target, StdioServer):
        args = tuple(moved(target.args))
        return replace(target, command=moved(target.command), args=args, env=moved(target.env), cwd=moved(target.cwd))
    if isinstance(target, HttpServer):
        return replace(target, url=moved(target.url), headers=moved(target.headers))
    return replace(target, options=moved(target.options)) if isinstance(target, BuiltinServer) else target


async def resolve_target(
    target: Target, secrets: Secrets, environ: Mapping[str, str]
) -> tuple[Target, tuple[str, ...]]:
    """Fill in every placeholder of a target.

    Returns:
        The target to connect with, and what `redact` has to hide: secrets, in each form in which they may turn up.

    Raises:
        ConfigError: a variable is not set, or a placeholder is of a kind that is not known; names the field.
        SecretError: a secret is missing, or the keyring cannot be used.
    """
    resolver = _Resolver(secrets, environ)
    if isinstance(target, StdioServer):
        target = replace(
            target,
            command=await resolver.text(target.command, "command"),
            args=tuple([await resolver.text(arg, f"args[{index}]") for index, arg in enumerate(target.args)]),
            env=await resolver.mapping(target.env, "env"),
            cwd=await resolver.text(target.cwd, "cwd") if target.cwd else target.cwd,
        )
    elif isinstance(target, HttpServer):
        target = replace(
            target,
            url=await resolver.text(target.url, "url"),
            headers=await resolver.mapping(target.headers, "headers"),
        )
    elif isinstance(target, BuiltinServer):
        target = replace(target, options=await resolver.value(target.options, "options"))
    return target, resolver.masks()


class _Resolver:
    def __init__(self, secrets: Secrets, environ: Mapping[str, str]) -> None:
        self.secrets = secrets
        self.environ = environ
        self.hidden: set[str] = set()

    async def mapping(self, values: Mapping[str, str], field: str) -> dict[str, str]:
        resolved = {}
        for name, value in values.items():
            resolved[name] = await self.text(value, f"{field}.{name}")
            if looks_secret(name):  # also when it was written in the file as it is
                self.hidden.add(resolved[name].strip())
                self.hidden.add(resolved[name].strip().rpartition(" ")[2])  # without "Bearer"
        return resolved

    async def value(self, value: Any, field: str) -> Any:
        if isinstance(value, str):
            return await self.text(value, field)
        if isinstance(value, Mapping):
            return {key: await self.value(item, f"{field}.{key}") for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [await self.value(item, f"{field}[{index}]") for index, item in enumerate(value)]
        return value

    async def text(self, text: str, field: str) -> str:
        pieces, end = [], 0
        for match in _PLACEHOLDER.finditer(text):
            pieces += [text[end : match.start()], await self.filled(match, field)]
            end = match.end()
        return "".join([*pieces, text[end:]])

    async def filled(self, match: re.Match[str], field: str) -> str:
        if match["id"]:
            secret = await self.secrets.get(match["id"], match["field"])
            if secret is None:
                raise SecretError(
                    message("error.secret.title"),
                    message("error.secret", field=field),
                    message("error.secret.hint"),
                )
            self.hidden.add(secret)
            return secret
        if match["unknown"]:
            raise ConfigError(
                message("error.field.title"),
                message("error.placeholder_unknown", field=field, name=match[0]),
                message("error.placeholder_unknown.hint"),
                field=field,
            )
        name = match["env"] or match["name"]
        default = match["env_default"] if match["env"] else match["default"]
        value = self.environ.get(name)
        if value is None or (not value and default is not None):  # as in a shell, `:-` also fills in for an empty one
            value = default
        if value is None:
            raise ConfigError(
                message("error.placeholder.title"),
                message("error.placeholder", field=field, name=name),
                message("error.placeholder.hint"),
                field=field,
            )
        if looks_secret(name):
            self.hidden.add(value)
        return value

    def masks(self) -> tuple[str, ...]:
        forms = {form for value in self.hidden for form in _forms(value) if len(form) >= MIN_MASKED}
        return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(value: str) -> set[str]:
    """A secret as it is, inside JSON, and inside a URL."""
    in_json = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    lines = {line.strip() for line in value.splitlines()}
    return {value, value.strip(), quote(value, safe="", errors="replace")} | in_json | lines


def redact(text: TextOrBytes, masks: Iterable[str]) -> TextOrBytes:
    """`text` with every one of `masks` that has 4 or more characters replaced by •••."""
    longest_first = sorted({mask for mask in masks if len(mask) >= MIN_MASKED}, key=len, reverse=True)
    for mask in longest_first:
        if isinstance(text, bytes):
            text = text.replace(mask.encode("utf-8", "surrogatepass"), MASK.encode())
        else:
            text = text.replace(mask, MASK)
    return text
