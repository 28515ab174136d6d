"""The real keyring of the desktop session (gnome-keyring)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keyring
import pytest

from mcp_patchbay.stores.memory import StateFile
from mcp_patchbay.stores.secrets import KeyringStore, SecretStore, open_secret_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.desktop


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SecretStore]:
    memory = StateFile(tmp_path / "state.json")
    store = await open_secret_store(memory)
    yield store
    store.close()
    await memory.close()


async def test_the_desktops_keyring_is_found(store: SecretStore) -> None:
    assert isinstance(store, KeyringStore)
    assert store.availability.lasting
    assert store.availability.name


@pytest.mark.parametrize(
    "value", ["short", "x" * 20_000, "é\n🎉" * 300, "", "\0"], ids=["short", "long", "odd", "empty", "nul"]
)
async def test_it_keeps_any_secret(store: SecretStore, value: str) -> None:
    await store.set("id-1", "headers.Authorization", value)
    assert await store.get("id-1", "headers.Authorization") == value
    await store.delete("id-1", "headers.Authorization")
    await store.delete("id-1", "headers.Authorization")
    assert await store.get("id-1", "headers.Authorization") is None


async def test_others_find_a_secret_under_the_documented_name(store: SecretStore) -> None:
    await store.set("id-2", "env.KEY", "visible to keyring tools")
    assert keyring.get_password("mcp-patchbay", "id-2/env.KEY") == "visible to keyring tools"
    await store.delete("id-2", "env.KEY")
