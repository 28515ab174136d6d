"""Saving servers together with their secrets, so that nothing is ever half done."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from mcp_patchbay.domain.errors import SecretError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_patchbay.stores.secrets import SecretStore
    from mcp_patchbay.stores.servers_file import Change, ServersFile

log = logging.getLogger(__name__)


async def save_with_secrets(
    file: ServersFile, store: SecretStore, change: Change, server_id: str, secrets: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Secrets first, then the file: it never points to a secret that is not there.

    A secret that is to go (None) is removed last, when all else has worked. When anything fails, the secrets are as
    they were before.

    Args:
        file, store: where servers and secrets are kept.
        change: what happens to the servers; see `ServersFile.change`.
        server_id: whose secrets they are.
        secrets: by field, such as "headers.Authorization".

    Returns:
        The secrets as they were before, by field.

    Raises:
        ConfigFileError, SecretError, and what `change` raises
    """
    before: dict[str, str | None] = {}
    try:
        for name, value in secrets.items():
            before[name] = await store.get(server_id, name)
            if value is not None:
                await store.set(server_id, name, value)
        await asyncio.to_thread(file.change, change)
    except Exception:
        await _put_back(store, server_id, secrets, before)
        raise
    for name, value in secrets.items():
        if value is None and before[name] is not None:
            await _try_delete(store, server_id, name)
    return before


async def _put_back(
    store: SecretStore, server_id: str, changed: Mapping[str, str | None], before: Mapping[str, str | None]
) -> None:
    for name, old in before.items():
        if changed[name] is None or changed[name] == old:
            continue
        if old is None:
            await _try_delete(store, server_id, name)
            continue
        try:
            await store.set(server_id, name, old)
        except SecretError as error:
            log.warning("an old secret could not be put back: %s", error)


async def _try_delete(store: SecretStore, server_id: str, name: str) -> None:
    """What stays in the keyring does no harm: it is listed among the unused."""
    try:
        await store.delete(server_id, name)
    except SecretError as error:
        log.warning("a secret that is not used any more stays in the keyring: %s", error)
