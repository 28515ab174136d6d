"""Files that are never half-written, and a small JSON file of facts on top."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

from mcp_patchbay.stores.paths import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

LOCK_LIMIT = 10.0
"""Seconds to wait for another copy of the app to finish its own change."""
WRITE_DELAY = 0.5
"""Seconds in which changes are gathered before they are written."""
_REPLACE_TRIES = 10


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash at any moment leaves the old or the new one, whole, with mode 0600.

    A link is followed: what it leads to is replaced.

    Raises:
        OSError: the folder is missing, not writable or full; the old file is untouched then.
    """
    target = path.resolve()
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _replace(temporary: str, target: Path) -> None:
    for attempt in range(_REPLACE_TRIES):
        try:
            os.replace(temporary, target)
        except PermissionError:
            # On Windows a virus scanner or an editor may hold the file for a moment.
            if os.name != "nt" or attempt == _REPLACE_TRIES - 1:
                raise
            time.sleep(0.05)
        else:
            return


@contextlib.contextmanager
def locked(path: Path, limit: float = LOCK_LIMIT) -> Iterator[None]:
    """Hold a file's lock, so that two copies of the app change it one after the other. Blocking.

    Raises:
        TimeoutError: another copy held it for more than `limit` seconds.
    """
    from filelock import FileLock, Timeout  # here, as the first paint does not wait for it

    target = path.resolve()
    lock = FileLock(target.with_name(f".{target.name}.lock"), timeout=limit, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise TimeoutError(f"{path} is locked") from error
    try:
        yield
    finally:
        lock.release()


def set_aside(path: Path) -> Path:
    """Copy a damaged file beside itself under a name that is free; returns that name.

    Raises:
        OSError: it cannot be copied.
    """
    target = path.resolve()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        copy = target.with_name(f"{target.name}.damaged-{stamp}{f'-{number}' if number else ''}")
        try:
            with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(target.read_bytes())
        except FileExistsError:
            number += 1
        else:
            return copy


class JsonFile:
    """A JSON object on disk, for facts that the app itself writes. Safe from any thread.

    Reading is from memory. Changes are written a moment later by a thread, and only what was changed here: what another
    copy of the app wrote meanwhile stays. A damaged file is put aside and begun anew.
    """

    def __init__(self, path: Path, delay: float = WRITE_DELAY) -> None:
        self.path = path
        self._delay = delay
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._values: dict[str, Any] | None = None
        self._changes: dict[tuple[str, ...], Any] = {}
        self._timer: threading.Timer | None = None

    def get(self, *keys: str) -> Any:
        """The value at a path of keys, or None."""
        with self._guard:
            value: Any = self._loaded()
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            return value

    def put(self, *keys: str, value: Any) -> None:
        """Set a JSON value at a path of keys; None takes it out. Written soon."""
        json.dumps(value)  # what cannot be written is refused here, where the mistake is
        with self._guard:
            _put(self._loaded(), keys, value)
            self._changes[keys] = value
            if self._timer is None:
                self._timer = threading.Timer(self._delay, self._write_later)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write at once what is not yet written. Blocking; a failure is logged, as nothing of value is lost by it."""
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        with self._writing:
            with self._guard:
                changes, self._changes = self._changes, {}
            if not changes:
                return
            try:
                make_private_folder(self.path.parent)
                with locked(self.path):
                    values = read_object(self.path)
                    for keys, value in changes.items():
                        _put(values, keys, value)
                    write_atomically(self.path, json.dumps(values, indent=2, ensure_ascii=True).encode())
            except OSError as error:
                log.warning("%s could not be written: %s", self.path, error)
                with self._guard:
                    self._changes = {**changes, **self._changes}

    async def close(self) -> None:
        """`flush`, off the loop."""
        await asyncio.to_thread(self.flush)

    def _write_later(self) -> None:
        with self._guard:
            self._timer = None
        self.flush()

    def _loaded(self) -> dict[str, Any]:
        if self._values is None:
            self._values = read_object(self.path)
        return self._values


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object of a file; an empty one when there is no file. A damaged file is put aside and logged."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        log.warning("%s could not be read: %s", path, error)
        return {}
    try:
        value = json.loads(raw)
        if isinstance(value, dict):
            return value
    except ValueError:
        pass
    try:
        log.warning("%s is damaged; it was kept as %s", path, set_aside(path))
        path.resolve().unlink()
    except OSError as error:
        log.warning("%s is damaged and could not be put aside: %s", path, error)
    return {}


def _put(values: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    *folders, last = keys
    for key in folders:
        inner = values.get(key)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = values[key] = {}
        values = inner
    if value is None:
        values.pop(last, None)
    else:
        values[last] = value
