"""Secrets: in the system's keyring, or, where there is none, in memory for this run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from mcp_patchbay.domain.errors import SecretError
from mcp_patchbay.domain.messages import Message, message
from mcp_patchbay.stores import secret_parts
from mcp_patchbay.stores.keyring_thread import (
    Backend,
    KeyringLockedError,
    KeyringMissingError,
    KeyringThread,
    KeyringTimeoutError,
)
from mcp_patchbay.stores.memory import StateFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_patchbay.stores.paths import Paths

T = TypeVar("T")

SERVICE = "mcp-patchbay"
TOPIC = "secrets"
"""Under this topic the memory holds the names (never the values) of what is in the keyring."""
PROMPT_LIMIT = 60.0
"""Seconds for one call: the user may have to unlock the keyring first."""
QUIET_AFTER_REFUSAL = 60.0
"""Seconds in which a keyring that stayed locked is not asked again for reading: ten secrets are not ten prompts."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Where secrets go: `lasting` when they survive a restart, `name` of the keyring, and what to tell the user."""

    lasting: bool
    name: str = ""
    notice: Message | None = None


class SecretStore(Protocol):
    """Where secrets are kept. Also a `domain.ports.Secrets`."""

    @property
    def availability(self) -> Availability: ...

    async def get(self, server_id: str, field: str) -> str | None:
        """The secret, or None when there is none.

        Raises:
            SecretError: the keyring is locked, missing or silent.
        """
        ...

    async def set(self, server_id: str, field: str, value: str) -> None:
        """Store a secret; one that was there is lost only when this succeeds.

        Raises:
            SecretError: it could not be stored.
        """
        ...

    async def delete(self, server_id: str, field: str) -> None:
        """Remove a secret; one that is not there is fine.

        Raises:
            SecretError: it could not be removed.
        """
        ...

    def listed(self) -> Mapping[str, tuple[str, ...]]:
        """The fields that are stored, by server id. Names only; the keyring is not asked."""
        ...

    def try_again(self) -> None:
        """The user acted: ask a keyring again that was locked a moment ago."""
        ...

    def close(self) -> None:
        """At quit: nothing more will be asked."""
        ...


class KeyringStore:
    """Secrets in the system's keyring, under the service `mcp-patchbay` and the user name `ID/FIELD`.

    Args:
        backend: a backend of `keyring`, or None for the one that `keyring` chooses.
        memory: keeps the list of names.
        limit: seconds for one call.
    """

    def __init__(self, memory: StateFile, backend: Backend | None = None, *, limit: float = PROMPT_LIMIT) -> None:
        self._thread = KeyringThread(backend, quiet=QUIET_AFTER_REFUSAL)
        self._memory = memory
        self._limit = limit
        self._name = ""

    async def find(self) -> Availability:
        """Look for a keyring; the other methods do without this.

        Raises:
            SecretError: there is none that keeps secrets safely.
        """
        self._name = await self._call("", lambda backend: str(getattr(backend, "name", "")) or type(backend).__name__)
        return self.availability

    @property
    def availability(self) -> Availability:
        return Availability(True, self._name)

    async def get(self, server_id: str, field: str) -> str | None:
        user = f"{server_id}/{field}"
        return await self._call(field, lambda backend: secret_parts.read(backend, SERVICE, user), reading=True)

    async def set(self, server_id: str, field: str, value: str) -> None:
        user = f"{server_id}/{field}"
        await self._call(field, lambda backend: secret_parts.write(backend, SERVICE, user, value))
        fields = self.listed().get(server_id, ())
        self._memory.remember(TOPIC, server_id, sorted({*fields, field}))

    async def delete(self, server_id: str, field: str) -> None:
        user = f"{server_id}/{field}"
        await self._call(field, lambda backend: secret_parts.remove(backend, SERVICE, user))
        fields = set(self.listed().get(server_id, ())) - {field}
        self._memory.remember(TOPIC, server_id, sorted(fields) or None)

    def listed(self) -> Mapping[str, tuple[str, ...]]:
        return {server_id: tuple(fields) for server_id, fields in self._memory.topic(TOPIC).items()}

    def try_again(self) -> None:
        self._thread.try_again()

    def close(self) -> None:
        self._thread.close()

    async def _call(self, field: str, work: Callable[[Backend], T], *, reading: bool = False) -> T:
        try:
            return await self._thread.run(work, reading=reading, limit=self._limit)
        except KeyringLockedError as error:
            raise _refusal("error.keyring_locked", field=field) from error
        except KeyringMissingError as error:
            raise _refusal("error.keyring_missing", field=field) from error
        except KeyringTimeoutError as error:
            raise _refusal("error.keyring_timeout", field=field, seconds=self._limit) from error
        except Exception as error:  # secretstorage's, jeepney's, pywintypes' and the system's own do leak out
            raise _refusal("error.keyring", field=field, reason=_reason(error)) from None


def _refusal(key: str, **args: object) -> SecretError:
    return SecretError(message("error.keyring.title"), message(key, **args), message(f"{key}.hint"))


def _reason(error: Exception) -> str:
    """Few words. An unknown exception's own text might repeat what it was given, so only system errors are quoted."""
    if isinstance(error, secret_parts.PartMissingError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


class SessionStore:
    """Secrets in memory, until the app is closed."""

    def __init__(self) -> None:
        self._secrets: dict[tuple[str, str], str] = {}

    @property
    def availability(self) -> Availability:
        return Availability(False, notice=message("secrets.session"))

    async def get(self, server_id: str, field: str) -> str | None:
        return self._secrets.get((server_id, field))

    async def set(self, server_id: str, field: str, value: str) -> None:
        self._secrets[server_id, field] = value

    async def delete(self, server_id: str, field: str) -> None:
        self._secrets.pop((server_id, field), None)

    def listed(self) -> Mapping[str, tuple[str, ...]]:
        fields: dict[str, tuple[str, ...]] = {}
        for server_id, field in sorted(self._secrets):
            fields[server_id] = (*fields.get(server_id, ()), field)
        return fields

    def try_again(self) -> None:
        """Memory is never locked."""

    def close(self) -> None:
        """Memory needs no closing; what it holds goes with it."""


async def open_secret_store(memory: StateFile, backend: Backend | None = None) -> SecretStore:
    """The system's keyring when there is one that keeps secrets safely, otherwise memory for this run.

    `availability` of what comes back says which, and what to tell the user.
    """
    store = KeyringStore(memory, backend)
    try:
        await store.find()
    except SecretError:
        store.close()
        return SessionStore()
    return store


class LazySecrets:
    """`domain.ports.Secrets` for programs that may not need any: the keyring is looked for at the first question."""

    def __init__(self, paths: Paths) -> None:
        self._memory = StateFile(paths.state_file)
        self._store: SecretStore | None = None

    async def open(self) -> SecretStore:
        """The store itself."""
        if self._store is None:
            self._store = await open_secret_store(self._memory)
        return self._store

    async def get(self, server_id: str, field: str) -> str | None:
        return await (await self.open()).get(server_id, field)

    async def set(self, server_id: str, field: str, value: str) -> None:
        await (await self.open()).set(server_id, field, value)

    async def delete(self, server_id: str, field: str) -> None:
        await (await self.open()).delete(server_id, field)

    async def close(self) -> None:
        """Write the list of names, if it changed, and let the keyring go."""
        if self._store is not None:
            self._store.close()
        await self._memory.close()
