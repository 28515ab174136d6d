"""What a person does to their servers: file, keyring and engine change together, and nothing is half done."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from checks.waiting import until
from mcp_patchbay.builtin.registry import BuiltinServers
from mcp_patchbay.domain.errors import ConfigError, ConfigFileError, NotConnectedError, NotFoundError, SecretError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.placeholders import secret_reference
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.ui.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Secrets(SessionStore):
    """Secrets in memory; `refuses` makes the store of a field fail, as a locked keyring does."""

    refuses = ""

    async def set(self, server_id: str, field: str, value: str) -> None:
        if field == self.refuses:
            raise SecretError(message("error.keyring.title"), message("error.keyring_locked", field=field))
        await super().set(server_id, field, value)

    def all(self) -> dict[tuple[str, str], str]:
        return dict(self._secrets)


@pytest.fixture
def secrets() -> Secrets:
    return Secrets()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "servers.json"


@pytest.fixture
def workspace(path: Path, secrets: Secrets) -> Workspace:
    return Workspace(ServersFile(path, settle=0.4, look_every=0.2), secrets)


@pytest.fixture
async def hub(secrets: Secrets) -> AsyncIterator[ServerHub]:
    hub = ServerHub(secrets=secrets, builtins=BuiltinServers())
    yield hub
    await hub.cleanup()


def with_secret(name: str = "api") -> ServerSpec:
    spec = ServerSpec(name, HttpServer("https://h/mcp"))
    headers = {"Authorization": secret_reference(spec.id, "headers.Authorization")}
    return replace(spec, target=HttpServer("https://h/mcp", headers=headers))


def folder_server(folder: Path, name: str = "files") -> ServerSpec:
    """A server that really runs, inside this process."""
    return ServerSpec(name, BuiltinServer("filesystem", {"allowed_directories": [str(folder)]}))


def read(path: Path) -> str:
    return path.read_text()


def write(path: Path, text: str) -> None:
    path.write_text(text)


def saved(workspace: Workspace) -> list[str]:
    return [spec.name for spec in ServersFile(workspace.file.path).load()]


def states(hub: ServerHub) -> dict[str, ServerState]:
    return {snapshot.name: snapshot.state for snapshot in hub.snapshots()}


SECRET = {"headers.Authorization": "Bearer s3cret"}


# ---- on the file alone
async def test_a_new_server_is_in_the_file_and_its_secret_in_the_store_only(
    workspace: Workspace, secrets: Secrets, path: Path
) -> None:
    heard: list[int] = []
    workspace.subscribe(lambda: heard.append(len(workspace.servers())))
    spec = with_secret()
    await workspace.add(spec, SECRET)
    assert workspace.servers() == (spec,)
    assert ServersFile(path).load() == (spec,)
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}
    assert "s3cret" not in read(path)
    assert heard[-1] == 1


async def test_a_name_that_is_taken_is_refused_and_leaves_no_secret(workspace: Workspace, secrets: Secrets) -> None:
    first = with_secret()
    await workspace.add(first)
    with pytest.raises(ConfigError, match="Server with name api already exists"):
        await workspace.add(with_secret(), SECRET)
    assert secrets.all() == {}
    assert workspace.servers() == (first,)


async def test_a_secret_that_cannot_be_stored_leaves_everything_as_it_was(
    workspace: Workspace, secrets: Secrets, path: Path
) -> None:
    spec = with_secret()
    await workspace.add(spec, SECRET)
    before = read(path)
    secrets.refuses = "env.SECOND"
    changed = replace(spec, description="new")
    with pytest.raises(SecretError, match="locked"):
        await workspace.update("api", changed, {"headers.Authorization": "other", "env.SECOND": "x"})
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}
    assert read(path) == before
    assert workspace.servers() == (spec,)
    assert workspace.undo_step is None


@pytest.mark.expect_log("line 1", must_come=False)
async def test_a_damaged_file_refuses_changes_keeps_the_secrets_and_can_be_restored(
    workspace: Workspace, secrets: Secrets, path: Path
) -> None:
    spec = with_secret()
    await workspace.add(spec, SECRET)
    write(path, "{")
    with pytest.raises(ConfigFileError):
        await workspace.update("api", spec, {"headers.Authorization": "other"})
    with pytest.raises(ConfigFileError):
        await workspace.delete(["api"])
    assert read(path) == "{"
    assert workspace.problem is not None
    assert workspace.servers() == (spec,)
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}
    await workspace.restore_last_good()
    assert workspace.problem is None
    assert workspace.servers() == (spec,)


async def test_an_update_can_rename_and_undo_brings_name_settings_and_secret_back(
    workspace: Workspace, secrets: Secrets
) -> None:
    spec = with_secret()
    await workspace.add(spec, SECRET)
    await workspace.add(ServerSpec("other", StdioServer("x")))
    changed = replace(spec, name="renamed", timeout=5.0)
    await workspace.update("api", changed, {"headers.Authorization": "new", "headers.X": "added"})
    assert saved(workspace) == ["renamed", "other"]
    assert secrets.all()[spec.id, "headers.Authorization"] == "new"
    step = workspace.undo_step
    assert step is not None
    assert (step.action, step.names) == ("update", ("api",))
    assert "s3cret" not in repr(step)
    await workspace.undo()
    assert workspace.get("api") == spec
    assert saved(workspace) == ["api", "other"]
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}


async def test_an_update_removes_a_secret_that_is_no_longer_wanted(workspace: Workspace, secrets: Secrets) -> None:
    spec = with_secret()
    await workspace.add(spec, SECRET)
    plain = replace(spec, target=HttpServer("https://h/mcp"))
    await workspace.update("api", plain, {"headers.Authorization": None})
    assert secrets.all() == {}
    await workspace.undo()
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}


async def test_updating_to_a_name_that_is_taken_or_a_server_that_is_gone_is_refused(workspace: Workspace) -> None:
    a, b = ServerSpec("a", StdioServer("x")), ServerSpec("b", StdioServer("x"))
    await workspace.add(a)
    await workspace.add(b)
    with pytest.raises(ConfigError, match="already exists"):
        await workspace.update("a", replace(a, name="b"))
    with pytest.raises(NotFoundError):
        await workspace.update("none", replace(a, name="c"))
    assert workspace.servers() == (a, b)


async def test_deletions_are_undone_one_after_the_other_at_their_old_places(
    workspace: Workspace, secrets: Secrets
) -> None:
    specs = [with_secret(name) for name in "abcd"]
    for spec in specs:
        await workspace.add(spec, SECRET)
    await workspace.delete(["b", "d"])
    await workspace.delete(["a"])
    assert saved(workspace) == ["c"]
    assert len(secrets.all()) == 4
    await workspace.undo()
    assert saved(workspace) == ["a", "c"]
    await workspace.undo()
    assert workspace.servers() == tuple(specs)
    assert workspace.undo_step is None
    await workspace.undo()
    await workspace.finish()
    assert len(secrets.all()) == 4


async def test_an_undo_that_meets_a_taken_name_brings_the_server_back_under_a_free_one(workspace: Workspace) -> None:
    old, new = ServerSpec("a", StdioServer("old")), ServerSpec("a", StdioServer("new"))
    await workspace.add(old)
    await workspace.delete(["a"])
    await workspace.add(new)
    await workspace.undo()
    assert workspace.servers() == (replace(old, name="a 2"), new)


async def test_at_quit_the_secrets_of_deleted_servers_go_and_no_others(workspace: Workspace, secrets: Secrets) -> None:
    gone, kept = with_secret("gone"), with_secret("kept")
    shared = ServerSpec("shared", StdioServer("x", env={"T": secret_reference(gone.id, "env.SHARED")}))
    await workspace.add(gone, {**SECRET, "env.SHARED": "s"})
    await workspace.add(kept, SECRET)
    await workspace.add(shared)
    await workspace.delete(["gone"])
    assert len(secrets.all()) == 3
    await workspace.finish()
    assert set(secrets.all()) == {(kept.id, "headers.Authorization"), (gone.id, "env.SHARED")}


async def test_unused_secrets_are_listed_and_can_be_removed(workspace: Workspace, secrets: Secrets) -> None:
    spec = with_secret()
    await workspace.add(spec, SECRET)
    await secrets.set("a-server-of-old", "env.KEY", "x")
    assert workspace.unused_secrets() == (("a-server-of-old", "env.KEY"),)
    await workspace.delete(["api"])
    assert workspace.unused_secrets() == (("a-server-of-old", "env.KEY"),)
    await workspace.remove_unused_secrets()
    assert set(secrets.all()) == {(spec.id, "headers.Authorization")}


async def test_a_duplicate_is_off_stands_below_and_has_secrets_of_its_own(
    workspace: Workspace, secrets: Secrets
) -> None:
    spec = with_secret()
    await workspace.add(spec, SECRET)
    await workspace.add(ServerSpec("last", StdioServer("x")))
    assert await workspace.duplicate("api") == "api copy"
    assert await workspace.duplicate("api") == "api copy 2"
    assert saved(workspace) == ["api", "api copy 2", "api copy", "last"]
    copy = workspace.get("api copy")
    assert copy is not None
    assert not copy.enabled
    assert copy.id != spec.id
    assert copy.target == HttpServer(
        "https://h/mcp", headers={"Authorization": secret_reference(copy.id, "headers.Authorization")}
    )
    assert secrets.all()[copy.id, "headers.Authorization"] == "Bearer s3cret"
    await workspace.delete(["api"])
    await workspace.finish()
    assert (copy.id, "headers.Authorization") in secrets.all()


async def test_a_pasted_server_with_the_id_of_another_gets_its_own(workspace: Workspace) -> None:
    spec = with_secret()
    await workspace.add(spec)
    await workspace.add(replace(spec, name="pasted"))
    first, second = workspace.servers()
    assert first.id != second.id


async def test_servers_are_switched_off_and_on_in_the_file(workspace: Workspace) -> None:
    for name in "ab":
        await workspace.add(ServerSpec(name, StdioServer("x")))
    await workspace.set_enabled("ab", False)
    assert [spec.enabled for spec in ServersFile(workspace.file.path).load()] == [False, False]
    assert workspace.snapshot("a").state is ServerState.DISABLED
    await workspace.set_enabled("a", True)
    assert workspace.snapshot("a").state is ServerState.STOPPED
    assert workspace.undo_step is None


async def test_a_broken_entry_cannot_be_switched_on_and_says_why(workspace: Workspace, path: Path) -> None:
    write(path, '{"servers": {"bad": {"comand": 1}, "good": {"command": "x", "enabled": false}}}')
    workspace.load()
    with pytest.raises(ConfigError, match="No command or url"):
        await workspace.set_enabled(["bad", "good"], True)
    assert workspace.get("good") is not None
    assert [spec.enabled for spec in workspace.servers()] == [False, True]
    assert '"comand": 1}' in read(path)


async def test_what_needs_the_engine_says_that_it_is_not_there_yet(workspace: Workspace) -> None:
    spec = ServerSpec("a", StdioServer("x"))
    await workspace.add(spec)
    with pytest.raises(NotConnectedError):
        await workspace.check(spec)
    with pytest.raises(NotConnectedError):
        await workspace.restart(["a"])
    await workspace.stop(["a"])
    await workspace.pause_all()
    assert not workspace.paused
    with pytest.raises(NotFoundError, match="MCP Client b not found"):
        workspace.snapshot("b")


async def test_servers_of_this_run_shadow_saved_ones_and_are_never_changed_or_saved(
    path: Path, secrets: Secrets
) -> None:
    write(path, '{"servers": {"a": {"id": "1", "command": "saved"}, "b": {"id": "2", "command": "x"}}}')
    before = read(path)
    extra = [ServerSpec("a", StdioServer("transient")), ServerSpec("t", StdioServer("y"))]
    workspace = Workspace(ServersFile(path), secrets, extra)
    workspace.load()
    assert [(spec.name, spec.transport) for spec in workspace.servers()] == [(n, "stdio") for n in ("a", "b", "t")]
    assert workspace.get("a") == extra[0]
    assert workspace.snapshot("a").transient
    assert not workspace.snapshot("b").transient
    for action in (
        workspace.update("a", extra[0]),
        workspace.delete(["a"]),
        workspace.set_enabled(["t"], False),
        workspace.add(ServerSpec("t", StdioServer("z"))),
    ):
        with pytest.raises(ConfigError):
            await action
    assert read(path) == before
    assert await workspace.duplicate("t") == "t copy"
    assert saved(workspace) == ["a", "b", "t copy"]


# ---- with the engine
async def test_the_engine_follows_every_action(workspace: Workspace, hub: ServerHub, tmp_path: Path) -> None:
    await workspace.add(folder_server(tmp_path))
    await workspace.attach(hub)
    await until(lambda: states(hub) == {"files": ServerState.READY})
    assert workspace.snapshot("files").state is ServerState.READY
    spec = workspace.servers()[0]

    await workspace.update("files", replace(spec, name="renamed"))
    assert states(hub) == {"renamed": ServerState.READY}

    await workspace.set_enabled(["renamed"], False)
    assert states(hub) == {"renamed": ServerState.DISABLED}
    await workspace.start(["renamed"])
    assert workspace.servers()[0].enabled
    await until(lambda: states(hub) == {"renamed": ServerState.READY})

    await workspace.stop(["renamed"])
    assert states(hub) == {"renamed": ServerState.STOPPED}
    await workspace.start(["renamed"])
    await until(lambda: states(hub) == {"renamed": ServerState.READY})
    await workspace.restart(["renamed"])
    await until(lambda: states(hub) == {"renamed": ServerState.READY})

    await workspace.pause_all()
    assert workspace.paused
    assert states(hub) == {"renamed": ServerState.STOPPED}
    await workspace.resume()
    await until(lambda: states(hub) == {"renamed": ServerState.READY})

    await workspace.delete(["renamed"])
    assert states(hub) == {}
    await workspace.undo()
    await until(lambda: states(hub) == {"renamed": ServerState.READY})


async def test_what_was_pasted_starts_only_after_a_start(workspace: Workspace, hub: ServerHub, tmp_path: Path) -> None:
    await workspace.attach(hub)
    await workspace.add(replace(folder_server(tmp_path), unconfirmed=True))
    assert states(hub) == {"files": ServerState.STOPPED}
    assert str(workspace.snapshot("files").health.summary) == "Waits for your first Start"
    await workspace.start(["files"])
    await until(lambda: states(hub) == {"files": ServerState.READY})
    (spec,) = ServersFile(workspace.file.path).load()
    assert not spec.unconfirmed


async def test_names_that_two_servers_swap_end_up_right(workspace: Workspace, hub: ServerHub, tmp_path: Path) -> None:
    a, b = folder_server(tmp_path, "a"), folder_server(tmp_path, "b")
    await workspace.add(a)
    await workspace.add(b)
    await workspace.attach(hub)
    await asyncio.to_thread(workspace.file.change, lambda _s: {"b": replace(a, name="b"), "a": replace(b, name="a")})
    await workspace.set_enabled(["a"], True)
    assert {spec.name: spec.id for spec in hub.servers()} == {"b": a.id, "a": b.id}
    await until(lambda: states(hub) == {"a": ServerState.READY, "b": ServerState.READY})


async def test_edits_of_the_file_from_outside_are_applied_live(
    workspace: Workspace, hub: ServerHub, tmp_path: Path, path: Path
) -> None:
    await workspace.add(folder_server(tmp_path))
    await workspace.attach(hub)
    watching = asyncio.create_task(workspace.watch())
    try:
        await until(lambda: states(hub) == {"files": ServerState.READY})
        other = ServersFile(path)
        specs = await asyncio.to_thread(other.change, lambda s: {"more": folder_server(tmp_path, "more"), **s})
        await until(lambda: set(states(hub)) == {"files", "more"})
        assert workspace.servers() == specs
        await until(lambda: set(states(hub).values()) == {ServerState.READY})
        await asyncio.to_thread(other.change, lambda s: {"more": replace(s["more"], enabled=False)})
        await until(lambda: states(hub) == {"more": ServerState.DISABLED})
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching


async def test_a_server_of_this_run_is_marked_in_the_engine_and_can_be_started_and_stopped(
    path: Path, secrets: Secrets, hub: ServerHub, tmp_path: Path
) -> None:
    extra = folder_server(tmp_path)
    workspace = Workspace(ServersFile(path), secrets, [extra])
    await hub.add_server(extra)
    await workspace.attach(hub)
    await until(lambda: states(hub) == {"files": ServerState.READY})
    assert hub.snapshot("files").transient
    await workspace.stop(["files"])
    assert states(hub) == {"files": ServerState.STOPPED}
    await workspace.start(["files"])
    await until(lambda: states(hub) == {"files": ServerState.READY})
    assert not workspace.file.exists()


async def test_a_check_uses_secrets_that_are_not_saved_yet(
    workspace: Workspace, hub: ServerHub, secrets: Secrets, tmp_path: Path
) -> None:
    await workspace.attach(hub)
    spec = ServerSpec("new", BuiltinServer("filesystem"))
    options = {"allowed_directories": [secret_reference(spec.id, "options.folder")]}
    spec = replace(spec, target=BuiltinServer("filesystem", options))
    report = await workspace.check(spec, {"options.folder": str(tmp_path)})
    assert report.ok, report.snapshot.error
    assert len(report.tools) == 11
    assert not (await workspace.check(spec)).ok
    assert secrets.all() == {}
    assert hub.servers() == workspace.servers() == ()
