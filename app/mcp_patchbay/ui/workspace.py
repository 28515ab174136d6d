"""What a person does to their servers. Each action changes the file, the keyring and the engine together.

No Qt in here: the windows, the tray and the tests call it alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcp_patchbay.domain.errors import ConfigError, ConfigFileError, NotConnectedError, NotFoundError, SecretError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.placeholders import moved_references, secret_references
from mcp_patchbay.domain.server_names import free_name
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec, new_server_id, renamed
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.stores.saving import save_with_secrets
from mcp_patchbay.ui.following import follow, together

if TYPE_CHECKING:
    from mcp_patchbay.domain.ports import Secrets
    from mcp_patchbay.domain.state import CheckReport
    from mcp_patchbay.engine.hub import ServerHub
    from mcp_patchbay.stores.secrets import SecretStore
    from mcp_patchbay.stores.servers_file import ServersFile

log = logging.getLogger(__name__)

SecretChanges = Mapping[str, str | None]
"""A field such as "headers.Authorization" or "env.API_KEY" to its new secret; None removes it."""
Servers = dict[str, ServerSpec]
FINISH_LIMIT = 3.0
"""Seconds that `finish` gives the keyring at quit."""


@dataclass(frozen=True, slots=True)
class UndoStep:
    """What one action replaced or took away: entries with their places, and secrets."""

    action: str
    """"delete" or "update"."""
    entries: tuple[tuple[int, ServerSpec], ...]
    secrets: SecretChanges = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(spec.name for _, spec in self.entries)


class Workspace:
    """The user's servers.

    The hub comes later than the window: until `attach` it is None, and every action works on the file alone.
    What an action saved stays saved, whatever the engine then makes of it.

    Args:
        file: the servers.json.
        secrets: where secrets go.
        transient: the servers of `MCP_SERVERS`: there for this run, never saved, in the place of a saved one of the
            same name.
    """

    def __init__(self, file: ServersFile, secrets: SecretStore, transient: Iterable[ServerSpec] = ()) -> None:
        self.file = file
        self.secrets = secrets
        self.hub: ServerHub | None = None
        self._transient = {spec.name: spec for spec in transient}
        self._saved: tuple[ServerSpec, ...] = file.latest
        self._listeners: list[Callable[[], None]] = []
        self._undo: list[UndoStep] = []
        self._deleted: dict[str, ServerSpec] = {}
        self._saving = asyncio.Lock()

    # ---- what there is
    def load(self) -> None:
        """Read the file; `problem` says when it cannot be used. Blocking, but short."""
        try:
            self.file.load()
        except ConfigFileError as error:
            log.warning("%s", error)
        self._adopt()

    @property
    def problem(self) -> ConfigFileError | None:
        """Why servers.json cannot be used now; None when all is well."""
        return self.file.problem

    def servers(self) -> tuple[ServerSpec, ...]:
        """All servers in order: the file's, then those of `MCP_SERVERS` that stand in no saved one's place."""
        merged = {spec.name: self._transient.get(spec.name, spec) for spec in self._saved}
        return tuple((merged | self._transient).values())

    def get(self, name: str) -> ServerSpec | None:
        """One server's settings, or None when there is no such server."""
        return next((spec for spec in self.servers() if spec.name == name), None)

    def snapshot(self, name: str) -> Snapshot:
        """What is known of a server now; before the engine is there, what its settings say.

        Raises:
            NotFoundError: no such server.
        """
        spec = self._known(name)
        if self.hub is not None and self.hub.get_server(name) is not None:
            snapshot = self.hub.snapshot(name)
        else:
            off = not spec.enabled or isinstance(spec.target, InvalidServer)
            snapshot = Snapshot(spec, ServerState.DISABLED if off else ServerState.STOPPED)
        return replace(snapshot, transient=name in self._transient)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Hear when the list of servers, a server's settings or `problem` changed. Returns the way out."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # ---- the engine and the world
    async def attach(self, hub: ServerHub) -> None:
        """Take the engine in: from now on it follows the list of servers."""
        self.hub = hub
        for name in self._transient:
            if hub.get_server(name) is not None and not hub.snapshot(name).transient:
                await hub.delete_server(name)
        await self._follow()
        self._tell()

    async def watch(self) -> None:
        """Apply what others write into the file, as long as the app runs. Ends when it is cancelled."""
        async with contextlib.aclosing(self.file.watch()) as changes:
            async for _ in changes:
                self._adopt()
                try:
                    await self._follow()
                except Exception:
                    log.exception("a change of %s could not be applied", self.file.path)

    async def finish(self) -> None:
        """At quit: remove the secrets of servers whose deletion can no longer be undone. Bounded; never raises."""
        self._undo.clear()
        used = self._references()
        kept = {spec.id for spec in self.servers()}
        gone = [
            (server_id, name)
            for server_id, spec in self._deleted.items()
            if server_id not in kept
            for name in self._secret_names(spec)
            if (server_id, name) not in used
        ]
        try:
            async with asyncio.timeout(FINISH_LIMIT):
                for server_id, name in gone:
                    await self.secrets.delete(server_id, name)
        except (SecretError, TimeoutError) as error:
            log.warning("secrets of deleted servers stay in the keyring: %s", error)

    # ---- changes that are saved
    async def add(self, spec: ServerSpec, secrets: SecretChanges | None = None) -> None:
        """Save a new server, with its secrets, and start it if it is enabled and confirmed.

        Raises:
            ConfigError: "Server with name X already exists".
            ConfigFileError, SecretError: it could not be saved; nothing was changed.
        """
        if any(known.id == spec.id for known in self.servers()):
            spec = _with_new_id(spec)

        def append(servers: Servers) -> Servers:
            self._refuse_taken(spec.name, servers)
            return {**servers, spec.name: spec}

        async with self._saving:
            await self._save(append, spec.id, secrets or {})
        await self._follow()

    async def update(self, name: str, spec: ServerSpec, secrets: SecretChanges | None = None) -> None:
        """Save a server's new settings, perhaps with another name. `undo` takes it back, with the secrets.

        Raises:
            NotFoundError: no such server.
            ConfigError: the new name is taken, or the server is of this run only.
            ConfigFileError, SecretError: it could not be saved; nothing was changed.
        """
        self._refuse_transient([name])
        entries: list[tuple[int, ServerSpec]] = []

        def exchange(servers: Servers) -> Servers:
            if name not in servers:
                raise _unknown(name)
            if spec.name != name:
                self._refuse_taken(spec.name, servers)
            entries[:] = [(list(servers).index(name), servers[name])]
            new = replace(spec, id=servers[name].id)
            return {new.name if key == name else key: new if key == name else old for key, old in servers.items()}

        async with self._saving:
            replaced = await self._save(exchange, spec.id, secrets or {})
            self._undo.append(UndoStep("update", tuple(entries), replaced))
        await self._follow()

    async def duplicate(self, name: str) -> str:
        """Save a copy of a server below it, with copies of its secrets. It is off, as two alike may disturb each other.

        Returns:
            The copy's name.

        Raises:
            NotFoundError: no such server.
            ConfigFileError, SecretError: it could not be saved; nothing was changed.
        """
        original = self._known(name)
        copy = replace(_with_new_id(original), name=self._copy_name(name), enabled=False)
        secrets: dict[str, str | None] = {}
        for server_id, secret in secret_references(original):
            if server_id == original.id:
                secrets[secret] = await self.secrets.get(server_id, secret)

        def insert(servers: Servers) -> Servers:
            self._refuse_taken(copy.name, servers)
            place = list(servers).index(name) + 1 if name in servers else len(servers)
            return _inserted(servers, place, copy)

        async with self._saving:
            await self._save(insert, copy.id, {key: value for key, value in secrets.items() if value is not None})
        await self._follow()
        return copy.name

    async def delete(self, names: Iterable[str]) -> None:
        """Delete servers. Their secrets stay until `finish`, so that `undo` brings everything back.

        Raises:
            ConfigError: a server is of this run only.
            ConfigFileError: it could not be saved; nothing was changed.
        """
        chosen = set(names)
        self._refuse_transient(chosen)
        entries: list[tuple[int, ServerSpec]] = []

        def take_out(servers: Servers) -> Servers:
            entries[:] = [(place, spec) for place, spec in enumerate(servers.values()) if spec.name in chosen]
            return {name: spec for name, spec in servers.items() if name not in chosen}

        async with self._saving:
            await self._save(take_out)
            if entries:
                self._undo.append(UndoStep("delete", tuple(entries)))
                self._deleted |= {spec.id: spec for _, spec in entries}
        await self._follow()

    @property
    def undo_step(self) -> UndoStep | None:
        """What `undo` would take back, or None."""
        return self._undo[-1] if self._undo else None

    async def undo(self) -> None:
        """Take back the last `delete` or `update`: entries at their old places, with their secrets.

        An entry whose name another server has by now gets a free one, such as "github 2".

        Raises:
            ConfigFileError, SecretError: it could not be saved; nothing was changed, and `undo` can be tried again.
        """
        async with self._saving:
            if not self._undo:
                return
            step = self._undo[-1]

            def put_back(servers: Servers) -> Servers:
                ids = {spec.id for _, spec in step.entries}
                rest = {name: spec for name, spec in servers.items() if spec.id not in ids}
                for place, spec in step.entries:
                    rest = _inserted(rest, place, renamed(spec, free_name(spec.name, rest)))
                return rest

            await self._save(put_back, step.entries[0][1].id, step.secrets)
            self._undo.remove(step)
        await self._follow()

    async def set_enabled(self, names: Iterable[str], on: bool) -> None:
        """Switch servers on or off, for good.

        Raises:
            ConfigError: a server is of this run only, or its entry cannot be used; the others are switched.
            ConfigFileError: it could not be saved; nothing was changed.
        """
        chosen = list(names)
        await self._edit_each(chosen, lambda spec: replace(spec, enabled=on))
        if on:
            self._refuse_invalid(chosen)
        self._refuse_transient(chosen)

    async def restore_last_good(self) -> None:
        """Bring back the last good servers.json; the damaged one is kept beside it.

        Raises:
            ConfigFileError: there is none, or it could not be written.
        """
        async with self._saving:
            await asyncio.to_thread(self.file.restore_last_good)
            self._adopt()
        await self._follow()

    # ---- for this run
    async def start(self, names: Iterable[str]) -> None:
        """Start servers, or try again at once. Confirms what was pasted, and switches on what is off.

        Raises:
            NotFoundError: no such server.
            ConfigError: an entry cannot be used; the others are started.
            ConfigFileError: it could not be saved.
        """
        chosen = [self._known(name) for name in names]
        self.secrets.try_again()
        due = [spec.name for spec in chosen if not spec.enabled or spec.unconfirmed]
        await self._edit_each(due, lambda spec: replace(spec, enabled=True, unconfirmed=False))
        if (hub := self.hub) is not None:
            rest = [spec.name for spec in chosen if spec.name not in due or spec.name in self._transient]
            await together(hub.start(name, wait=False) for name in rest)
        self._refuse_invalid(due)

    async def stop(self, names: Iterable[str]) -> None:
        """Stop servers for this run; the file stays as it is."""
        if (hub := self.hub) is not None:
            await together(hub.stop(self._known(name).name) for name in names)

    async def restart(self, names: Iterable[str]) -> None:
        """Stop servers and start them again.

        Raises:
            NotFoundError: no such server.
            NotConnectedError: the engine is not there yet.
        """
        hub = self._engine()
        self.secrets.try_again()
        await together(hub.restart(self._known(name).name, wait=False) for name in names)

    async def pause_all(self) -> None:
        """Stop every server for this run; `resume` starts those again."""
        if self.hub is not None:
            await self.hub.pause_all()

    async def resume(self) -> None:
        """Start what `pause_all` stopped."""
        if self.hub is not None:
            await self.hub.resume()

    @property
    def paused(self) -> bool:
        """Whether there is something for `resume` to start."""
        return self.hub is not None and self.hub.paused

    async def check(self, spec: ServerSpec, secrets: SecretChanges | None = None) -> CheckReport:
        """Try settings that are not saved yet, with secrets that are not saved yet, on a connection of its own.

        Raises:
            NotConnectedError: the engine is not there yet.
        """
        hub = self._engine()
        self.secrets.try_again()
        return await hub.check_server_status(spec, secrets=_UnsavedSecrets(self.secrets, spec.id, secrets or {}))

    # ---- secrets that nothing uses
    def unused_secrets(self) -> tuple[tuple[str, str], ...]:
        """The (id, field) of secrets in the keyring that no server uses, and no undo would bring back."""
        used = self._references()
        kept = {spec.id for spec in self.servers()} | set(self._deleted)
        return tuple(
            (server_id, name)
            for server_id, names in self.secrets.listed().items()
            for name in names
            if (server_id, name) not in used and server_id not in kept
        )

    async def remove_unused_secrets(self) -> None:
        """Remove what `unused_secrets` lists.

        Raises:
            SecretError: the keyring failed; what was removed until then is gone.
        """
        for server_id, name in self.unused_secrets():
            await self.secrets.delete(server_id, name)

    # ---- inside
    async def _save(
        self, change: Callable[[Servers], Servers], server_id: str = "", secrets: SecretChanges | None = None
    ) -> dict[str, str | None]:
        """Change the file and the keyring together; returns the secrets as they were before."""
        try:
            return await save_with_secrets(self.file, self.secrets, change, server_id, secrets or {})
        finally:
            self._adopt()

    async def _edit_each(self, names: Iterable[str], edit: Callable[[ServerSpec], ServerSpec]) -> None:
        """Save a change to the saved and usable ones of these servers."""
        chosen = {name for name in names if name not in self._transient}

        def edit_chosen(servers: Servers) -> Servers:
            return {
                name: edit(spec) if name in chosen and not isinstance(spec.target, InvalidServer) else spec
                for name, spec in servers.items()
            }

        if chosen:
            async with self._saving:
                await self._save(edit_chosen)
            await self._follow()

    def _adopt(self) -> None:
        self._saved = self.file.latest
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            try:
                listener()
            except Exception:
                log.exception("a listener of the workspace failed")

    async def _follow(self) -> None:
        if self.hub is not None:
            await follow(self.hub, self.servers(), self._transient)

    def _references(self) -> set[tuple[str, str]]:
        """The secrets that a server uses, also one that is shadowed for this run or may come back by `undo`."""
        undoable = [spec for step in self._undo for _, spec in step.entries]
        return set().union(*(secret_references(spec) for spec in [*self._saved, *self.servers(), *undoable]))

    def _secret_names(self, spec: ServerSpec) -> set[str]:
        """The fields under which a server has secrets, or may have."""
        referred = {name for server_id, name in secret_references(spec) if server_id == spec.id}
        return referred | set(self.secrets.listed().get(spec.id, ()))

    def _known(self, name: str) -> ServerSpec:
        spec = self.get(name)
        if spec is None:
            raise _unknown(name)
        return spec

    def _engine(self) -> ServerHub:
        if self.hub is None:
            raise NotConnectedError(
                message("error.engine.title"), message("error.engine"), message("error.engine.hint")
            )
        return self.hub

    def _copy_name(self, name: str) -> str:
        number, candidate = 1, f"{name} copy"
        while self.get(candidate) is not None:
            number += 1
            candidate = f"{name} copy {number}"
        return candidate

    def _refuse_taken(self, name: str, servers: Mapping[str, ServerSpec]) -> None:
        if name in servers or name in self._transient:
            raise ConfigError(
                message("error.exists.title"),
                message("error.exists", name=name),
                message("error.exists.hint"),
                field="name",
            )

    def _refuse_transient(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._transient:
                raise ConfigError(
                    message("error.transient.title"),
                    message("error.transient", name=name),
                    message("error.transient.hint"),
                )

    def _refuse_invalid(self, names: Iterable[str]) -> None:
        for name in names:
            spec = self.get(name)
            if spec is not None and isinstance(spec.target, InvalidServer):
                raise spec.target.error


class _UnsavedSecrets:
    """`domain.ports.Secrets` in which the values of an open editor go before those that are stored."""

    def __init__(self, stored: Secrets, server_id: str, changes: SecretChanges) -> None:
        self._stored = stored
        self._server_id = server_id
        self._changes = changes

    async def get(self, server_id: str, field: str) -> str | None:
        if server_id == self._server_id and field in self._changes:
            return self._changes[field]
        return await self._stored.get(server_id, field)


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(
        message("error.unknown_server.title"),
        message("error.unknown_server", name=name),
        message("error.unknown_server.hint"),
    )


def _with_new_id(spec: ServerSpec) -> ServerSpec:
    """The same settings under a new id, which its secrets are then looked for."""
    new_id = new_server_id()
    return replace(spec, id=new_id, target=moved_references(spec.target, spec.id, new_id))


def _inserted(servers: Servers, place: int, spec: ServerSpec) -> Servers:
    entries = list(servers.items())
    entries.insert(place, (spec.name, spec))
    return dict(entries)
