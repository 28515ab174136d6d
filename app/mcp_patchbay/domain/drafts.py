"""A server's settings while a person edits them: plain texts, what is wrong with them, and the way back to a spec."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mcp_patchbay.domain import fields
from mcp_patchbay.domain.command_line import shown_command_line
from mcp_patchbay.domain.fields import FieldProblem
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.globs import check_pattern
from mcp_patchbay.domain.messages import Message, message
from mcp_patchbay.domain.placeholders import looks_secret, secret_reference, secret_references
from mcp_patchbay.domain.servers import (
    COMMON_KEYS,
    BuiltinServer,
    HttpServer,
    HttpType,
    InvalidServer,
    ServerSpec,
    StdioServer,
    Target,
    parse_server,
)

Kind = Literal["command", "url", "builtin"]
Section = Literal["env", "headers"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One variable or header.

    Attributes:
        name: as typed.
        value: as typed. Empty for a secret that is in the keyring and stays as it is: it is never read for editing.
        kept: whether the value is to be kept in the keyring.
        stored: the placeholder `${secret:ID/FIELD}` that the file holds, when the value is in the keyring already.
    """

    name: str = ""
    value: str = field(default="", repr=False)
    kept: bool = False
    stored: str = ""

    @property
    def unchanged_secret(self) -> bool:
        """Whether the keyring's value stays as it is."""
        return self.kept and bool(self.stored) and not self.value

    @property
    def blank(self) -> bool:
        """Whether the row says nothing, so that it is left out."""
        return not self.name.strip() and not self.value and not self.unchanged_secret


