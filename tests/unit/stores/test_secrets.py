"""Secrets: what happens with the keyring's limits, moods and absence. The real keyring is in test_keyring.py."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import keyring.errors
import pytest

from checks.waiting import until
from mcp_patchbay.domain.errors import SecretError
from mcp_patchbay.stores import keyring_thread, secrets
from mcp_patchbay.stores.memory import StateFile
from mcp_patchbay.stores.paths import Paths
from mcp_patchbay.stores.secrets import KeyringStore, LazySecrets, SessionStore, open_secret_store
from mcp_patchbay.stores.tokens import KeyringTokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class WindowsLike:
    """A keyring with the limit of Windows' Credential Manager; `mood` is what it raises instead."""

    name = "like Windows"

    def __init__(self) -> None:
        self.store: dict[tuple[str, str], str] = {}
        self.mood: Exception | None = None
        self.fails_at = ""
        self.calls = 0
        self.open_prompt: threading.Event | None = None

    def guard(self, user: str) -> None:
        self.calls += 1
        if self.open_prompt is not None:
            self.open_prompt.wait(30)
        if self.mood is not None:
            raise self.mood
        if self.fails_at and self.fails_at in user:
            raise OSError(1783, "The stub received bad data")

    def get_password(self, service: str, username: str) -> str | None:
        self.guard("")
        return self.store.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.guard(username)
        if len(password.encode("utf-16-le")) > 2560 or "\0" in password or not password:
            raise OSError(1783, "The stub received bad data")
        self.store[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.guard("")
        if (service, username) not in self.store:
            raise keyring.errors.PasswordDeleteError("not found")
        del self.store[service, username]


@pytest.fixture
def backend() -> WindowsLike:
    return WindowsLike()


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[StateFile]:
    memory = StateFile(tmp_path / "state.json")
    yield memory
    await memory.close()


@pytest.fixture
async def store(memory: StateFile, backend: WindowsLike) -> AsyncIterator[KeyringStore]:
    store = KeyringStore(memory, backend)
    yield store
    store.close()


ODD = ["x" * 1280, "x" * 1281, "é" * 1280, "🎉" * 641, "", "line1\nline2", "\x00", "x" * 20_000, "\ud800"]


@pytest.mark.parametrize("value", [*ODD, "patchbay:parts:0:1", " s "], ids=lambda value: f"{len(value)}-{value[:3]!a}")
async def test_every_secret_comes_back_as_it_was(store: KeyringStore, backend: WindowsLike, value: str) -> None:
    await store.set("id", "headers.A", value)
    assert await store.get("id", "headers.A") == value
    await store.set("id", "headers.A", "short")
    assert backend.store == {("mcp-patchbay", "id/headers.A"): "short"}
    await store.set("id", "headers.A", value)
    await store.delete("id", "headers.A")
    assert backend.store == {}
    assert await store.get("id", "headers.A") is None


@pytest.mark.parametrize("fails_at", ["A", "#"])
@pytest.mark.parametrize("old", ["old", "o" * 5000])
async def test_the_old_secret_survives_a_failed_save(
    store: KeyringStore, backend: WindowsLike, fails_at: str, old: str
) -> None:
    await store.set("id", "A", old)
    before = dict(backend.store)
    backend.fails_at = fails_at if fails_at == "#" else "id/A"
    with pytest.raises(SecretError, match="bad data"):
        await store.set("id", "A", "n" * 5000)
    backend.fails_at = ""
    assert await store.get("id", "A") == old
    assert backend.store == before


async def test_a_secret_that_lost_a_part_is_an_error_and_no_half_secret(
    store: KeyringStore, backend: WindowsLike
) -> None:
    await store.set("id", "A", "n" * 5000)
    part = next(key for key in backend.store if "#" in key[1])
    del backend.store[part]
    with pytest.raises(SecretError, match="lost a part"):
        await store.get("id", "A")
    await store.set("id", "A", "new")
    assert await store.get("id", "A") == "new"


async def test_the_names_of_secrets_are_listed_without_asking_the_keyring(
    store: KeyringStore, backend: WindowsLike, tmp_path: Path, memory: StateFile
) -> None:
    await store.set("one", "env.B", "secret-b")
    await store.set("one", "env.A", "secret-a")
    await store.set("two", "headers.C", "secret-c")
    await store.delete("two", "headers.C")
    calls = backend.calls
    assert store.listed() == {"one": ("env.A", "env.B")}
    assert backend.calls == calls
    await memory.close()
    assert "secret-" not in (tmp_path / "state.json").read_text()


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        (keyring.errors.KeyringLocked("pw=hunter2"), "locked"),
        (keyring.errors.NoKeyringError("hunter2"), "no keyring"),
        (keyring.errors.InitError("hunter2"), "no keyring"),
        (OSError(1312, "A specified logon session does not exist"), "logon session"),
        (RuntimeError("hunter2"), "RuntimeError"),
    ],
)
async def test_every_failure_is_a_secret_error_that_names_the_field_and_no_secret(
    store: KeyringStore, backend: WindowsLike, mood: Exception, words: str
) -> None:
    backend.mood = mood
    for call in (store.get("id", "env.X"), store.set("id", "env.X", "hunter2"), store.delete("id", "env.X")):
        with pytest.raises(SecretError, match=words) as caught:
            await call
        assert "env.X" in str(caught.value)
        assert caught.value.hint is not None
        assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert store.listed() == {}


