"""`servers.json`: the user's servers, kept with every comment and never lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from pathlib import Path

from mcp_patchbay.domain.errors import ConfigFileError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec, new_server_id, read_server
from mcp_patchbay.stores import jsonc
from mcp_patchbay.stores.config_text import (
    access_error,
    decode,
    file_error,
    normal_entry,
    parse_document,
    syntax_error,
)
from mcp_patchbay.stores.json_file import locked, set_aside, write_atomically
from mcp_patchbay.stores.paths import make_private_folder
from mcp_patchbay.stores.servers_text import ServersText

log = logging.getLogger(__name__)

VERSION = 1
BACKUPS = 5
SETTLE = 3.0
"""Seconds in which a file that is gone or half-written may still become whole."""
SETTLE_STEP = 0.2
LOOK_EVERY = 5.0
"""Seconds between looks at the file, for folders where the system reports no changes (network drives)."""

Specs = tuple[ServerSpec, ...]
Change = Callable[[dict[str, ServerSpec]], Mapping[str, ServerSpec]]
"""Takes the servers by name, in order, and gives back those that there shall be, in order."""


class ServersFile:
    """The servers on disk. All methods but `watch` block: call them in a thread; any thread will do.

    Args:
        path: the file; links are followed.
        settle: seconds that a damaged or missing file gets to become whole before `watch` believes it.
        look_every: seconds between looks where the system reports no changes.
    """

    def __init__(self, path: Path, *, settle: float = SETTLE, look_every: float = LOOK_EVERY) -> None:
        self.path = path
        self.problem: ConfigFileError | None = None
        """Why the file cannot be used now; None when all is well. Set by `load`, `change` and `watch`."""
        self._settle = settle
        self._look_every = look_every
        self._latest: Specs = ()
        self._guard = threading.RLock()
        self._known: bytes | None = None
        self._ids: dict[str, str] = {}
        self._removed: dict[str, str] = {}
        self._newer = 0

    @property
    def read_only(self) -> bool:
        """Whether the file was written by a newer Patchbay, as far as `load` saw."""
        return self._newer > 0

    @property
    def latest(self) -> Specs:
        """The servers as they were last read or written; no disk is touched."""
        return self._latest

    def exists(self) -> bool:
        """Whether there is a file, in whatever condition."""
        return self.path.exists()

    def load(self) -> Specs:
        """The servers in the file's order; none when there is no file.

        Raises:
            ConfigFileError: it cannot be read; it names line and column, and the file stays as it is.
        """
        with self._guard:
            raw = self._read()
            specs = self._take(raw)
        if raw is not None:
            self._keep_backup(raw)
        return specs

    def change(self, change: Change) -> Specs:
        """Read the file anew, apply `change` to its servers and save it, while other copies of the app wait.

        Servers are told apart by their id, so one that comes back under another name was renamed: it keeps its place,
        comments and unknown keys. What did not change keeps its exact text.

        Returns:
            All servers as they are in the file then, also with what others changed meanwhile.

        Raises:
            ConfigFileError: the file is damaged, from a newer Patchbay, busy or not writable; it is unchanged then.
            PatchbayError: whatever `change` raises; the file is unchanged then.
        """
        try:
            make_private_folder(self.path.parent)
            with locked(self.path), self._guard:
                raw = self._read()
                before = self._take(raw)
                if self._newer:
                    raise self._newer_error()
                text = ServersText.of(decode(raw, str(self.path)) if raw is not None else "")
                wanted = change({spec.name: spec for spec in before})
                after = tuple(replace(spec, name=name) for name, spec in wanted.items())
                if after == before and raw is not None:
                    return before
                self._removed |= text.change(before, after, self._removed)
                return self._save(text.render().encode())
        except TimeoutError as error:
            busy = message("error.file_busy", path=str(self.path))
            raise file_error(busy, str(self.path), message("error.file_busy.hint")) from error
        except OSError as error:
            raise access_error(self.path, error) from error

    def restore_last_good(self) -> Specs:
        """Put the last good version in the place of a damaged file, which is kept beside it.

        Raises:
            ConfigFileError: there is no good version, or it cannot be written.
        """
        try:
            with locked(self.path), self._guard:
                good = self._last_good()
                if good is None:
                    gone = message("error.no_backup", path=str(self.path))
                    raise file_error(gone, str(self.path), message("error.no_backup.hint"))
                if self.path.exists():
                    set_aside(self.path)
                return self._save(good)
        except TimeoutError as error:
            busy = message("error.file_busy", path=str(self.path))
            raise file_error(busy, str(self.path), message("error.file_busy.hint")) from error
        except OSError as error:
            raise access_error(self.path, error) from error

    def has_last_good(self) -> bool:
        """Whether there is a version that `restore_last_good` would bring back."""
        return self._last_good() is not None

    async def watch(self) -> AsyncGenerator[Specs]:
        """Give the servers each time the file was changed from outside; own changes are not reported.

        A file that is damaged or gone gets a moment to become whole. Then `problem` is set and the servers come as they
        last were; a file that stays away has none. Runs until it is cancelled.
        """
        while True:
            await asyncio.to_thread(make_private_folder, self.path.parent)
            if (news := await self._news()) is not None:
                yield news
            try:
                async with contextlib.aclosing(self._touches()) as touches:
                    async for _ in touches:
                        if (news := await self._news()) is not None:
                            yield news
            except FileNotFoundError:  # the folder itself went away
                await asyncio.sleep(SETTLE_STEP)

    # ---- inside
    def _touches(self) -> AsyncGenerator[object]:
        """Something happened to the file, or it is time for a look. The folder is watched, as editors rename."""
        from watchfiles import awatch  # here, as the first paint does not wait for it

        files = {self.path, self.path.resolve()}
        names = {file.name for file in files}
        return awatch(
            *{file.parent for file in files},
            watch_filter=lambda _change, path: Path(path).name in names,
            recursive=False,
            step=20,
            debounce=200,
            rust_timeout=int(self._look_every * 1000),
            yield_on_timeout=True,
        )

    async def _news(self) -> Specs | None:
        """The servers when they, or the file's problem, are not as we know them; None when nothing happened."""
        for _ in range(max(1, round(self._settle / SETTLE_STEP))):
            changed, whole = await asyncio.to_thread(self._look)
            if not changed:
                return None
            if whole:
                break
            await asyncio.sleep(SETTLE_STEP)
        return await asyncio.to_thread(self._believe)

    def _believe(self) -> Specs | None:
        before = self._latest, self.problem
        with contextlib.suppress(ConfigFileError):
            self.load()
        return self._latest if (self._latest, self.problem) != before else None

    def _look(self) -> tuple[bool, bool]:
        """Whether the file is not as we know it, and whether it is there and whole."""
        try:
            with self._guard:
                raw = self._read()
                if raw == self._known:
                    return False, True
            if raw is None:
                return True, False
            self._document(raw)
        except ConfigFileError:
            return True, False
        return True, True

    def _read(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.problem = access_error(self.path, error)
            raise self.problem from error

    def _take(self, raw: bytes | None) -> Specs:
        """Believe what was read: remember it and understand it."""
        self._known = raw
        try:
            specs = self._specs(self._document(raw)) if raw is not None else ()
        except ConfigFileError as error:
            self.problem = error
            raise
        self.problem = None
        self._latest = specs
        return specs

    def _document(self, raw: bytes) -> jsonc.Document:
        """The document, if it is one of servers.

        Raises:
            ConfigFileError
        """
        source = str(self.path)
        text = decode(raw, source)
        document = parse_document(text, source)
        line, column = jsonc.place(text, len(document.before))
        if not isinstance(document.root, jsonc.Object):
            raise syntax_error(source, 'the file must be an object such as {"version": 1, "servers": {}}', line, column)
        servers = document.root.value.get(ServersText.key_in(document.root))
        if servers is not None and not isinstance(servers, dict):
            raise syntax_error(source, '"servers" must be an object of names and servers', line, column)
        return document

    def _specs(self, document: jsonc.Document) -> Specs:
        values = document.root.value
        version = values.get("version")
        self._newer = version if isinstance(version, int) and version > VERSION else 0
        servers = values.get(ServersText.key_in(document.root)) or {}
        specs: list[ServerSpec] = []
        used: set[str] = set()
        for name, raw in servers.items():
            spec = read_server(name, normal_entry(raw))
            if isinstance(spec.target, InvalidServer):
                spec = replace(spec, target=replace(spec.target, raw=raw))
            given = raw.get("id") if isinstance(raw, dict) else None
            if given != spec.id or spec.id in used:  # none yet, or copied together with its entry
                spec = replace(spec, id=self._own_id(name, used))
            used.add(spec.id)
            self._ids[name] = spec.id
            specs.append(spec)
        return tuple(specs)

    def _own_id(self, name: str, used: set[str]) -> str:
        """The id that an entry without one has had since this run first saw it."""
        known = self._ids.get(name)
        return known if known is not None and known not in used else new_server_id()

    def _save(self, data: bytes) -> Specs:
        write_atomically(self.path, data)
        self._keep_backup(data)
        return self._take(data)

    def _newer_error(self) -> ConfigFileError:
        text = message("error.file_newer", path=str(self.path), version=self._newer, known=VERSION)
        title, hint = message("error.file_newer.title"), message("error.file_newer.hint")
        return ConfigFileError(title, text, hint, path=str(self.path))

    # ---- backups: NAME.1 is the last good version, also of what others wrote
    def _backup(self, number: int) -> Path:
        return self.path.parent / "backups" / f"{self.path.name}.{number}"

    def _keep_backup(self, data: bytes) -> None:
        """A failure costs the backup, never the change."""
        try:
            with self._guard:
                newest = self._backup(1)
                if newest.exists() and newest.read_bytes() == data:
                    return
                make_private_folder(newest.parent)
                for number in range(BACKUPS - 1, 0, -1):
                    if self._backup(number).exists():
                        shutil.move(self._backup(number), self._backup(number + 1))
                write_atomically(newest, data)
        except OSError as error:
            log.warning("no backup of %s: %s", self.path, error)

    def _last_good(self) -> bytes | None:
        for number in range(1, BACKUPS + 1):
            try:
                data = self._backup(number).read_bytes()
                self._document(data)
            except (OSError, ConfigFileError):
                continue
            return data
        return None