@dataclass(frozen=True, slots=True)
class Draft:
    """The form of the server editor. Two drafts are equal when nothing was changed.

    Time limits are seconds as text, empty for the default; patterns are one a line. `base` is the spec it started
    from: what no field shows (id, enabled, unknown keys) comes from there.
    """

    base: ServerSpec
    kind: Kind = "command"
    name: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[Entry, ...] = ()
    cwd: str = ""
    url: str = ""
    http_type: HttpType = "streamable-http"
    headers: tuple[Entry, ...] = ()
    builtin: str = "filesystem"
    folders: tuple[str, ...] = ()
    connect_timeout: str = ""
    timeout: str = ""
    allow_tools: str = ""
    block_tools: str = ""
    allow_prompts: str = ""
    block_prompts: str = ""
    description: str = ""

    @classmethod
    def blank(cls, kind: Kind = "command") -> Draft:
        """The form of a server that is to be added."""
        return cls(ServerSpec(name="", target=StdioServer("")), kind=kind)

    @classmethod
    def from_spec(cls, spec: ServerSpec) -> Draft:
        """The form of a server as it is. Secrets in the keyring stay there."""
        draft = cls(
            spec,
            name=spec.name,
            connect_timeout=fields.write_seconds(spec.connect_timeout),
            timeout=fields.write_seconds(spec.timeout),
            allow_tools="\n".join(spec.filters.tools.allow),
            block_tools="\n".join(spec.filters.tools.block),
            allow_prompts="\n".join(spec.filters.prompts.allow),
            block_prompts="\n".join(spec.filters.prompts.block),
            description=spec.description,
        )
        target = spec.target
        if isinstance(target, InvalidServer):
            return _from_broken(draft, target.raw)
        if isinstance(target, HttpServer):
            headers = _entries(spec.id, target.headers)
            return replace(draft, kind="url", url=target.url, http_type=target.type, headers=headers)
        if isinstance(target, BuiltinServer):
            folders = target.options.get("allowed_directories") or ()
            folders = tuple(str(folder) for folder in folders) if isinstance(folders, list | tuple) else ()
            return replace(draft, kind="builtin", builtin=target.summary(), folders=folders)
        env = _entries(spec.id, target.env)
        return replace(draft, command=target.command, args=target.args, env=env, cwd=target.cwd or "")

    def with_secrets_kept(self) -> Draft:
        """The same with every value that looks like a secret kept in the keyring; for what was pasted or imported."""
        return replace(
            self,
            env=tuple(_kept_if_secret(entry) for entry in self.env),
            headers=tuple(_kept_if_secret(entry) for entry in self.headers),
        )

    def problems(self, taken: Collection[str] = ()) -> list[FieldProblem]:
        """Everything that is wrong, in the order of the form. `taken` are the names of the other servers."""
        return [*self._name_problems(taken), *self._target_problems(), *self._common_problems()]

    def to_spec(self) -> tuple[ServerSpec, dict[str, str | None]]:
        """The spec, and what to do with the keyring: a field such as "env.API_KEY" to its secret, None to remove it.

        Only for a draft without problems.
        """
        secrets: dict[str, str | None] = {}
        target = self._target(secrets)
        spec = replace(
            self.base,
            name=self.name.strip(),
            target=target,
            enabled=_enabled(self.base),
            description=self.description.strip(),
            timeout=fields.read_seconds(self.timeout),
            connect_timeout=fields.read_seconds(self.connect_timeout),
            filters=Filters(self.tool_patterns(), self.prompt_patterns()),
            extra=_extra(self.base),
        )
        for owner, gone in secret_references(self.base) - secret_references(spec):
            if owner == spec.id:
                secrets[gone] = None
        return spec, secrets

    def tool_patterns(self) -> Patterns:
        """The filters for tools, without the patterns that are none."""
        return Patterns(good_patterns(self.allow_tools), good_patterns(self.block_tools))

    def prompt_patterns(self) -> Patterns:
        """The filters for prompts, without the patterns that are none."""
        return Patterns(good_patterns(self.allow_prompts), good_patterns(self.block_prompts))

    def _name_problems(self, taken: Collection[str]) -> Iterable[FieldProblem]:
        name = self.name.strip()
        if not name:
            yield FieldProblem("name", message("field.name.empty"))
        elif name in taken:
            yield FieldProblem("name", message("field.name.taken", name=name))

    def _target_problems(self) -> Iterable[FieldProblem]:
        if self.kind == "command":
            if not self.command.strip():
                yield FieldProblem("command", message("field.command.empty"))
            elif "\0" in self.command:
                yield FieldProblem("command", message("field.nul"))
            for row, arg in enumerate(self.args):
                if "\0" in arg:
                    yield FieldProblem("args", message("field.nul"), row)
            yield from _entry_problems("env", self.env)
            if self.cwd.strip() and (problem := fields.check_folder(self.cwd)):
                yield FieldProblem("cwd", problem)
        elif self.kind == "url":
            if problem := fields.check_url(self.url):
                yield FieldProblem("url", problem)
            yield from _entry_problems("headers", self.headers)
        else:
            if not self.builtin:
                yield FieldProblem("builtin", message("field.builtin.empty"))
            if not any(folder.strip() for folder in self.folders):
                yield FieldProblem("folders", message("field.folders.none"))
            for row, folder in enumerate(self.folders):
                if folder.strip() and (problem := fields.check_folder(folder)):
                    yield FieldProblem("folders", problem, row)

    def _common_problems(self) -> Iterable[FieldProblem]:
        for name, text in (("connect_timeout", self.connect_timeout), ("timeout", self.timeout)):
            if problem := fields.check_seconds(text):
                yield FieldProblem(name, problem)
        for name, text in (
            ("filters.tools.allow", self.allow_tools),
            ("filters.tools.block", self.block_tools),
            ("filters.prompts.allow", self.allow_prompts),
            ("filters.prompts.block", self.block_prompts),
        ):
            for row, pattern in enumerate(text.splitlines()):
                if pattern.strip() and (reason := check_pattern(pattern.strip())):
                    yield FieldProblem(name, message("field.pattern", pattern=pattern.strip(), reason=reason), row)

    def _target(self, secrets: dict[str, str | None]) -> Target:
        """What to connect to. Adds what is to be put into the keyring to `secrets`."""
        if self.kind == "command":
            args = tuple(self.args)
            env = _texts(self.base.id, "env", self.env, secrets)
            return StdioServer(self.command.strip(), args, env, self.cwd.strip() or None)
        if self.kind == "url":
            return HttpServer(self.url.strip(), self.http_type, _texts(self.base.id, "headers", self.headers, secrets))
        folders = [folder.strip() for folder in self.folders if folder.strip()]
        before = self.base.target
        if isinstance(before, BuiltinServer) and before.summary() == self.builtin:
            return replace(before, options={**before.options, "allowed_directories": folders})
        return BuiltinServer(self.builtin, {"allowed_directories": folders})


def keep_by_default(name: str, value: str) -> bool:
    """Whether a value should go to the keyring unless its user says otherwise; a `${...}` alone is no secret."""
    return looks_secret(name) and not (value.startswith("${") and value.endswith("}"))


def shown_target(target: Target) -> str:
    """Exactly what would be started or reached, in one line, for someone who has to agree to it."""
    if isinstance(target, StdioServer):
        return shown_command_line([target.command, *target.args])
    return target.summary()


def _entries(server_id: str, texts: Mapping[str, str]) -> tuple[Entry, ...]:
    return tuple(
        Entry(name, kept=True, stored=value) if _stored_field(server_id, value) else Entry(name, value)
        for name, value in texts.items()
    )