async def test_ten_secrets_in_a_locked_keyring_are_one_prompt_until_the_user_acts(
    store: KeyringStore, backend: WindowsLike
) -> None:
    backend.mood = keyring.errors.KeyringLocked()
    outcomes = await asyncio.gather(*(store.get("id", f"f{n}") for n in range(10)), return_exceptions=True)
    assert all(isinstance(outcome, SecretError) for outcome in outcomes)
    assert backend.calls == 1
    backend.mood = None
    with pytest.raises(SecretError):
        await store.get("id", "f0")
    store.try_again()
    assert await store.get("id", "f0") is None


async def test_a_prompt_that_nobody_answers_ends_in_time_and_blocks_nothing_else(
    backend: WindowsLike, memory: StateFile
) -> None:
    store = KeyringStore(memory, backend, limit=0.05)
    backend.open_prompt = answered = threading.Event()
    with pytest.raises(SecretError, match=r"did not answer within 0\.05 s"):
        await store.set("id", "A", "never")
    backend.open_prompt = None
    generous = KeyringStore(memory, backend)
    await generous.set("id", "A", "new")
    answered.set()
    await until(lambda: not any(t.name == "keyring" for t in threading.enumerate()) or backend.calls > 3)
    assert await generous.get("id", "A") in ("new", "never")
    generous.close()


async def test_a_call_whose_caller_gave_up_is_never_made(backend: WindowsLike, memory: StateFile) -> None:
    store = KeyringStore(memory, backend)
    backend.open_prompt = answered = threading.Event()
    first = asyncio.create_task(store.get("id", "A"))
    second = asyncio.create_task(store.set("id", "B", "unwanted"))
    await until(lambda: backend.calls == 1)
    second.cancel()
    await asyncio.wait([second])
    backend.open_prompt = None
    answered.set()
    await first
    assert await store.get("id", "B") is None
    store.close()


async def test_without_a_keyring_secrets_are_kept_for_this_run_and_that_is_said(
    memory: StateFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setattr("keyring.core._keyring_backend", None)
    store = await open_secret_store(memory)
    assert isinstance(store, SessionStore)
    assert not store.availability.lasting
    assert "until Patchbay is closed" in str(store.availability.notice)
    await store.set("id", "A", "s")
    assert await store.get("id", "A") == "s"
    assert store.listed() == {"id": ("A",)}
    await store.delete("id", "A")
    await store.delete("id", "A")
    assert await store.get("id", "A") is None


def a_keyring(module: str, *, backends: list[object] | None = None) -> object:
    """An object that looks as if it came from a keyring module."""
    kind = type("Keyring", (WindowsLike,), {"__module__": module})
    made = kind()
    if backends is not None:
        made.backends = backends
    return made


@pytest.mark.parametrize("module", ["keyring.backends.null", "keyring.backends.fail", "keyrings.alt.file"])
def test_keyrings_that_keep_nothing_or_plain_text_are_none(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    unsafe = a_keyring(module)
    for chosen in (unsafe, a_keyring("keyring.backends.chainer", backends=[unsafe])):
        monkeypatch.setattr(keyring, "get_keyring", lambda chosen=chosen: chosen)
        with pytest.raises(keyring_thread.KeyringMissingError):
            keyring_thread.find_backend()


def test_of_several_keyrings_the_first_safe_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    safe = a_keyring("keyring.backends.kwallet")
    chosen = a_keyring("keyring.backends.chainer", backends=[a_keyring("keyrings.alt.file"), safe])
    monkeypatch.setattr(keyring, "get_keyring", lambda: chosen)
    assert keyring_thread.find_backend() is safe


async def test_oauth_tokens_lie_beside_the_servers_other_secrets(store: KeyringStore) -> None:
    tokens = KeyringTokens(store)
    assert await tokens.load("id", "tokens") is None
    await tokens.save("id", "tokens", '{"access_token": "t"}')
    assert await tokens.load("id", "tokens") == '{"access_token": "t"}'
    assert await tokens.load("id", "client") is None
    assert store.listed() == {"id": ("oauth.tokens",)}
    await tokens.save("id", "tokens", None)
    assert await tokens.load("id", "tokens") is None


async def test_programs_that_need_no_secret_never_look_for_a_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []

    async def opened(memory: StateFile) -> SessionStore:
        looked.append(memory)
        return SessionStore()

    monkeypatch.setattr(secrets, "open_secret_store", opened)
    lazy = LazySecrets(Paths(environ={"MCP_PATCHBAY_HOME": str(tmp_path)}))
    assert looked == []
    await lazy.set("id", "A", "s")
    assert await lazy.get("id", "A") == "s"
    assert len(looked) == 1
    await lazy.close()
