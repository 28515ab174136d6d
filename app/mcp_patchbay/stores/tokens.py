"""OAuth tokens and client registrations, in the keyring beside a server's other secrets."""

from __future__ import annotations

from typing import Protocol


class Store(Protocol):
    """What is needed of a `SecretStore`."""

    async def get(self, server_id: str, field: str) -> str | None: ...

    async def set(self, server_id: str, field: str, value: str) -> None: ...

    async def delete(self, server_id: str, field: str) -> None: ...


class KeyringTokens:
    """`domain.ports.Tokens`: `kind` is "tokens" or "client"; failures are `SecretError`s."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load(self, server_id: str, kind: str) -> str | None:
        """The stored JSON text, or None."""
        return await self._store.get(server_id, _field(kind))

    async def save(self, server_id: str, kind: str, value: str | None) -> None:
        """Store it; None removes it."""
        if value is None:
            await self._store.delete(server_id, _field(kind))
        else:
            await self._store.set(server_id, _field(kind), value)


def _field(kind: str) -> str:
    return f"oauth.{kind}"