def _stored_field(server_id: str, value: str) -> str:
    """The field of a value that is nothing but a secret of this server; empty for any other value."""
    references = secret_references(value)
    if len(references) != 1:
        return ""
    owner, name = next(iter(references))
    return name if owner == server_id and value == secret_reference(owner, name) else ""


def _texts(
    server_id: str, section: Section, entries: tuple[Entry, ...], secrets: dict[str, str | None]
) -> dict[str, str]:
    """The entries as the file holds them. What is new in the keyring is added to `secrets`."""
    taken = {_stored_field(server_id, entry.stored) for entry in entries if entry.unchanged_secret}
    texts: dict[str, str] = {}
    for entry in entries:
        name = entry.name.strip()
        value = entry.value.strip() if section == "headers" else entry.value
        if entry.blank:
            continue
        if entry.unchanged_secret:
            texts[name] = entry.stored
        elif entry.kept and value:
            # A renamed entry still uses the field of its old name, so that one may be taken.
            place = _free(_stored_field(server_id, entry.stored) or f"{section}.{name}", taken)
            taken.add(place)
            secrets[place] = value
            texts[name] = secret_reference(server_id, place)
        else:
            texts[name] = value
    return texts


def _free(wanted: str, taken: Collection[str]) -> str:
    return next(place for place in (wanted, *(f"{wanted}-{n}" for n in range(2, 10_000))) if place not in taken)


def _entry_problems(section: Section, entries: tuple[Entry, ...]) -> Iterable[FieldProblem]:
    seen: set[str] = set()
    for row, entry in enumerate(entries):
        if entry.blank:
            continue
        name = entry.name.strip()
        problem = (fields.check_header_name if section == "headers" else fields.check_variable_name)(name)
        key = name.lower() if section == "headers" else name
        if problem is None and key in seen:
            problem = message("field.entry.twice", name=name)
        if problem is None and not entry.unchanged_secret:
            problem = _value_problem(section, name, entry)
        seen.add(key)
        if problem is not None:
            yield FieldProblem(section, problem, row)


def _value_problem(section: Section, name: str, entry: Entry) -> Message | None:
    if not entry.value.strip() and (section == "headers" or entry.kept):
        return message("field.entry.value", name=name)
    if section == "headers":
        return fields.check_header_value(name, entry.value)
    return message("field.nul") if "\0" in entry.value else None


def _kept_if_secret(entry: Entry) -> Entry:
    return replace(entry, kept=True) if entry.value and keep_by_default(entry.name, entry.value) else entry


def good_patterns(text: str) -> tuple[str, ...]:
    """The patterns of a text with one a line, without those that are none."""
    patterns = (line.strip() for line in text.splitlines())
    return tuple(pattern for pattern in patterns if pattern and check_pattern(pattern) is None)


def _from_broken(draft: Draft, raw: Any) -> Draft:
    """As much of an entry that cannot be used as makes sense, to be corrected."""
    if not isinstance(raw, Mapping):
        return draft

    def text(key: str) -> str:
        value = raw.get(key)
        return value if isinstance(value, str) else ""

    def texts(key: str) -> tuple[Entry, ...]:
        value = raw.get(key)
        named = value if isinstance(value, Mapping) else {}
        return _entries(draft.base.id, {str(name): str(item) for name, item in named.items()})

    args = raw.get("args")
    return replace(
        draft,
        kind="url" if raw.get("url") else "command",
        command=text("command"),
        args=tuple(str(arg) for arg in args) if isinstance(args, list) else (),
        env=texts("env"),
        cwd=text("cwd"),
        url=text("url"),
        headers=texts("headers"),
        description=text("description"),
    )


def _enabled(base: ServerSpec) -> bool:
    """As before. An entry that could not be used was off only for that reason, unless it said so itself."""
    if not isinstance(base.target, InvalidServer) or not isinstance(base.target.raw, Mapping):
        return base.enabled
    said = {key: base.target.raw[key] for key in ("enabled", "disabled", "status") if key in base.target.raw}
    return parse_server("entry", {"command": "entry", **said}).enabled


def _extra(base: ServerSpec) -> Mapping[str, Any]:
    """The keys of the entry that are not ours, to be written back."""
    if not isinstance(base.target, InvalidServer):
        return base.extra
    raw = base.target.raw if isinstance(base.target.raw, Mapping) else {}
    known = COMMON_KEYS | StdioServer.keys | HttpServer.keys | BuiltinServer.keys
    return {key: value for key, value in raw.items() if key not in known}
